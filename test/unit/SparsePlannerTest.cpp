//===- SparsePlannerTest.cpp - Plans of one sparse factor -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/SparsePlanner.h"
#include "PlannerTest.h"
#include "kron/Plan/GPU/SmallGroupsPlan.h"
#include "kron/Plan/GPU/SparsePlan.h"

using namespace mlir;
using namespace mlir::kron;

/// Groups side by side, whose products lie beside each other or not.
static const Example kGroups{"f32", {25088, 4, 64, 16}, {2}, {48}, {1, 3}};
static const Example kOpen{"f16", {-1, 8, 192}, {2}, {48}, {1}};
static const Example kRowsLast{"f32", {6, 64, 25088}, {1}, {64}, {0}};
/// Of threads, and of warps.
static const Example kSmall{"f16", {25088, 512, 8}, {2}, {56}, {1}, true};
static const Example kSmallMma{"bf16", {25088, 64, 16}, {2}, {24}, {1}, true};

static SmallVector<GPUPlanAttr> planAll(FusedOp fused,
                                        const GPUMachine &machine) {
  auto plans = planSparse(fused, machine);
  EXPECT_EQ(getReason(plans), "none");
  return std::get<SmallVector<GPUPlanAttr>>(plans);
}

//===----------------------------------------------------------------------===//
// sparse
//===----------------------------------------------------------------------===//

TEST_F(GPUPlanners, SparsePlansAreReadAndFit) {
  const Example examples[] = {kGroups,
                              kOpen,
                              kRowsLast,
                              {"f32", {-1, 3, 7}, {2}, {5}, {1}},
                              {"f16", {1000, 2, 100, 12}, {2}, {40}, {1, 3}},
                              {"bf16", {4, 256, 25088}, {1}, {192}, {0}},
                              {"f64", {25088, 4, 32}, {2}, {32}, {1}},
                              {"f32", {4, 512, 512}, {2}}};
  for (const Example &example : examples) {
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + getName(example)));
      FusedOp fused = build(example);
      GPUMachine machine = getMachine(name);
      for (GPUPlanAttr plan : planAll(fused, machine)) {
        if (plan.getKernel() != GPUKernel::Sparse)
          continue;
        SCOPED_TRACE(getText(plan));
        EXPECT_TRUE(plan.isComplete());
        expectSamePrinted(plan);
        auto read = readSparsePlan(fused, plan);
        ASSERT_EQ(getReason(read), "none");
        auto &found = std::get<SparsePlan>(read);
        EXPECT_EQ(writeSparsePlan(&context, found), plan.without("min_rows"));
        EXPECT_TRUE(machine.hasWgmma || !found.usesWgmma);
        int64_t words = found.element.isF64() ? 2 : 1;
        expectFits(machine, found.getThreads(), found.ctasPerSM,
                   found.getSharedBytes(), 4 * words * found.getSums());
        // Few rows alone are not what there are.
        if (found.skinnyM)
          continue;
        fused.setPlanAttr(plan);
        EXPECT_EQ(getPlan(planSparse(fused, machine)), plan);
        fused.removePlanAttr();
      }
    }
  }
}

TEST_F(GPUPlanners, SparseHasPlansForFewRowsWhereTheirNumberIsOpen) {
  FusedOp fused = build(kOpen);
  SmallVector<GPUPlanAttr> plans = planAll(fused, getMachine("h200"));
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].get("min_rows"), kSparseSkinnyM + 1);
  EXPECT_FALSE(plans[1].has("min_rows"));
  EXPECT_EQ(plans[1].get("skinny_m"), kSparseSkinnyM);
  fused.setPlanAttr(plans[1]);
  EXPECT_EQ(getReason(planSparse(fused, getMachine("h200"))),
            "expects skinny_m to be 0 where no plan before takes more rows, "
            "but got 15");
}

