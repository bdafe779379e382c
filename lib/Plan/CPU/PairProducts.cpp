//===- PairProducts.cpp - Squares made of products on a CPU ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/PairProducts.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

bool kron::hasSquareProducts(PairOpInterface op) {
  return op.getInner() == PairFunction::SquareDiff &&
         op.getReduction() == PairReduction::Sum &&
         op.getDirections().empty() && !isa<PairwiseGradOp>(op.getOperation());
}

double kron::getLeastExactSquare(double sizeK) {
  return (kSquareRoundings + kSquarePositionRoundings * sizeK) /
         (sizeK + kSquareBound);
}

/// Of rows of independent normal elements, cosines have a deviation of
/// 1 / sqrt(K), and a square is `|x|^2 + |y|^2` times 1 less that of its rows.
/// Where four deviations do not make it too small, few tiles are computed anew.
int64_t kron::getLeastProductK() {
  int64_t sizeK = 1;
  for (;; ++sizeK) {
    auto size = static_cast<double>(sizeK);
    if (1 - 4 / std::sqrt(size) >= getLeastExactSquare(size))
      return sizeK;
  }
}
