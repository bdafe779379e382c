//===- CudaTest.cpp - Launches on a GPU that is not there -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the runtime asks of the driver, and what it says when that fails. The
// driver is that of FakeCuda.h: two GPUs, sm_90 and sm_80 unless a test says
// otherwise.
//
//===----------------------------------------------------------------------===//

#include "ChildProcess.h"
#include "FakeCuda.h"
#include "FakeKernel.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace kron::test;

namespace {

constexpr KronCudaImage images[] = {{KRON_CUDA_PTX, 80, 0, "ptx80", 6},
                                    {KRON_CUDA_CUBIN, 80, 0, "cubin80", 8},
                                    {KRON_CUDA_PTX, 90, 1, "ptx90a", 7},
                                    {KRON_CUDA_CUBIN, 90, 1, "cubin90a", 9}};

/// What the entry below does.
struct Plan {
  KronCudaModule module = {4, images, nullptr};
  const char *kernel = "f_0";
  int64_t grid = 10, sharedBytes = 0;
  int32_t block = 128, cluster = 1;
  std::vector<int64_t> workspace;
  /// Released in this order right after all were taken.
  std::vector<size_t> releases;
  std::vector<int64_t> moreWorkspace;
  std::vector<void *> pieces;
  int64_t processors = 0;
};
Plan *plan;

void entry(const KronArray *args) {
  plan->processors = kronRtCudaNumSMs();
  plan->pieces.clear();
  for (int64_t bytes : plan->workspace)
    plan->pieces.push_back(kronRtCudaWorkspace(bytes));
  for (size_t index : plan->releases)
    kronRtCudaRelease(plan->pieces[index]);
  for (int64_t bytes : plan->moreWorkspace)
    plan->pieces.push_back(kronRtCudaWorkspace(bytes));
  void *data = args[0].data;
  void *params[] = {&data};
  kronRtCudaLaunch(&plan->module, plan->kernel, plan->grid, plan->block,
                   plan->cluster, plan->sharedBytes, params, 1);
}

/// Only launches, so that any number of threads may run it.
void launchOnly(const KronArray *) {
  kronRtCudaLaunch(&plan->module, "f_0", 10, 128, 1, 0, nullptr, 0);
}

/// A kernel on one array of 16 floats that is at `data` on GPU 0.
class CudaTest : public testing::Test {
protected:
  CudaTest() : kernel("f") {
    fakeCuda().reset();
    plan = &thePlan;
    kernel.arg("x", KRON_WRITE, {-1});
    kernel.version(entry, 0, 0, KRON_ISA_CUDA);
    fakeCuda().memory[address] = {64, 0, 2, false};
    options.target = KRON_TARGET_CUDA;
  }
  ~CudaTest() override { kronRtCudaUnload(&thePlan.module); }

  const KronKernel *get() {
    const KronKernel *result = kernel.get();
    version = result->versions[0];
    version.cuda = &thePlan.module;
    kernel.kernel.versions = &version;
    return result;
  }
  KronStatus run() {
    const KronKernel *built = get();
    KronArray array = {reinterpret_cast<void *>(data), &size, nullptr, 1,
                       KRON_F32};
    return kronLaunch(built, &array, 1, &options);
  }
  KronStatus measure(size_t *bytes) {
    const KronKernel *built = get();
    KronArray array = {nullptr, &size, nullptr, 1, KRON_F32};
    return kronGetLaunchWorkspaceSize(built, &array, 1, &options, bytes);
  }
  FakeLaunch getLaunch() {
    EXPECT_EQ(fakeCuda().launches.size(), 1u);
    return fakeCuda().launches.empty() ? FakeLaunch()
                                       : fakeCuda().launches.back();
  }