TEST_F(GPUPlanners, SparseUsesWarpgroupsWhereThereAreSome) {
  auto usesWgmma = [&](StringRef name) {
    return getPlan(planSparse(build(kGroups), getMachine(name))).get("wgmma");
  };
  EXPECT_EQ(usesWgmma("a100-80"), 0);
  FusedOp fused = build({"f32", {25088, 2048}, {1}});
  GPUPlanAttr plan = getPlan(planSparse(fused, getMachine("h200")));
  EXPECT_EQ(plan.get("wgmma"), 1);
  fused.setPlanAttr(plan);
  EXPECT_EQ(getReason(planSparse(fused, getMachine("a100-80"))),
            "the machine has no wgmma");
}

// Chunks of a row of K are exchanged among eight that follow each other, so a
// tile has whole groups of 32 results.
// A part of the factor that a single tile of rows needs is not worth preparing.
TEST_F(GPUPlanners, SparsePreparesNoFactorForOneTile) {
  auto usesWgmma = [&](int64_t rows, int64_t groups) {
    Example example{"f16", {rows, groups, 102, 118}, {2}, {111}, {1, 3}};
    return getPlan(planSparse(build(example), getMachine("h200"))).get("wgmma");
  };
  for (int64_t rows : {2, 40, 64})
    EXPECT_EQ(usesWgmma(rows, 17), 0) << rows;
  EXPECT_EQ(usesWgmma(1000, 17), 1);
}

TEST_F(GPUPlanners, SparseSwapsOperandsOfWholeGroups) {
  for (int64_t rows : {112, 144, 176, 208, 240}) {
    SCOPED_TRACE(rows);
    FusedOp fused = build({"f32", {128, rows}, {0}, {16384}, {}, true});
    GPUPlanAttr plan = getPlan(planSparse(fused, getMachine("h200")));
    if (!plan.get("swaps_operands"))
      continue;
    auto found = std::get<SparsePlan>(readSparsePlan(fused, plan));
    EXPECT_EQ(found.getResults() % 32, 0);
    int64_t tiles = plan.get("result_tiles");
    std::string reason =
        getReason(readSparsePlan(fused, plan.with("result_tiles", tiles - 1)));
    EXPECT_NE(reason.find("result_tiles"), std::string::npos) << reason;
  }
  FusedOp fused = build({"f32", {128, 240}, {0}, {16384}, {}, true});
  EXPECT_EQ(
      getPlan(planSparse(fused, getMachine("h200"))).get("swaps_operands"), 1);
}

TEST_F(GPUPlanners, SparseShrinksWithSharedMemory) {
  auto getBytes = [&](StringRef name) {
    FusedOp fused = build(kRowsLast);
    GPUPlanAttr plan = getPlan(planSparse(fused, getMachine(name)));
    auto found = std::get<SparsePlan>(readSparsePlan(fused, plan));
    return found.getSharedBytes() * found.ctasPerSM;
  };
  EXPECT_LT(getBytes("l4"), getBytes("a100-80"));
}

TEST_F(GPUPlanners, SparseHonoursWhatIsGiven) {
  expectHonours<planSparse>(
      "sparse", kGroups,
      {"threads = 128", "ctas_per_sm = 1", "stages = 3", "k_step = 16",
       "row_tiles = 2", "result_tiles = 2", "row_warps = 2", "result_warps = 2",
       "keeps_factor = 1", "wgmma = 0", "bf16_residuals = 0", "regions = [1]"});
}

TEST_F(GPUPlanners, SparseSaysWhichFieldIsImpossible) {
  expectRefuses<planSparse>("sparse", kGroups,
                            {"threads = 96", "ctas_per_sm = 33", "stages = 65",
                             "row_tiles = 64", "result_tiles = 63",
                             "row_warps = 3", "k_step = 60000",
                             "chunk_bytes = 48", "copies_singly = 1"});
  expectRefuses<planSparse>("sparse", kGroups, {"wgmma = 1"}, "a100-80");
}

TEST_F(GPUPlanners, SparseReaderRefusesWhatIsNoPlan) {
  FusedOp fused = build(kGroups);
  expectReaderRefuses<readSparsePlan>(
      fused, getPlan(planSparse(fused, getMachine("a100-80"))),
      {{"ctas_per_sm", 0},
       {"stages", 1},
       {"row_tiles", 0},
       {"row_tiles", 64},
       {"row_warps", 3},
       {"result_warps", 32},
       {"warp_groups", 16},
       {"warp_groups", 3},
       {"k_step", 3},
       {"chunk_bytes", 48},
       {"copies_singly", 1},
       {"lane_chunks", 5},
       {"skinny_m", 3},
       {"shift", 4},
       {"shift", 3}});
}

