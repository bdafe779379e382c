//===- SimtPlannerTest.cpp - Plans of general kernels -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/SimtPlanner.h"
#include "PlannerTest.h"
#include "kron/Plan/GPU/SimtPlan.h"

using namespace mlir;
using namespace mlir::kron;

static const Example kSquares{"f32", {-1, 8, 8}, {1, 2}};

static SimtPlan readSimt(FusedOp fused, GPUPlanAttr plan) {
  return std::get<SimtPlan>(readSimtPlan(fused, plan));
}

TEST_F(GPUPlanners, SimtPlansAreReadAndFit) {
  const Example examples[] = {kSquares,
                              {"f32", {-1, 100, 60}, {1, 2}, {30, 70}},
                              {"f64", {5, 3, -1}, {0, 1}},
                              {"i32", {-1, 7}, {1}, {9}},
                              {"complex<f64>", {-1, 16, 16}, {1, 2}},
                              {"f16", {-1, 4, 12}, {2}, {5}, {1}},
                              {"i64", {64, 32, 1000}, {0, 1}}};
  for (const Example &example : examples) {
    for (const char *name : kMachines) {
      SCOPED_TRACE(name + (" " + getName(example)));
      FusedOp fused = build(example);
      GPUMachine machine = getMachine(name);
      GPUPlanAttr plan = getPlan(planSimt(fused, machine));
      ASSERT_TRUE(plan);
      expectSamePrinted(plan);
      ASSERT_EQ(getReason(readSimtPlan(fused, plan)), "none");
      SimtPlan found = readSimt(fused, plan);
      size_t factors = 0;
      for (const SimtLaunch &launch : found.launches) {
        factors += launch.steps.size();
        expectFits(machine, found.threads, launch.ctasPerSM, launch.sharedBytes,
                   32);
      }
      EXPECT_EQ(factors, example.axes.size());
      fused.setPlanAttr(plan);
      EXPECT_EQ(getPlan(planSimt(fused, machine)), plan);
    }
  }
}

TEST_F(GPUPlanners, SimtShrinksWithSharedMemory) {
  // Both factors in one launch take two buffers of 80000 bytes.
  Example example{"f64", {-1, 100, 100}, {1, 2}};
  FusedOp fused = build(example);
  auto count = [&](StringRef name) {
    return readSimt(fused, getPlan(planSimt(fused, getMachine(name))))
        .launches.size();
  };
  EXPECT_EQ(count("h200"), 1u);
  EXPECT_EQ(count("l4"), 2u);
  // A plan from elsewhere.
  fused.setPlanAttr(getPlan(planSimt(fused, getMachine("h200"))));
  EXPECT_NE(getReason(planSimt(fused, getMachine("l4"))), "none");
  EXPECT_EQ(
      getReason(planSimt(build({"f64", {-1, 30000}, {1}}), getMachine("h200"))),
      "one fibre of a factor does not fit shared memory");
  EXPECT_EQ(getReason(planSimt(
                build({"complex<f64>", {-1, 12}, {1}},
                      getPlanText("simt", "threads = 1024, ctas_per_sm = 2")),
                getMachine("h200"))),
            "one result of a fibre does not fit in the 32 registers of a "
            "thread that 1024 threads and 2 CTAs per SM leave");
}

TEST_F(GPUPlanners, SimtHonoursWhatIsGiven) {
  expectHonours<planSimt>("simt", kSquares,
                          {"threads = 64", "regions = [2]",
                           "launches = [{factors = 1, extents = [2, 8, 8], "
                           "ctas_per_sm = 1}, {factors = 1, extents = [1, 8, "
                           "3], ctas_per_sm = 2}], threads = 64"});
  auto getLaunch = [&](const Example &example, StringRef fields) {
    FusedOp fused = build(example, getPlanText("simt", fields));
    return readSimt(fused, getPlan(planSimt(fused, getMachine("h200"))))
        .launches.front();
  };
  EXPECT_EQ(getLaunch(kSquares, "tile = 3").extents.front().front(), 3);
  EXPECT_EQ(getLaunch(kSquares, "ctas_per_sm = 2").ctasPerSM, 2);
  EXPECT_EQ(
      getLaunch({"f32", {8, 100}, {0}}, "columns = 24").extents.front().back(),
      24);
}

