//===- FusedOperands.h - Arrays that a kron.fused works on ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A kron.fused on memrefs as the code generators see it: bare pointers, and
// sizes and strides in elements, known or not.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_FUSEDOPERANDS_H
#define KRON_CODEGEN_FUSEDOPERANDS_H

#include "kron/CodeGen/Emitter.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Plan/StepArrays.h"

namespace mlir::kron {

/// The kron.epilogue of a kron.fused. Strides of arrays are 0 along axes that
/// they do not run over.
struct FusedEpilogue {
  /// No base if there is none.
  StepArray bias, residual;
  Activation activation = Activation::Identity;
  /// Null: 1.
  TypedAttr scale;
};

/// Everything of a kron.fused but its factors.
struct FusedOperands {
  /// Of the result, per axis.
  SmallVector<Int> sizes;
  /// The input with its axes in the order of the op; 0 is the stride of axes
  /// that it is stretched along.
  StepArray input;
  StepArray init;
  Scale alpha, beta;
  /// Z; no base if beta is the constant 0.
  StepArray addend;
  std::optional<FusedEpilogue> epilogue;
};

/// Builds pointer and strides of `memref` at the emitter's position. Axis k is
/// `permutation[k]` of the memref if that is not empty.
StepArray getFusedArray(Emitter &emitter, Value memref,
                        ArrayRef<int64_t> permutation = {});

/// The sizes of `memref`, at the emitter's position.
SmallVector<Int> getArraySizes(Emitter &emitter, Value memref);

/// Builds pointer and strides of the factor of `product`, which is inside
/// `fused`.
FactorArray getFusedFactor(Emitter &emitter, FusedOp fused,
                           ModeProductOp product);

FusedOperands getFusedOperands(Emitter &emitter, FusedOp fused);

/// Computes in front of `fused`, which is on memrefs, what scalars its region
/// computes: alpha and beta may be among them, and code generators want those
/// outside. Fails, with an error, if they depend on an array that exists only
/// inside.
LogicalResult hoistFusedScalars(OpBuilder &builder, FusedOp fused);

} // namespace mlir::kron

#endif // KRON_CODEGEN_FUSEDOPERANDS_H
