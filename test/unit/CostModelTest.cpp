//===- CostModelTest.cpp - Estimated times ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/CostModel.h"
#include "PlannerTest.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::kron;

static constexpr GPUKernel kFamilies[] = {GPUKernel::Simt, GPUKernel::Ffma,
                                          GPUKernel::Batched, GPUKernel::Mma};

static std::vector<Example> getExamples(int64_t rows) {
  return {
      {"f32", {rows, 8, 8, 8}, {1, 2, 3}},   {"f32", {rows, 32, 32}, {1, 2}},
      {"f32", {8, 8, rows}, {0, 1}},         {"f64", {rows, 8, 8}, {1, 2}},
      {"f64", {rows, 5, 7}, {1, 2}, {3, 9}}, {"f16", {rows, 64, 16}, {1, 2}},
      {"f16", {rows, 4, 64}, {2}, {64}, {1}}};
}

namespace {
class CostModel : public GPUPlanners {
protected:
  /// Calls `check` with what estimateTime says of all plausible kernels.
  template <typename Check>
  void forEachKernel(const Example &example, const GPUMachine &machine,
                     Check check) {
    Problem problem = describeProblem(build(example));
    int64_t budget = getFootprintBudget(machine);
    int64_t columns =
        std::max<int64_t>(chooseColumns(problem, budget, machine), 1);
    for (GPUKernel kernel : kFamilies) {
      if (!isPlausible(kernel, problem, machine))
        continue;
      SCOPED_TRACE(machine.name + " " + getName(example) + " " +
                   stringifyGPUKernel(kernel).str());
      KernelTiling tiling =
          chooseTiling(kernel, problem, columns, budget, machine);
      check(kernel, problem, tiling,
            estimateTime(kernel, problem, tiling, machine));
    }
  }
};
} // namespace

TEST_F(CostModel, NothingIsFasterThanACopy) {
  for (const char *name : kMachines)
    for (int64_t rows : {1, 1000, 1 << 20})
      for (const Example &example : getExamples(rows)) {
        GPUMachine machine = getMachine(name);
        forEachKernel(example, machine,
                      [&](GPUKernel, const Problem &problem, KernelTiling,
                          KernelTime time) {
                        double bytes = problem.getMemoryBytes();
                        EXPECT_DOUBLE_EQ(
                            time.floor, machine.launchSeconds +
                                            bytes / machine.copyBytesPerSecond);
                        EXPECT_GE(time.total, machine.launchSeconds);
                        EXPECT_GE(time.memory,
                                  0.999 * bytes / machine.copyBytesPerSecond);
                        EXPECT_GE(time.total, time.floor);
                      });
      }
}

TEST_F(CostModel, MoreBytesTakeNoLessTime) {
  for (const char *name : kMachines)
    for (size_t number = 0; number < getExamples(1).size(); ++number) {
      std::map<GPUKernel, double> last;
      for (int64_t rows = 16; rows <= 1 << 20; rows *= 2)
        forEachKernel(getExamples(rows)[number], getMachine(name),
                      [&](GPUKernel kernel, const Problem &, KernelTiling,
                          KernelTime time) {
                        EXPECT_GE(time.total, last[kernel]) << rows;
                        last[kernel] = time.total;
                      });
    }
}

TEST_F(CostModel, FasterMachinesTakeNoMoreTime) {
  for (const Example &example : getExamples(1 << 18)) {
    // Everything else is the same.
    auto getTotals = [&](StringRef name) {
      std::vector<double> totals;
      forEachKernel(example, getMachine(name),
                    [&](GPUKernel, const Problem &, KernelTiling,
                        KernelTime time) { totals.push_back(time.total); });
      return totals;
    };
    auto expectFaster = [](ArrayRef<double> fast, ArrayRef<double> slow) {
      ASSERT_EQ(fast.size(), slow.size());
      for (auto [first, second] : llvm::zip(fast, slow))
        EXPECT_LE(first, second);
    };
    expectFaster(getTotals("h200:copy=4000"), getTotals("h200:copy=2000"));
    expectFaster(getTotals("h200:clock=1900"), getTotals("h200:clock=950"));
    // What memory bounds is faster indeed.
    EXPECT_LT(getTotals("h200:copy=2000").back(),
              getTotals("h200:copy=500").back());
  }
}

