//===- PairScalars.h - Arithmetic of kron.pairwise --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What all lowerings of kron.pairwise and its family compute of two elements:
// scalars of the accumulation type, or vectors of them with one element of the
// result a lane.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_UTILS_PAIRSCALARS_H
#define KRON_DIALECT_KRON_UTILS_PAIRSCALARS_H

#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::kron {

/// Clones `op`, of scalars, with the lanes of the type `like`, if that has any;
/// constants are the same in all lanes.
void cloneWithLanes(OpBuilder &builder, Operation &op, Type like,
                    IRMapping &mapping);

/// Whether powers with `exponent` are products of the base and of its square
/// root.
bool isProductOfRoots(double exponent);

/// The largest whole part of an exponent that is made of products: twelve at
/// most.
constexpr double kMostWholePower = 64;

/// Whether powers of f32 with `exponent` may be made of a table on a GPU: those
/// that are no products, and whose derivatives at 0 are finite.
bool takesPowerTable(double exponent);

/// Such a power of `base`, a magnitude: that to `exponent`, in (1, 2), times so
/// many `factors`, which are `base`.
struct TablePower {
  Value base;
  double exponent;
  uint64_t factors;
};

/// What `op` is as such a power, if it is one: a power with a known exponent,
/// or a product of a root and products of its operand.
std::optional<TablePower> getTablePower(Operation &op);

/// How many times `base` is a factor of `value`, a product of nothing else; 0:
/// it is no such product.
uint64_t countFactors(Value value, Value base);

/// Whether `op` is a matrix of rows with themselves that is surely the same
/// when it is transposed.
bool isSymmetricMatrix(PairOpInterface op);

/// What reductions of `op` start from.
TypedAttr getReductionStart(PairOpInterface op);

/// `inner` of `lhs` and `rhs`; `params` are the hyper-parameters, which a
/// region takes.
Value emitPair(OpBuilder &builder, Location loc, PairOpInterface op, Value lhs,
               Value rhs, ValueRange params);

/// `reduced` with one more value.
Value emitReduction(OpBuilder &builder, Location loc, PairOpInterface op,
                    Value reduced, Value value);

/// `value`, or 0 if it is infinite or NaN: what exponentials are made less of,
/// such that these come through exp and log, and no infinity is taken from
/// itself.
Value emitFiniteOrZero(OpBuilder &builder, Location loc, Value value);

/// The result for a reduced value: `reduced` itself without an epilogue.
Value emitPairEpilogue(OpBuilder &builder, Location loc, PairOpInterface op,
                       Value reduced, ValueRange params);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_UTILS_PAIRSCALARS_H
