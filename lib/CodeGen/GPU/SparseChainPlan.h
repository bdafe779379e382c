//===- SparseChainPlan.h - Tiles of a chain of sparse factors ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A CTA takes a block of rows through all factors. Each factor is a chain step
// with a plan of its own, for the same rows and threads; what one chain step
// writes is a row of chunks in shared memory, as the next one reads it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_SPARSECHAINPLAN_H
#define KRON_LIB_CODEGEN_GPU_SPARSECHAINPLAN_H

#include "SparsePlan.h"

namespace mlir::kron {

struct SparseChainPlan {
  std::vector<SparsePlan> stages;
  int64_t ctasPerSM = 1;
  /// The time that it is estimated to take, and that of a fused region per
  /// factor.
  double seconds = 0, secondsAlone = 0;

  int64_t getRows() const { return stages.front().getRows(); }
  /// Of a row of the input and one of the result.
  int64_t getRowBytes() const;
  /// Elements of a row of the result.
  int64_t getResultFeatures() const;
  /// Of all factors in memory.
  int64_t getFactorBytes() const;
  /// Groups of warps that take blocks of their own, as plans of chain steps
  /// say.
  int64_t getWarpGroups() const { return stages.front().warpGroups; }
  /// Bytes of the factor of chain step `stage`, if it is kept, and of its warp
  /// groups' rings.
  int64_t getKeptBytes(unsigned stage) const;
  int64_t getRingBytes(unsigned stage) const;
  /// Bytes of what chain step `stage` leaves in shared memory.
  int64_t getResultBytes(unsigned stage) const {
    return getRows() * (stage + 1 < stages.size()
                            ? stages[stage + 1].sharedRowBytes
                            : stages[stage].resultRowBytes);
  }
  /// Of the two places between which chain steps alternate: number `place`.
  int64_t getPlaceBytes(unsigned place) const;
  int64_t getSharedBytes() const;
};

/// The plan of the chain `products`, in a kron.fused or not, or why there is
/// none. `quantizes`: whether results are quantized to 8 bits, which one factor
/// may be followed by, too.
std::variant<SparseChainPlan, std::string>
getSparseChainPlan(ArrayRef<ModeProductOp> products, const GPUMachine &machine,
                   bool quantizes = false);

/// Seconds that `plan` takes for `rows` rows, and a fused region per factor.
double estimateSparseChain(const SparseChainPlan &plan, double rows,
                           const GPUMachine &machine);
double estimateSparseKernels(const SparseChainPlan &plan, double rows,
                             const GPUMachine &machine);

/// The rows that `products` work on, as estimates take them.
double getNominalSparseRows(ArrayRef<ModeProductOp> products);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_SPARSECHAINPLAN_H
