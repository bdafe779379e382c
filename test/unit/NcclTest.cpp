//===- NcclTest.cpp - Sharded products by NCCL ----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Driver and NCCL are those of FakeCuda.h and FakeNccl.h; ranks are threads,
// and kernels compute when they are launched.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "FakeNccl.h"
#include "ReferenceProduct.h"
#include "kron/Distributed.hpp"

#include <functional>

using namespace kron;
using namespace kron::test;

namespace {

constexpr KronCudaImage image = {KRON_CUDA_CUBIN, 90, 1, "cubin90a", 9};
KronCudaModule module = {1, &image, nullptr};

/// Kernels for GPUs of any sizes.
class CudaProduct : public FakeKernel {
public:
  CudaProduct(const char *name, int numFactors, int rank) : FakeKernel(name) {
    makeProduct<float>(*this, numFactors, rank, KRON_ISA_CUDA);
    cudaVersion = get()->versions[0];
    cudaVersion.cuda = &module;
    kernel.versions = &cudaVersion;
  }

private:
  KronVersion cudaVersion;
};

class NcclTest : public testing::Test {
protected:
  NcclTest() {
    fakeCuda().reset();
    fakeNccl().reset();
    // All memory of the process is that of GPU 0.
    fakeCuda().otherMemory = {1, 0, 2, false};
  }
  ~NcclTest() override {
    fakeNccl().reset();
    kronRtCudaUnload(&module);
  }

  /// Runs `action` with the communicator of every rank, one thread each.
  void run(int numRanks, std::function<void(NCCLCommunicator &)> action,
           std::chrono::milliseconds timeout = defaultTimeout) {
    NCCLId id = makeNCCLId();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < numRanks; ++rank)
      threads.emplace_back([&, rank] {
        NCCLCommunicator communicator(id, rank, numRanks, 0, timeout);
        action(communicator);
      });
    for (std::thread &thread : threads)
      thread.join();
  }

  template <typename E, typename Action>
  static std::string getError(Action action) {
    try {
      action();
    } catch (const E &error) {
      return error.what();
    }
    return "none";
  }

  CudaProduct inner{"inner", 2, 2}, outer{"outer", 1, 3}, all{"all", 3, 2};
  ProductKernels kernels = {&inner.kernel, &outer.kernel};
};

TEST_F(NcclTest, Version) {
  int32_t number = 0;
  EXPECT_SUCCESS(kronGetNcclVersion(&number));
  EXPECT_EQ(number, 22809);
  EXPECT_FAILURE(kronGetNcclVersion(nullptr), KRON_INVALID_ARGUMENT,
                 "expects a place for the version, but got NULL");
}

TEST_F(NcclTest, BadArguments) {
  const KronSegments *none = nullptr;
  EXPECT_FAILURE(
      kronNcclExchange(nullptr, nullptr, nullptr, 4, none, none, nullptr),
      KRON_INVALID_ARGUMENT, "expects a communicator, but got NULL");
  EXPECT_FAILURE(kronNcclSynchronize(nullptr, nullptr), KRON_INVALID_ARGUMENT,
                 "expects a communicator, but got NULL");
  kronNcclAbort(nullptr);
  kronNcclDestroy(nullptr);
  char id[KRON_NCCL_ID_BYTES];
  EXPECT_SUCCESS(kronNcclGetId(id));
  KronNccl *comm = nullptr;
  EXPECT_SUCCESS(kronNcclCreate(id, 0, 1, 0, 1000, &comm));
  EXPECT_FAILURE(
      kronNcclExchange(comm, nullptr, nullptr, 4, none, none, nullptr),
      KRON_INVALID_ARGUMENT, "expects arrays to read and write, but got NULL");
  EXPECT_FAILURE(kronNcclAllocate(comm, 8, nullptr), KRON_INVALID_ARGUMENT,
                 "expects arrays to read and write, but got NULL");
  KronSegments whole = {0, 1, 6, 6, 6}, cut = {0, 1, 6, 6, 4};
  EXPECT_FAILURE(
      kronNcclExchange(comm, nullptr, nullptr, 4, &whole, &cut, nullptr),
      KRON_INVALID_ARGUMENT,
      "expects receives[0] to have segments of whole messages, but got "
      "1 segments of 6 elements in messages of 4");
  kronNcclDestroy(comm);
}