// Ends of tiles lie within sectors where columns, or rows of them, are no whole
// sectors; not where a tile has all columns.
TEST_F(CostModel, EndsWithinSectorsTakeTime) {
  const GPUMachine &machine = getMachine("h200");
  auto getSeconds = [&](const Example &example, int64_t columns) {
    return getEdgeSeconds(describeProblem(build(example)), columns, machine);
  };
  double odd = getSeconds({"f64", {1000, 11, 1850}, {1}}, 16);
  EXPECT_GT(odd, 0);
  EXPECT_NEAR(getSeconds({"f64", {1000, 11, 1850}, {1}}, 32), odd / 2,
              1e-3 * odd);
  EXPECT_EQ(getSeconds({"f64", {1000, 11, 1852}, {1}}, 16), 0);
  EXPECT_GT(getSeconds({"f64", {1000, 11, 1852}, {1}}, 18), 0);
  EXPECT_EQ(getSeconds({"f64", {1000, 11, 15}, {1}}, 15), 0);
  EXPECT_EQ(getSeconds({"f64", {1000, 11}, {1}}, 1), 0);
  auto getTotal = [&](int64_t inner) {
    Problem problem = describeProblem(build({"f64", {1000, 11, inner}, {1}}));
    KernelTiling tiling;
    tiling.columns = 16;
    return estimateTime(GPUKernel::Mma, problem, tiling, machine).total;
  };
  EXPECT_GT(getTotal(1850), getTotal(1852) + 0.9 * odd);
}

TEST_F(CostModel, TilingsFit) {
  for (const char *name : kMachines) {
    GPUMachine machine = getMachine(name);
    EXPECT_LE(getFootprintBudget(machine), machine.sharedBytesPerCTA);
    for (const Example &example : getExamples(1 << 18))
      forEachKernel(
          example, machine,
          [&](GPUKernel kernel, const Problem &problem, KernelTiling tiling,
              KernelTime) {
            if (isSparse(problem))
              return;
            int64_t bytes = tiling.rows * tiling.columns * problem.rowLargest *
                            problem.getChipBytes() / tiling.cluster;
            EXPECT_GE(tiling.rows, 1);
            EXPECT_GE(tiling.columns, 1);
            EXPECT_LE(bytes, getFootprintBudget(machine));
            expectFits(machine, tiling.threads, tiling.ctasPerSM, bytes, 64);
          });
  }
}

TEST_F(CostModel, LargeRowsAreShared) {
  // 256 KiB of a row: two CTAs of a cluster have them, if there are clusters.
  Problem problem =
      describeProblem(build({"f32", {1024, 16, 16, 16, 16}, {1, 2, 3, 4}}));
  for (const char *name : kMachines) {
    GPUMachine machine = getMachine(name);
    int64_t budget = getFootprintBudget(machine);
    bool fits = fitsCluster(problem, budget, machine);
    EXPECT_EQ(fits, name == StringRef("h200") || name == StringRef("h100-pcie"))
        << name;
    EXPECT_EQ(chooseTiling(GPUKernel::Mma, problem, 1, budget, machine).cluster,
              fits ? 2 : 1);
    EXPECT_EQ(
        chooseTiling(GPUKernel::Simt, problem, 1, budget, machine).cluster, 1);
    EXPECT_EQ(chooseColumns(problem, budget, machine), 0);
  }
}

// Blocks of fibres read a factor that registers do not hold again and again.
TEST_F(CostModel, StreamedFactorsTakeTime) {
  auto getShared = [&](const Example &example) {
    Problem problem = describeProblem(build(example));
    GPUMachine machine = getMachine("h200");
    KernelTiling tiling = chooseTiling(GPUKernel::Mma, problem, /*columns=*/1,
                                       getFootprintBudget(machine), machine);
    return estimateTime(GPUKernel::Mma, problem, tiling, machine).shared /
           problem.inputElements;
  };
  double held = getShared({"f64", {6422, 5, 128}, {1, 2}});
  double streamed = getShared({"f64", {6422, 5, 136}, {1, 2}});
  EXPECT_GT(streamed, 3 * held);
  // Five fibres at a time, or sixteen.
  EXPECT_LT(getShared({"f64", {6422, 16, 136}, {1, 2}}), streamed / 2);
  EXPECT_GT(getShared({"f32", {6422, 5, 136}, {1, 2}}),
            3 * getShared({"f32", {6422, 5, 64}, {1, 2}}));
}

// Of few rows inside of the contracted axis, tiles of `sparse` have one each:
// they read sectors for single elements, and copy these one by one. More rows
// fill chunks, unless they are odd; few rows for each instruction are padded.
TEST_F(CostModel, SparseWaitsForRowsInside) {
  const GPUMachine &machine = getMachine("h200");
  auto getTime = [&](int64_t outside, int64_t inside, const char *element) {
    Problem problem =
        describeProblem(build({element, {outside, 200, inside}, {1}, {8}}));
    KernelTiling tiling = chooseTiling(GPUKernel::Mma, problem, 1,
                                       getFootprintBudget(machine), machine);
    return estimateTime(GPUKernel::Mma, problem, tiling, machine).shared;
  };
  for (const char *element : {"f32", "f64", "f16"}) {
    SCOPED_TRACE(element);
    EXPECT_GT(getTime(32000, 16, element), 2 * getTime(500, 1024, element));
    EXPECT_GT(getTime(500, 1023, element), getTime(500, 1024, element));
    // Where there are no more rows outside, it takes those inside.
    EXPECT_LT(getTime(16, 16, element) / 16, getTime(17, 16, element) / 17);
  }
  auto getArithmetic = [&](int64_t outside, int64_t inside) {
    Problem problem =
        describeProblem(build({"f32", {outside, 200, inside}, {1}, {200}}));
    return estimateTime(GPUKernel::Mma, problem, KernelTiling(), machine)
        .arithmetic;
  };
  EXPECT_DOUBLE_EQ(getArithmetic(1000, 64), getArithmetic(1000, 33));
}

