//===- NCCLDeviceTest.cpp - Sharded products on GPUs ----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One of several processes with a GPU each, which run the same tests in the
// same order:
//
//   kron-nccl-tests RANK RANKS DEVICE ID-FILE [GoogleTest's options]
//
// Each test has a communicator of its own, which meets the other ranks' in
// ID-FILE with the test's number behind.
//
//===----------------------------------------------------------------------===//

#include "ReferenceProduct.h"
#include "kernels.h"
#include "kron/Distributed.hpp"

#include <complex>
#include <cstdlib>
#include <dlfcn.h>

using namespace kron;
using namespace kron::test;

namespace {

struct Process {
  int rank, numRanks, device;
  std::string idFile;
  int numCommunicators = 0;
};
Process process;

/// Copies between the GPU and the host, by the driver that the runtime has
/// loaded already.
int copyToDevice(void *to, const void *from, size_t bytes) {
  static auto copy = reinterpret_cast<int (*)(void *, const void *, size_t)>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemcpyHtoD_v2"));
  return bytes ? copy(to, from, bytes) : 0;
}
int copyToHost(void *to, const void *from, size_t bytes) {
  static auto copy = reinterpret_cast<int (*)(void *, const void *, size_t)>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemcpyDtoH_v2"));
  return bytes ? copy(to, from, bytes) : 0;
}

/// Makes the GPU's primary context current, as the CUDA runtime does. Returns
/// what went wrong.
std::string setDevice(int device) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    return dlerror();
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  auto retain = reinterpret_cast<int (*)(void **, int)>(
      dlsym(library, "cuDevicePrimaryCtxRetain"));
  auto set =
      reinterpret_cast<int (*)(void *)>(dlsym(library, "cuCtxSetCurrent"));
  void *context = nullptr;
  if (init(0) || retain(&context, device) || set(context))
    return "there is no GPU " + std::to_string(device);
  return "";
}

/// Copies of the test's arrays in the GPU's memory.
struct DeviceArrays {
  Communicator *communicator;
  std::vector<Communicator::Memory> memory = {};

  template <typename T> T *give(std::vector<T> &values) {
    memory.push_back(communicator->allocate(values.size() * sizeof(T)));
    EXPECT_EQ(copyToDevice(memory.back().get(), values.data(),
                           values.size() * sizeof(T)),
              0);
    return static_cast<T *>(memory.back().get());
  }
  template <typename T> void take(const T *data, std::vector<T> &values) {
    EXPECT_EQ(copyToHost(values.data(), data, values.size() * sizeof(T)), 0);
  }
};

class NCCLDeviceTest : public testing::Test {
protected:
  std::unique_ptr<NCCLCommunicator>
  connect(std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    NCCLId id = shareNCCLId(process.idFile + "." +
                                std::to_string(process.numCommunicators++),
                            process.rank, std::chrono::seconds(60));
    return std::make_unique<NCCLCommunicator>(
        id, process.rank, process.numRanks, process.device, timeout);
  }

  template <typename T>
  void expect(const KronKernel &inner, const KronKernel &outer) {
    auto communicator = connect();
    for (int64_t rows : {1, 3})
      for (Placement placement : {Placement{1, 2}, {2, 1}, {1, 1}, {1, 3}})
        expectProduct(*communicator,
                      ReferenceProduct<T>(rows, {4, 8, 6}, {4, 8, 6}),
                      {&inner, &outer}, placement, nullptr,
                      DeviceArrays{communicator.get()});
  }
};

TEST_F(NCCLDeviceTest, F32) {
  expect<float>(kron_kernel_inner_f32, kron_kernel_outer_f32);
}

TEST_F(NCCLDeviceTest, F64) {
  expect<double>(kron_kernel_inner_f64, kron_kernel_outer_f64);
}

TEST_F(NCCLDeviceTest, F16) {
  expect<_Float16>(kron_kernel_inner_f16, kron_kernel_outer_f16);
}

