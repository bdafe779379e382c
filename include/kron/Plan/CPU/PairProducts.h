//===- PairProducts.h - Squares made of products on a CPU -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A sum of squares of differences is |x|^2 + |y|^2 - 2 x.y, of rows less some
// row near all of them. That takes one multiply-add for each position of K, and
// is off by roundings of |x|^2 + |y|^2: it is taken where it is large enough.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_PAIRPRODUCTS_H
#define KRON_PLAN_CPU_PAIRPRODUCTS_H

#include "kron/Dialect/Kron/IR/KronPairwise.h"

namespace mlir::kron {

/// Whether squares of `op` may be made of products.
bool hasSquareProducts(PairOpInterface op);

/// Roundings of `|x|^2 + |y|^2` that a square made of products is off by at
/// most: so many, and for each position of K, which are added up one after the
/// other, a part. A square may be off by K and so many of itself.
constexpr double kSquareRoundings = 16, kSquarePositionRoundings = 0.375;
constexpr double kSquareBound = 24;

/// The part of `|x|^2 + |y|^2` from which on a square made of products is
/// within K + kSquareBound roundings of itself.
double getLeastExactSquare(double sizeK);

/// The fewest positions of K at which squares are made of products.
int64_t getLeastProductK();

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_PAIRPRODUCTS_H