TEST_F(NcclTest, Products) {
  for (int numRanks : {1, 2, 3})
    for (Placement placement : {Placement{1, 2}, {1, 3}, {2, 1}, {1, 1}}) {
      ReferenceProduct<float> whole(2, {5, 4, 3}, {3, 7, 2});
      run(numRanks, [&](NCCLCommunicator &communicator) {
        expectProduct(communicator, whole, kernels, placement);
      });
    }
  run(3, [&](NCCLCommunicator &communicator) {
    expectProduct(communicator,
                  ReferenceProduct<float>(7, {5, 4, 3}, {3, 7, 2}),
                  {&all.kernel}, {0, 0});
  });
}

// As many messages as the receiver has segments, none smaller than one of the
// inner modes; bytes as the plan says.
TEST_F(NcclTest, Messages) {
  ReferenceProduct<float> whole(2, {4, 4, 3}, {4, 4, 3});
  std::atomic<int64_t> numBytes{0};
  run(2, [&](NCCLCommunicator &communicator) {
    ShardedProduct plan(communicator, whole.shape, kernels, {1, 2});
    numBytes += plan.bytesSent();
    expectProduct(communicator, whole, kernels, {1, 2});
  });
  EXPECT_EQ(numBytes, 4 * 2 * 48 / 2);
  // Two segments of two ranks with 2 rows of 2 planes each.
  EXPECT_EQ(fakeNccl().messages,
            std::vector<size_t>(2 * 2 * 2 * 2, 2 * 3 * sizeof(float)));
  EXPECT_EQ(fakeNccl().calls["ncclAlltoAll"], 0);

  // Blocks per destination: a message per row.
  fakeNccl().reset();
  ProductKernels blocks = {&inner.kernel, &outer.kernel, &inner.kernel};
  run(2, [&](NCCLCommunicator &communicator) {
    expectProduct(communicator, whole, blocks, {1, 2});
  });
  EXPECT_EQ(fakeNccl().messages,
            std::vector<size_t>(2 * 2 * 2, 2 * 2 * 3 * sizeof(float)));

  // With one row these are what ncclAlltoAll takes.
  fakeNccl().reset();
  run(2, [&](NCCLCommunicator &communicator) {
    expectProduct(communicator,
                  ReferenceProduct<float>(1, {4, 4, 3}, {4, 4, 3}), blocks,
                  {1, 2});
  });
  EXPECT_EQ(fakeNccl().calls["ncclAlltoAll"], 2 * 2);
  EXPECT_EQ(fakeNccl().calls["ncclSend"], 0);
}

TEST_F(NcclTest, Creation) {
  char id[KRON_NCCL_ID_BYTES] = "";
  KronNccl *comm = nullptr;
  EXPECT_FAILURE(kronNcclGetId(nullptr), KRON_INVALID_ARGUMENT,
                 "expects a place for the id, but got NULL");
  EXPECT_FAILURE(
      kronNcclCreate(nullptr, 0, 1, 0, 1, &comm), KRON_INVALID_ARGUMENT,
      "expects an id and a place for the communicator, but got NULL");
  EXPECT_FAILURE(kronNcclCreate(id, 2, 2, 0, 1, &comm), KRON_INVALID_ARGUMENT,
                 "expects a rank from 0 to before 2, but got 2");
  EXPECT_FAILURE(kronNcclCreate(id, 0, 2, 0, 0, &comm), KRON_INVALID_ARGUMENT,
                 "expects a timeout of at least 1 ms, but got 0");
  EXPECT_FAILURE(kronNcclCreate(id, 0, 2, 7, 1, &comm), KRON_NO_DEVICE,
                 "expects the number of a GPU below 2, but got 7");
  kronNcclDestroy(nullptr);
  fakeNccl().failures["ncclGetUniqueId"] = 2;
  EXPECT_FAILURE(kronNcclGetId(id), KRON_CUDA_ERROR,
                 "ncclGetUniqueId: NCCL error 2 (as the test wants)");
}

// The only rank that comes.
TEST_F(NcclTest, MissingRank) {
  EXPECT_EQ(getError<Error>([] {
              NCCLCommunicator(makeNCCLId(), 0, 2, 0,
                               std::chrono::milliseconds(20));
            }),
            "KRON_CUDA_ERROR: rank 0 of 2: ncclCommInitRankConfig: not all "
            "ranks have answered within 20 ms");
  EXPECT_EQ(fakeNccl().calls["ncclCommAbort"], 1);
}

