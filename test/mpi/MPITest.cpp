//===- MPITest.cpp - Sharded products by MPI ------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MPITest.h"
#include "ReferenceProduct.h"

using namespace kron;
using namespace kron::test;

namespace {

/// Kernels for every placement of a product of `numModes` factors.
class AnyKernels {
public:
  explicit AnyKernels(int numModes, Placement placement, bool isBlocked) {
    int first = std::min(placement.from, placement.to);
    if (placement.from == placement.to && first > 0)
      first = first < numModes ? first : first - 1;
    if (first < numModes)
      makeProduct<float>(innerKernel, numModes - first, 2);
    if (first > 0)
      makeProduct<float>(outerKernel, first, 3);
    kernels.inner = innerKernel.get();
    if (first > 0)
      kernels.outer = outerKernel.get();
    if (isBlocked)
      kernels.innerBlock = innerKernel.get();
  }

  ProductKernels kernels;

private:
  FakeKernel innerKernel{"inner"}, outerKernel{"outer"};
};

class ShardedProductTest : public MPITest {
protected:
  void expect(int64_t rows, std::vector<int64_t> p, std::vector<int64_t> q,
              Placement placement, bool isBlocked = false) {
    SCOPED_TRACE("rows " + std::to_string(rows) + ", from " +
                 std::to_string(placement.from) + " to " +
                 std::to_string(placement.to));
    AnyKernels kernels(int(p.size()), placement, isBlocked);
    expectProduct(communicator, ReferenceProduct<float>(rows, p, q),
                  kernels.kernels, placement);
  }

  MPICommunicator communicator{MPI_COMM_WORLD};
};

// Every axis to every axis, with sizes that no number of ranks divides.
TEST_F(ShardedProductTest, EveryPlacement) {
  for (int from = 0; from <= 4; ++from)
    for (int to = 0; to <= 4; ++to)
      expect(5, {3, 5, 2, 7}, {5, 3, 7, 2}, {from, to});
}

TEST_F(ShardedProductTest, NumbersOfModes) {
  expect(7, {6}, {5}, {0, 0});
  expect(7, {6}, {5}, {0, 1});
  expect(7, {6}, {5}, {1, 0});
  for (int numModes = 2; numModes <= 6; ++numModes)
    for (Placement placement : {Placement{1, 2}, {2, 1}, {1, 1}, {1, numModes}})
      expect(2, std::vector<int64_t>(size_t(numModes), 4),
             std::vector<int64_t>(size_t(numModes), 4), placement);
}

// Ranks without any of the rows or of a mode, and no rows at all.
TEST_F(ShardedProductTest, FewerThanRanks) {
  for (Placement placement :
       {Placement{0, 0}, {1, 2}, {2, 1}, {1, 1}, {0, 1}}) {
    expect(1, {1, 2, 3}, {2, 1, 3}, placement);
    expect(0, {4, 4}, {4, 4}, placement);
  }
}

// Blocks per destination are what the whole product writes, wherever it goes.
TEST_F(ShardedProductTest, Blocks) {
  for (Placement placement : {Placement{1, 2}, {1, 3}, {2, 3}, {0, 2}})
    expect(3, {5, 3, 2}, {3, 8, 4}, placement, /*isBlocked=*/true);
}

// A product of square factors there and back, without coming back in between.
TEST_F(ShardedProductTest, Alternates) {
  Placement there = {1, 2}, back = {2, 1};
  AnyKernels kernels(3, there, false);
  ReferenceProduct<float> whole(2, {4, 5, 3}, {4, 5, 3});
  ShardedProduct first(communicator, whole.shape, kernels.kernels, there);
  ShardedProduct second(communicator, whole.shape, kernels.kernels, back);
  EXPECT_EQ(first.getResultSizes(), second.getInputSizes());
  auto x = whole.getPart(whole.x, whole.xSizes, 1, first.getInputRange());
  std::vector<float> y(size_t(multiplySizes(first.getResultSizes(), 0, 4)));
  first.run(x.data(), whole.getFactors(), y.data());
  second.run(y.data(), whole.getFactors(), x.data());
  ReferenceProduct<float> twice = whole;
  for (int k = 0; k < 3; ++k) {
    auto axis = size_t(k);
    int64_t size = whole.shape.p[axis], sizes[2] = {size, size};
    twice.y =
        applyFactor(twice.y, multiplySizes(whole.ySizes, 0, axis + 1),
                    multiplySizes(whole.ySizes, axis + 2, 4),
                    {twice.factors[axis].data(), sizes, nullptr, 2, KRON_F32});
  }
  EXPECT_EQ(x,
            whole.getPart(twice.y, whole.ySizes, 1, second.getResultRange()));
}

// 4 K M (g - 1) / g bytes of all ranks together, however many factors there
// are.
TEST_F(ShardedProductTest, BytesSent) {
  int64_t numRanks = getNumRanks();
  for (int numModes = 2; numModes <= 4; ++numModes) {
    std::vector<int64_t> sizes(size_t(numModes), 8);
    auto plan = [&](Placement placement) {
      AnyKernels kernels(numModes, placement, false);
      return ShardedProduct(communicator, {KRON_F32, 3, sizes, sizes},
                            kernels.kernels, placement)
          .bytesSent();
    };
    int64_t elements = 3 * multiplySizes(sizes, 0, sizes.size());
    int64_t formula = 4 * elements * (numRanks - 1) / numRanks / numRanks;
    EXPECT_EQ(plan({1, 2}), formula);
    EXPECT_EQ(plan({2, 1}), formula);
    EXPECT_EQ(plan({1, 1}), 2 * formula);
    EXPECT_EQ(plan({0, 0}), 0);
  }
}

} // namespace
