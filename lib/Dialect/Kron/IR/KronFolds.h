//===- KronFolds.h - Canonicalization of kron operations --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Groups of canonicalization patterns, registered by the operations they apply
// to, and the constants they look at.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_IR_KRONFOLDS_H
#define KRON_LIB_DIALECT_KRON_IR_KRONFOLDS_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Identity and 1x1 factors of kron.mkm, kron.kmm and kron.batched.
template <typename OpTy>
void populateFactorPatterns(RewritePatternSet &patterns);

/// Identity factors of kron.mode_product and factors on one axis that merge.
void populateModeProductPatterns(RewritePatternSet &patterns);

/// Whether `op` stands in a kron.fused, whose region must stay a chain of mode
/// products: patterns that replace an operation leave it alone there.
bool isInFusedOp(Operation *op);

/// `attr` (a number, or the two parts of a complex one) as a constant of
/// `type`, which is at least as wide as it; null if it is no number.
TypedAttr getScalarAttr(Type type, Attribute attr);

/// True if Y is the product alone: alpha is 1 and beta is 0.
bool isUnscaled(ScaledOpInterface op);

/// Replaces `op`, which does nothing, by its input if the types allow.
LogicalResult replaceByInput(PatternRewriter &rewriter, ScaledOpInterface op);

/// `first` times `second` along their dimensions `firstDim` and `secondDim`, as
/// a tensor with dimension `firstDim` of `first` replaced by the other one of
/// `second`. Both are static matrices.
Value multiplyFactors(OpBuilder &builder, Location loc, Value first,
                      unsigned firstDim, Value second, unsigned secondDim,
                      bool conjugateSecond, Precision precision);

/// Whether the product of `factor` with another one needs no rounding that
/// applying both does not: it is a static matrix of a type that accumulates in
/// itself.
bool isMergeableFactor(Value factor);

/// `value` as a `type` that differs from its own in static sizes only, or null
/// if it differs in more.
Value castToType(OpBuilder &builder, Location loc, Value value, Type type);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_IR_KRONFOLDS_H