TEST_F(NCCLDeviceTest, C32) {
  expect<std::complex<float>>(kron_kernel_inner_c32, kron_kernel_outer_c32);
}

// Blocks of half of the columns, for two ranks: by ncclAlltoAll with one row,
// where NCCL has it, else in messages.
TEST_F(NCCLDeviceTest, Blocks) {
  if (process.numRanks != 2)
    GTEST_SKIP() << "for 2 ranks";
  auto communicator = connect();
  for (int64_t rows : {1, 3})
    expectProduct(
        *communicator, ReferenceProduct<float>(rows, {4, 8, 6}, {4, 8, 6}),
        {&kron_kernel_inner_f32, &kron_kernel_outer_f32, &kron_kernel_half_f32},
        {1, 2}, nullptr, DeviceArrays{communicator.get()});
}

// A rank that cannot do its part ends all.
TEST_F(NCCLDeviceTest, BadArgumentOfOneRank) {
  auto communicator = connect(std::chrono::seconds(20));
  ReferenceProduct<float> whole(2, {4, 8, 6}, {4, 8, 6});
  ShardedProduct plan(*communicator, whole.shape,
                      {&kron_kernel_inner_f32, &kron_kernel_outer_f32}, {1, 2});
  communicator->allGather({0});
  DeviceArrays arrays{communicator.get()};
  auto x = whole.getPart(whole.x, whole.xSizes, 1, plan.getInputRange());
  std::vector<float> y(size_t(multiplySizes(plan.getResultSizes(), 0, 4)));
  std::vector<const float *> factors;
  for (auto &factor : whole.factors)
    factors.push_back(arrays.give(factor));
  if (process.rank == 0)
    factors.pop_back();
  EXPECT_THROW(
      {
        plan.run(arrays.give(x), factors, arrays.give(y));
        communicator->synchronize(nullptr);
      },
      std::runtime_error);
}

/// Waits until all ranks are here: a test that ends on an error does so at
/// another time on each.
static void meet(const std::string &name) {
  std::string path = process.idFile + "." + name + ".";
  std::ofstream(path + std::to_string(process.rank)) << "here";
  for (int rank = 0; rank < process.numRanks; ++rank)
    while (!std::ifstream(path + std::to_string(rank)))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// A rank that does not come to an exchange is waited for until the timeout;
// what waits on the GPU is ended.
TEST_F(NCCLDeviceTest, MissingRank) {
  if (process.numRanks < 2)
    GTEST_SKIP() << "for 2 ranks or more";
  meet("before");
  auto communicator = connect(std::chrono::seconds(10));
  communicator->allGather({0});
  Exchange exchange = makeExchange({64, 64}, 0, 1, process.rank,
                                   process.numRanks, sizeof(float));
  auto transfer = communicator->plan(exchange);
  auto from = communicator->allocate(64 * 64 * sizeof(float)),
       to = communicator->allocate(64 * 64 * sizeof(float));
  if (process.rank != 0)
    EXPECT_THROW(
        {
          transfer->run(from.get(), to.get(), nullptr);
          communicator->synchronize(nullptr);
        },
        CommunicationError);
  // Rank 0 stays until the others have given up.
  meet("after");
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 5) {
    std::fprintf(
        stderr, "usage: kron-nccl-tests RANK RANKS DEVICE ID-FILE [OPTIONS]\n");
    return 2;
  }
  process = {std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]),
             argv[4]};
  std::string problem = setDevice(process.device);
  int32_t version = 0;
  if (problem.empty() && kronGetNcclVersion(&version) != KRON_SUCCESS)
    problem = kronGetLastError();
  if (!problem.empty()) {
    std::fprintf(stderr, "kron-nccl-tests: error: %s\n", problem.c_str());
    return 1;
  }
  std::printf("rank %d of %d on GPU %d, NCCL %d\n", process.rank,
              process.numRanks, process.device, version);
  return RUN_ALL_TESTS();
}
