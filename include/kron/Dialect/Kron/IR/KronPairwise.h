//===- KronPairwise.h - Functions of all pairs of rows ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// kron.pairwise and what goes on from its result, of which few files know.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONPAIRWISE_H
#define KRON_DIALECT_KRON_IR_KRONPAIRWISE_H

#include "kron/Dialect/Kron/IR/KronOps.h"

#include "kron/Dialect/Kron/IR/KronPairwiseEnums.h.inc"

namespace mlir::kron::detail {
unsigned getPairRowsDim(Operation *op, unsigned side);
unsigned getPairReducedDim(Operation *op, unsigned side);
} // namespace mlir::kron::detail

#include "kron/Dialect/Kron/IR/KronPairwiseInterfaces.h.inc"

#define GET_OP_CLASSES
#include "kron/Dialect/Kron/IR/KronPairwiseOps.h.inc"

namespace mlir::kron {

/// Rows whose mean squares made of products take off of all rows. Of rows that
/// are spread around their mean, that of so many is off by 1/16 of a row's
/// squared distance from it.
constexpr int64_t kCentreRows = 16;

/// Axes of the arrays of functions of pairs, behind the batch.
enum class PairAxis { M, N, K, C };

/// An array of a function of pairs.
struct PairArray {
  /// How messages call it.
  std::string name;
  Value value;
  /// The axes of the last dimensions, as they are stored; those in front are
  /// the batch.
  SmallVector<PairAxis, 2> core;
  /// Whether it is the destination.
  bool isInit = false;

  /// The dimension that runs over `axis`, if there is one.
  std::optional<unsigned> getDim(PairAxis axis) const;
  int64_t getBatchRank() const;
};

/// The arrays of `op`: A and B first, then those that only some operations
/// have, the destination, and hyper-parameters.
SmallVector<PairArray> getPairArrays(PairOpInterface op);

int64_t getLargestBatchRank(ArrayRef<PairArray> arrays);

/// Whether gradients along the innermost axis of the batch differ in the factor
/// of the columns only, which has one of each.
bool hasOutputs(PairwiseGradOp op);

/// Whether a rule for the derivative of `op`, within a region of a function of
/// pairs, is known or none is needed: nothing else depends on floating-point
/// numbers.
bool isDifferentiable(Operation *op);

/// Adds the dimensions of the operands of `op` that must be equal and that
/// types may leave open.
void getEqualDims(PairOpInterface op, SmallVectorImpl<DimPair> &pairs);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_IR_KRONPAIRWISE_H
