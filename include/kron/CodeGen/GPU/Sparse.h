//===- Sparse.h - GPU code of one Kronecker-sparse factor -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SPARSE_H
#define KRON_CODEGEN_GPU_SPARSE_H

#include "kron/CodeGen/GPU/Trip.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Whether `mma` takes `trip` as matrix products per position of the axes that
/// its factor varies on: a single factor that varies, is too large for tiles
/// that hold whole fibres, or has an epilogue.
bool isSparse(const Trip &trip);

/// Why no `mma` kernel of matrix products per position of the axes that the
/// factor varies on takes `pass` on `machine`, or nothing if one does: one
/// factor of f32, f64, f16 or bf16.
std::optional<std::string>
getSparseUnsupportedReason(PassOp pass, const GPUMachine &machine);

/// Builds, before `pass` (on memrefs), a kernel in `gpuModule` that applies its
/// factor with warp-wide matrix instructions, and its launch. The caller erases
/// `pass`.
LogicalResult emitSparsePass(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                             PassOp pass, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSE_H