  static constexpr uint64_t address = 0x5000000000;
  uint64_t data = address;
  int64_t size = 16;
  Plan thePlan;
  FakeKernel kernel;
  KronVersion version;
  KronLaunchOptions options = {};
};

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST_F(CudaTest, Launch) {
  FakeContext *primary;
  FakeStream stream;
  EXPECT_SUCCESS(run());
  primary = static_cast<FakeContext *>(getLaunch().context);
  stream.context = primary;
  fakeCuda().launches.clear();
  options.stream = &stream;
  plan->sharedBytes = 1000;
  EXPECT_SUCCESS(run());
  FakeLaunch launch = getLaunch();
  EXPECT_EQ(launch.kernel, "f_0");
  EXPECT_EQ(launch.grid, 10u);
  EXPECT_EQ(launch.block, 128u);
  EXPECT_EQ(launch.cluster, 1u);
  EXPECT_EQ(launch.sharedBytes, 1000u);
  EXPECT_EQ(launch.stream, &stream);
  EXPECT_EQ(plan->processors, 132);
  // The code is loaded once, and the thread's context is as before.
  EXPECT_EQ(fakeCuda().loads.size(), 1u);
  EXPECT_EQ(fakeCurrentContext(), nullptr);
}

TEST_F(CudaTest, ChildOfProcessWithDriver) {
  EXPECT_SUCCESS(run());
  EXPECT_EQ(inChild([&] {
              bool isRefused = run() == KRON_NO_DEVICE &&
                               std::strstr(kronGetLastError(), "fork()");
              return !isRefused;
            }),
            0);
  EXPECT_SUCCESS(run());
}

TEST_F(CudaTest, Cluster) {
  plan->cluster = 2;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(getLaunch().cluster, 2u);
  EXPECT_EQ(getLaunch().grid, 10u);
  plan->cluster = 4;
  EXPECT_FAILURE(
      run(), KRON_INVALID_ARGUMENT,
      "kernel 'f': 'f_0' expects a multiple of 4 blocks, but got 10");
}

TEST_F(CudaTest, EarlyStart) {
  EXPECT_SUCCESS(run());
  EXPECT_FALSE(getLaunch().startsEarly);
  fakeCuda().launches.clear();
  plan->cluster = 0;
  EXPECT_SUCCESS(run());
  EXPECT_TRUE(getLaunch().startsEarly);
  EXPECT_EQ(getLaunch().cluster, 0u);
  EXPECT_EQ(getLaunch().grid, 10u);
}

TEST_F(CudaTest, EarlyStartOfClusters) {
  plan->cluster = -2;
  EXPECT_SUCCESS(run());
  EXPECT_TRUE(getLaunch().startsEarly);
  EXPECT_EQ(getLaunch().cluster, 2u);
  EXPECT_EQ(getLaunch().grid, 10u);
  plan->cluster = -4;
  EXPECT_FAILURE(
      run(), KRON_INVALID_ARGUMENT,
      "kernel 'f': 'f_0' expects a multiple of 4 blocks, but got 10");
}

TEST_F(CudaTest, LargeSharedMemory) {
  plan->sharedBytes = 200000;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCuda().allowedSharedBytes["f_0"], 232448);
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCuda().count("cuFuncSetAttribute"), 1);
  plan->sharedBytes = 232449;
  EXPECT_FAILURE(run(), KRON_UNSUPPORTED,
                 "kernel 'f': 'f_0' expects 232449 bytes of shared memory per "
                 "block, but GPU 0 has 232448");
}

TEST_F(CudaTest, EmptyGrid) {
  for (int64_t grid : {int64_t(0), int64_t(-1)}) {
    plan->grid = grid;
    EXPECT_SUCCESS(run());
    EXPECT_TRUE(fakeCuda().launches.empty());
  }
}

TEST_F(CudaTest, EmptyArray) {
  size = 0;
  data = 0;
  EXPECT_SUCCESS(run());
}

