//===- RateKernels.h - Kernels that show a GPU's rates ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Small kernels that do nothing but one kind of work, `rounds` times over, as a
// gpu.module in the LLVM and NVVM dialects.
//
//   empty()
//   copy(target, source, rounds)     each CTA copies kCopyBytes
//   ffma, dfma, dmma, ...(out, rounds)
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DRIVER_RATEKERNELS_H
#define KRON_LIB_DRIVER_RATEKERNELS_H

#include "kron/Machine/GPUMachine.h"
#include "mlir/Support/LLVM.h"
#include <vector>

namespace mlir::kron {

/// Threads of a CTA of all kernels.
constexpr unsigned kRateThreads = 256;
/// Bytes that a CTA of `copy` copies in a round: four times 16 per thread.
constexpr size_t kCopyBytes = size_t(kRateThreads) * 64;

/// A kernel that computes; its name is the key of its rate.
struct RateKernel {
  StringRef key;
  /// Of a CTA in a round.
  double flops;
};

/// Those that `machine` has instructions for.
std::vector<RateKernel> getRateKernels(const GPUMachine &machine);

/// All kernels for `machine`, as MLIR.
std::string printRateKernels(const GPUMachine &machine);

/// The same as PTX.
llvm::Expected<std::string> compileRateKernels(const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_DRIVER_RATEKERNELS_H
