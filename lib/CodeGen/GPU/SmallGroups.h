//===- SmallGroups.h - Builds kernels of small groups -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_SMALLGROUPS_H
#define KRON_LIB_CODEGEN_GPU_SMALLGROUPS_H

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/ScalarOps.h"
#include "kron/Plan/GPU/SmallGroupsPlan.h"
#include <memory>

namespace mlir::kron {

/// What both kinds of kernels share: their parameters, and how CTAs share out
/// the rows.
class SmallGroupsKernel {
public:
  SmallGroupsKernel(KernelBuilder &kernel, FusedOp fused,
                    const SmallGroupsPlan &plan);
  virtual ~SmallGroupsKernel() = default;

  void emit();

protected:
  /// Builds what this thread does in block number `block` of the results:
  /// every `rowGroups`-th block of rows from `firstRows` on.
  virtual void emitBlock(Int block, Int firstRows, Int rowGroups) = 0;
  /// Blocks of rows of the whole array.
  Int getRowBlocks();
  /// Global memory at row number `row` (the last one's beyond the end).
  Value getInputRow(Int row);
  Value getOutputRow(Int row);
  /// `values` as accumulators, vectors as their elements.
  SmallVector<Value> widen(ArrayRef<Value> values);
  /// Stores the sums of a chunk.
  void storeChunk(ArrayRef<Value> sums, Value to);

  KernelBuilder &k;
  const SmallGroupsPlan &plan;
  Type accumulator;
  ScalarOps ops;
  StageFactor factor;
  Int groupStride;
  Int rows;

private:
  Emitter &host;
  FusedOperands operands;
  Int inputStride, outputStride;
  Value input, output;
  KernelScale alpha;
};

/// The kernels of threads and of warps.
std::unique_ptr<SmallGroupsKernel>
createSmallGroupsOfThreads(KernelBuilder &kernel, FusedOp fused,
                           const SmallGroupsPlan &plan);
std::unique_ptr<SmallGroupsKernel>
createSmallGroupsOfWarps(KernelBuilder &kernel, FusedOp fused,
                         const SmallGroupsPlan &plan);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_SMALLGROUPS_H
