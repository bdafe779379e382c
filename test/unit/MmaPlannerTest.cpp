//===- MmaPlannerTest.cpp - Plans of mma kernels ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/MmaPlanner.h"
#include "PlannerTest.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/MmaPlan.h"

using namespace mlir;
using namespace mlir::kron;

static const Example kSquares{"f32", {-1, 16, 16}, {1, 2}};
/// Of which two tiles fit no shared memory, and one fits some.
static const Example kLarge{"f32", {-1, 16, 16, 16, 8}, {1, 2, 3, 4}};

static MmaPlan readMma(FusedOp fused, GPUPlanAttr plan) {
  return std::get<MmaPlan>(readMmaPlan(fused, plan));
}

TEST_F(GPUPlanners, MmaPlansAreReadAndFit) {
  const Example examples[] = {kSquares,
                              {"f32", {-1, 64}, {1}},
                              {"f32", {-1, 5, 7}, {1, 2}, {6, 3}},
                              {"f32", {16, 16, 1000}, {0, 1}},
                              {"f32", {-1, 200}, {1}},
                              {"f64", {-1, 8, 8, 8}, {1, 2, 3}},
                              {"f64", {-1, 16, 4, 16}, {1, 3}},
                              {"f16", {-1, 32, 32}, {1, 2}},
                              {"bf16", {8, 8, 77}, {0, 1}}};
  for (const Example &example : examples) {
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + getName(example)));
      FusedOp fused = build(example);
      GPUMachine machine = getMachine(name);
      GPUPlanAttr plan = getPlan(planMma(fused, machine));
      ASSERT_TRUE(plan);
      expectSameWritten<MmaChoices>(plan);
      ASSERT_EQ(getReason(readMmaPlan(fused, plan)), "none");
      MmaPlan found = readMma(fused, plan);
      EXPECT_EQ(found.threads, plan.getThreads());
      int64_t registers = 32;
      if (found.keepsFactors)
        registers += found.getFactorRegisters();
      expectFits(machine, found.threads, found.ctasPerSM, found.sharedBytes,
                 registers);
      EXPECT_EQ(getMmaMachineReason(found, machine), std::nullopt);
      fused.setPlanAttr(plan);
      EXPECT_EQ(getPlan(planMma(fused, machine)), plan);
    }
  }
}

// Rows of a transposed input come in segments, as many as make a tile.
TEST_F(GPUPlanners, MmaTurnsAsManyRowsAsMakeATile) {
  auto getRows = [&](int64_t rows, int64_t columns) {
    Example example{"f32", {rows, columns}, {1}};
    example.permutation = {1, 0};
    return getPlan(planMma(build(example), getMachine("h200"))).getTile();
  };
  EXPECT_EQ(getRows(-1, 128), 32);
  EXPECT_EQ(getRows(-1, 4), 256);
  // In equal parts of all rows, as far as segments allow.
  EXPECT_EQ(getRows(320, 4), 160);
  EXPECT_EQ(getRows(100, 4), 100);
}

TEST_F(GPUPlanners, MmaStreamsWhatFitsOnce) {
  // 128 KiB: on an H200 pieces of the next tile arrive meanwhile.
  FusedOp fused = build(kLarge);
  GPUPlanAttr plan = getPlan(planMma(fused, getMachine("h200")));
  EXPECT_FALSE(plan.getList("piece").empty());
  MmaPlan found = readMma(fused, plan);
  ASSERT_TRUE(found.stream);
  EXPECT_EQ(found.stream->slots, plan.get("piece_slots"));
  EXPECT_GE(found.stream->slots, kMmaLeastSlots);
  EXPECT_EQ(getReason(planMma(build(kLarge), getMachine("l4"))),
            "a tile of 131072 bytes does not fit in shared memory");
}

TEST_F(GPUPlanners, MmaSharesTilesOfClusters) {
  // 256 KiB are too much for one CTA.
  Example example{"f32", {-1, 16, 16, 16, 16}, {1, 2, 3, 4}};
  FusedOp fused = build(example);
  GPUPlanAttr plan = getPlan(planMma(fused, getMachine("h200")));
  EXPECT_EQ(plan.getCluster(), 2);
  // The other one's part of a tile is not here.
  EXPECT_EQ(getReason(planMma(build(example, getPlanText("mma", "cluster = 1")),
                              getMachine("h200"))),
            "a tile of 262144 bytes does not fit in shared memory");
  // A plan from elsewhere.
  fused.setPlanAttr(plan);
  expectNames(getReason(planMma(fused, getMachine("a100-80"))), "cluster = 2");
}

TEST_F(GPUPlanners, MmaShrinksWithSharedMemory) {
  Example example{"f64", {-1, 16, 16, 16}, {1, 2, 3}};
  auto getBytes = [&](StringRef name) {
    FusedOp fused = build(example);
    MmaPlan plan = readMma(fused, getPlan(planMma(fused, getMachine(name))));
    return plan.sharedBytes * plan.ctasPerSM;
  };
  EXPECT_LT(getBytes("l4"), getBytes("h200"));
}