TEST_F(CudaTest, LargeGrid) {
  plan->grid = int64_t(1) << 31;
  EXPECT_FAILURE(run(), KRON_INVALID_ARGUMENT,
                 "kernel 'f': 'f_0' expects at most 2^31-1 blocks, but the "
                 "sizes need 2147483648");
  EXPECT_TRUE(fakeCuda().launches.empty());
}

TEST_F(CudaTest, LargeBlock) {
  fakeCuda().maxThreads = 64;
  EXPECT_FAILURE(run(), KRON_UNSUPPORTED,
                 "kernel 'f': 'f_0' expects blocks of 128 threads, but GPU 0 "
                 "runs at most 64 with its registers");
}

TEST_F(CudaTest, ThreadsLoadOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  const KronKernel *built = get();
  version.entry = launchOnly;
  KronArray array = {reinterpret_cast<void *>(data), &size, nullptr, 1,
                     KRON_F32};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j)
        failures += kronLaunch(built, &array, 1, &options) != KRON_SUCCESS;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(fakeCuda().loads.size(), 1u);
  EXPECT_EQ(fakeCuda().launches.size(), 800u);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Modules of kernels that one entry launches.
constexpr KronCudaImage separateImages[] = {{KRON_CUDA_PTX, 90, 1, "first", 6},
                                            {KRON_CUDA_PTX, 90, 1, "second", 7},
                                            {KRON_CUDA_PTX, 90, 1, "third", 6}};
KronCudaModule separateModules[3];

void launchSeparate(const KronArray *) {
  for (KronCudaModule &module : separateModules)
    kronRtCudaLaunch(&module, "f_0", 10, 128, 1, 0, nullptr, 0);
  kronRtCudaWorkspace(100);
}

class CudaLoadsTest : public CudaTest {
protected:
  CudaLoadsTest() {
    for (int i = 0; i < 3; ++i)
      separateModules[i] = {1, &separateImages[i], nullptr};
    built = get();
    version.entry = launchSeparate;
  }
  ~CudaLoadsTest() override {
    for (KronCudaModule &module : separateModules)
      kronRtCudaUnload(&module);
    kronSetNumThreads(numThreads);
  }

  KronStatus launch() {
    KronArray array = {reinterpret_cast<void *>(data), &size, nullptr, 1,
                       KRON_F32};
    return kronLaunch(built, &array, 1, &options);
  }

  const KronKernel *built;
  int32_t numThreads = kronGetNumThreads();
};

TEST_F(CudaLoadsTest, SideBySide) {
  // The first load ends once all have begun, which takes three threads.
  std::mutex mutex;
  std::condition_variable changed;
  int numBegun = 0;
  bool haveMet = true;
  fakeCuda().load = [&](const void *) {
    std::unique_lock<std::mutex> lock(mutex);
    ++numBegun;
    changed.notify_all();
    haveMet &= changed.wait_for(lock, std::chrono::minutes(5),
                                [&] { return numBegun == 3; });
  };
  kronSetNumThreads(3);
  EXPECT_SUCCESS(launch());
  EXPECT_TRUE(haveMet);
  EXPECT_EQ(fakeCuda().launches.size(), 3u);
  EXPECT_SUCCESS(launch());
  EXPECT_EQ(numBegun, 3);
}

TEST_F(CudaLoadsTest, SeveralAreLinked) {
  kronSetNumThreads(3);
  EXPECT_SUCCESS(launch());
  EXPECT_EQ(fakeCuda().count("cuLinkComplete"), 3);
  EXPECT_EQ(fakeCuda().count("cuLinkDestroy"), 3);
  EXPECT_EQ(fakeCuda().loads.size(), 3u);
  EXPECT_EQ(fakeCuda().launches.size(), 3u);
  // One that is missing is loaded.
  kronRtCudaUnload(&separateModules[0]);
  EXPECT_SUCCESS(launch());
  EXPECT_EQ(fakeCuda().count("cuLinkCreate"), 3);
  EXPECT_EQ(fakeCuda().loads.size(), 4u);
}

