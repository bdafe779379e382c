//===- BatchedPlannerTest.cpp - Plans of batched kernels --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/BatchedPlanner.h"
#include "PlannerTest.h"
#include "kron/Plan/GPU/BatchedPlan.h"

using namespace mlir;
using namespace mlir::kron;

/// Two factors at once, planes; and fibres.
static const Example kPlanes{"f32", {-1, 4, 4}, {1, 2}};
static const Example kFibres{"f32", {-1, 12, 10}, {1, 2}};

static GPUPlanAttr getAnyArrays(FusedOp fused, const char *machine = "h200") {
  return getPlan(planBatched(fused, getMachine(machine)));
}

TEST_F(GPUPlanners, BatchedPlansAreReadAndFit) {
  const Example examples[] = {kPlanes,
                              kFibres,
                              {"f32", {-1, 5}, {1}, {3}},
                              {"f32", {100, 3, 2, 5}, {1, 2, 3}},
                              {"f64", {-1, 2, 2, 2, 2}, {1, 2, 3, 4}},
                              {"f64", {-1, 6, 6, 6}, {1, 2, 3}},
                              {"f64", {-1, 7, 16}, {1, 2}, {4, 3}}};
  for (const Example &example : examples) {
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + getName(example)));
      FusedOp fused = build(example);
      GPUMachine machine = getMachine(name);
      auto plans = planBatched(fused, machine);
      ASSERT_EQ(getReason(plans), "none");
      auto &both = std::get<SmallVector<GPUPlanAttr>>(plans);
      // Of packed arrays, and of any.
      ASSERT_EQ(both.size(), 2u);
      EXPECT_EQ(both[0].without("direct_store"), both[1].with("packed", 1));
      for (GPUPlanAttr plan : both) {
        expectSameWritten<BatchedChoices>(plan);
        auto read = readBatchedPlan(fused, plan);
        ASSERT_EQ(getReason(read), "none");
        auto &found = std::get<BatchedPlan>(read);
        EXPECT_EQ(found.isPacked, plan == both[0]);
        EXPECT_EQ(found.itemsPerTile % found.getTileUnit(), 0);
        expectFits(machine, found.threads, found.ctasPerSM,
                   found.getSharedBytes(), 32);
      }
      fused.setPlanAttr(both[1]);
      EXPECT_EQ(getPlan(planBatched(fused, machine)), both[1]);
    }
  }
}

TEST_F(GPUPlanners, BatchedShrinksWithSharedMemory) {
  Example example{"f64", {-1, 12, 12, 12}, {1, 2, 3}};
  EXPECT_LT(getAnyArrays(build(example), "l4").getCtasPerSm(),
            getAnyArrays(build(example), "h200").getCtasPerSm());
  // All tiles move the same bytes.
  EXPECT_EQ(getAnyArrays(build(example)),
            getAnyArrays(build(example), "h200:copy=1000"));
}

TEST_F(GPUPlanners, BatchedTilesOfTwoCTAsFillAnSM) {
  // Four arrays of 10.6 KB make a tile: eight warps, which three CTAs of two
  // arrays have six of.
  Example example{"f64", {50000, 11, 11, 11}, {1, 2, 3}};
  GPUPlanAttr plan = getAnyArrays(build(example));
  EXPECT_EQ(plan.getTile(), 4);
  EXPECT_EQ(plan.getThreads() * plan.getCtasPerSm(), 256);
}

TEST_F(GPUPlanners, BatchedSpreadsFewArraysOverAllSMs) {
  auto getTile = [&](int64_t arrays) {
    Example example{"f32", {arrays, 9, 9, 9}, {1, 2, 3}};
    return getAnyArrays(build(example)).getTile();
  };
  EXPECT_LT(getTile(200), getTile(100000));
  // Unknown numbers are large.
  EXPECT_LT(getTile(200), getTile(-1));
}

TEST_F(GPUPlanners, BatchedRanksByTheTimeOfMultiplyAdds) {
  // Loads of factors that fibres share count little where these take long.
  Example example{"f64", {100000, 10, 10, 10}, {1, 2, 3}};
  auto getFibres = [&](const char *machine) {
    FusedOp fused = build(example);
    return std::get<BatchedPlan>(
               readBatchedPlan(fused, getAnyArrays(fused, machine)))
        .fibres;
  };
  EXPECT_LT(getFibres("h200:dfma=1"), getFibres("h200"));
}

