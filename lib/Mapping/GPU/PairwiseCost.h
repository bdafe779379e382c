//===- PairwiseCost.h - Times of functions of pairs on a GPU ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_PAIRWISECOST_H
#define KRON_LIB_MAPPING_GPU_PAIRWISECOST_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/PairwisePlan.h"

namespace mlir::kron {

/// What the cost model knows of an operation.
struct PairProblem {
  double batch = 1, rows = 1, columns = 1, sizeK = 1;
  /// Instructions per position of K and per pair; results of the
  /// special-function unit among the latter.
  double inner = 1, outer = 1, outerUnits = 0;
  /// Of those, roots and powers of the special-function unit; and of 16
  /// elements those that compute one of them by a polynomial.
  int64_t units = 0, polynomials = 0;
  /// Columns of the values of a product; 0 if there are none.
  double results = 0;
  /// Whether how many they are is not known; what is accumulated of each.
  bool hasOpenResults = false;
  /// Whether K is known.
  bool hasKnownK = false;
  int64_t accumulations = 1;
  int64_t elementBytes = 0;
  /// Whether its values are added up; whether one half is the other one.
  bool addsValues = false, isSymmetric = false;
  /// Matrix products that it can be made of, and its product with values; 0 if
  /// it cannot.
  int64_t products = 0, valueProducts = 0;
};

struct PairTime {
  double arithmetic = 0, memory = 0, total = 0;
};

PairProblem describePairs(PairOpInterface op, const GPUMachine &machine);

/// What `plan` takes, in seconds.
PairTime estimatePairs(const PairProblem &problem, const PairwisePlan &plan,
                       const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_PAIRWISECOST_H
