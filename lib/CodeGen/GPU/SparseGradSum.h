//===- SparseGradSum.h - Adds up the pieces of a gradient -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_SPARSEGRADSUM_H
#define KRON_LIB_CODEGEN_GPU_SPARSEGRADSUM_H

#include "SparseGradKernel.h"

namespace mlir::kron {

/// Builds the kernel that adds up the sums of all pieces, in their order,
/// scales the total and stores it as the gradient, and its launch.
void emitSumOfPieces(Emitter &host, gpu::GPUModuleOp gpuModule, StringRef name,
                     const SparseGradPlan &plan,
                     const SparseGradOperands &operands,
                     const SparseGradPieces &pieces);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_SPARSEGRADSUM_H
