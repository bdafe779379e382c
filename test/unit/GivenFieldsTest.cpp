//===- GivenFieldsTest.cpp - Refusals of fields by hand ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/GivenFields.h"
#include "PlannerTest.h"
#include "kron/Mapping/GPU/BatchedPlanner.h"
#include "kron/Mapping/GPU/ChainPlanner.h"
#include "kron/Mapping/GPU/DmmaPlanner.h"
#include "kron/Mapping/GPU/FfmaPlanner.h"
#include "kron/Mapping/GPU/MmaPlanner.h"
#include "kron/Mapping/GPU/SimtPlanner.h"
#include "kron/Mapping/GPU/SparsePlanner.h"
#include "kron/Mapping/GPU/WgmmaPlanner.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class GivenFields : public GPUPlanners {
protected:
  /// What --kron-plan says of `fields` for `example`.
  template <auto planner, typename AnyExample>
  PlansOrReason plan(StringRef kernel, const AnyExample &example,
                     StringRef fields) {
    return planGiven<planner>(build(example, getPlanText(kernel, fields)),
                              getMachine("h200"));
  }

  /// That each number of each field of `kernel` is honoured, or else refused
  /// with the name, the value, and what is expected.
  template <auto planner, typename AnyExample>
  void expectHonouredOrNamed(GPUKernel kernel, const AnyExample &example) {
    StringRef word = stringifyGPUKernel(kernel);
    unsigned refused = 0;
    for (const PlanField &field : getPlanFields()) {
      if (!(field.kernels >> static_cast<uint32_t>(kernel) & 1) ||
          field.kind != PlanField::Kind::Integer)
        continue;
      // What planForGPU decides once kernels are chosen.
      if (field.name == "min_rows" || field.name == "quantize")
        continue;
      for (int64_t value : {0, 1, 2, 3, 16, 48, 64, 1000, 1 << 20}) {
        std::string fields = (field.name + " = " + Twine(value)).str();
        SCOPED_TRACE(word.str() + ": " + fields);
        std::string text = getPlanText(word, fields);
        std::string reason = getAttributeReason(text);
        if (reason == "none") {
          auto wanted = cast<GPUPlanAttr>(parseAttribute(text, &context));
          PlansOrReason found = plan<planner>(word, example, fields);
          if (auto *plans = std::get_if<SmallVector<GPUPlanAttr>>(&found)) {
            EXPECT_TRUE(llvm::any_of(*plans, [&](GPUPlanAttr plan) {
              return findContradiction(wanted, plan).empty();
            }));
            continue;
          }
          reason = std::get<std::string>(found);
        }
        ++refused;
        expectNames(reason, fields);
        EXPECT_NE(reason.find("expects"), std::string::npos) << reason;
      }
    }
    EXPECT_GT(refused, 0u) << word.str();
  }
};

} // namespace

TEST_F(GivenFields, AreHonouredOrNamed) {
  expectHonouredOrNamed<planWgmma>(GPUKernel::Wgmma,
                                   Example{"f32", {-1, 32, 32}, {1, 2}});
  expectHonouredOrNamed<planMma>(
      GPUKernel::Mma, Example{"f32", {-1, 16, 16, 16, 8}, {1, 2, 3, 4}});
  expectHonouredOrNamed<planMma>(GPUKernel::Mma,
                                 Example{"f32", {16, 16, 1000}, {0, 1}});
  expectHonouredOrNamed<planFfma>(GPUKernel::Ffma,
                                  Example{"f32", {-1, 8, 8}, {1, 2}});
  expectHonouredOrNamed<planDmma>(GPUKernel::Dmma,
                                  Example{"f64", {-1, 8, 8, 8}, {1, 2, 3}});
  expectHonouredOrNamed<planBatched>(GPUKernel::Batched,
                                     Example{"f32", {-1, 5, 7}, {1, 2}});
  expectHonouredOrNamed<planSparse>(
      GPUKernel::Sparse, Example{"f32", {25088, 4, 64, 16}, {2}, {48}, {1, 3}});
  expectHonouredOrNamed<planSparse>(
      GPUKernel::SmallGroups,
      Example{"f16", {25088, 512, 8}, {2}, {56}, {1}, true});
  expectHonouredOrNamed<planChain>(GPUKernel::Chain,
                                   ChainExample{"f16", 25088, 2, 192, 48, 192});
}

TEST_F(GivenFields, SayWhatIsPossible) {
  Example example{"f32", {-1, 32, 32}, {1, 2}};
  EXPECT_EQ(getReason(plan<planWgmma>("wgmma", example, "tile = 512")),
            "factors and a tile do not fit shared memory; expects tile to be "
            "2, say, but got 512");
  EXPECT_EQ(getReason(plan<planWgmma>("wgmma", example, "threads = 96")),
            "expects threads to be a multiple of 128, but got 96");
  // Each of two fields alone would do.
  std::string reason = getReason(
      plan<planWgmma>("wgmma", example, "stages = 28, ctas_per_sm = 2"));
  expectNames(reason, "stages = 28");
  expectNames(reason, "ctas_per_sm = 2");
}

TEST_F(GivenFields, AreNamedTogetherWhereOneIsNotEnough) {
  Example example{"f32", {-1, 32, 32}, {1, 2}};
  std::string reason =
      getReason(plan<planWgmma>("wgmma", example, "stages = 64, tile = 512"));
  EXPECT_NE(reason.find("a plan without stages = 64, tile = 512, say "
                        "#kron.gpu_plan<kernel = wgmma"),
            std::string::npos)
      << reason;
}

TEST_F(GivenFields, AreNotBlamedForWhatNoPlanTakes) {
  EXPECT_EQ(getReason(plan<planWgmma>(
                "wgmma", Example{"f64", {-1, 32, 32}, {1, 2}}, "tile = 2")),
            "elements are not f32, f16 or bf16");
}
