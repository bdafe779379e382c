//===- WgmmaPlannerTest.cpp - Plans of wgmma kernels ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/WgmmaPlanner.h"
#include "PlannerTest.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/WgmmaPlan.h"

using namespace mlir;
using namespace mlir::kron;

static const Example kCubes{"f32", {-1, 32, 32, 32}, {1, 2, 3}};

TEST_F(GPUPlanners, WgmmaPlansAreReadAndFit) {
  const Example examples[] = {kCubes,
                              {"f32", {-1, 64, 64}, {1, 2}},
                              {"f32", {-1, 192}, {1}},
                              {"f32", {20, 24, 1000}, {0, 1}},
                              {"f32", {-1, 20, 33}, {1, 2}, {24, 17}},
                              {"f16", {-1, 128}, {1}, {64}},
                              {"bf16", {-1, 32, 32}, {1, 2}}};
  for (const Example &example : examples) {
    for (const char *name : kHopperMachines) {
      SCOPED_TRACE(name + (" " + getName(example)));
      FusedOp fused = build(example);
      GPUMachine machine = getMachine(name);
      GPUPlanAttr plan = getPlan(planWgmma(fused, machine));
      ASSERT_TRUE(plan);
      expectSameWritten<WgmmaChoices>(plan);
      auto read = readWgmmaPlan(fused, plan);
      ASSERT_EQ(getReason(read), "none");
      auto &found = std::get<WgmmaPlan>(read);
      EXPECT_EQ(found.threads, plan.getThreads());
      // Sums of 64 x N, and operands beside them.
      int64_t registers = 0;
      for (const WgmmaStep &step : found.steps)
        registers = std::max(registers, step.paddedResults / 2 + 32);
      expectFits(machine, found.threads, found.ctasPerSM,
                 found.getSharedBytes(), registers);
      // Planned again, it stays.
      fused.setPlanAttr(plan);
      EXPECT_EQ(getPlan(planWgmma(fused, machine)), plan);
    }
  }
}

TEST_F(GPUPlanners, WgmmaNeedsItsInstruction) {
  for (const char *name : {"a100-80", "l4", "rtx5090", "b200"})
    EXPECT_EQ(getReason(planWgmma(build(kCubes), getMachine(name))),
              "the chip has no wgmma instructions");
}

TEST_F(GPUPlanners, WgmmaLeavesSmallFactorsUnlessAskedFor) {
  Example small{"f32", {-1, 16, 16}, {1, 2}};
  EXPECT_EQ(getReason(planWgmma(build(small), getMachine("h200"))),
            "no factor has more than 16 rows or columns");
  getPlan(
      planWgmma(build(small, getPlanText("wgmma", "")), getMachine("h200")));
}

TEST_F(GPUPlanners, WgmmaTilesFollowSharedMemory) {
  // Two CTAs have half of it each.
  Example example{"f32", {-1, 64, 64}, {1, 2}};
  auto getBytes = [&](StringRef fields) {
    FusedOp fused = build(example, getPlanText("wgmma", fields));
    GPUPlanAttr plan = getPlan(planWgmma(fused, getMachine("h200")));
    return std::get<WgmmaPlan>(readWgmmaPlan(fused, plan)).getSharedBytes();
  };
  EXPECT_LT(getBytes("ctas_per_sm = 2"), getBytes("ctas_per_sm = 1"));
}

TEST_F(GPUPlanners, WgmmaRegionsAreEstimatedWithoutIR) {
  const Example examples[] = {
      {"f32", {1024, 32, 32, 32}, {1, 2, 3}},
      {"f32", {64, 50, 40, 300}, {1, 2}},
      {"f32", {20, 24, 1000}, {0, 1}},
      {"f16", {-1, 112, 128}, {1, 2}},
      {"f32", {32, 32, -1}, {0, 1}},
      {"f32", {4096, 20, 33}, {1, 2}, {24, 17}},
      {"f32", {4096, 231}, {1}},
      {"f32", {16384, 64, 64}, {1, 2}, {}, {}, false, {2, 0, 1}},
      {"f32", {128, 1024}, {0}, {}, {}, false, {1, 0}},
      {"bf16", {512, 32, 32}, {1, 2}}};
  GPUMachine machine = getMachine("h200");
  for (const Example &example : examples) {
    SCOPED_TRACE(getName(example));
    FusedOp fused = build(example);
    Problem problem = describeProblem(fused);
    KernelTime time = estimateWgmmaTime(
        fused, getPlan(planWgmma(fused, machine)), problem, machine);
    std::optional<double> seconds = estimateWgmmaRegion(problem, machine);
    ASSERT_TRUE(seconds);
    EXPECT_DOUBLE_EQ(*seconds, time.total);
    EXPECT_GT(time.total, time.floor);
    EXPECT_GT(time.shared, 0);
    EXPECT_GT(time.arithmetic, 0);
  }
}

