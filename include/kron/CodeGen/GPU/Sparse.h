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
/// in `gpuModule` that applies all its factors, between which axes are
/// regrouped, to a block of rows at a time, with warp-wide matrix instructions
/// as `plan` says, and its launch. The caller erases `fused`. With `quantize`,
/// which reads what `fused` would write, and which its plan has to name, rows
/// are stored as 8 bits; there may be one factor then.
LogicalResult emitChainKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                              FusedOp fused, GPUPlanAttr plan,
                              const GPUMachine &machine,
                              QuantizeOp quantize = nullptr);

/// The rows of `fused` that `min_rows` of such a `plan` counts.
Int getSparseRows(Emitter &host, FusedOp fused, GPUPlanAttr plan);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSE_H