TEST_F(GPUPlanners, MmaStepsFollowRegisters) {
  auto plan = [&](const Example &example) {
    FusedOp fused = build(example);
    return readMma(fused, getPlan(planMma(fused, getMachine("h200"))));
  };
  // Two small factors are one step, beside a third one.
  MmaPlan cubes = plan({"f32", {-1, 16, 16, 16}, {1, 2, 3}});
  EXPECT_TRUE(cubes.chainsInner);
  EXPECT_EQ(cubes.steps.size(), 2u);
  EXPECT_TRUE(cubes.stepWarps.empty());
  // Of larger ones, warps share the results, each in as many registers as half
  // a step may take.
  MmaPlan squares = plan({"f32", {-1, 48, 48}, {1, 2}});
  EXPECT_FALSE(squares.chainsInner);
  ASSERT_EQ(squares.steps.size(), 2u);
  EXPECT_EQ(ArrayRef<int64_t>(squares.stepWarps), ArrayRef<int64_t>({4, 4}));
  for (const MmaStep &step : squares.steps)
    EXPECT_LE(step.factorRegisters, kMmaStepRegisters / 2);
}

// Factors that registers do not keep from tile to tile are loaded for each of
// them.
TEST_F(GPUPlanners, MmaLoadsFactorsAgain) {
  const GPUMachine &machine = getMachine("h200");
  FusedOp fused = build({"f64", {4000, 17, 17, 17}, {1, 2, 3}});
  auto plans = planMma(fused, machine);
  ASSERT_EQ(getReason(plans), "none");
  GPUPlanAttr plan = std::get<SmallVector<GPUPlanAttr>>(plans).front();
  ASSERT_EQ(plan.get("keeps_factor"), 0);
  // 3 steps of 4 warps, each of which loads 32 x 24 elements.
  double clocks = 4000.0 / 264 * 2 * 3 * 4 * 32 * 24 / 1.7;
  // Its blocks alone take 1.07 times as long as that.
  double streamed = GPUResources(machine).getSMSeconds(clocks);
  MmaPlan read = std::get<MmaPlan>(readMmaPlan(fused, plan));
  EXPECT_GT(getMmaBlockSeconds(read, machine), 2 * streamed);
}

TEST_F(GPUPlanners, MmaHonoursWhatIsGiven) {
  expectHonours<planMma>("mma", kSquares,
                         {"threads = 64", "ctas_per_sm = 1", "stages = 1",
                          "tile = 5", "stages = 3, tile = 2", "cluster = 1",
                          "keeps_factor = 0", "regions = [2]",
                          "inner_chain = 0", "step_warps = []",
                          "inner_chain = 0, step_warps = [2, 1]",
                          "inner_chain = 0, step_warps = [1, 16]"});
  expectHonours<planMma>("mma", {"f32", {16, 16, 1000}, {0, 1}},
                         {"columns = 24"});
  expectHonours<planMma>("mma", kLarge, {"piece_slots = 2"});
}

TEST_F(GPUPlanners, MmaSaysWhichFieldIsImpossible) {
  expectRefuses<planMma>("mma", kSquares,
                         {"threads = 50", "columns = 2", "ctas_per_sm = 100",
                          "stages = 999", "tile = 9999", "cluster = 2",
                          "piece_slots = 2", "step_warps = [2]",
                          "step_warps = [1, 1, 1]", "step_warps = [3]"});
  expectRefuses<planMma>("mma", {"f32", {-1, 64}, {1}}, {"inner_chain = 1"});
  expectRefuses<planMma>("mma", {"f32", {-1, 64, 64}, {1, 2}},
                         {"inner_chain = 1", "step_warps = [1, 64]"});
  expectRefuses<planMma>("mma", kLarge, {"ctas_per_sm = 2", "stages = 2"});
  expectRefuses<planMma>("mma", {"f32", {8, 16, 16}, {1, 2}}, {"tile = 9"});
}

TEST_F(GPUPlanners, MmaReaderRefusesWhatIsNoPlan) {
  FusedOp fused = build({"f32", {64, 16, 16}, {1, 2}});
  expectReaderRefuses<readMmaPlan>(fused,
                                   getPlan(planMma(fused, getMachine("h200"))),
                                   {{"threads", 48},
                                    {"threads", 0},
                                    {"tile", 0},
                                    {"tile", 65},
                                    {"columns", 2},
                                    {"stages", 0},
                                    {"ctas_per_sm", 0},
                                    {"cluster", 2},
                                    {"piece_slots", 2},
                                    {"inner_chain", 2}});
  FusedOp large = build(kLarge);
  expectReaderRefuses<readMmaPlan>(
      large, getPlan(planMma(large, getMachine("h200"))),
      {{"stages", 2}, {"piece_slots", 1}, {"piece_slots", 1000}});
}
