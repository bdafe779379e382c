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

/// Why warp-wide matrix instructions cannot apply `fused` on `machine`, or
/// nothing if they can: real floating-point types, factors of static shape that
/// vary on no axis, and a tile that fits in shared memory.
std::optional<std::string> getMMAUnsupportedReason(FusedOp fused,
                                                   const GPUMachine &machine);

/// Builds, before `fused` (on memrefs), a kernel in `gpuModule` that applies it
/// with warp-wide matrix instructions, and its launch. The caller erases
/// `fused`.
LogicalResult emitMMAKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                            FusedOp fused, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_MMA_H
