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

/// Seconds since some moment.
double getSteadySeconds();

/// When measuring has to end: what was begun is ended.
class Deadline {
public:
  /// Never.
  Deadline() = default;
  /// `seconds` from now on, by a clock that tests have a copy of.
  explicit Deadline(double seconds,
                    std::function<double()> now = getSteadySeconds);

  bool isOver() const { return now && now() >= end; }
  /// When a `share` of the time that is left will be over.
  Deadline getPart(double share) const;

private:
  /// Seconds since some moment; null: never over.
  std::function<double()> now;
  double end = 0;
};

/// Seconds for which the calling thread had a processor.
double getThreadSeconds();

/// A clock of the calling thread. By getSteadySeconds all runs have processors
/// to themselves, whatever else runs: for tests.
using ThreadClock = double (*)();

/// The best of several runs.
struct MeasuredRate {
  double perSecond = 0;
  /// The share of that run for which its threads had processors: other programs
  /// had them for the rest.
  double share = 1;
};

/// Multiply-adds in registers of `numThreads` threads, on vectors of what
/// `type` computes in: flops, in runs that end with `deadline` but for the
/// first one.
MeasuredRate measureMultiplyAdds(KronType type, int32_t numThreads,
                                 const Deadline &deadline = {},
                                 ThreadClock clock = getThreadSeconds);

/// Two arrays of the same size, whose memory has been written to.
class CopyArrays {
public:
  /// `deadline` may be over before all is written: then there are none.
  explicit CopyArrays(size_t bytes, const Deadline &deadline = {});
  CopyArrays(const CopyArrays &) = delete;
  ~CopyArrays();

  /// Null without memory, or without time.
  char *source = nullptr, *target = nullptr;

private:
  size_t bytes;
};

/// Bytes read plus bytes written where each thread copies a `share` of bytes
/// again and again, with the better kind of stores, in runs as above. 0 if
/// there are no arrays. `share` is a multiple of 64, and not larger than the
/// arrays divided by threads.
MeasuredRate measureCopy(const CopyArrays &arrays, size_t share,
                         int32_t numThreads, const Deadline &deadline = {},
                         ThreadClock clock = getThreadSeconds);

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