TEST_F(GPUPlanners, SimtReaderRefusesWhatIsNoPlan) {
  auto getReasonOf = [&](StringRef launches) {
    return getReadReason<readSimtPlan>(
        kSquares,
        getPlanText("simt",
                    ("threads = 64, launches = [" + launches + "]").str()));
  };
  EXPECT_EQ(getReasonOf("{factors = 2, extents = [4, 8, 8], ctas_per_sm = 1}"),
            "none");
  EXPECT_EQ(getReasonOf("{factors = 1, extents = [4, 8, 8], ctas_per_sm = 1}"),
            "expects launches to apply 2 factors, but got 1");
  EXPECT_EQ(getReasonOf("{factors = 3, extents = [4, 8, 8], ctas_per_sm = 1}"),
            "expects factors of launch 1 to be in [1, 2], but got 3");
  EXPECT_EQ(getReasonOf("{factors = 2, extents = [8, 8], ctas_per_sm = 1}"),
            "expects extents to have 3 numbers, one per axis, but got 2");
  EXPECT_EQ(
      getReasonOf("{factors = 2, extents = [4, 8, 4], ctas_per_sm = 1}"),
      "expects extents of axis 2, which is contracted, to be 8, but got 4");
  EXPECT_EQ(getReasonOf("{factors = 2, extents = [4, 8, 8], ctas_per_sm = 0}"),
            "expects ctas_per_sm to be positive, but got 0");
  auto getReasonOfBlocks = [&](StringRef blocks) {
    return getReasonOf(
        ("{factors = 2, extents = [1, 8, 8], ctas_per_sm = 1, " + blocks + "}")
            .str());
  };
  EXPECT_EQ(getReasonOfBlocks("fibres = [8, 2], results = [3, 8]"), "none");
  EXPECT_EQ(getReasonOfBlocks("fibres = [8]"),
            "expects fibres to have 2 numbers, one per factor, but got 1");
  EXPECT_EQ(getReasonOfBlocks("results = [8, 8, 8]"),
            "expects results to have 2 numbers, one per factor, but got 3");
  EXPECT_EQ(getReasonOfBlocks("fibres = [4, 9]"),
            "expects fibres of factor 2 to be in [1, 8], but got 9");
  EXPECT_EQ(getReasonOfBlocks("results = [9, 8]"),
            "expects results of factor 1 to be in [1, 8], but got 9");
}

TEST_F(GPUPlanners, SimtSharesLoadsWhereThatHelps) {
  auto getStep = [&](const Example &example) {
    FusedOp fused = build(example);
    return readSimt(fused, getPlan(planSimt(fused, getMachine("h200"))))
        .launches.front()
        .steps.front();
  };
  // Large factors: a thread loads an element for each of several products.
  SimtStep large = getStep({"complex<f64>", {4096, 128}, {1}});
  EXPECT_GT(large.fibres, 1);
  EXPECT_GT(large.block, 1);
  // Sums of complex f64 take four registers each.
  EXPECT_LE(4 * large.fibres * large.block, 128);
}

/// Rows of 23 products of 20 x 9.
static const Example kVarying{"f32", {1000, 20, 23}, {1}, {9}, {2}};