TEST_F(GPUPlanners, BatchedHonoursWhatIsGiven) {
  expectHonours<planBatched>("batched", kPlanes,
                             {"threads = 96", "ctas_per_sm = 1", "stages = 3",
                              "tile = 5", "packed = 0", "plane_fibres = 2",
                              "regions = [2]"});
  expectHonours<planBatched>("batched", kFibres,
                             {"threads = 96", "fibres = 2", "slack = 0",
                              "unrolled = 5", "tile = 6", "ctas_per_sm = 2"});
  // No plan for packed arrays alone.
  auto plans = planBatched(build(kPlanes, getPlanText("batched", "packed = 0")),
                           getMachine("h200"));
  EXPECT_EQ(std::get<SmallVector<GPUPlanAttr>>(plans).size(), 1u);
}

TEST_F(GPUPlanners, BatchedStoresDirectlyWhereStoresAreWide) {
  struct Case {
    Example example;
    bool isDirect;
  };
  const Case cases[] = {
      // Units of 16 bytes; single elements of f32, and of f64; planes of f64.
      {{"f32", {-1, 8, 8, 8}, {1, 2, 3}}, true},
      {{"f32", {-1, 9, 9, 9}, {1, 2, 3}}, false},
      {{"f64", {-1, 9, 9, 9}, {1, 2, 3}}, true},
      {{"f64", {-1, 4, 4, 4}, {1, 2, 3}}, false},
      // A last factor within the planes.
      {kPlanes, false}};
  auto isDirect = [](FusedOp fused) {
    auto plans = planBatched(fused, getMachine("h200"));
    return std::get<SmallVector<GPUPlanAttr>>(plans)[0].get("direct_store");
  };
  for (const Case &found : cases) {
    SCOPED_TRACE(getName(found.example));
    EXPECT_EQ(isDirect(build(found.example)), found.isDirect);
  }
  EXPECT_EQ(isDirect(build(cases[0].example,
                           getPlanText("batched", "direct_store = 0"))),
            0);
  EXPECT_EQ(isDirect(build(cases[1].example,
                           getPlanText("batched", "direct_store = 1"))),
            1);
}

TEST_F(GPUPlanners, BatchedSaysWhichFieldIsImpossible) {
  expectRefuses<planBatched>(
      "batched", kPlanes, {"threads = 33", "stages = 1", "direct_store = 1"});
  // Of arrays that need not be packed.
  FusedOp fused = build({"f32", {-1, 8, 8, 8}, {1, 2, 3}},
                        getPlanText("batched", "packed = 0, direct_store = 1"));
  expectNames(getReason(planBatched(fused, getMachine("h200"))),
              "direct_store = 1");
  // An even number of 72 bytes is a multiple of 16.
  expectRefuses<planBatched>("batched", {"f32", {-1, 3, 3, 2}, {1, 2, 3}},
                             {"tile = 3"});
  // Neither do planes use fibres, nor fibres planes.
  expectRefuses<planBatched>("batched", kPlanes,
                             {"fibres = 2", "plane_fibres = 32"});
  expectRefuses<planBatched>("batched", kFibres, {"plane_fibres = 3"});
}

TEST_F(GPUPlanners, BatchedReaderRefusesWhatIsNoPlan) {
  FusedOp fused = build({"f32", {-1, 3, 3, 2}, {1, 2, 3}});
  expectReaderRefuses<readBatchedPlan>(fused, getAnyArrays(fused),
                                       {{"threads", 33},
                                        {"threads", 0},
                                        {"tile", 0},
                                        {"tile", 3},
                                        {"stages", 1},
                                        {"plane_fibres", 0},
                                        {"direct_store", 1},
                                        {"ctas_per_sm", 0}});
  for (const Example &example :
       {Example{"f32", {-1, 17}, {1}}, Example{"f16", {-1, 4}, {1}},
        Example{"f32", {4, -1}, {0}}})
    EXPECT_NE(getReason(describeBatched(build(example))), "none");
}
