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

/// A copy of all arrays.
llvm::Expected<CallArguments> copyCall(const CallArguments &call);

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

private:
  llvm::Expected<double> launch(const KronKernel *kernel);

  int32_t numThreads = 1;
  std::vector<CallArguments> copies;
  /// First contents of what is read and written, by argument.
  std::vector<std::pair<unsigned, HostArray>> saved;
  size_t next = 0;
};

} // namespace mlir::kron

#endif // KRON_LIB_DRIVER_ROTATINGCALLS_H
