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

/// Why the batched emitter does not take `fused`, or nothing if it does.
std::optional<std::string>
getBatchedUnsupportedReason(FusedOp fused, const GPUMachine &machine);

/// Builds, at the builder's position, the launches that compute `fused`: of a
/// kernel for arrays that follow each other without gaps, of one for any
/// strides, or of either by a test on the host.
LogicalResult emitBatchedKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                FusedOp fused, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_BATCHED_H