TEST_F(GPUPlanners, WgmmaRegionsThatNoKernelTakesHaveNoTime) {
  auto estimateRegion = [&](const Example &example) {
    return estimateWgmmaRegion(describeProblem(build(example)),
                               getMachine("h200"));
  };
  // Padded, factors and a tile of any size are more than shared memory has.
  EXPECT_FALSE(estimateRegion({"f32", {1364, 23, 6, 3, 56}, {1, 2, 3, 4}}));
  EXPECT_TRUE(estimateRegion({"f32", {1364, 23, 6, 3, 56}, {3, 4}}));
  EXPECT_FALSE(estimateRegion({"f32", {1000, 16, 16}, {1, 2}}));
  EXPECT_FALSE(estimateRegion({"f64", {1000, 32, 32}, {1, 2}}));
  EXPECT_FALSE(estimateRegion({"f32", {1000, 150, 20}, {1, 2}}));
  EXPECT_TRUE(estimateRegion({"f32", {1000, 150, 20}, {1}}));
  EXPECT_TRUE(estimateRegion({"f16", {1000, 150, 20}, {1}}));
  EXPECT_FALSE(estimateRegion({"f16", {1000, 150, 20}, {1, 2}}));
  EXPECT_FALSE(estimateRegion({"f16", {1000, 520, 20}, {1}}));
  EXPECT_FALSE(
      estimateWgmmaRegion(describeProblem(build(kCubes)), getMachine("l4")));
}

// CTAs that share the columns of a large factor copy single elements each, and
// store them from registers.
TEST_F(GPUPlanners, WgmmaPiecesOfSingleElementsTakeLonger) {
  auto getSeconds = [&](int64_t side, int64_t columns) {
    Problem problem = describeProblem(build({"f32", {side, columns}, {0}}));
    return *estimateWgmmaRegion(problem, getMachine("h200")) /
           problem.inputElements;
  };
  auto getExcess = [&](int64_t side) {
    return getSeconds(side, 400001) - getSeconds(side, 400000);
  };
  EXPECT_GT(getExcess(192), 0);
  EXPECT_GT(getExcess(256), 1.1 * getExcess(192));
}

// Whole tiles of f32 have such elements, too.
TEST_F(GPUPlanners, WgmmaWholeTilesOfSingleElementsTakeLonger) {
  auto getSeconds = [&](const Example &example) {
    Problem problem = describeProblem(build(example));
    return *estimateWgmmaRegion(problem, getMachine("h200"));
  };
  EXPECT_GT(getSeconds({"f32", {31, 31, 30001}, {0, 1}}),
            1.1 * getSeconds({"f32", {32, 32, 30000}, {0, 1}}));
  // Neighbours of the input are apart in a tile.
  Problem apart = describeProblem(build({"f32", {45, 33, 20000}, {0, 1}}));
  double together = *estimateWgmmaRegion(apart, getMachine("h200"));
  apart.readsColumns = true;
  EXPECT_GT(*estimateWgmmaRegion(apart, getMachine("h200")), 1.1 * together);
}

TEST_F(GPUPlanners, WgmmaSharesReadTheInputOnceEach) {
  GPUMachine machine = getMachine("h200");
  FusedOp fused = build({"f32", {200000, 512}, {1}});
  GPUPlanAttr plan = getPlan(planWgmma(fused, machine));
  Problem problem = describeProblem(fused);
  double bytes =
      4 * problem.inputElements *
      double(std::get<WgmmaPlan>(readWgmmaPlan(fused, plan)).getShares());
  EXPECT_GT(estimateWgmmaTime(fused, plan, problem, machine).total,
            GPUResources(machine).getCacheSeconds(bytes));
}

TEST_F(GPUPlanners, WgmmaSingleElementsOfPiecesTakeRegisters) {
  auto getThreads = [&](int64_t columns) {
    return getPlan(planWgmma(build({"f32", {301, columns}, {0}}),
                             getMachine("h200")))
        .getThreads();
  };
  EXPECT_LT(getThreads(79649), getThreads(79648));
}

TEST_F(GPUPlanners, WgmmaWarpgroupsShareFewTiles) {
  // Of an SM's only tile, one warpgroup alone would not keep the matrix units
  // busy; of many tiles each has its own.
  auto getShared = [&](int64_t rows) {
    Example example{"f16", {rows, 32, 16, 16}, {1, 2, 3}};
    FusedOp fused = build(example);
    GPUPlanAttr plan = getPlan(planWgmma(fused, getMachine("h200")));
    return std::get<WgmmaPlan>(readWgmmaPlan(fused, plan)).groupSize;
  };
  EXPECT_GT(getShared(100), 1);
  EXPECT_EQ(getShared(16384), 1);
  EXPECT_EQ(getShared(-1), 1);
}

