//===- Calls.h - Calls of kernels and their results -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The arrays that a kernel runs on, from what a command line says of them, and
// how much the results of two calls differ.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_CALLS_H
#define KRON_DRIVER_CALLS_H

#include "kron/Driver/HostArray.h"
#include "kron/Target/Manifest.h"
#include "mlir/Support/LLVM.h"

namespace mlir::kron {

/// The arrays of one call of `kernel`, in the order of its arguments.
struct CallArguments {
  std::vector<HostArray> arrays;

  /// Reads inputs from `specs` (one per argument that is read, in order) and
  /// allocates the others. `outShapes` overrides the shapes of the latter, by
  /// their number.
  static llvm::Expected<CallArguments> create(
      const KernelManifest &kernel, ArrayRef<std::string> specs,
      const std::vector<std::pair<unsigned, std::vector<int64_t>>> &outShapes);

  llvm::Expected<CallArguments> copy() const;

  /// A copy with every array in the next wider type.
  llvm::Expected<CallArguments> widen() const;

  llvm::Error launch(const KronKernel *kernel, int32_t numThreads);

private:
  /// A copy whose types are what `getType` makes of those of the arrays.
  llvm::Expected<CallArguments>
  convert(function_ref<KronType(KronType)> getType) const;
};

/// Numbers of the arguments that `kernel` writes.
std::vector<unsigned> getWrittenArgs(const KernelManifest &kernel);

/// How many copies of the arrays of `call` do not fit into `cacheBytes`
/// together, `most` at most.
size_t getNumCopies(const CallArguments &call, size_t cacheBytes, size_t most);

/// How two arrays differ, the second one being more precise. The error is
/// relative to that one's norm, or to that of the magnitudes of its terms.
struct Difference {
  double maxAbs, relativeL2, bound;
  /// Also false where one has a NaN and the other has not.
  bool isWithinBound;
};
/// `magnitudes` are those of the terms of `reference`; null, if it is no sum
/// whose terms cancel. `epsilon` is that of the type, if it is 0.
Difference compare(const HostArray &actual, const HostArray &reference,
                   const HostArray *magnitudes = nullptr, double epsilon = 0);

} // namespace mlir::kron

#endif // KRON_DRIVER_CALLS_H
