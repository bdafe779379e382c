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
#include "kron/Mapping/GPU/GPUPlanner.h"
#include "kron/Mapping/GPU/MmaPlanner.h"
#include "kron/Mapping/GPU/PairwisePlanner.h"
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

  /// What `plan` for `op` has of the field `name`.
  static int64_t getValue(Operation *op, GPUPlanAttr plan, StringRef name) {
    const PlanField *field = findPlanField(plan.getKernel(), name);
    if (plan.has(name) || (field && field->role == PlanField::Role::Defaulted))
      return plan.has(name) ? plan.get(name) : field->byDefault;
    return getDerivedField(op, plan, name).value_or(-1);
  }

  /// What the complete plan `text` for `op` makes of constraints, in the order
  /// of `names`; -1: nothing.
  SmallVector<int64_t> derive(Operation *op, StringRef text,
                              ArrayRef<StringRef> names) {
    auto plan = cast<GPUPlanAttr>(parseAttribute(text, &context));
    EXPECT_TRUE(plan.isComplete()) << text.str();
    return llvm::map_to_vector(names, [&](StringRef name) {
      return getDerivedField(op, plan, name).value_or(-1);
    });
  }

  /// That each number of each field that a plan without a kernel has is
  /// honoured for `op`, or else refused with its name, by --kron-plan.
  template <typename Build> void expectMet(Build build) {
    unsigned met = 0, refused = 0;
    for (const PlanField &field : getPlanFields()) {
      if (!(field.kernels >> static_cast<uint32_t>(GPUKernel::Auto) & 1) ||
          field.kind != PlanField::Kind::Integer)
        continue;
      for (int64_t value : {1, 2, 3, 6, 64, 192}) {
        std::string fields = (field.name + " = " + Twine(value)).str();
        std::string text = "#kron.gpu_plan<" + fields + ">";
        SCOPED_TRACE(fields);
        if (getAttributeReason(text) != "none")
          continue;
        auto op = build(text);
        std::string error =
            catchError([&] { (void)planAny(op, getMachine("h200")); });
        ++(error == "none" ? met : refused);
        if (error != "none") {
          expectNames(error, fields);
          continue;
        }
        SmallVector<GPUPlanAttr> plans = getGPUPlans(op);
        ASSERT_FALSE(plans.empty());
        // The last of several takes arrays that are not aligned.
        if (plans.front().get("alignment"))
          plans.pop_back();
        for (GPUPlanAttr plan : plans)
          EXPECT_EQ(getValue(op, plan, field.name), value) << getText(plan);
      }
    }
    EXPECT_GT(met, 0u);
    EXPECT_GT(refused, 0u);
  }
  static LogicalResult planAny(FusedOp op, const GPUMachine &machine) {
    return planForGPU(op, {}, machine, /*allowsCublas=*/true);
  }
  template <typename Op>
  static LogicalResult planAny(Op op, const GPUMachine &machine) {
    return planForGPU(op, machine);
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
          FusedOp op = build(example);
          PlansOrReason found = plan<planner>(word, example, fields);
          if (auto *plans = std::get_if<SmallVector<GPUPlanAttr>>(&found)) {
            // 0 leaves it open.
            bool isOpen = wanted.getFields().empty();
            EXPECT_TRUE(isOpen || llvm::any_of(*plans, [&](GPUPlanAttr plan) {
                          return getValue(op, plan, field.name) == value;
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
  expectHonouredOrNamed<planSimt>(GPUKernel::Simt,
                                  Example{"f32", {-1, 16, 16, 24}, {1, 2}});
  expectHonouredOrNamed<planFfma>(GPUKernel::Ffma,
                                  Example{"f32", {-1, 8, 8, 24}, {1, 2}});
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

TEST_F(GivenFields, AreHonouredOrNamedWithoutAKernel) {
  for (const Example &example :
       {Example{"f32", {1024, 16, 16}, {1, 2}},
        Example{"f32", {1024, 4, 4}, {1, 2}},
        Example{"f64", {1024, 8, 8, 8}, {1, 2, 3}},
        Example{"f32", {1024, 8, 8, 24}, {1, 2}},
        Example{"f32", {1024, 4, 64}, {2}, {}, {1}},
        Example{"f16", {25088, 512, 8}, {2}, {56}, {1}, true},
        Example{"f32", {4096, 512}, {1}}}) {
    SCOPED_TRACE(getName(example));
    expectMet([&](StringRef plan) { return build(example, plan); });
  }
  auto function = [&](StringRef arguments, StringRef before, StringRef plan) {
    return ("func.func @f(" + arguments + ") {\n" + before +
            " {plan = " + plan + "}\n return\n}")
        .str();
  };
  expectMet([&](StringRef plan) {
    return parse<kron::PairwiseOp>(
        function("%a: memref<1000x64xf32>, %y: memref<1000x1000xf32>",
                 "kron.pairwise square_diff ins(%a, %a : memref<1000x64xf32>, "
                 "memref<1000x64xf32>) outs(%y : memref<1000x1000xf32>)",
                 plan));
  });
  expectMet([&](StringRef plan) {
    return parse<QuantizeOp>(
        function("%y: memref<1000x4096xf16>, %q: memref<1000x4096xi8>, %s: "
                 "memref<1000xf32>",
                 "kron.quantize ins(%y : memref<1000x4096xf16>) outs(%q, %s : "
                 "memref<1000x4096xi8>, memref<1000xf32>)",
                 plan));
  });
  expectMet([&](StringRef plan) {
    return parse<KsmmGradOp>(
        function("%x: memref<1000x256xf32>, %y: memref<1x256x256x1xf32>",
                 "kron.ksmm_grad ins(%x : memref<1000x256xf32>) grad(%x : "
                 "memref<1000x256xf32>) outs(%y : memref<1x256x256x1xf32>)",
                 plan));
  });
}

TEST_F(GivenFields, FollowFromOthers) {
  const StringRef names[] = {"tile",        "columns", "threads",
                             "ctas_per_sm", "stages",  "cluster"};
  using Values = SmallVector<int64_t>;
  EXPECT_EQ(derive(build(Example{"f32", {1024, 8, 8, 8}, {1, 2, 3}}),
                   "#kron.gpu_plan<kernel = ffma, extents = [4, 8, 8, 8], "
                   "threads = 64, ctas_per_sm = 1, ring_slots = 12>",
                   names),
            Values({4, 1, -1, -1, 3, 1}));
  // No tile is in shared memory.
  EXPECT_EQ(derive(build(Example{"f32", {64, 3, 8, 8, 12}, {2, 3}}),
                   "#kron.gpu_plan<kernel = ffma, extents = [4, 3, 8, 8, 6], "
                   "threads = 64, ctas_per_sm = 1, ring_slots = 0>",
                   names),
            Values({12, 6, -1, -1, -1, 1}));
  EXPECT_EQ(derive(build(Example{"f64", {64, 8, 8, 16}, {1, 2}}),
                   "#kron.gpu_plan<kernel = dmma, alignment = 16, "
                   "extents = [2, 8, 8, 4], "
                   "threads = 64, ctas_per_sm = 1, ring_slots = 3>",
                   names),
            Values({2, 4, -1, -1, 3, 1}));
  std::string launch =
      "{factors = 1, extents = [3, 16, 4, 5], ctas_per_sm = 2}";
  EXPECT_EQ(derive(build(Example{"f32", {64, 16, 16, 12}, {1}}),
                   "#kron.gpu_plan<kernel = simt, threads = 64, launches = [" +
                       launch + "]>",
                   names),
            Values({12, 5, -1, 2, -1, 1}));
  // Launches that differ have no common value.
  EXPECT_EQ(derive(build(Example{"f32", {64, 16, 16, 12}, {1, 2}}),
                   "#kron.gpu_plan<kernel = simt, threads = 64, launches = ["
                   "{factors = 1, extents = [3, 4, 16, 5], ctas_per_sm = 2}, "
                   "{factors = 1, extents = [2, 16, 6, 5], ctas_per_sm = 1}]>",
                   names),
            Values({12, 5, -1, -1, -1, 1}));
  EXPECT_EQ(derive(build(Example{"f32", {1024, 4, 64}, {2}, {}, {1}}),
                   "#kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, stages = "
                   "2, row_warps = 2, result_tiles = 2, result_warps = 2, "
                   "k_step = 16>",
                   names),
            Values({-1, -1, 128, -1, -1, 1}));
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
