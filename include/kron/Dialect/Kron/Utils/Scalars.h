//===- Scalars.h - Arithmetic on one element --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the bodies of element-wise loops and reductions compute, for integers,
// reals and complex numbers alike. Products and sums are IEEE operations of the
// accumulation type, unfused; integers wrap.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_UTILS_SCALARS_H
#define KRON_DIALECT_KRON_UTILS_SCALARS_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// The constant 0 of `type`, lhs + rhs, lhs * rhs.
Value emitZero(OpBuilder &builder, Location loc, Type type);
Value emitAdd(OpBuilder &builder, Location loc, Value lhs, Value rhs);
Value emitMul(OpBuilder &builder, Location loc, Value lhs, Value rhs);

/// Complex conjugate; `value` itself if it is not complex.
Value emitConjugate(OpBuilder &builder, Location loc, Value value);

/// `value` (perhaps of 8 bits) widened or rounded to the floating-point type
/// `type`, which has more than 8; other types are equal already.
Value emitConversion(OpBuilder &builder, Location loc, Value value, Type type);

/// lhs * rhs in `type`, with the conjugate of either if asked for.
Value emitConjMul(OpBuilder &builder, Location loc, Value lhs, bool conjLhs,
                  Value rhs, bool conjRhs, Type type);

/// The largest number that kron.quantize gives in `type`: i8, f8E4M3FN or
/// f8E5M2.
double getLargestOf8(Type type);

/// `value`, a finite number, rounded to the nearest one of `type` (as above),
/// ties to even. Integers have to be in range; f8 saturates.
Value emitRoundTo8(OpBuilder &builder, Location loc, Value value, Type type);

/// `scale * value`, where a scale of 0, even if only known at run time, gives 0
/// whatever the value is.
Value emitScaled(OpBuilder &builder, Location loc, const Scale &scale,
                 Value value);

/// The function of #kron.activation. erf and exp of f80 are computed in f64,
/// whose error is far below what any check against f64 results can see; it
/// saves long double library functions, which MLIR cannot call.
Value emitActivation(OpBuilder &builder, Location loc, Activation activation,
                     Value value);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_UTILS_SCALARS_H