//===----------------------------------------------------------------------===//
// small groups
//===----------------------------------------------------------------------===//

TEST_F(GPUPlanners, SmallGroupsAreReadAndFit) {
  for (const Example &example :
       {kSmall, kSmallMma, Example{"f32", {-1, 4096, 1}, {2}, {7}, {1}}}) {
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + getName(example)));
      FusedOp fused = build(example);
      GPUMachine machine = getMachine(name);
      auto planned = planSmallGroups(fused, machine);
      ASSERT_EQ(getReason(planned), "none");
      auto plan = std::get<GPUPlanAttr>(planned);
      expectSameWritten<SmallGroupsChoices>(plan);
      auto read = readSmallGroupsPlan(fused, plan);
      ASSERT_EQ(getReason(read), "none");
      auto &found = std::get<SmallGroupsPlan>(read);
      EXPECT_EQ(found.usesMma, example.element == "bf16");
      EXPECT_EQ(found.usesMma, found.blockChunks == 0);
      expectFits(machine, found.threads, found.ctasPerSM, 0, 40);
      // Tiles stand behind it, for arrays that are not aligned.
      SmallVector<GPUPlanAttr> all = planAll(fused, machine);
      EXPECT_EQ(all.front().without("min_rows"), plan);
      EXPECT_EQ(all[1].getKernel(), GPUKernel::Sparse);
      fused.setPlanAttr(plan);
      EXPECT_EQ(std::get<GPUPlanAttr>(planSmallGroups(fused, machine)), plan);
    }
  }
}

TEST_F(GPUPlanners, SmallGroupsNeedManyGroupsUnlessAskedFor) {
  Example few{"f16", {25088, 4, 8}, {2}, {56}, {1}};
  GPUMachine machine = getMachine("h200");
  EXPECT_EQ(getReason(planSmallGroups(build(few), machine)),
            "there are few rows, or few groups");
  EXPECT_EQ(getReason(planSmallGroups(
                build(few, getPlanText("small_groups", "")), machine)),
            "none");
}

TEST_F(GPUPlanners, SmallGroupsHonourWhatIsGiven) {
  expectHonours<planSparse>("sparse", kSmall, {"ctas_per_sm = 1"});
  const std::pair<const Example &, const char *> given[] = {
      {kSmall, "threads = 64, row_chunks = 32"},
      {kSmall, "row_tiles = 2"},
      {kSmall, "ctas_per_sm = 1"},
      {kSmallMma, "result_tiles = 8"},
      {kSmallMma, "threads = 256"}};
  for (auto [example, fields] : given) {
    SCOPED_TRACE(fields);
    std::string text = getPlanText("small_groups", fields);
    auto plan = planSmallGroups(build(example, text), getMachine("h200"));
    ASSERT_EQ(getReason(plan), "none");
    EXPECT_EQ(
        findContradiction(cast<GPUPlanAttr>(parseAttribute(text, &context)),
                          std::get<GPUPlanAttr>(plan)),
        "");
  }
}

TEST_F(GPUPlanners, SmallGroupsSayWhichFieldIsImpossible) {
  expectRefuses<planSmallGroups>("small_groups", kSmall,
                                 {"threads = 33", "ctas_per_sm = 65",
                                  "row_tiles = 17", "result_tiles = 4"});
  expectRefuses<planSmallGroups>("small_groups", kSmallMma,
                                 {"result_tiles = 3", "row_chunks = 2"});
  FusedOp fused = build(kSmall);
  expectReaderRefuses<readSmallGroupsPlan>(
      fused, std::get<GPUPlanAttr>(planSmallGroups(fused, getMachine("h200"))),
      {{"threads", 33},
       {"ctas_per_sm", 65},
       {"row_tiles", 17},
       {"row_chunks", 0},
       {"result_tiles", 4}});
}
