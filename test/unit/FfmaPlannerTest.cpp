//===- FfmaPlannerTest.cpp - Plans of FFMA and DMMA kernels -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/FfmaPlanner.h"
#include "PlannerTest.h"
#include "kron/Mapping/GPU/DmmaPlanner.h"
#include "kron/Plan/GPU/DmmaPlan.h"
#include "kron/Plan/GPU/FfmaPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Axes of the ends, the middle and all of an array, sizes that 16 bytes do not
/// divide, and axes that factors make longer.
static std::vector<Example> getRegions() {
  return {{"f32", {-1, 8, 8}, {1, 2}, {}},
          {"f32", {-1, 16, 16, 16}, {1, 2, 3}, {}},
          {"f32", {4, 4, 64}, {0, 1}, {}},
          {"f32", {16, 16, 1000}, {0, 1}, {}},
          {"f32", {-1, 5}, {1}, {3}},
          {"f64", {5, 5, 125}, {0, 1}, {}},
          {"f64", {-1, 2, 1, 3}, {1, 2, 3}, {2, 2, 2}},
          {"f64", {-1, 11, 13, 7}, {1, 2, 3}, {}},
          {"f64", {100, 4, 33, 4}, {1, 3}, {16, 5}}};
}

static std::vector<Example> getOctets() {
  return {{"f64", {-1, 8, 8}, {1, 2}, {}},
          {"f64", {8, 8, 4096}, {0, 1}, {}},
          {"f64", {-1, 8, 8, 8}, {1, 2, 3}, {}},
          {"f64", {8, 8, 8, 64}, {0, 1, 2}, {}},
          {"f64", {8, 8, 8, 8, 512}, {0, 1, 2, 3}, {}}};
}

//===----------------------------------------------------------------------===//
// ffma
//===----------------------------------------------------------------------===//

TEST_F(GPUPlanners, FfmaPlansAreReadAndFit) {
  for (const Example &example : getRegions()) {
    for (const char *name : kMachines) {
      FusedOp fused = build(example);
      SCOPED_TRACE(name + (" " + getShape(example.sizes, example.element)));
      GPUMachine machine = getMachine(name);
      GPUPlanAttr plan = getPlan(planFfma(fused, machine));
      ASSERT_TRUE(plan);
      expectSameWritten<FfmaChoices>(plan);
      auto read = readFfmaPlan(fused, plan);
      ASSERT_TRUE(std::holds_alternative<FfmaPlan>(read))
          << std::get<std::string>(read);
      auto &found = std::get<FfmaPlan>(read);
      EXPECT_EQ(found.threads, plan.getThreads());
      EXPECT_EQ(found.extents, SmallVector<int64_t>(plan.getList("extents")));
      EXPECT_LE(found.getSharedBytes(),
                machine.getSharedBytes(found.ctasPerSM));
      // A thread has registers for its values and accumulators.
      int64_t values = 0;
      for (const FfmaGroup &group : found.groups)
        values = std::max(values, group.values * group.batch);
      EXPECT_GE(machine.getRegistersPerThread(found.threads, found.ctasPerSM),
                values * found.elementBytes / 4);
      EXPECT_LE(found.threads * found.ctasPerSM, machine.maxThreadsPerSM);
    }
  }
}

TEST_F(GPUPlanners, FfmaIsPlannedOnce) {
  GPUMachine machine = getMachine("h200");
  for (const Example &example : getRegions()) {
    FusedOp fused = build(example);
    GPUPlanAttr plan = getPlan(planFfma(fused, machine));
    fused.setPlanAttr(plan);
    EXPECT_EQ(getPlan(planFfma(fused, machine)), plan);
    // What the search would not choose.
    fused.setPlanAttr(plan.with("threads", 992));
    EXPECT_EQ(getPlan(planFfma(fused, machine)).getThreads(), 992);
  }
}

TEST_F(GPUPlanners, FfmaShrinksWithSharedMemory) {
  // A tile of 16 KiB is in flight while another one is worked on.
  Example example{"f32", {-1, 16, 16}, {1, 2}, {}};
  int64_t last = std::numeric_limits<int64_t>::max();
  for (const char *name : {"h200", "a100-80", "l4"}) {
    GPUPlanAttr plan = getPlan(planFfma(build(example), getMachine(name)));
    EXPECT_LE(plan.getCtasPerSm(), last) << name;
    last = plan.getCtasPerSm();
  }
  EXPECT_LT(
      last,
      getPlan(planFfma(build(example), getMachine("h200"))).getCtasPerSm());
  // What a thread of a machine has does not follow from its rates.
  EXPECT_EQ(getPlan(planFfma(build(example), getMachine("h200"))),
            getPlan(planFfma(build(example), getMachine("h200:copy=1000"))));
}

