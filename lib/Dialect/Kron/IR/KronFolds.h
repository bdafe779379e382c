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

/// Identity factors of kron.mode_product and products that merge into one.
void populateModeProductPatterns(RewritePatternSet &patterns);

/// Whether `op` stands in a kron.pass, whose region must stay a chain of mode
/// products: patterns that replace an operation leave it alone there.
bool isInPass(Operation *op);

/// `attr` (a number, or the two parts of a complex one) as a constant of `type`,
/// which is at least as wide as it; null if it is no number.
TypedAttr getScalarAttr(Type type, Attribute attr);

/// True if Y is the product alone: alpha is 1 and beta is 0.
bool isUnscaled(ScaledOpInterface op);

/// `value` as a `type` that differs from its own in static sizes only, or null
/// if it differs in more.
Value castToType(OpBuilder &builder, Location loc, Value value, Type type);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_IR_KRONFOLDS_H