TEST_F(GPUPlanners, SimtLoadsFactorsThatVaryDirectly) {
  auto getLaunch = [&](const Example &example, StringRef name) {
    FusedOp fused = build(example);
    GPUMachine machine = getMachine(name);
    GPUPlanAttr plan = getPlan(planSimt(fused, machine));
    expectSamePrinted(plan);
    EXPECT_TRUE(estimateSimt(fused, plan, machine));
    return readSimt(fused, plan).launches.front();
  };
  for (const char *name : kHopperMachines) {
    SCOPED_TRACE(name);
    SimtLaunch launch = getLaunch(kVarying, name);
    EXPECT_TRUE(launch.directLoad);
    EXPECT_EQ(launch.across, 0u);
    EXPECT_EQ(launch.sharedBytes, 0);
    // Lanes are along the innermost axis, and rows share what they load.
    EXPECT_GT(launch.extents.front().back(), 1);
    EXPECT_GT(launch.steps.front().fibres, 1);
  }
  // Few results of many products each: lanes share out K.
  EXPECT_GT(getLaunch({"f64", {2, 3000, 4}, {1}, {3}, {2}}, "h200").lanesK, 1);
  // Lanes store side by side: rows where these are innermost, else what a fibre
  // has.
  SimtLaunch ofRows =
      getLaunch({"bf16", {18, 4, 5, 48271}, {1}, {7}, {0, 2}}, "h200");
  EXPECT_TRUE(ofRows.directLoad);
  EXPECT_GE(ofRows.extents.front().back() / ofRows.steps.front().fibres, 32);
  SimtLaunch ofFibres =
      getLaunch({"bf16", {18820, 2, 2, 2}, {2}, {286}, {1, 3}}, "h200");
  EXPECT_TRUE(ofFibres.directLoad);
  EXPECT_LE(ofFibres.steps.front().block, 2);
  EXPECT_GE(ofFibres.steps.front().getParts(), 16);
  // Others go through shared memory: what a launch knows alone is not counted.
  for (const Example &example :
       {kSquares, Example{"f32", {-1, 20, 23}, {1}, {9}, {2}}}) {
    FusedOp fused = build(example);
    GPUMachine machine = getMachine("h200");
    GPUPlanAttr plan = getPlan(planSimt(fused, machine));
    EXPECT_FALSE(readSimt(fused, plan).launches.front().directLoad);
    EXPECT_FALSE(estimateSimt(fused, plan, machine));
  }
}

TEST_F(GPUPlanners, SimtCountsPartsOfSectors) {
  GPUMachine machine = getMachine("h200");
  auto getMicroseconds = [&](int64_t columns, const Twine &launch) {
    FusedOp fused = build({"f32", {3, 8, columns}, {1}, {388}});
    std::string fields = ("threads = 128, launches = [{factors = 1, " + launch +
                          ", ctas_per_sm = 4, direct_store = 1}]")
                             .str();
    auto plan = cast<GPUPlanAttr>(
        parseAttribute(getPlanText("simt", fields), fused.getContext()));
    return estimateSimt(fused, plan, machine)->total * 1e6;
  };
  const char *seven = "extents = [1, 8, 32], fibres = [5], results = [8]";
  const char *lanes = "extents = [1, 8, 32], fibres = [1], results = [8]";
  const char *wide = "extents = [1, 8, 256], fibres = [8], results = [4]";
  // Rows that start anywhere: measured 768, 442 and 221 us.
  double ofSeven = getMicroseconds(117135, seven);
  double ofLanes = getMicroseconds(117135, lanes);
  EXPECT_GT(ofSeven, ofLanes);
  EXPECT_GT(ofLanes, 1.2 * getMicroseconds(117135, wide));
  // Whole sectors: 32 lanes fill them, 7 do not.
  EXPECT_GT(ofLanes, 1.5 * getMicroseconds(117136, lanes));
  EXPECT_GT(getMicroseconds(117136, seven),
            1.5 * getMicroseconds(117136, lanes));
}

TEST_F(GPUPlanners, SimtCountsLinesOfFactors) {
  GPUMachine machine = getMachine("h200");
  auto getMicroseconds = [&](bool areTransposed) {
    FusedOp fused =
        build({"f32", {1527, 481, 4}, {1}, {481}, {}, areTransposed});
    const char *fields =
        "threads = 128, launches = [{factors = 1, extents = [4, 481, 4], "
        "fibres = [8], results = [8], ctas_per_sm = 3, direct_store = 1}]";
    auto plan = cast<GPUPlanAttr>(
        parseAttribute(getPlanText("simt", fields), fused.getContext()));
    return estimateSimt(fused, plan, machine)->total * 1e6;
  };
  // 16 lanes of a warp have results of their own, whose elements of a factor
  // that is N x K lie in as many lines: measured 286 us.
  EXPECT_GT(getMicroseconds(true), 1.1 * getMicroseconds(false));
}

