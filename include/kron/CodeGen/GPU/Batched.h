//===- Batched.h - GPU code for many small arrays ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// kron.batched on arrays of a few KiB: a CTA takes some whole arrays ("items")
// at a time through shared memory. Each thread holds whole fibres, or whole
// planes of the two innermost axes, in registers; factors are broadcast from
// shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_BATCHED_H
#define KRON_CODEGEN_GPU_BATCHED_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Whether arrays have no gaps and begin at multiples of 16 bytes.
struct PackedTest {
  bool isNever = false;
  /// An i1; null: always, unless `isNever`.
  Value value;
};

/// Builds, at the builder's position, the test for what `plan`, a complete one
/// with `packed = 1`, requires of the arrays of `fused`.
PackedTest buildBatchedTest(OpBuilder &builder, FusedOp fused,
                            GPUPlanAttr plan);

/// Builds, at the builder's position, the kernel of `plan` for `fused` and its
/// launch.
LogicalResult emitBatchedKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                FusedOp fused, GPUPlanAttr plan,
                                const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_BATCHED_H
