//===- Cublas.h - Dense products by cuBLAS ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where a fused region is a dense matrix product, or some of equal shape,
// cuBLAS may be faster than any kernel here. Whether a process has it is known
// at run time only, so such a fused region becomes a call of the runtime and,
// should that decline, the launch of the kernel that its plan names.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_CUBLAS_H
#define KRON_CODEGEN_GPU_CUBLAS_H

#include "kron/CodeGen/GPU/CostModel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Name of the unit attribute of a `kron.fused` that is to be a call of cuBLAS.
inline constexpr llvm::StringLiteral kCublasAttrName = "kron.cublas";

/// Why `fused` is no matrix product that cuBLAS takes, as far as types tell, or
/// nothing if it is one: a single factor, rows along one axis, and at most one
/// axis of products beside each other.
std::optional<std::string>
getCublasUnsupportedReason(FusedOp fused, const GPUMachine &machine);

/// The time of `fused`, which cuBLAS takes.
KernelTime estimateCublasTime(FusedOp fused, const Problem &problem,
                              const GPUMachine &machine);

/// The time of the one product that `fused`, of a factor that varies along
/// axes, would be if the factor were filled up with zeros; infinite if there is
/// no such product.
double estimateDenseSeconds(FusedOp fused, const Problem &problem,
                            const GPUMachine &machine);

/// Builds, before `fused` (on memrefs), the call of cuBLAS: whether it has
/// computed `fused`, as an i1.
Value buildCublasCall(OpBuilder &builder, FusedOp fused);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_CUBLAS_H
