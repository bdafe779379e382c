//===- GPUTable.h - GPUs by SKU ---------------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MACHINE_GPUTABLE_H
#define KRON_LIB_MACHINE_GPUTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace mlir::kron {

/// Rates that were measured on an SKU: GB/s and TFLOP/s; 0: not measured.
struct MeasuredRates {
  double copy, ffma, dfma, dmma, tf32Mma, tf32Wgmma, f16Mma, f16Wgmma;
};

/// One row of the table. Rates are those of the data sheet unless `measured`
/// has them.
struct GPUSku {
  const char *name;
  /// Parts of the driver's name for it, all of which have to occur, separated
  /// by spaces.
  const char *model;
  int64_t capability;
  int64_t numSMs;
  int64_t clockMHz;
  /// GB of memory; GB/s; MiB.
  int64_t memoryGB;
  double bandwidth;
  int64_t l2MiB;
  /// Part of its architecture's rate of matrix instructions: desktop variants
  /// accumulate in f32 at half of it.
  double matrixShare;
  MeasuredRates measured;
};

/// All SKUs. The first of an architecture stands for it.
llvm::ArrayRef<GPUSku> getGPUTable();

/// What an SM of an architecture holds and does in a clock (flops, dense).
struct GPUArchitecture {
  int64_t capability;
  int64_t sharedKiB, maxThreads, maxCTAs;
  int64_t ffma, dfma, dmma, tf32Mma, f16Mma;
};

llvm::ArrayRef<GPUArchitecture> getGPUArchitectures();

} // namespace mlir::kron

#endif // KRON_LIB_MACHINE_GPUTABLE_H