// What nobody sends does not come: the rank gives up, and says so ever after.
TEST_F(NcclTest, MissingMessage) {
  NCCLCommunicator communicator(makeNCCLId(), 0, 1, 0,
                                std::chrono::milliseconds(20));
  Exchange exchange = {sizeof(float), {Segments{}}, {Segments{0, 1, 2, 2, 2}}};
  auto transfer = communicator.plan(exchange);
  float from[2] = {}, to[2] = {};
  EXPECT_EQ(
      getError<CommunicationError>([&] { transfer->run(from, to, nullptr); }),
      "rank 0 of 1: ncclSend and ncclRecv: not all ranks have answered "
      "within 20 ms");
  EXPECT_EQ(
      getError<CommunicationError>([&] { communicator.synchronize(nullptr); }),
      "rank 0 of 1: the communicator was aborted before: ncclSend and "
      "ncclRecv: not all ranks have answered within 20 ms");
}

// A rank that cannot do its part ends all.
TEST_F(NcclTest, BadArgumentOfOneRank) {
  ReferenceProduct<float> whole(2, {4, 4, 3}, {4, 4, 3});
  std::string errors[2];
  std::atomic<int> numReady{0};
  run(2, [&](NCCLCommunicator &communicator) {
    ShardedProduct plan(communicator, whole.shape, kernels, {1, 2});
    // What fails is the product, not the plan of a slower rank.
    for (++numReady; numReady < 2;)
      std::this_thread::yield();
    auto x = whole.getPart(whole.x, whole.xSizes, 1, plan.getInputRange());
    std::vector<float> y(x.size());
    auto factors = whole.getFactors();
    int rank = communicator.getRank();
    if (rank == 1)
      factors.pop_back();
    errors[rank] = getError<std::runtime_error>([&] {
      plan.run(x.data(), factors, y.data());
      communicator.synchronize(nullptr);
    });
  });
  EXPECT_EQ(errors[0], "rank 0 of 2: ncclSend and ncclRecv: NCCL error 6 "
                       "(remote error)");
  EXPECT_EQ(errors[1], "sharded product: rank 1: expects 3 factors, but got 2");
}

TEST_F(NcclTest, ShapesDiffer) {
  std::string errors[2];
  run(2, [&](NCCLCommunicator &communicator) {
    int rank = communicator.getRank();
    errors[rank] = getError<std::invalid_argument>([&] {
      ShardedProduct(communicator, {KRON_F32, 1 + rank, {2, 2, 2}, {2, 2, 2}},
                     kernels, {1, 2});
    });
  });
  EXPECT_EQ(errors[0],
            "sharded product: expects the same product on all ranks, but rank "
            "0 has type f32, rows 1, p [2, 2, 2], q [2, 2, 2], sharded from "
            "axis 1 to axis 2, and rank 1 has type f32, rows 2, p [2, 2, 2], q "
            "[2, 2, 2], sharded from axis 1 to axis 2");
  EXPECT_EQ(errors[1], errors[0]);
}

// What the driver reports comes back, and aborts where work is lost.
TEST_F(NcclTest, DriverFails) {
  run(1, [&](NCCLCommunicator &communicator) {
    fakeCuda().failures["cuMemAlloc"] = 2;
    EXPECT_EQ(getError<Error>([&] { communicator.allocate(64); }),
              "KRON_OUT_OF_MEMORY: cuMemAlloc of 64 bytes on GPU 0: "
              "CUDA_ERROR_OUT_OF_MEMORY (as the test wants)");
    fakeCuda().failures["cuStreamQuery"] = 1;
    EXPECT_EQ(
        getError<CommunicationError>(
            [&] { communicator.synchronize(nullptr); }),
        "rank 0 of 1: cuStreamQuery: CUDA_ERROR_INVALID_VALUE (as the test "
        "wants)");
  });
  EXPECT_EQ(fakeNccl().calls["ncclCommAbort"], 1);
}

TEST_F(NcclTest, IdInFile) {
  std::string path = testing::TempDir() + "kron-nccl-id";
  std::remove(path.c_str());
  EXPECT_EQ(getError<CommunicationError>(
                [&] { shareNCCLId(path, 1, std::chrono::milliseconds(5)); }),
            "rank 1 has found no id in " + path + " within 5 ms");
  NCCLId id = shareNCCLId(path, 0);
  EXPECT_EQ(shareNCCLId(path, 1), id);
  std::remove(path.c_str());
  EXPECT_EQ(
      getError<CommunicationError>([&] { shareNCCLId("/nowhere/id", 0); }),
      "cannot write /nowhere/id");
}

} // namespace
