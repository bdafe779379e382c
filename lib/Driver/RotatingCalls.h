//===- RotatingCalls.h - Launches that find no warm cache -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DRIVER_ROTATINGCALLS_H
#define KRON_LIB_DRIVER_ROTATINGCALLS_H

#include "kron/Driver/Calls.h"

namespace mlir::kron {

/// Times launches, before each of which what the kernel reads and writes gets
/// its first contents.
class LaunchTimer {
public:
  static llvm::Expected<LaunchTimer> create(const KernelManifest &manifest,
                                            const CallArguments &call,
                                            int32_t numThreads);

  /// Seconds of a launch on the arrays of `call`, which are those of `create`
  /// or a copy.
  llvm::Expected<double> time(const KronKernel *kernel,
                              CallArguments &call) const;

private:
  int32_t numThreads = 1;
  /// First contents, by argument.
  std::vector<std::pair<unsigned, HostArray>> saved;
};

/// Copies of a call's arrays that together do not fit into the last cache,
/// which launches take turns on.
class RotatingCalls {
public:
  static llvm::Expected<RotatingCalls> create(const KernelManifest &manifest,
                                              const CallArguments &call,
                                              int32_t numThreads);

  /// Seconds of one launch, the mean over as many as take a few milliseconds
  /// together.
  llvm::Expected<double> time(const KronKernel *kernel);
  /// Whether launches take turns: else nothing of the arrays is left in the
  /// caches.
  bool isSeveral() const { return copies.size() > 1; }
  /// The same on one of the copies, which a launch before has left in the
  /// caches as far as it fits there.
  llvm::Expected<double> timeInCaches(const KronKernel *kernel);

private:
  /// Of copies that `getNext` gives.
  llvm::Expected<double>
  getMean(const KronKernel *kernel,
          llvm::function_ref<CallArguments &()> getNext) const;
  explicit RotatingCalls(LaunchTimer timer) : timer(std::move(timer)) {}

  LaunchTimer timer;
  std::vector<CallArguments> copies;
  size_t next = 0;
};

} // namespace mlir::kron

#endif // KRON_LIB_DRIVER_ROTATINGCALLS_H
