//===- Mma.h - GPU code of one kron.pass by mma.sync ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_MMA_H
#define KRON_CODEGEN_GPU_MMA_H

#include "kron/CodeGen/GPU/Machine.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Why warp-wide matrix instructions cannot apply `pass` on `machine`, or
/// nothing if they can: real floating-point types, factors of static shape that
/// vary on no axis, and a tile that fits in shared memory.
std::optional<std::string> getMMAUnsupportedReason(PassOp pass,
                                                   const GPUMachine &machine);

/// Builds, before `pass` (on memrefs), a kernel in `gpuModule` that applies it
/// with warp-wide matrix instructions, and its launch. The caller erases
/// `pass`.
LogicalResult emitMMAPass(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                          PassOp pass, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_MMA_H
