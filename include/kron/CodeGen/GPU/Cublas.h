//===- Cublas.h - Dense products by cuBLAS ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_CUBLAS_H
#define KRON_CODEGEN_GPU_CUBLAS_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Builds, before `fused` (on memrefs), the call of cuBLAS that `plan` says:
/// whether it has computed `fused`, as an i1. Fails, with an error, if that is
/// no product of matrices.
FailureOr<Value> buildCublasCall(OpBuilder &builder, FusedOp fused,
                                 GPUPlanAttr plan);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_CUBLAS_H