TEST_F(GPUPlanners, FfmaReadsAndWritesRegistersWhereLanesAreColumns) {
  FusedOp fused = build({"f32", {4, 4, 64}, {0, 1}, {}});
  GPUPlanAttr plan = getPlan(planFfma(fused, getMachine("h200")));
  EXPECT_EQ(plan.get("ring_slots"), 0);
  EXPECT_TRUE(std::get<FfmaPlan>(readFfmaPlan(fused, plan)).direct);
}

TEST_F(GPUPlanners, FfmaRequiresAlignmentWhereVectorsAreCopied) {
  GPUMachine machine = getMachine("h200");
  EXPECT_EQ(getPlan(planFfma(build({"f32", {-1, 8}, {1}, {}}), machine))
                .get("alignment"),
            16);
  EXPECT_FALSE(getPlan(planFfma(build({"f32", {-1, 5}, {1}, {}}), machine))
                   .has("alignment"));
  // Arrays that may lie anywhere are copied element by element.
  FusedOp fused = build({"f32", {-1, 8}, {1}, {}},
                        "#kron.gpu_plan<kernel = ffma, alignment = 0>");
  GPUPlanAttr plan = getPlan(planFfma(fused, machine));
  EXPECT_EQ(plan.get("alignment"), 0);
  EXPECT_EQ(std::get<FfmaPlan>(readFfmaPlan(fused, plan)).copyWidth, 1);
}

TEST_F(GPUPlanners, FfmaLeavesRegistersForFibresOfATurn) {
  // Two fibres of 11 f64, their results and 24 others; warps are spread over
  // four schedulers.
  GPUMachine machine = getMachine("h200");
  GPUPlanAttr plan = getPlan(
      planFfma(build({"f64", {1, 6, 11, 9, 216}, {1, 2, 3}, {}}), machine));
  EXPECT_GE(machine.registersPerSM / llvm::alignTo(plan.getThreads(), 128),
            2 * 2 * (11 + 11) + 24);
}

TEST_F(GPUPlanners, FfmaHonoursWhatIsGiven) {
  Example example{"f32", {-1, 8, 8}, {1, 2}, {}};
  auto getGiven = [&](StringRef fields) {
    std::string plan = ("#kron.gpu_plan<kernel = ffma, " + fields + ">").str();
    return getPlan(planFfma(build(example, plan), getMachine("h200")));
  };
  EXPECT_EQ(getGiven("threads = 96").getThreads(), 96);
  EXPECT_EQ(getGiven("ctas_per_sm = 3").getCtasPerSm(), 3);
  EXPECT_EQ(getGiven("ring_slots = 70").get("ring_slots"), 70);
  EXPECT_EQ(getGiven("block_results = 8").get("block_results"), 8);
  EXPECT_EQ(getGiven("streamed_results = 8").get("streamed_results"), 8);
  EXPECT_EQ(getGiven("copies = 2").get("copies"), 2);
  EXPECT_EQ(getGiven("extents = [32, 8, 8]").getList("extents").front(), 32);
  EXPECT_EQ(getGiven("tile = 7").getList("extents").front(), 7);
  EXPECT_EQ(getGiven("stages = 3, tile = 4").get("ring_slots"), 12);
  EXPECT_FALSE(getGiven("regions = [2]").has("regions"));
}

TEST_F(GPUPlanners, FfmaSaysWhichFieldIsImpossible) {
  Example example{"f32", {-1, 8, 8}, {1, 2}, {}};
  auto getReasonOf = [&](StringRef fields) {
    std::string plan = ("#kron.gpu_plan<kernel = ffma, " + fields + ">").str();
    return getReason(planFfma(build(example, plan), getMachine("h200")));
  };
  EXPECT_EQ(getReasonOf("ctas_per_sm = 33"),
            "no ffma plan has ctas_per_sm = 33");
  EXPECT_EQ(getReasonOf("ring_slots = 100000"),
            "no ffma plan has ring_slots = 100000");
  EXPECT_EQ(
      getReasonOf("extents = [4, 8, 4]"),
      "expects extents to be 8 on axis 2, which is contracted, but got 4");
  EXPECT_EQ(getReasonOf("block_results = 3"),
            "expects block_results to be a multiple of 4, but got 3");
  EXPECT_EQ(getReasonOf("streamed_results = 2"),
            "expects streamed_results to be a multiple of 4, but got 2");
  EXPECT_EQ(getReasonOf("alignment = 12"),
            "expects alignment to be a power of two, but got 12");
}

