//===- SimtPlan.h - Regions and tiles of the general GPU code ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the general kernel does, worked out from the types alone. A tile takes
// contracted axes whole and a fixed extent of every other one; it goes through
// all products between two buffers in shared memory. A fused op whose tile does
// not fit becomes several kernels.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_SIMTPLAN_H
#define KRON_LIB_CODEGEN_GPU_SIMTPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "llvm/ADT/SmallBitVector.h"
#include <vector>

namespace mlir::kron {

/// One mode product within a fused region.
struct SimtStage {
  ModeProductOp product;
  unsigned axis;
  /// p and q.
  int64_t sizeK, sizeN;
  /// Neighbouring results that a thread computes together.
  int64_t block;
  /// Byte offset of the factor in shared memory, laid out [p][q padded to whole
  /// blocks]; -1 where it stays in global memory.
  int64_t factorOffset = -1;
  int64_t getPaddedResults() const;
};

struct SimtProblem {
  SmallVector<SimtStage> stages;
  /// Axes that the steps contract.
  llvm::SmallBitVector contracted;
  /// Sizes of a tile before each step, and after the last.
  SmallVector<SmallVector<int64_t>> extents;
  /// Sizes of the whole arrays before and after; dynamic ones as in types.
  SmallVector<int64_t> before, after;
  /// Byte offsets of the two buffers, and what the kernel takes in all.
  int64_t bufferOffsets[2];
  int64_t sharedBytes;
  int64_t threads;
  int64_t ctasPerSM;
};

/// Strides of a tile of `extents` in a buffer: row-major, with rows of an odd
/// pitch, so that lanes which are a row apart read different banks.
SmallVector<int64_t> getBufferStrides(ArrayRef<int64_t> extents);

/// The parts of `fused`, one kernel each, or nothing and a reason if not even
/// one product fits.
std::vector<SimtProblem> planSimt(FusedOp fused, const GPUMachine &machine,
                                  std::string &reason);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_SIMTPLAN_H
