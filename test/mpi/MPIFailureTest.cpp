//===- MPIFailureTest.cpp - What several ranks do about errors ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An error on one rank ends the call on all ranks, and says where it is.
//
//===----------------------------------------------------------------------===//

#include "MPITest.h"
#include "ReferenceProduct.h"

using namespace kron;
using namespace kron::test;

namespace {

/// What the exception of type E says that `action` throws.
template <typename E, typename Action> std::string getError(Action action) {
  try {
    action();
  } catch (const E &error) {
    return error.what();
  } catch (const std::exception &error) {
    return std::string("another exception: ") + error.what();
  }
  return "none";
}

class ShardedProductFailureTest : public MPITest {
protected:
  ShardedProductFailureTest() {
    makeProduct<float>(innerKernel, 1, 2);
    makeProduct<float>(outerKernel, 1, 3);
    kernels = {innerKernel.get(), outerKernel.get()};
  }

  std::string getPlanError(ProductShape shape, ProductKernels kernels,
                           Placement placement) {
    return getError<std::invalid_argument>(
        [&] { ShardedProduct(communicator, shape, kernels, placement); });
  }

  FakeKernel innerKernel{"inner"}, outerKernel{"outer"};
  ProductKernels kernels;
  MPICommunicator communicator{MPI_COMM_WORLD};
};

TEST_F(ShardedProductFailureTest, Shapes) {
  auto expect = [&](ProductShape shape, Placement placement,
                    const std::string &message) {
    EXPECT_EQ(getPlanError(shape, kernels, placement),
              "sharded product: rank 0: " + message);
  };
  expect({KronType(77), 1, {2, 2}, {2, 2}}, {1, 2},
         "expects an element type, but got 77");
  expect({KRON_F32, 1, {}, {}}, {0, 0}, "expects 1 to 29 factors, but got 0");
  expect({KRON_F32, 1, {2, 2}, {2}}, {1, 2},
         "expects columns of 2 factors, as there are rows of, but got 1");
  expect({KRON_F32, 1, {2, 0}, {2, 2}}, {1, 2},
         "expects rows >= 0 and factors of at least 1 x 1, but got rows 1, p "
         "[2, 0], q [2, 2]");
  expect({KRON_F32, 1, {2, 2}, {2, 2}}, {1, 3},
         "expects axes from 0 to 2, but got 3");
  expect({KRON_F32, 1, {2}, {2}}, {1, 1},
         "expects two modes or more, or the rows, to share out: the only mode "
         "is contracted");
}

TEST_F(ShardedProductFailureTest, Kernels) {
  ProductShape shape = {KRON_F32, 1, {2, 2}, {2, 3}};
  auto expect = [&](ProductKernels kernels, Placement placement,
                    const std::string &message) {
    EXPECT_EQ(getPlanError(shape, kernels, placement),
              "sharded product: rank 0: " + message);
  };
  expect({nullptr, kernels.outer}, {1, 2},
         "expects a kernel for the inner product");
  expect({kernels.inner, nullptr}, {1, 2},
         "expects a kernel for the outer product, of mode 1 to 1");
  expect({kernels.inner, kernels.outer, kernels.inner}, {1, 2},
         "expects a kernel for blocks only where the sharding moves to a later "
         "mode, whose columns are a multiple of the " +
             std::to_string(getNumRanks()) + " ranks");
  // Manifests say which sizes, types and numbers of arguments kernels take.
  expect({kernels.inner, kernels.inner}, {1, 2},
         "KRON_MISMATCH: kernel 'inner', argument 0 ('x'): expects rank 2, but "
         "got 3");
}

// The first exchange is that of shapes: here rank 1 has others in mind.
TEST_F(ShardedProductFailureTest, ShapesDiffer) {
  int64_t columns = getRank() == 1 ? 4 : 3;
  std::string message =
      getPlanError({KRON_F32, 1, {2, 2}, {2, columns}}, kernels, {1, 2});
  EXPECT_EQ(message,
            "sharded product: expects the same product on all ranks, but rank "
            "0 has type f32, rows 1, p [2, 2], q [2, 3], sharded from axis 1 "
            "to axis 2, and rank 1 has type f32, rows 1, p [2, 2], q [2, 4], "
            "sharded from axis 1 to axis 2");
}

TEST_F(ShardedProductFailureTest, KernelOfOneRank) {
  ProductKernels mine = kernels;
  if (getRank() == 1)
    mine.outer = nullptr;
  EXPECT_EQ(getPlanError({KRON_F32, 1, {2, 2}, {2, 3}}, mine, {1, 2}),
            "sharded product: rank 1: expects a kernel for the outer product, "
            "of mode 1 to 1");
}

// What one rank passes to `run` ends it on all, and the plan is as good as new.
TEST_F(ShardedProductFailureTest, Arguments) {
  ReferenceProduct<float> whole(1, {4, 4}, {4, 4});
  ShardedProduct plan(communicator, whole.shape, kernels, {1, 2});
  auto x = whole.getPart(whole.x, whole.xSizes, 1, plan.getInputRange());
  std::vector<float> y(size_t(multiplySizes(plan.getResultSizes(), 0, 3)));
  std::vector<int64_t> xSizes = plan.getInputSizes(),
                       ySizes = plan.getResultSizes();
  int64_t square[2] = {4, 4}, tall[2] = {4, 5}, gaps[3] = {100, 10, 1};
  KronArray goodX = {x.data(), xSizes.data(), nullptr, 3, KRON_F32};
  KronArray goodY = {y.data(), ySizes.data(), nullptr, 3, KRON_F32};
  std::vector<KronArray> factors;
  for (const float *factor : whole.getFactors())
    factors.push_back(
        {const_cast<float *>(factor), square, nullptr, 2, KRON_F32});

  auto expect = [&](KronArray badX, KronArray badY,
                    std::vector<KronArray> badFactors,
                    const std::string &message) {
    bool isBad = getRank() == 1;
    EXPECT_EQ(getError<std::runtime_error>([&] {
                plan.run(isBad ? badX : goodX, isBad ? badFactors : factors,
                         isBad ? badY : goodY);
              }),
              "sharded product: rank 1: " + message);
  };
  auto print = [](const std::vector<int64_t> &sizes) {
    std::string text;
    for (int64_t size : sizes)
      text += (text.empty() ? "[" : ", ") + std::to_string(size);
    return text + "]";
  };
  std::vector<int64_t> ofRank1 = {1, getShare(4, 1, getNumRanks()).size(), 4};
  std::vector<int64_t> resultOfRank1 = {1, 4, ofRank1[1]};
  KronArray bad = goodX;
  bad.type = KRON_F64;
  expect(bad, goodY, factors,
         "expects x to have type f32 and sizes " + print(ofRank1) +
             ", but got type f64 and sizes " + print(ofRank1));
  bad = goodX;
  bad.rank = 2;
  expect(bad, goodY, factors,
         "expects x to have type f32 and sizes " + print(ofRank1) +
             ", but got type f32 and sizes " + print({ofRank1[0], ofRank1[1]}));
  bad = goodY;
  bad.strides = gaps;
  expect(goodX, bad, factors,
         "expects y to be row-major without gaps, but the stride of axis 1 is "
         "10");
  expect(goodX, goodY, {factors[0]}, "expects 2 factors, but got 1");
  std::vector<KronArray> badFactors = factors;
  badFactors[1].sizes = tall;
  expect(goodX, goodY, badFactors,
         "expects factor 2 to be [4, 4] of type f32, but got [4, 5] of type "
         "f32");
  // Of a launch, whose own checks find it.
  badFactors = factors;
  badFactors[1].data = nullptr;
  expect(goodX, goodY, badFactors,
         "KRON_INVALID_ARGUMENT: kernel 'inner', argument 1 ('f'): expects "
         "data, but got NULL");
  plan.run(goodX, factors, goodY);
  EXPECT_EQ(y, whole.getPart(whole.y, whole.ySizes, 2, plan.getResultRange()));
}

// Without an exchange, nobody else is concerned.
TEST_F(ShardedProductFailureTest, ArgumentsWithoutExchange) {
  FakeKernel both("both");
  makeProduct<float>(both, 2, 2);
  ShardedProduct plan(communicator, {KRON_F32, 4, {2, 2}, {2, 2}}, {both.get()},
                      {0, 0});
  const float *none = nullptr;
  EXPECT_EQ(getError<std::runtime_error>(
                [&] { plan.run(none, {none}, static_cast<float *>(nullptr)); }),
            "sharded product: rank " + std::to_string(getRank()) +
                ": expects 2 factors, but got 1");
}

// A rank that does not come is waited for as long as the timeout says. It comes
// after all others have given up, so that this is no question of speed.
TEST_F(ShardedProductFailureTest, MissingRank) {
  MPICommunicator impatient(MPI_COMM_WORLD, std::chrono::milliseconds(50));
  if (getRank() != 0)
    EXPECT_EQ(getError<CommunicationError>([&] { impatient.agree(""); }),
              "MPI_Iallreduce on rank " + std::to_string(getRank()) + " of " +
                  std::to_string(getNumRanks()) +
                  ": not all ranks have answered within 50 ms");
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(ShardedProductFailureTest, MissingRankInTransfer) {
  MPICommunicator impatient(MPI_COMM_WORLD, std::chrono::milliseconds(50));
  Exchange exchange =
      makeExchange({8, 8}, 0, 1, getRank(), getNumRanks(), sizeof(float));
  auto transfer = impatient.plan(exchange);
  auto from = impatient.allocate(64 * sizeof(float)),
       to = impatient.allocate(64 * sizeof(float));
  if (getRank() != 0)
    EXPECT_EQ(getError<CommunicationError>(
                  [&] { transfer->run(from.get(), to.get(), nullptr); }),
              "MPI_Ialltoallw on rank " + std::to_string(getRank()) + " of " +
                  std::to_string(getNumRanks()) +
                  ": not all ranks have answered within 50 ms");
  MPI_Barrier(MPI_COMM_WORLD);
}

// What MPI itself refuses.
TEST_F(ShardedProductFailureTest, ErrorOfMPI) {
  Exchange exchange;
  exchange.elementBytes = 4;
  exchange.sends = {Segments{0, int64_t(1) << 40, 1, 1, 1}};
  exchange.receives = exchange.sends;
  EXPECT_EQ(
      getError<std::invalid_argument>([&] { communicator.plan(exchange); }),
      "sharded product: MPI counts up to 2147483647, but got "
      "1099511627776 segments of 1 elements");
}

} // namespace
