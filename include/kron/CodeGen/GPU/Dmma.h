//===- Dmma.h - f64 octets by matrix instructions ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// f64 factors of 8 x 8 by mma.sync of shape m16n8k8: tiles whose sizes are
// powers of two go through all factors in place.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_DMMA_H
#define KRON_CODEGEN_GPU_DMMA_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds, before `fused` (on memrefs), the kernel that `plan` describes in
/// `gpuModule`, and its launch. The caller erases `fused`.
LogicalResult emitDmmaKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                             FusedOp fused, GPUPlanAttr plan,
                             const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_DMMA_H
