//===- CublasPlannerTest.cpp - Calls of cuBLAS ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/CublasPlanner.h"
#include "PlannerTest.h"
#include "kron/Plan/GPU/CublasPlan.h"

using namespace mlir;
using namespace mlir::kron;

TEST_F(GPUPlanners, CublasTakesOneProduct) {
  struct Row {
    Example example;
    CublasPlan axes;
  };
  const Row rows[] = {
      {{"f16", {-1, 512}, {1}, {256}}, {1, {0}, {}}},
      {{"f32", {512, -1}, {0}}, {0, {1}, {}}},
      {{"f16", {1000, 4, 64}, {2}, {64}, {1}}, {2, {0}, {1}}},
      {{"f64", {4, 64, 1000}, {1}}, {1, {2}, {0}}},
      // Axes that follow each other are one.
      {{"complex<f64>", {4, 5, 6, 64}, {3}}, {3, {0, 1, 2}, {}}},
      {{"complex<f32>", {4, 5, 64, 1000}, {2}}, {2, {3}, {0, 1}}},
      {{"f64", {-1, 5, 64, 6, 7}, {2}}, {2, {3, 4}, {0, 1}}},
      {{"f32", {64, 1, 6, 1, 7}, {0}}, {0, {2, 4}, {}}}};
  for (const auto &[example, axes] : rows) {
    SCOPED_TRACE(getName(example));
    FusedOp fused = build(example);
    auto plan = readCublasPlan(fused);
    ASSERT_EQ(getReason(plan), "none");
    auto &found = std::get<CublasPlan>(plan);
    EXPECT_EQ(found.sizeK, axes.sizeK);
    EXPECT_EQ(found.rows, axes.rows);
    EXPECT_EQ(found.batch, axes.batch);
    auto attribute = planCublas(fused, getMachine("h200"));
    ASSERT_EQ(getReason(attribute), "none");
    expectSamePrinted(std::get<GPUPlanAttr>(attribute));
    // Few rows have kernels of their own, where there may be few.
    bool mayBeFew = false;
    for (int64_t axis : axes.rows)
      mayBeFew |= example.sizes[axis] < 0;
    EXPECT_EQ(std::get<GPUPlanAttr>(attribute).get("min_rows"),
              mayBeFew ? 16 : 0);
  }
  const std::pair<Example, const char *> refused[] = {
      {{"f32", {-1, 8, 8}, {1, 2}}, "there is more than one factor"},
      {{"i32", {-1, 8}, {1}},
       "elements are not f32, f64, f16, bf16 or complex of f32 or "
       "f64"},
      {{"f32", {8, 8, 8, 8}, {1}, {8}, {0, 2}},
       "the factor varies on more than one axis"},
      {{"f32", {4, 4, 4, 4}, {1}, {4}, {2}},
       "there are more than two axes beside the contracted one"}};
  for (const auto &[example, reason] : refused)
    EXPECT_EQ(getReason(planCublas(build(example), getMachine("h200"))),
              reason);
}

TEST_F(GPUPlanners, CublasTakesTime) {
  auto getTime = [&](const Example &example, StringRef machine = "h200") {
    FusedOp fused = build(example);
    return estimateCublasTime(fused, describeProblem(fused),
                              getMachine(machine));
  };
  double last = 0;
  for (int64_t rows : {16, 1024, 65536, 1 << 20}) {
    KernelTime time = getTime({"f16", {rows, 512}, {1}});
    EXPECT_GE(time.total, time.floor);
    // A call takes 10 us, however little it computes.
    EXPECT_GE(time.total, 10e-6);
    EXPECT_GE(time.total, last);
    last = time.total;
  }
  // Rows that are not multiples of 16 bytes.
  EXPECT_GT(getTime({"f16", {1 << 20, 512}, {1}, {511}}).total, 2 * last);
  // Sums over rows of f64 are slower than over columns, the more so odd ones.
  auto getArithmetic = [&](const Example &example) {
    return getTime(example).arithmetic;
  };
  EXPECT_GT(getArithmetic({"f64", {1 << 16, 272}, {1}}),
            1.5 * getArithmetic({"f64", {272, 1 << 16}, {0}}));
  EXPECT_GT(getArithmetic({"f64", {1 << 16, 271}, {1}}),
            1.1 * getArithmetic({"f64", {1 << 16, 272}, {1}}));
  EXPECT_GT(getArithmetic({"f64", {271, 1 << 16}, {0}}),
            1.2 * getArithmetic({"f64", {272, 1 << 16}, {0}}));
  for (const char *machine : kMachines)
    EXPECT_LE(getTime({"f16", {1 << 20, 512}, {1}},
                      machine + std::string(":copy=8000"))
                  .total,
              getTime({"f16", {1 << 20, 512}, {1}},
                      machine + std::string(":copy=200"))
                  .total);
}