TEST_F(GPUPlanners, FfmaReaderRefusesWhatIsNoPlan) {
  Example example{"f32", {-1, 8, 8}, {1, 2}, {}};
  auto getReasonOf = [&](StringRef extents, int64_t threads, int64_t slots) {
    std::string plan =
        ("#kron.gpu_plan<kernel = ffma, ctas_per_sm = 1, extents = [" +
         extents + "], threads = " + Twine(threads) +
         ", ring_slots = " + Twine(slots) + ">")
            .str();
    return getReadReason<readFfmaPlan>(example, plan);
  };
  EXPECT_EQ(getReasonOf("4, 8, 8", 32, 8), "none");
  EXPECT_EQ(getReasonOf("4, 8, 8", 32, 3),
            "expects ring_slots to be at least 4, the positions of a tile on "
            "axis 0, but got 3");
  EXPECT_EQ(getReasonOf("8, 8", 32, 8),
            "expects extents to have 3 numbers, one per axis, but got 2");
  EXPECT_EQ(
      getReasonOf("2147483647, 8, 8", 32, 8),
      "expects extents to be of at most 16777216 elements in all, but got "
      "more");
  EXPECT_EQ(getReadReason<readFfmaPlan>(
                {"f32", {4, 4, 64}, {0, 1}, {}},
                "#kron.gpu_plan<kernel = ffma, extents = [4, 4, 64], threads = "
                "64, ctas_per_sm = 1, ring_slots = 4>"),
            "expects ring_slots to be 0, as no tile lies in shared memory, but "
            "got 4");
  EXPECT_EQ(getReadReason<readFfmaPlan>(
                {"f32", {-1, 17}, {1}, {}},
                "#kron.gpu_plan<kernel = ffma, extents = [4, 17], threads = "
                "64, ctas_per_sm = 1, ring_slots = 8>"),
            "a factor has more than 16 rows or columns");
}

//===----------------------------------------------------------------------===//
// dmma
//===----------------------------------------------------------------------===//

TEST_F(GPUPlanners, DmmaPlansAreReadAndFit) {
  for (const Example &example : getOctets()) {
    for (const char *name : kHopperMachines) {
      FusedOp fused = build(example);
      SCOPED_TRACE(name + (" " + getShape(example.sizes, example.element)));
      GPUMachine machine = getMachine(name);
      GPUPlanAttr plan = getPlan(planDmma(fused, machine));
      ASSERT_TRUE(plan);
      expectSameWritten<DmmaChoices>(plan);
      EXPECT_EQ(plan.get("alignment"), 16);
      auto read = readDmmaPlan(fused, plan);
      ASSERT_TRUE(std::holds_alternative<DmmaPlan>(read))
          << std::get<std::string>(read);
      auto &found = std::get<DmmaPlan>(read);
      EXPECT_EQ(32 * found.warps, plan.getThreads());
      EXPECT_LE(found.getSharedBytes(),
                machine.getSharedBytes(found.ctasPerSM));
      EXPECT_GE(
          machine.getRegistersPerThread(32 * found.warps, found.ctasPerSM), 80);
      // Planned again, it stays.
      fused.setPlanAttr(plan);
      EXPECT_EQ(getPlan(planDmma(fused, machine)), plan);
    }
  }
}

TEST_F(GPUPlanners, DmmaShrinksWithSharedMemory) {
  Example example{"f64", {-1, 8, 8, 8}, {1, 2, 3}, {}};
  GPUPlanAttr large = getPlan(planDmma(build(example), getMachine("h200")));
  GPUPlanAttr small = getPlan(planDmma(build(example), getMachine("rtx5090")));
  EXPECT_LT(small.getCtasPerSm(), large.getCtasPerSm());
  EXPECT_EQ(
      getReason(planDmma(build(getOctets().back()), getMachine("rtx5090"))),
      "a tile of 229376 bytes does not fit in the 101376 bytes of shared "
      "memory");
}

TEST_F(GPUPlanners, DmmaSharesTilesThatOneCtaCannotHold) {
  FusedOp fused = build({"f64", {8, 8, 8, 8, 512}, {0, 1, 2, 3}, {}});
  GPUPlanAttr plan = getPlan(planDmma(fused, getMachine("h200")));
  EXPECT_EQ(plan.getCluster(), 2);
  EXPECT_EQ(SmallVector<int64_t>(plan.getList("extents")),
            SmallVector<int64_t>({8, 8, 8, 8, 8}));
  auto found = std::get<DmmaPlan>(readDmmaPlan(fused, plan));
  EXPECT_EQ(found.extents.front(), 4);
  EXPECT_EQ(found.slots, 4);
  EXPECT_EQ(
      getReason(planDmma(build({"f64", {8, 8, 8, 8, 512}, {0, 1, 2, 3}, {}},
                               "#kron.gpu_plan<kernel = dmma, cluster = 1>"),
                         getMachine("h200"))),
      "no dmma plan has cluster = 1");
}

