//===- KernelTest.cpp - Compiled kernels in the runtime ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A kernel that kron_add_kernels compiles in kron's own build keeps what the
// compiler and the runtime promise each other: workspace, threads, versions and
// strides. Whether kernels compute the right thing is tested elsewhere; one
// plain formula here tells that a launch went well.
//
//===----------------------------------------------------------------------===//

#include "FakeKernel.h"
#include "kernels.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace kron::test;

namespace {

constexpr int64_t numInputs = 60, numOutputs = 80;

/// Arrays of one launch, filled with small whole numbers, so that sums are
/// exact in any order and all versions agree to the last bit.
struct Problem {
  explicit Problem(int64_t rows, int64_t xGap = 0, int64_t yGap = 0)
      : rows(rows), xStride(numInputs + xGap), yStride(numOutputs + yGap),
        x(rows * xStride), y(rows * yStride, sentinel) {
    int seed = 1;
    auto fill = [&](std::vector<float> &values) {
      for (float &value : values)
        value = float((seed = (seed * 75 + 74) % 65537) % 9 - 4);
    };
    for (std::vector<float> *values : {&x, &f1, &f2, &f3})
      fill(*values);
  }

  KronStatus run(const KronLaunchOptions &options = {}) {
    FakeArray arrays[] = {{x.data(), {rows, numInputs}, {xStride, 1}},
                          {f1.data(), {3, 4}},
                          {f2.data(), {4, 4}},
                          {f3.data(), {5, 5}},
                          {y.data(), {rows, numOutputs}, {yStride, 1}}};
    KronArray args[5];
    for (int i = 0; i < 5; ++i)
      args[i] = arrays[i].get();
    return kronLaunch(&kron_kernel_transform, args, 5, &options);
  }

  /// Element of row `row` of the result by the plain formula.
  float expected(int64_t row, int64_t column) const {
    int64_t q1 = column / 20, q2 = column / 5 % 4, q3 = column % 5;
    float sum = 0;
    for (int64_t p1 = 0; p1 < 3; ++p1)
      for (int64_t p2 = 0; p2 < 4; ++p2)
        for (int64_t p3 = 0; p3 < 5; ++p3)
          sum += x[row * xStride + p1 * 20 + p2 * 5 + p3] * f1[p1 * 4 + q1] *
                 f2[p2 * 4 + q2] * f3[p3 * 5 + q3];
    return sum;
  }

  /// Wrong results, and gaps between the rows of Y that were written.
  int64_t countWrong() const {
    int64_t wrong = 0;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < yStride; ++column)
        wrong += y[row * yStride + column] !=
                 (column < numOutputs ? expected(row, column) : sentinel);
    return wrong;
  }

  static constexpr float sentinel = -12345;
  int64_t rows, xStride, yStride;
  std::vector<float> x, f1 = std::vector<float>(12),
                        f2 = std::vector<float>(16),
                        f3 = std::vector<float>(25), y;
};

TEST(KernelTest, Rows) {
  for (int64_t rows : {0, 1, 2, 7, 64, 301}) {
    Problem problem(rows);
    EXPECT_SUCCESS(problem.run());
    EXPECT_EQ(problem.countWrong(), 0) << rows << " rows";
  }
}

TEST(KernelTest, ThroughHeader) {
  Problem problem(3);
  EXPECT_SUCCESS(transform(kron::View<const float>(problem.x.data(), {3, 60}),
                           kron::View<const float>(problem.f1.data(), {3, 4}),
                           kron::View<const float>(problem.f2.data(), {4, 4}),
                           kron::View<const float>(problem.f3.data(), {5, 5}),
                           kron::View<float>(problem.y.data(), {3, 80})));
  EXPECT_EQ(problem.countWrong(), 0);
}

TEST(KernelTest, GapsSurvive) {
  for (int64_t gap : {1, 3, 16}) {
    Problem problem(33, gap + 1, gap);
    EXPECT_SUCCESS(problem.run());
    EXPECT_EQ(problem.countWrong(), 0) << "gap " << gap;
  }
}