// Before there are arrays, they are taken for row-major ones.
TEST_F(GPUPlanners, CublasTakesTheSameTimeBeforeFusion) {
  auto getProblem = [&](const Example &example) {
    return describeProblem(build(example));
  };
  const Example examples[] = {{"f16", {1000, 512}, {1}},
                              {"f64", {512, 1000}, {0}},
                              {"complex<f64>", {100, 133, 133}, {1}},
                              {"f16", {1000, 511}, {1}, {512}}};
  for (const Example &example : examples) {
    SCOPED_TRACE(getName(example));
    FusedOp fused = build(example);
    Problem problem = describeProblem(fused);
    EXPECT_EQ(estimateCublasSeconds(problem, getMachine("h200")),
              estimateCublasTime(fused, problem, getMachine("h200")).total);
  }
  const Example refused[] = {{"i32", {1000, 512}, {1}},
                             {"f16", {1000, 8, 8}, {1, 2}},
                             {"f16", {1000, 4, 64}, {2}, {64}, {1}}};
  for (const Example &example : refused)
    EXPECT_EQ(estimateCublasSeconds(getProblem(example), getMachine("h200")),
              std::numeric_limits<double>::infinity());
}

// What the cost model knows little of counts where a call is compared with
// kernels.
TEST_F(GPUPlanners, CublasHasToBeatRaggedKernels) {
  auto getSeconds = [&](GPUKernel kernel, const Example &example) {
    FusedOp fused = build(example);
    return estimateRaggedSeconds(kernel, fused, describeProblem(fused), 1e-6,
                                 getMachine("h200"));
  };
  const std::pair<GPUKernel, Example> whole[] = {
      {GPUKernel::Mma, {"f16", {1000, 64}, {1}}},
      {GPUKernel::Sparse, {"f32", {1000, 64}, {1}, {68}}},
      {GPUKernel::Sparse, {"f64", {1000, 64, 16}, {1}, {63}}},
      {GPUKernel::Simt, {"f16", {1000, 63}, {1}}},
      // What estimates have already.
      {GPUKernel::Mma, {"f16", {1000, 64}, {1}, {63}}},
      {GPUKernel::Sparse, {"f16", {63, 1001}, {0}}},
      {GPUKernel::Sparse, {"f64", {1000, 64, 10}, {1}}},
      {GPUKernel::Sparse, {"f32", {1000, 65}, {1}}},
      {GPUKernel::Mma, {"f64", {1000, 65}, {1}}},
      {GPUKernel::Mma, {"complex<f64>", {1000, 63}, {1}}},
      {GPUKernel::Sparse, {"f16", {1000, 4, 63}, {2}, {63}, {1}}}};
  for (const auto &[kernel, example] : whole) {
    SCOPED_TRACE(getName(example));
    EXPECT_EQ(getSeconds(kernel, example), 1e-6);
  }
  const std::pair<GPUKernel, Example> ragged[] = {
      {GPUKernel::Wgmma, {"f32", {1000, 65}, {1}}},
      {GPUKernel::Mma, {"f64", {1000, 64, 10}, {1}}}};
  for (const auto &[kernel, example] : ragged) {
    SCOPED_TRACE(getName(example));
    EXPECT_GT(getSeconds(kernel, example), 1.1e-6);
  }
}

// So it does where factors are cut apart.
TEST_F(GPUPlanners, RegionsOfRaggedSegmentsTakeLonger) {
  const GPUMachine &machine = getMachine("h200");
  auto getFactor = [&](GPUKernel kernel, const Example &example,
                       int64_t columns) {
    Problem problem = describeProblem(build(example));
    KernelTiling tiling = chooseTiling(kernel, problem, columns,
                                       getFootprintBudget(machine), machine);
    return estimateRegionSeconds(kernel, problem, tiling, machine) /
           estimateTime(kernel, problem, tiling, machine).total;
  };
  EXPECT_EQ(getFactor(GPUKernel::Mma, {"f16", {1000, 24, 24}, {1, 2}}, 1), 1);
  EXPECT_EQ(getFactor(GPUKernel::Mma, {"f16", {1000, 24, 23}, {1, 2}}, 1), 1);
  EXPECT_GT(getFactor(GPUKernel::Mma, {"f16", {24, 24, 1001}, {0, 1}}, 64), 1);
  EXPECT_EQ(getFactor(GPUKernel::Mma, {"f64", {18, 149, 64}, {0, 1}}, 8), 1);
}

TEST_F(GPUPlanners, CublasWouldFillUpWithZeros) {
  auto getSeconds = [&](int64_t groups) {
    FusedOp fused = build({"f16", {1 << 16, groups, 64}, {2}, {64}, {1}});
    return estimateDenseSeconds(fused, describeProblem(fused),
                                getMachine("h200"));
  };
  EXPECT_EQ(getSeconds(1), std::numeric_limits<double>::infinity());
  EXPECT_LT(getSeconds(2), getSeconds(4));
  // Products grow with the square of groups.
  EXPECT_GT(getSeconds(64), 2 * getSeconds(32));
}
