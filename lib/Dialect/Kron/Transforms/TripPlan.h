//===- TripPlan.h - Which factors one trip applies --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A chain whose row does not fit on chip takes several trips over memory, each
// for a group of axes. Factors on different axes commute, so groups are free to
// be chosen: neighbouring axes, since a trip over the trailing ones reads rows,
// and one over others reads columns of the width of a memory transaction.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_TRIPPLAN_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_TRIPPLAN_H

#include "kron/CodeGen/GPU/CostModel.h"

namespace mlir::kron {

/// A chain of mode products, as far as planning needs it.
struct TripChain {
  Type element;
  Precision precision = Precision::Full;
  /// In the order of application.
  SmallVector<TripFactor> factors;
  /// Sizes of all axes before and after.
  SmallVector<int64_t> inputShape;
  SmallVector<int64_t> outputShape;
  /// Of the input's axes; empty if they are in order.
  SmallVector<int64_t> inputPermutation;

  /// Whether factors on different axes commute: none depends on an axis that
  /// another contracts, and no axis of size 1 is stretched on the way.
  bool isReorderable() const;
};

struct TripPlan {
  /// Per trip: numbers of the factors it applies, in the order of application.
  SmallVector<SmallVector<unsigned>> trips;
  /// Sum of the estimated times; 0 if the trips were given.
  double seconds = 0;
  /// Whether what lies between trips lies in the destination, which later trips
  /// read and write.
  bool isInPlace = false;
  /// The least number of threads with which these trips are worth it.
  int64_t numThreads = 1;
};

/// The trips that take the least time, with slabs of up to `slabBudget` bytes.
TripPlan planTrips(const TripChain &chain, const GPUMachine &machine,
                   int64_t slabBudget);

/// The trip number `index` of `plan`, as seen by the code generator.
Trip describeTrip(const TripChain &chain, const TripPlan &plan, unsigned index);

TripChain describeTripChain(PassOp pass);

/// Replaces `pass` by one pass per trip of `plan`. What lies between them gets
/// memory of its own, one array, used alternately with the destination where
/// there are more than two trips and shape and meaning of the destination allow
/// it; or, if the plan is in place, the destination alone.
void splitPass(RewriterBase &rewriter, PassOp pass, const TripPlan &plan);

/// Whether `splitPass` can split `pass`: its scalars are defined outside.
bool isSplittable(PassOp pass);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_TRIPPLAN_H