TEST_F(CudaLoadsTest, CubinsAreNotLinked) {
  KronCudaImage cubins[3];
  for (int i = 0; i < 3; ++i) {
    cubins[i] = separateImages[i];
    cubins[i].kind = KRON_CUDA_CUBIN;
    separateModules[i].images = &cubins[i];
  }
  kronSetNumThreads(3);
  EXPECT_SUCCESS(launch());
  EXPECT_EQ(fakeCuda().count("cuLinkCreate"), 0);
  EXPECT_EQ(fakeCuda().loads.size(), 3u);
}

TEST_F(CudaLoadsTest, WhatIsNotLinkedIsLoaded) {
  kronSetNumThreads(3);
  for (const char *function :
       {"cuLinkCreate", "cuLinkAddData", "cuLinkComplete"}) {
    for (KronCudaModule &module : separateModules)
      kronRtCudaUnload(&module);
    fakeCuda().calls.clear();
    fakeCuda().loads.clear();
    fakeCuda().failures = {{function, 1}};
    EXPECT_SUCCESS(launch());
    EXPECT_EQ(fakeCuda().count(function), 3);
    EXPECT_EQ(fakeCuda().loads.size(), 3u);
  }
}

TEST_F(CudaLoadsTest, OneThread) {
  std::vector<std::pair<std::thread::id, std::string>> loads;
  fakeCuda().load = [&](const void *image) {
    loads.emplace_back(std::this_thread::get_id(),
                       static_cast<const char *>(image));
  };
  kronSetNumThreads(1);
  EXPECT_SUCCESS(launch());
  EXPECT_EQ(fakeCuda().count("cuLinkCreate"), 0);
  std::thread::id own = std::this_thread::get_id();
  EXPECT_EQ(loads, (std::vector<std::pair<std::thread::id, std::string>>{
                       {own, "first"}, {own, "second"}, {own, "third"}}));
}

TEST_F(CudaLoadsTest, FirstError) {
  fakeCuda().badImages = {{separateImages[1].data, 2},
                          {separateImages[2].data, 201}};
  kronSetNumThreads(3);
  EXPECT_FAILURE(launch(), KRON_OUT_OF_MEMORY,
                 "cuModuleLoadDataEx of PTX for sm_90a on GPU 0 (sm_90): "
                 "CUDA_ERROR_OUT_OF_MEMORY (as the test wants)");
  EXPECT_TRUE(fakeCuda().launches.empty());
  // What was loaded stays.
  fakeCuda().badImages.clear();
  EXPECT_SUCCESS(launch());
  EXPECT_EQ(fakeCuda().loads.size(), 3u);
}

TEST_F(CudaLoadsTest, OnePerKernel) {
  // Two launches of a kernel, and one of another kernel of its module.
  version.entry = [](const KronArray *) {
    for (const char *kernel : {"f_0", "f_0", "f_1"})
      kronRtCudaLaunch(&separateModules[0], kernel, 10, 128, 1, 0, nullptr, 0);
  };
  EXPECT_SUCCESS(launch());
  EXPECT_EQ(fakeCuda().loads.size(), 1u);
  EXPECT_EQ(fakeCuda().count("cuModuleGetFunction"), 2);
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

TEST_F(CudaTest, CurrentContextIsUsed) {
  FakeContext own = {0, 100};
  fakeCurrentContext() = &own;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(getLaunch().context, &own);
  EXPECT_EQ(fakeCuda().count("cuCtxPushCurrent"), 0);
}

TEST_F(CudaTest, CurrentContextOfAnotherGpuIsNot) {
  FakeContext other = {1, 101};
  fakeCurrentContext() = &other;
  EXPECT_SUCCESS(run());
  EXPECT_NE(getLaunch().context, &other);
  EXPECT_EQ(fakeCurrentContext(), &other);
}

TEST_F(CudaTest, ContextOfTheStream) {
  FakeContext own = {0, 102};
  FakeStream stream = {&own};
  options.stream = &stream;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(getLaunch().context, &own);
  // Another context loads the code again, even at the same address.
  own.id = 103;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCuda().loads.size(), 2u);
}