TEST_F(GPUPlanners, DmmaNeedsItsInstruction) {
  for (const char *name : {"a100-80", "l4"})
    EXPECT_EQ(getReason(planDmma(build(getOctets().front()), getMachine(name))),
              "the GPU has no f64 mma.sync of shape m16n8k8");
}

TEST_F(GPUPlanners, DmmaHonoursWhatIsGiven) {
  Example example{"f64", {-1, 8, 8, 8}, {1, 2, 3}, {}};
  auto getGiven = [&](StringRef fields) {
    std::string plan = ("#kron.gpu_plan<kernel = dmma, " + fields + ">").str();
    return getPlan(planDmma(build(example, plan), getMachine("h200")));
  };
  EXPECT_EQ(getGiven("threads = 64").getThreads(), 64);
  EXPECT_EQ(getGiven("ctas_per_sm = 2").getCtasPerSm(), 2);
  EXPECT_EQ(getGiven("ring_slots = 4").get("ring_slots"), 4);
  EXPECT_EQ(getGiven("stages = 3").get("ring_slots"), 3);
  EXPECT_EQ(getGiven("extents = [2, 8, 8, 8]").getList("extents").front(), 2);
  EXPECT_EQ(getGiven("tile = 4").getList("extents").front(), 4);
  EXPECT_FALSE(getGiven("regions = [3]").has("regions"));
}

TEST_F(GPUPlanners, DmmaSaysWhichFieldIsImpossible) {
  Example example{"f64", {-1, 8, 8, 8}, {1, 2, 3}, {}};
  auto getReasonOf = [&](StringRef fields) {
    std::string plan = ("#kron.gpu_plan<kernel = dmma, " + fields + ">").str();
    return getReason(planDmma(build(example, plan), getMachine("h200")));
  };
  EXPECT_EQ(getReasonOf("threads = 96"),
            "expects threads to be a power of two in [32, 1024], but got 96");
  EXPECT_EQ(getReasonOf("ctas_per_sm = 9"), "no dmma plan has ctas_per_sm = 9");
  EXPECT_EQ(getReasonOf("ring_slots = 100"),
            "no dmma plan has ring_slots = 100");
  EXPECT_EQ(getReasonOf("ring_slots = 1"),
            "expects ring_slots to be at least 2, but got 1");
  EXPECT_EQ(getReasonOf("cluster = 2"), "no dmma plan has cluster = 2");
  EXPECT_EQ(getReasonOf("alignment = 8"), "no dmma plan has alignment = 8");
  EXPECT_EQ(getReasonOf("extents = [3, 8, 8, 8]"),
            "expects extents to be a power of two on axis 0, but got 3");
}

TEST_F(GPUPlanners, DmmaReaderRefusesWhatIsNoPlan) {
  auto getReasonOf = [&](StringRef extents, StringRef fields) {
    std::string plan = ("#kron.gpu_plan<kernel = dmma, ctas_per_sm = 1, "
                        "extents = [" +
                        extents + "], " + fields + ">")
                           .str();
    return getReadReason<readDmmaPlan>({"f64", {8, 8, 512}, {0, 1}, {}}, plan);
  };
  EXPECT_EQ(getReasonOf("8, 8, 64", "alignment = 16, threads = 128, "
                                    "ring_slots = 2"),
            "none");
  EXPECT_EQ(getReasonOf("8, 8, 64", "threads = 128, ring_slots = 2"),
            "expects alignment to be 16, as pairs of elements are copied, but "
            "got 0");
  EXPECT_EQ(
      getReasonOf("8, 8, 1", "alignment = 16, threads = 32, "
                             "ring_slots = 2"),
      "expects extents to be at least 2 on axis 2, the innermost one, but "
      "got 1");
  EXPECT_EQ(getReasonOf("8, 8, 2", "alignment = 16, threads = 32, "
                                   "ring_slots = 2"),
            "expects extents to be of other than 2 elements inside of axis 1");
  EXPECT_EQ(getReasonOf("8, 8, 64", "alignment = 16, threads = 1024, "
                                    "ring_slots = 2"),
            "none");
  EXPECT_EQ(getReasonOf("8, 8, 4", "alignment = 16, threads = 128, "
                                   "ring_slots = 2"),
            "expects threads to be a power of two in [32, 64], but got 128");
}
