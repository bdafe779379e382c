//===- Sparse.h - GPU code of Kronecker-sparse factors ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SPARSE_H
#define KRON_CODEGEN_GPU_SPARSE_H

#include "kron/CodeGen/Emitter.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds, at the builder's position and before `fused` (on memrefs), a kernel
/// in `gpuModule` that applies its factor with warp-wide matrix instructions as
/// `plan` says, and its launch. The caller erases `fused`.
LogicalResult emitSparseKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                               FusedOp fused, GPUPlanAttr plan,
                               const GPUMachine &machine);

/// The rows of `fused` that `min_rows` of such a `plan` counts.
Int getSparseRows(Emitter &host, FusedOp fused, GPUPlanAttr plan);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSE_H
