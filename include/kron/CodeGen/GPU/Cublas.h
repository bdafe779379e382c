//===- Cublas.h - Dense products by cuBLAS ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where a trip is a dense matrix product, or some of equal shape, cuBLAS may be
// faster than any kernel here. Whether a process has it is known at run time
// only, so such a trip becomes a call of the runtime and, should that decline,
// the launch of the kernel that its schedule names.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_CUBLAS_H
#define KRON_CODEGEN_GPU_CUBLAS_H

#include "kron/CodeGen/GPU/CostModel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Name of the unit attribute of a `kron.pass` that is to be a call of cuBLAS.
inline constexpr llvm::StringLiteral kCublasAttrName = "kron.cublas";

/// Why `pass` is no matrix product that cuBLAS takes, as far as types tell, or
/// nothing if it is one: a single factor, rows along one axis, and at most one
/// axis of products beside each other.
std::optional<std::string>
getCublasUnsupportedReason(PassOp pass, const GPUMachine &machine);

/// The time of `pass`, which cuBLAS takes.
TripTime estimateCublasTime(PassOp pass, const Trip &trip,
                            const GPUMachine &machine);

/// The time of the one product that `pass`, of a factor that varies along axes,
/// would be if the factor were filled up with zeros; infinite if there is no
/// such product.
double estimateDenseSeconds(PassOp pass, const Trip &trip,
                            const GPUMachine &machine);

/// Builds, before `pass` (on memrefs), the call of cuBLAS: whether it has
/// computed `pass`, as an i1.
Value buildCublasCall(OpBuilder &builder, PassOp pass);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_CUBLAS_H