TEST_F(CudaTest, StreamOfAnotherGpu) {
  FakeContext other = {1, 104};
  FakeStream stream = {&other};
  options.stream = &stream;
  EXPECT_FAILURE(run(), KRON_INVALID_ARGUMENT,
                 "expects a stream of GPU 0, but got one of GPU 1");
  EXPECT_EQ(fakeCurrentContext(), nullptr);
}

TEST_F(CudaTest, SecondGpu) {
  options.device = 1;
  fakeCuda().memory[address].device = 1;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(static_cast<FakeContext *>(getLaunch().context)->device, 1);
  EXPECT_STREQ(static_cast<const char *>(getLaunch().image), "cubin80");
}

TEST_F(CudaTest, NoSuchGpu) {
  for (int32_t device : {-1, 2}) {
    options.device = device;
    EXPECT_EQ(run(), KRON_NO_DEVICE);
  }
  EXPECT_STREQ(kronGetLastError(),
               "expects the number of a GPU below 2, but got 2");
  int32_t count = 0, capability = 0;
  EXPECT_SUCCESS(kronGetCudaDeviceCount(&count));
  EXPECT_EQ(count, 2);
  EXPECT_SUCCESS(kronGetCudaCapability(1, &capability));
  EXPECT_EQ(capability, 80);
  EXPECT_EQ(kronGetCudaCapability(2, &capability), KRON_NO_DEVICE);
}