TEST_F(GPUPlanners, SimtTilesGrowAsDataLie) {
  GPUMachine machine = getMachine("h200");
  auto getExtents = [&](SmallVector<int64_t> permutation) {
    FusedOp fused = build(
        {"f64", {300, 11, 4096}, {0}, {2}, {}, false, std::move(permutation)});
    return readSimt(fused, getPlan(planSimt(fused, machine)))
        .launches.front()
        .extents.front();
  };
  EXPECT_GE(getExtents({})[2], 32);
  // As 4096 x 300 x 11: 3300 numbers lie together.
  EXPECT_EQ(getExtents({1, 2, 0})[1], 11);
}

TEST_F(GPUPlanners, SimtReaderRefusesWhatIsNotLoadedDirectly) {
  auto getReasonOf = [&](StringRef fields) {
    return getReadReason<readSimtPlan>(
        kVarying,
        getPlanText(
            "simt",
            ("threads = 64, launches = [{factors = 1, ctas_per_sm = 1, " +
             fields + "}]")
                .str()));
  };
  std::string direct = "direct_load = 1, direct_store = 1, ";
  EXPECT_EQ(getReasonOf(direct + "extents = [4, 6, 23], fibres = [2], "
                                 "results = [3], k_lanes = 4"),
            "none");
  EXPECT_EQ(getReasonOf("direct_load = 1, extents = [4, 6, 23]"),
            "expects direct_store to be 1 with direct_load, but got 0");
  EXPECT_EQ(getReasonOf("k_lanes = 2, extents = [4, 20, 23]"),
            "expects k_lanes to be 1 without direct_load, but got 2");
  EXPECT_EQ(getReasonOf(direct + "extents = [4, 6, 23], k_lanes = 3"),
            "expects k_lanes to be a power of two, but got 3");
  EXPECT_EQ(getReasonOf(direct + "extents = [4, 10, 23]"),
            "expects extents of axis 1, which has results, to be up to 9, but "
            "got 10");
  EXPECT_EQ(getReasonOf(direct + "extents = [4, 6, 23], fibres = [3]"),
            "expects fibres to divide the 4 positions of axis 0, but got 3");
  EXPECT_EQ(getReasonOf(direct + "extents = [4, 6, 23], fibres = [5]"),
            "expects fibres of factor 1 to be in [1, 4], but got 5");
  EXPECT_EQ(getReasonOf(direct + "extents = [4, 2, 23], results = [3]"),
            "expects results of factor 1 to be in [1, 2], but got 3");
  EXPECT_EQ(getReasonOf("vector_store = 1, extents = [4, 20, 23]"),
            "expects vector_store to be 0 without direct_load, or with "
            "k_lanes, but got 1");
  EXPECT_EQ(getReasonOf(direct + "vector_store = 1, extents = [4, 6, 23]"),
            "expects vector_store to be 0 where the factor varies along "
            "neighbouring results, or these are of the axis that it "
            "contracts, or complex, but got 1");
}

TEST_F(GPUPlanners, SimtReaderRefusesOtherVectors) {
  auto getReasonOf = [&](StringRef element, StringRef fields) {
    return getReadReason<readSimtPlan>(
        Example{element.str(), {3, 8, 69}, {1}, {12}},
        getPlanText("simt",
                    ("threads = 64, launches = [{factors = 1, ctas_per_sm = 1, "
                     "direct_load = 1, direct_store = 1, vector_store = 1, " +
                     fields + "}]")
                        .str()));
  };
  const char *number = "expects fibres to be neighbours of up to 16 bytes with "
                       "vector_store, a power of two from 2 on, but got ";
  EXPECT_EQ(getReasonOf("f32", "extents = [1, 12, 72], fibres = [4]"), "none");
  EXPECT_EQ(getReasonOf("f32", "extents = [1, 12, 72], fibres = [8]"),
            std::string(number) + "8");
  EXPECT_EQ(getReasonOf("f32", "extents = [1, 12, 72], fibres = [3]"),
            std::string(number) + "3");
  EXPECT_EQ(getReasonOf("f32", "extents = [1, 12, 72]"),
            std::string(number) + "1");
  EXPECT_EQ(getReasonOf("f32", "extents = [1, 12, 70], fibres = [4]"),
            "expects fibres to divide the 70 positions of axis 2, but got 4");
}
