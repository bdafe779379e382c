//===- Pairs.h - What operations on pairs share ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_PAIRS_H
#define KRON_LIB_CONVERSION_TILETONVVM_PAIRS_H

#include "Lowering.h"

namespace mlir::kron::tile {

/// Which rows and columns of a tile this thread has: `row` and each `groups`-th
/// after it, and `column` and each `lanes`-th.
struct ThreadGrid {
  ThreadGrid(Lowering &lowering, int64_t lanes);
  int64_t lanes, groups;
  Int row, column;
};

/// The element of `view` at the batch of `place`, the first one along its
/// `innerRank` last axes.
Value getBatch(Lowering &lowering, Value view, Value place, size_t innerRank);

/// Gives `fragment`, of one box, its values.
void setBox(Lowering &lowering, TypedValue<FragmentType> fragment,
            ArrayRef<Value> values);
SmallVector<Value> getBox(Lowering &lowering, Value fragment);

/// e^value: of f32 by the machine's 2^x, so that the rounding of the product
/// with log2(e) adds |value| / 2 units in the last place.
Value emitExp(KernelBuilder &k, Value value);

/// `value` in its accumulation type.
Value toSum(KernelBuilder &k, Value value);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_PAIRS_H
