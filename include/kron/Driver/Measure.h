//===- Measure.h - Time, work and this machine's limits ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_MEASURE_H
#define KRON_DRIVER_MEASURE_H

#include "kron/Driver/Calls.h"

namespace mlir::kron {

/// What a computation needs at least.
struct Work {
  /// Floating-point (or integer) operations, two per multiply-add; 0 if
  /// unknown.
  double flops = 0;
  /// Inputs read once and outputs written once.
  double bytes = 0;
};

/// The work of function `name` of `module` (as the user wrote it) on `call`:
/// the mode products of its cheapest decomposition.
Work countWork(ModuleOp module, StringRef name, const KernelManifest &kernel,
               const CallArguments &call);

/// Seconds of each of `runs` launches, sorted, after a warm-up. Arguments that
/// are read and written are restored before every launch.
llvm::Expected<std::vector<double>>
timeLaunches(const KronKernel *kernel, const KernelManifest &manifest,
             CallArguments &call, int32_t numThreads, unsigned runs);

/// Multiply-adds in registers of `numThreads` threads, on vectors of what
/// `type` computes in: flops per second.
double measureMultiplyAdds(KronType type, int32_t numThreads);

/// Bytes read plus bytes written per second where each thread copies `bytes`
/// again and again, with the better kind of stores; 0 without memory.
double measureCopy(size_t bytes, int32_t numThreads);

/// Measured on `numThreads` threads of this machine, in a fraction of a second.
struct MachineLimits {
  /// Multiply-adds in registers, on vectors of what `type` computes in.
  double flopsPerSecond;
  /// Bytes read plus bytes written by a copy that touches `bytes` in all: a
  /// computation whose arrays stay in a cache is held against that cache.
  double bytesPerSecond;

  static MachineLimits measure(KronType type, double bytes, int32_t numThreads);
};

} // namespace mlir::kron

#endif // KRON_DRIVER_MEASURE_H
