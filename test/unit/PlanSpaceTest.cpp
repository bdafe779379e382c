//===- PlanSpaceTest.cpp - Plans that differ in one field -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/Tuning/PlanSpace.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::kron;

namespace {
class PlanSpaces : public testing::Test {
protected:
  PlanSpaces() { context.loadDialect<KronDialect>(); }

  std::vector<std::vector<std::string>> list(StringRef given,
                                             StringRef chosen) {
    return getPlanNeighbours(given, parseAttribute(chosen, &context));
  }
  /// All in a row.
  std::vector<std::string> flatten(StringRef given, StringRef chosen) {
    std::vector<std::string> plans;
    for (const std::vector<std::string> &field : list(given, chosen))
      plans.insert(plans.end(), field.begin(), field.end());
    return plans;
  }

  MLIRContext context;
};
} // namespace

static constexpr llvm::StringLiteral kCPUPlan =
    "#kron.cpu_plan<vector_bits = 512, tile = 8, steps = [{}, {rows = 4}]>";
static constexpr llvm::StringLiteral kGPUPlan =
    "#kron.gpu_plan<kernel = batched, tile = 4, threads = 128, ctas_per_sm = "
    "2, stages = 2>";

TEST_F(PlanSpaces, HaveAllFieldsOfTheTable) {
  auto count = [](GPUKernel kernel) {
    size_t number = 0;
    for (const PlanField &field : getPlanFields())
      if ((field.kernels >> static_cast<uint32_t>(kernel)) & 1)
        number += field.role != PlanField::Role::Constraint &&
                  field.kind == PlanField::Kind::Integer;
    return number;
  };
  EXPECT_EQ(list("", kCPUPlan).size(), count(kCPURegion) + 2 * count(kCPUStep));
  EXPECT_EQ(list("", kGPUPlan).size(), count(GPUKernel::Batched));
}

TEST_F(PlanSpaces, AreConstraintsThatVerify) {
  for (StringRef chosen : {kCPUPlan, kGPUPlan})
    for (const std::string &plan : flatten("", chosen)) {
      Attribute parsed = parseAttribute(plan, &context);
      ASSERT_TRUE(parsed) << plan;
      if (auto ofGPU = dyn_cast<GPUPlanAttr>(parsed))
        EXPECT_EQ(ofGPU.getKernel(), GPUKernel::Batched);
    }
}

TEST_F(PlanSpaces, KeepWhatIsGiven) {
  std::vector<std::string> plans =
      flatten("#kron.cpu_plan<tile = 8>", kCPUPlan);
  EXPECT_TRUE(llvm::is_contained(plans, "#kron.cpu_plan<tile = 16>"));
  EXPECT_FALSE(llvm::is_contained(plans, "#kron.cpu_plan<tile = 8>"));
  EXPECT_TRUE(
      llvm::is_contained(plans, "#kron.cpu_plan<vector_bits = 256, tile = 8>"));
  EXPECT_TRUE(llvm::is_contained(
      plans, "#kron.cpu_plan<tile = 8, steps = [{}, {rows = 8}]>"));
  // Nothing else has those bits, and threads are multiples of 32.
  for (const std::string &plan : plans)
    EXPECT_EQ(plan.find("vector_bits = 384"), std::string::npos);
  EXPECT_TRUE(llvm::is_contained(
      flatten("", kGPUPlan), "#kron.gpu_plan<kernel = batched, threads = 96>"));
}

TEST_F(PlanSpaces, OfADispatchAreThoseOfItsKernel) {
  // All but the last one require something of a launch.
  std::string packed = StringRef(kGPUPlan).drop_back().str() + ", packed = 1>";
  std::string dispatch =
      (Twine("#kron.dispatch<[#kron.gpu_plan<kernel = cublas>, ") + packed +
       ", " + kGPUPlan + "]>")
          .str();
  EXPECT_EQ(flatten("", dispatch), flatten("", packed));
}

TEST_F(PlanSpaces, CutChainsAndChangeOneRegion) {
  Attribute first = parseAttribute(kGPUPlan, &context),
            second = parseAttribute(
                "#kron.dispatch<[<kernel = cublas>, <kernel = mma, tile = 1, "
                "threads = 128, ctas_per_sm = 4, stages = 2>]>",
                &context);
  SmallVector<PlannedRegion> regions{{2, first, 1e-6}, {1, second, 3e-6}};
  auto moves = getRegionNeighbours("", regions);
  std::string open = "#kron.gpu_plan";
  // Cuts first: both as one region, and the first one as two.
  EXPECT_EQ(moves[0],
            (std::vector<std::string>{
                "#kron.region_plans<regions = [3], plans = [" + open + "]>",
                "#kron.region_plans<regions = [1, 1, 1], plans = [" + open +
                    ", " + open + ", " + open + "]>"}));
  // Then kernels, of the region that takes longest first, but for its own.
  EXPECT_EQ(moves[1].size(), moves[2].size());
  for (const std::string &plan : moves[1]) {
    EXPECT_EQ(plan.find("#kron.region_plans<regions = [2, 1], plans = [" +
                        open + ", #kron.gpu_plan<kernel = "),
              0u)
        << plan;
    EXPECT_EQ(plan.find("cublas"), std::string::npos);
  }
  for (const std::string &plan : moves[2])
    EXPECT_EQ(plan.find("batched"), std::string::npos);
  // Then fields, as those of a region alone; all verify.
  EXPECT_EQ(moves.size(), 3 + getPlanNeighbours("", second).size() +
                              getPlanNeighbours("", first).size());
  for (const std::vector<std::string> &plans : moves)
    for (const std::string &plan : plans)
      EXPECT_TRUE(parseAttribute(plan, &context)) << plan;
}

TEST_F(PlanSpaces, KeepWhatIsGivenForOtherRegions) {
  Attribute plan = parseAttribute(kCPUPlan, &context);
  SmallVector<PlannedRegion> regions{{2, plan, 0}, {1, plan, 0}};
  std::string given = "#kron.region_plans<regions = [2, 1], plans = "
                      "[#kron.cpu_plan<tile = 8>, #kron.cpu_plan<slice = 4>]>";
  auto moves = getRegionNeighbours(given, regions);
  for (const std::vector<std::string> &plans : ArrayRef(moves).drop_front())
    for (const std::string &plan : plans)
      EXPECT_TRUE(
          StringRef(plan).contains("plans = [#kron.cpu_plan<tile = 8>, ") ||
          StringRef(plan).ends_with(", #kron.cpu_plan<slice = 4>]>"))
          << plan;
  // What is said of the whole operation is said of each region, but where it is
  // cut.
  moves = getRegionNeighbours("#kron.cpu_plan<regions = [2, 1], tile = 8>",
                              regions);
  EXPECT_TRUE(StringRef(moves.back().back())
                  .contains("plans = [#kron.cpu_plan<tile = 8>, "))
      << moves.back().back();
}

TEST_F(PlanSpaces, HaveARegionAtLeast) {
  ScopedDiagnosticHandler collect(&context, [](Diagnostic &diagnostic) {
    EXPECT_EQ(diagnostic.str(), "expects at least one fused region");
    return success();
  });
  Location loc = UnknownLoc::get(&context);
  EXPECT_FALSE(RegionPlansAttr::getChecked([&] { return emitError(loc); },
                                           &context, ArrayRef<int64_t>(),
                                           ArrayRef<Attribute>()));
}
