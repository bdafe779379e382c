//===- RotatingCalls.cpp - Launches that find no warm cache -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "RotatingCalls.h"
#include "kron/Machine/NominalSizes.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <unistd.h>

using namespace mlir;
using namespace mlir::kron;

using Clock = std::chrono::steady_clock;

/// Copies at most: those of small arrays need not fill the cache.
static constexpr size_t kMostCopies = 256;
/// What the mean of launches is taken over.
static constexpr double kSampleSeconds = 2e-3;
static constexpr unsigned kMostLaunches = 1000;

/// Of the last cache, or what is as large as most.
static size_t getCacheBytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  return std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), kNominalCacheBytes);
#else
  return kNominalCacheBytes;
#endif
}

llvm::Expected<LaunchTimer> LaunchTimer::create(const KernelManifest &manifest,
                                                const CallArguments &call,
                                                int32_t numThreads) {
  LaunchTimer result;
  result.numThreads = numThreads;
  for (auto [index, arg] : llvm::enumerate(manifest.args)) {
    if (arg.access != KRON_READ_WRITE)
      continue;
    auto copy = call.arrays[index].convert(arg.type);
    if (!copy)
      return copy.takeError();
    result.saved.emplace_back(index, std::move(*copy));
  }
  return result;
}

llvm::Expected<double> LaunchTimer::time(const KronKernel *kernel,
                                         CallArguments &call) const {
  for (const auto &[index, array] : saved)
    std::memcpy(call.arrays[index].getData(), array.getData(),
                array.getNumBytes());
  Clock::time_point start = Clock::now();
  if (llvm::Error error = call.launch(kernel, numThreads))
    return std::move(error);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

llvm::Expected<RotatingCalls>
RotatingCalls::create(const KernelManifest &manifest, const CallArguments &call,
                      int32_t numThreads) {
  auto timer = LaunchTimer::create(manifest, call, numThreads);
  if (!timer)
    return timer.takeError();
  RotatingCalls result(std::move(*timer));
  size_t count = getNumCopies(call, getCacheBytes(), kMostCopies);
  while (result.copies.size() < count) {
    auto copy = call.copy();
    if (!copy)
      return copy.takeError();
    result.copies.push_back(std::move(*copy));
  }
  return result;
}

llvm::Expected<double> RotatingCalls::time(const KronKernel *kernel) {
  return getMean(kernel, [this]() -> CallArguments & {
    return copies[next++ % copies.size()];
  });
}

llvm::Expected<double> RotatingCalls::timeInCaches(const KronKernel *kernel) {
  auto first = timer.time(kernel, copies.front());
  if (!first)
    return first.takeError();
  return getMean(kernel,
                 [this]() -> CallArguments & { return copies.front(); });
}

llvm::Expected<double>
RotatingCalls::getMean(const KronKernel *kernel,
                       llvm::function_ref<CallArguments &()> getNext) const {
  double sum = 0;
  unsigned count = 0;
  while (count == 0 || (sum < kSampleSeconds && count < kMostLaunches)) {
    auto seconds = timer.time(kernel, getNext());
    if (!seconds)
      return seconds.takeError();
    sum += *seconds;
    ++count;
  }
  return sum / count;
}