// A transposed input with two rows has tiles of two rows and the positions of a
// factor: so many that copies and barriers of each are what takes the time.
TEST_F(CostModel, TinyTilesTakeTime) {
  const GPUMachine &machine = getMachine("h200");
  auto getSeconds = [&](int64_t rows) {
    Problem problem =
        describeProblem(build({"f32", {rows, 64000000 / rows, 3}, {2}}));
    describeInput(problem, /*permutation=*/{2, 0, 1},
                  {rows, 64000000 / rows, 3});
    EXPECT_TRUE(problem.readsTranspose);
    EXPECT_EQ(problem.turnedRows, rows);
    KernelTiling tiling = chooseTiling(GPUKernel::Mma, problem, /*columns=*/1,
                                       getFootprintBudget(machine), machine);
    EXPECT_LE(tiling.rows, rows);
    return estimateTime(GPUKernel::Mma, problem, tiling, machine).total;
  };
  EXPECT_GT(getSeconds(2), 20 * getSeconds(1000));
  EXPECT_GT(getSeconds(2), 10e-3);
}

// Neighbours of a transposed array lie along contracted axes: one factor of 3
// moves 12 bytes at a time there, several of them whole lines.
TEST_F(CostModel, ShortSegmentsTakeTime) {
  const GPUMachine &machine = getMachine("h200");
  auto getMemory = [&](SmallVector<int64_t> axes, bool ofColumns) {
    SmallVector<int64_t> shape(6, 3);
    shape[ofColumns ? 5 : 0] = 1024;
    Problem problem = describeProblem(build({"f32", shape, axes}));
    SmallVector<int64_t> permutation =
        ofColumns ? SmallVector<int64_t>{1, 2, 3, 4, 5, 0}
                  : SmallVector<int64_t>{5, 0, 1, 2, 3, 4};
    describeInput(problem, permutation, shape);
    EXPECT_EQ(problem.readsColumns, ofColumns);
    EXPECT_EQ(problem.readsTranspose, !ofColumns);
    EXPECT_EQ(problem.fibreSegment, std::pow(3, axes.size()));
    KernelTiling tiling =
        chooseTiling(GPUKernel::Mma, problem, ofColumns ? 32 : 1,
                     getFootprintBudget(machine), machine);
    return estimateTime(GPUKernel::Mma, problem, tiling, machine).memory;
  };
  for (bool ofColumns : {false, true}) {
    int64_t last = ofColumns ? 4 : 5;
    double whole = getMemory({last - 3, last - 2, last - 1, last}, ofColumns);
    EXPECT_GT(getMemory({last}, ofColumns), 2 * whole);
    EXPECT_GT(getMemory({last - 1, last}, ofColumns), 1.1 * whole);
  }
}

// Columns of 16 bits are put in order one by one where they are no multiples of
// 16 bytes, and accessed one by one in tiles of a transposed input.
TEST_F(CostModel, RaggedColumnsTakeTime) {
  const GPUMachine &machine = getMachine("h200");
  auto getSeconds = [&](const char *element, int64_t size,
                        bool isTransposed = false) {
    Problem problem = describeProblem(build({element, {32, size}, {0}}));
    problem.readsTranspose = isTransposed;
    return getRaggedSeconds(problem, machine) / double(size);
  };
  EXPECT_EQ(getSeconds("f32", 100001), 0);
  EXPECT_EQ(getSeconds("f16", 100008), 0);
  EXPECT_GT(getSeconds("f16", 100001), 0);
  EXPECT_DOUBLE_EQ(getSeconds("bf16", 100002), getSeconds("bf16", 100001));
  EXPECT_GT(getSeconds("f16", 100001, /*isTransposed=*/true),
            2 * getSeconds("f16", 100001));
  // Rows of results are whole segments.
  EXPECT_EQ(getRaggedSeconds(describeProblem(build({"f16", {1000, 33}, {1}})),
                             machine),
            0);
}

// Of few rows, a factor that varies is most of what is read.
TEST_F(CostModel, FactorsThatVaryAreRead) {
  const GPUMachine &machine = getMachine("h200");
  Example example{"f32", {2, 500, 64, 60}, {2}, {70}, {1, 3}};
  double seconds = 4.0 * 500 * 64 * 60 * 70 / machine.copyBytesPerSecond;
  forEachKernel(example, machine,
                [&](GPUKernel, const Problem &, KernelTiling, KernelTime time) {
                  EXPECT_GT(time.total, machine.launchSeconds + seconds);
                });
}
