//===- PairwiseTerms.h - Sums along N of a pairwise_apply -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_PAIRWISETERMS_H
#define KRON_LIB_CODEGEN_CPU_PAIRWISETERMS_H

#include "kron/CodeGen/Emitter.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"

namespace mlir::kron {

/// How terms, which are products, are accumulated: each lane has a sum of its
/// own, or a maximum; of a logsumexp the sum of exponentials less the largest
/// term so far, and that.
class PairwiseTerms {
public:
  explicit PairwiseTerms(PairAccumulation accumulation)
      : accumulation(accumulation) {}

  /// Vectors of a sum.
  int64_t getNumVectors() const {
    return accumulation == PairAccumulation::LogSumExp ? 2 : 1;
  }
  SmallVector<Value> getStarts(Emitter &emitter, VectorType type) const;
  /// `sums` with the terms `pairs` * `values`, of which the lanes of `masks`
  /// exist (null, or none at all: all).
  SmallVector<Value> add(Emitter &emitter, ArrayRef<Value> sums,
                         ArrayRef<Value> pairs, ArrayRef<Value> values,
                         ArrayRef<Value> masks) const;
  /// The result of all lanes.
  Value reduce(Emitter &emitter, ArrayRef<Value> sums) const;

private:
  Value addProducts(Emitter &emitter, Value sum, ArrayRef<Value> pairs,
                    ArrayRef<Value> values, ArrayRef<Value> masks) const;
  SmallVector<Value> addExponentials(Emitter &emitter, ArrayRef<Value> sums,
                                     ArrayRef<Value> terms) const;

  PairAccumulation accumulation;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_PAIRWISETERMS_H
