//===- Mma.h - GPU code of one kron.fused by mma.sync -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_MMA_H
#define KRON_CODEGEN_GPU_MMA_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds, before `fused` (on memrefs), the kernel of `plan` in `gpuModule`,
/// which applies it with warp-wide matrix instructions, and its launch. The
/// caller erases `fused`.
LogicalResult emitMmaKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                            FusedOp fused, GPUPlanAttr plan,
                            const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_MMA_H