TEST(KernelTest, Threads) {
  for (int32_t numThreads : {1, 2, 3, 8}) {
    Problem problem(500);
    EXPECT_SUCCESS(problem.run(withThreads(numThreads)));
    EXPECT_EQ(problem.countWrong(), 0) << numThreads << " threads";
  }
}

TEST(KernelTest, LaunchesAtOnce) {
  std::atomic<int64_t> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 10; ++i) {
        Problem problem(20 + 30 * t + i);
        wrong += problem.run(withThreads(1 + t)) != KRON_SUCCESS;
        wrong += problem.countWrong();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(KernelTest, StaysInsideWorkspace) {
  for (int32_t numThreads : {1, 3}) {
    KronLaunchOptions options = withThreads(numThreads);
    EXPECT_SUCCESS(kronGetWorkspaceSize(&kron_kernel_transform, numThreads,
                                        &options.workspaceBytes));
    std::vector<char> memory(options.workspaceBytes + 64 + 256, 77);
    void *start = memory.data();
    size_t space = memory.size();
    ASSERT_TRUE(std::align(64, options.workspaceBytes, start, space));
    options.workspace = start;
    Problem problem(200);
    EXPECT_SUCCESS(problem.run(options));
    EXPECT_EQ(problem.countWrong(), 0);
    for (const char *byte = static_cast<char *>(start) + options.workspaceBytes;
         byte != memory.data() + memory.size(); ++byte)
      ASSERT_EQ(*byte, 77) << "written behind the workspace";
  }
}

TEST(KernelTest, EveryVersion) {
  ASSERT_EQ(kron_kernel_transform.numVersions, 3);
  int32_t numRun = 0;
  for (int32_t i = 0; i < 3; ++i) {
    // One version alone: the same result by each that this processor runs.
    if (kron_kernel_transform.versions[i].isa > kronGetIsa())
      continue;
    KronKernel kernel = kron_kernel_transform;
    kernel.numVersions = 1;
    kernel.versions += i;
    Problem problem(77);
    FakeArray arrays[] = {{problem.x.data(), {77, numInputs}},
                          {problem.f1.data(), {3, 4}},
                          {problem.f2.data(), {4, 4}},
                          {problem.f3.data(), {5, 5}},
                          {problem.y.data(), {77, numOutputs}}};
    KronArray args[5];
    for (int j = 0; j < 5; ++j)
      args[j] = arrays[j].get();
    EXPECT_SUCCESS(kronLaunch(&kernel, args, 5, nullptr));
    EXPECT_EQ(problem.countWrong(), 0) << "version " << i;
    ++numRun;
  }
  EXPECT_GE(numRun, 1);
}

TEST(KernelTest, ManifestIsChecked) {
  Problem problem(4);
  problem.y.resize(5 * numOutputs);
  EXPECT_EQ(transform(kron::View<const float>(problem.x.data(), {4, 60}),
                      kron::View<const float>(problem.f1.data(), {3, 4}),
                      kron::View<const float>(problem.f2.data(), {4, 4}),
                      kron::View<const float>(problem.f3.data(), {5, 5}),
                      kron::View<float>(problem.y.data(), {5, 80})),
            KRON_MISMATCH);
  EXPECT_EQ(problem.y[0], Problem::sentinel);
  EXPECT_EQ(transform(kron::View<const float>(problem.x.data(), {4, 60}),
                      kron::View<const float>(problem.f1.data(), {4, 3}),
                      kron::View<const float>(problem.f2.data(), {4, 4}),
                      kron::View<const float>(problem.f3.data(), {5, 5}),
                      kron::View<float>(problem.y.data(), {4, 80})),
            KRON_MISMATCH);
  EXPECT_EQ(problem.y[0], Problem::sentinel);
}

} // namespace