TEST_F(GPUPlanners, WgmmaTilesLieAsTransposedInputsDo) {
  auto read = [&](const Example &example) {
    FusedOp fused = build(example);
    return std::get<WgmmaPlan>(
        readWgmmaPlan(fused, getPlan(planWgmma(fused, getMachine("h200")))));
  };
  // Rows, whose factor along neighbouring results comes last, though the op
  // has it first.
  Example rows{"f32", {16384, 64, 64}, {1, 2}};
  rows.permutation = {2, 0, 1};
  WgmmaPlan plan = read(rows);
  EXPECT_EQ(plan.turn, WgmmaTurn::Rows);
  EXPECT_EQ(plan.axes.back().fusedAxes.front(), 0u);
  EXPECT_EQ(plan.steps.front().product, 1u);
  EXPECT_EQ(plan.steps.back().product, 0u);
  EXPECT_EQ(plan.getResultAxis().fusedAxes.front(), 2u);
  EXPECT_TRUE(plan.canRefill());
  // Results that go one by one are read across the tile; and what is copied
  // across it is written so.
  auto isSwizzled = [&](Example example, SmallVector<int64_t> permutation,
                        StringRef fields) {
    example.permutation = permutation;
    FusedOp fused = build(example, getPlanText("wgmma", fields));
    GPUPlanAttr chosen = getPlan(planWgmma(fused, getMachine("h200")));
    return std::get<WgmmaPlan>(readWgmmaPlan(fused, chosen)).work.swizzled;
  };
  EXPECT_TRUE(isSwizzled({"f32", {16384, 64}, {1}}, {1, 0}, "stages = 1"));
  EXPECT_FALSE(isSwizzled({"f32", {16384, 63}, {1}}, {1, 0}, "stages = 1"));
  Example squares{"f32", {16, 16, 1024}, {0, 1}};
  EXPECT_TRUE(isSwizzled(squares, {}, "columns = 32"));
  EXPECT_FALSE(isSwizzled(squares, {1, 2, 0}, "columns = 32"));
  // A factor, whose columns are rows of a tile.
  Example columns{"f32", {128, 1024}, {0}};
  columns.permutation = {1, 0};
  plan = read(columns);
  EXPECT_EQ(plan.turn, WgmmaTurn::Columns);
  EXPECT_EQ(plan.axes.back().step, 0);
  EXPECT_EQ(plan.getResultAxis().fusedAxes.front(), 1u);
  // Half of a sector is what lanes would store of 16 bits; fewer rows than fill
  // one do not pay; two factors have no place for columns as rows.
  Example half(rows), few(rows), two{"f32", {64, 64, 1024}, {0, 1}};
  half.element = "f16";
  few.sizes[0] = 7;
  two.permutation = {1, 2, 0};
  for (const Example &example :
       {half, few, two, Example{"f32", {16384, 64, 64}, {1, 2}}})
    EXPECT_EQ(read(example).turn, WgmmaTurn::None) << getName(example);
}

TEST_F(GPUPlanners, WgmmaRanksByTheTimeOfMemory) {
  // Short segments take memory's time alone, which counts less where it is
  // fast.
  Example example{"f32", {32, 32, 32768}, {0, 1}};
  auto getColumns = [&](const char *machine) {
    return getPlan(planWgmma(build(example), getMachine(machine))).getColumns();
  };
  EXPECT_LT(getColumns("h200:copy=20000"), getColumns("h200"));
}

TEST_F(GPUPlanners, WgmmaHonoursWhatIsGiven) {
  expectHonours<planWgmma>("wgmma", {"f32", {-1, 32, 32}, {1, 2}},
                           {"threads = 256", "ctas_per_sm = 2", "stages = 3",
                            "tile = 3", "warpgroups_per_tile = 2",
                            "threads = 384, tile = 2", "regions = [2]"});
  expectHonours<planWgmma>("wgmma", {"f32", {-1, 128}, {1}}, {"k_piece = 64"});
  expectHonours<planWgmma>("wgmma", {"f32", {32, 1024}, {0}}, {"columns = 64"});
}

TEST_F(GPUPlanners, WgmmaSaysWhichFieldIsImpossible) {
  expectRefuses<planWgmma>("wgmma", {"f32", {-1, 32, 32}, {1, 2}},
                           {"threads = 96", "columns = 2", "tile = 512",
                            "stages = 60", "k_piece = 16", "ctas_per_sm = 32",
                            "warpgroups_per_tile = 3"});
}

TEST_F(GPUPlanners, WgmmaReaderRefusesWhatIsNoPlan) {
  FusedOp fused = build({"f32", {-1, 32, 32}, {1, 2}});
  expectReaderRefuses<readWgmmaPlan>(
      fused, getPlan(planWgmma(fused, getMachine("h200"))),
      {{"threads", 96},
       {"threads", 0},
       {"tile", 0},
       {"tile", 1 << 20},
       {"columns", 2},
       {"stages", 0},
       {"ctas_per_sm", 0},
       {"warpgroups_per_tile", 3},
       {"k_piece", 16}});
}