TEST(CudaDeathTest, NoGpu) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("FAKE_CUDA_DEVICES", "0", 1);
        int32_t count = 1;
        KronStatus status = kronGetCudaDeviceCount(&count);
        bool good = status == KRON_NO_DEVICE && count == 0 &&
                    !strcmp(kronGetLastError(),
                            "expects a GPU, but the CUDA driver finds no GPU");
        _Exit(good ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

TEST_F(CudaTest, BestImage) {
  EXPECT_SUCCESS(run());
  EXPECT_STREQ(static_cast<const char *>(getLaunch().image), "cubin90a");
}

TEST_F(CudaTest, NextImageIfTheDriverRefusesOne) {
  fakeCuda().badImages[images[3].data] = 209;
  EXPECT_SUCCESS(run());
  EXPECT_STREQ(static_cast<const char *>(getLaunch().image), "ptx90a");
}

TEST_F(CudaTest, NoImageLoads) {
  for (const KronCudaImage &image : images)
    fakeCuda().badImages[image.data] = 209;
  EXPECT_FAILURE(run(), KRON_UNSUPPORTED,
                 "cuModuleLoadDataEx of PTX for sm_80 on GPU 0 (sm_90): "
                 "CUDA_ERROR_NO_BINARY_FOR_GPU (as the test wants)");
}

TEST_F(CudaTest, NoImageFits) {
  // Neither the cubin of another major capability nor the code for sm_90a runs
  // on GPU 1.
  static constexpr KronCudaImage newer[] = {
      {KRON_CUDA_CUBIN, 90, 1, "cubin90a", 9},
      {KRON_CUDA_PTX, 86, 0, "ptx86", 6}};
  plan->module.images = newer;
  plan->module.numImages = 2;
  options.device = 1;
  EXPECT_FAILURE(run(), KRON_UNSUPPORTED,
                 "kernel 'f' has no code that runs on GPU 1 (sm_80)");
}

TEST_F(CudaTest, NoVersion) {
  FakeKernel onCpu;
  onCpu.version(emptyEntry);
  EXPECT_FAILURE(launch(onCpu, {}, options), KRON_UNSUPPORTED,
                 "kernel 'f' has no version for CUDA: it was compiled for the "
                 "CPU only");
  options.target = KRON_TARGET_CPU;
  EXPECT_FAILURE(run(), KRON_UNSUPPORTED,
                 "kernel 'f' has no versions for the CPU");
  options.target = KronTarget(7);
  EXPECT_FAILURE(run(), KRON_INVALID_ARGUMENT,
                 "kernel 'f': expects a target of 0 (CPU) or 1 (CUDA), but got "
                 "7");
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

TEST_F(CudaTest, HostPointer) {
  data = 0x4000;
  EXPECT_FAILURE(run(), KRON_INVALID_ARGUMENT,
                 "kernel 'f', argument 0 ('x'): expects memory of GPU 0, but "
                 "got host memory at 0x4000");
  EXPECT_TRUE(fakeCuda().launches.empty());
}

TEST_F(CudaTest, ReachableArrays) {
  // The driver would call this memory the host's.
  data = 0x4000;
  options.arraysReachable = 1;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCuda().launches.size(), 1u);
}

TEST_F(CudaTest, MemoryOfAnotherGpu) {
  fakeCuda().memory[address].device = 1;
  EXPECT_FAILURE(run(), KRON_INVALID_ARGUMENT,
                 "kernel 'f', argument 0 ('x'): expects memory of GPU 0, but "
                 "got memory of GPU 1 at 0x5000000000");
  fakeCuda().memory[address].isManaged = true;
  EXPECT_SUCCESS(run());
}

TEST_F(CudaTest, PageLockedMemory) {
  fakeCuda().memory[address].type = 1;
  EXPECT_SUCCESS(run());
}

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

TEST_F(CudaTest, WorkspaceOfTheRuntime) {
  plan->workspace = {100, 1000};
  EXPECT_SUCCESS(run());
  EXPECT_EQ(plan->pieces[0], reinterpret_cast<void *>(0x7000000000));
  EXPECT_EQ(plan->pieces[1], reinterpret_cast<void *>(0x7000000100));
  // Taken before and given back after the launch.
  std::vector<std::string> order;
  for (const std::string &call : fakeCuda().calls)
    if (call == "cuMemAllocFromPoolAsync" || call == "cuLaunchKernel" ||
        call == "cuMemFreeAsync")
      order.push_back(call);
  EXPECT_EQ(order,
            (std::vector<std::string>{"cuMemAllocFromPoolAsync",
                                      "cuLaunchKernel", "cuMemFreeAsync"}));
}

TEST_F(CudaTest, WorkspaceSize) {
  size_t bytes = 1;
  EXPECT_SUCCESS(measure(&bytes));
  EXPECT_EQ(bytes, 0u);
  plan->workspace = {100, 1000};
  EXPECT_SUCCESS(measure(&bytes));
  EXPECT_EQ(bytes, 256u + 1024u);
  // What was released serves the next piece that fits.
  plan->releases = {0};
  plan->moreWorkspace = {200};
  EXPECT_SUCCESS(measure(&bytes));
  EXPECT_EQ(bytes, 256u + 1024u);
  plan->moreWorkspace = {300};
  EXPECT_SUCCESS(measure(&bytes));
  EXPECT_EQ(bytes, 256u + 1024u + 512u);
  EXPECT_TRUE(fakeCuda().launches.empty());
}

TEST_F(CudaTest, WorkspaceOfTheCaller) {
  constexpr uint64_t place = 0x6000000000;
  plan->workspace = {100, 1000};
  fakeCuda().memory[place] = {4096, 0, 2, false};
  options.workspace = reinterpret_cast<void *>(place);
  options.workspaceBytes = 1280;
  EXPECT_SUCCESS(run());
  EXPECT_EQ(plan->pieces[0], options.workspace);
  EXPECT_EQ(fakeCuda().count("cuMemAllocFromPoolAsync"), 0);

  options.workspaceBytes = 1279;
  EXPECT_FAILURE(run(), KRON_WORKSPACE_TOO_SMALL,
                 "kernel 'f': expects a workspace of at least 1280 bytes, but "
                 "got 1279");
  options.workspaceBytes = 2048;
  options.workspace = reinterpret_cast<void *>(place + 64);
  EXPECT_FAILURE(
      run(), KRON_INVALID_ARGUMENT,
      "kernel 'f': expects the workspace to be aligned to 256 bytes, "
      "but got address 0x6000000040");
  options.workspace = reinterpret_cast<void *>(0x8000);
  EXPECT_FAILURE(run(), KRON_INVALID_ARGUMENT,
                 "kernel 'f', workspace: expects memory of GPU 0, but got host "
                 "memory at 0x8000");
}

TEST_F(CudaTest, WorkspaceOverflows) {
  for (int64_t bytes : {int64_t(-1), INT64_MAX}) {
    plan->workspace = {bytes};
    EXPECT_FAILURE(run(), KRON_INVALID_ARGUMENT,
                   "kernel 'f': the sizes need a workspace of 2^63 bytes or "
                   "more");
  }
  plan->workspace = {int64_t(1) << 62, int64_t(1) << 62};
  EXPECT_EQ(run(), KRON_INVALID_ARGUMENT);
}

//===----------------------------------------------------------------------===//
// Failures of the driver
//===----------------------------------------------------------------------===//

TEST_F(CudaTest, LaunchFails) {
  fakeCuda().failures["cuLaunchKernel"] = 1;
  EXPECT_FAILURE(run(), KRON_CUDA_ERROR,
                 "kernel 'f': launch of 'f_0' with 10 blocks of 128 threads, "
                 "clusters of 1, 0 bytes of shared memory each, on GPU 0: "
                 "CUDA_ERROR_INVALID_VALUE (as the test wants)");
  fakeCuda().failures.clear();
  EXPECT_SUCCESS(run());
}

TEST_F(CudaTest, LoadingFails) {
  fakeCuda().failures["cuModuleLoadDataEx"] = 2;
  EXPECT_FAILURE(run(), KRON_OUT_OF_MEMORY,
                 "cuModuleLoadDataEx of a cubin for sm_90a on GPU 0 (sm_90): "
                 "CUDA_ERROR_OUT_OF_MEMORY (as the test wants)");
  fakeCuda().failures.clear();
  EXPECT_SUCCESS(run());
}

TEST_F(CudaTest, FunctionIsMissing) {
  plan->kernel = "missing";
  EXPECT_FAILURE(run(), KRON_CUDA_ERROR,
                 "cuModuleGetFunction of 'missing': CUDA_ERROR_NOT_FOUND (as "
                 "the test wants)");
}

TEST_F(CudaTest, OutOfMemory) {
  plan->workspace = {100};
  fakeCuda().failures["cuMemAllocFromPoolAsync"] = 2;
  EXPECT_FAILURE(
      run(), KRON_OUT_OF_MEMORY,
      "kernel 'f': cuMemAllocFromPoolAsync of a workspace of 256 "
      "bytes on GPU 0: CUDA_ERROR_OUT_OF_MEMORY (as the test wants)");
  EXPECT_TRUE(fakeCuda().launches.empty());
  fakeCuda().failures.clear();
  EXPECT_SUCCESS(run());
}

TEST(CudaDeathTest, OutsideLaunch) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(kronRtCudaWorkspace(1), "kronRtCudaWorkspace is valid only "
                                       "inside a launch on a GPU");
}

TEST_F(CudaTest, Unload) {
  EXPECT_SUCCESS(run());
  kronRtCudaUnload(&plan->module);
  EXPECT_EQ(fakeCuda().count("cuModuleUnload"), 1);
  EXPECT_EQ(plan->module.state, nullptr);
  EXPECT_SUCCESS(run());
  EXPECT_EQ(fakeCuda().loads.size(), 2u);
}

} // namespace
