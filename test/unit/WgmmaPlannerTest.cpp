//===- WgmmaPlannerTest.cpp - Plans of wgmma kernels ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/WgmmaPlanner.h"
#include "PlannerTest.h"
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
