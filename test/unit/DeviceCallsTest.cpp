//===- DeviceCallsTest.cpp - Timing launches on a GPU -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Two plans for one function by turns, as a tuner runs them, on the driver of
// FakeCuda.h, whose GPU takes as long for each as the test says that it does.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "kron/Driver/Gpu.h"
#include "kron/Driver/Session.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;
using ::kron::test::fakeCuda;
using ::kron::test::FakeLaunch;

/// Two functions of the same arguments; what the second one has between its
/// kernels needs a workspace.
static constexpr llvm::StringLiteral kOne = R"(
func.func @f(%x: memref<256x64xf32>, %f: memref<8x8xf32>, %y: memref<256x64xf32>) {
  kron.mkm ins(%x : memref<256x64xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<256x64xf32>)
  return
})";
static constexpr llvm::StringLiteral kTwo = R"(
func.func @f(%x: memref<256x64xf32>, %f: memref<8x8xf32>, %y: memref<256x64xf32>) {
  %z = memref.alloc() : memref<256x64xf32>
  kron.mkm ins(%x : memref<256x64xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>)
    outs(%z : memref<256x64xf32>)
  linalg.exp ins(%z : memref<256x64xf32>) outs(%y : memref<256x64xf32>)
  memref.dealloc %z : memref<256x64xf32>
  return
})";

namespace {
class DeviceCalls : public testing::Test {
protected:
  void SetUp() override {
    fakeCuda().reset();
    fakeCuda().milliseconds = [](const FakeLaunch &launch) { return 1; };
    gpu = llvm::cantFail(Gpu::open(0));
    compile(kOne, one);
    compile(kTwo, two);
    ASSERT_TRUE(one && two);
    call = llvm::cantFail(CallArguments::create(
        getManifest(), {"ones:256x64:f32", "ones:8x8:f32"}, {}));
  }
  void TearDown() override {
    gpu.reset();
    fakeCuda().reset();
  }

  const KernelManifest &getManifest() { return one->getKernels().front(); }
  RotatingDeviceCalls create(bool isCold) {
    return llvm::cantFail(
        RotatingDeviceCalls::create(*gpu, getManifest(), call, isCold));
  }
  static std::vector<double> time(RotatingDeviceCalls &calls,
                                  const JITModule &module) {
    auto times = calls.time(module.lookup("f"), 5);
    if (times)
      return *times;
    ADD_FAILURE() << llvm::toString(times.takeError());
    return {};
  }

  std::unique_ptr<Gpu> gpu;
  std::optional<JITModule> one, two;
  CallArguments call;

private:
  static void compile(StringRef text, std::optional<JITModule> &result) {
    Session session;
    llvm::cantFail(session.addGPUs({"sm_90a"}));
    auto source = llvm::cantFail(session.parse(text, &llvm::errs()));
    auto compiled = session.load(source->get());
    if (succeeded(compiled))
      result.emplace(std::move(*compiled));
  }
};
} // namespace

TEST_F(DeviceCalls, ArraysStayWhereKernelsTakeTurns) {
  RotatingDeviceCalls calls = create(/*isCold=*/false);
  // As many copies as do not fit into the cache together.
  EXPECT_EQ(fakeCuda().count("cuMemcpyHtoD") % 2, 0);
  EXPECT_GT(fakeCuda().count("cuMemcpyHtoD"), 2);
  int arrays = fakeCuda().count("cuMemAlloc");
  EXPECT_EQ(time(calls, *one), std::vector<double>(5, 1e-3));
  EXPECT_EQ(fakeCuda().count("cuMemAlloc"), arrays);
  // Each copy has a workspace of its own from now on.
  EXPECT_EQ(time(calls, *two), std::vector<double>(5, 2e-3));
  int all = fakeCuda().count("cuMemAlloc"),
      copied = fakeCuda().count("cuMemcpyHtoD");
  EXPECT_EQ(all - arrays, arrays / 3);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(time(calls, *one), std::vector<double>(5, 1e-3));
    EXPECT_EQ(time(calls, *two), std::vector<double>(5, 2e-3));
  }
  EXPECT_EQ(fakeCuda().count("cuMemAlloc"), all);
  EXPECT_EQ(fakeCuda().count("cuMemcpyHtoD"), copied);
}

TEST_F(DeviceCalls, NothingIsAllocatedWhileItIsTimed) {
  RotatingDeviceCalls calls = create(/*isCold=*/false);
  time(calls, *two);
  const std::vector<std::string> &names = fakeCuda().calls;
  auto firstTimed = llvm::find(names, "cuEventCreate");
  ASSERT_NE(firstTimed, names.end());
  EXPECT_FALSE(llvm::is_contained(llvm::make_range(firstTimed, names.end()),
                                  "cuMemAlloc"));
}

TEST_F(DeviceCalls, TheCacheIsOverwrittenBeforeEachColdLaunch) {
  RotatingDeviceCalls calls = create(/*isCold=*/true);
  EXPECT_EQ(fakeCuda().count("cuMemAlloc"), 3 + 1);
  EXPECT_EQ(time(calls, *one), std::vector<double>(5, 1e-3));
  EXPECT_EQ(fakeCuda().count("cuMemsetD8Async"),
            int(fakeCuda().launches.size()));
}

TEST_F(DeviceCalls, ResultsOfALaunchAreNoneOfAnEarlierOne) {
  RotatingDeviceCalls calls = create(/*isCold=*/false);
  CallArguments results;
  results.arrays.resize(3);
  results.arrays[2] = llvm::cantFail(call.arrays[2].convert(KRON_F32));
  fakeCuda().calls.clear();
  // The kernels of this driver write nothing.
  llvm::cantFail(calls.run(one->lookup("f"), results));
  EXPECT_TRUE(std::isnan(results.arrays[2].load(0).real()));
  EXPECT_EQ(fakeCuda().count("cuMemsetD8Async"), 1);
  EXPECT_EQ(fakeCuda().count("cuMemcpyDtoH"), 1);
  EXPECT_EQ(fakeCuda().count("cuMemcpyHtoD"), 0);
  EXPECT_EQ(fakeCuda().count("cuMemAlloc"), 0);
}

TEST_F(DeviceCalls, WhatFailsLeavesNoTimes) {
  RotatingDeviceCalls calls = create(/*isCold=*/false);
  time(calls, *one);
  for (const char *function : {"cuEventRecord", "cuEventElapsedTime"}) {
    fakeCuda().failures[function] = 1;
    auto times = calls.time(two->lookup("f"), 5);
    EXPECT_FALSE(bool(times));
    llvm::consumeError(times.takeError());
    fakeCuda().failures.clear();
    EXPECT_EQ(time(calls, *one), std::vector<double>(5, 1e-3));
  }
  EXPECT_EQ(fakeCuda().count("cuEventCreate"),
            fakeCuda().count("cuEventDestroy"));
}
