//===- PairLoops.h - Loops over functions of pairs --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the reference lowerings of kron.pairwise and its family have in common:
// linalg operations whose loops are the batch and some of the axes M, N, K, C.
// Arrays are indexed by their axes, hyper-parameters by the batch alone; batch
// dimensions of size 1 are stretched.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CONVERSION_KRONTOLINALG_PAIRLOOPS_H
#define KRON_CONVERSION_KRONTOLINALG_PAIRLOOPS_H

#include "ArrayEmitter.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"

namespace mlir::kron {

/// A function of pairs, of all columns N or of some of them.
class PairLoops {
public:
  /// Computes an element from those of the inputs in the accumulation type,
  /// the hyper-parameters and their directions, and the element of the
  /// destination as it is.
  using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange,
                                        ValueRange, Value)>;

  PairLoops(ArrayEmitter &emitter, PairOpInterface op);

  Type getAccumulator() const { return accumulator; }

  /// The destination, or its columns.
  const PairArray &getInit() const { return columns.front(); }
  /// Operand `value` of the operation, which has these axes, or its columns.
  const PairArray &getArray(Value value, PairAxis rows, PairAxis columns) const;

  /// Sizes of the batch, followed by those of `axes`.
  SmallVector<OpFoldResult> getSizes(ArrayRef<PairAxis> axes) const;

  /// The same function of `size` columns from `offset` on.
  PairLoops getColumns(OpFoldResult offset, OpFoldResult size) const;

  /// A linalg.generic into `destination` over the batch, its axes and then
  /// `reductions`. Where `readsParams` is not set, `body` gets none.
  Value emit(ArrayRef<PairArray> inputs, const PairArray &destination,
             ArrayRef<PairAxis> reductions, bool readsParams, Body body) const;

  /// The values reduced along K, in `destination`, an array of M and N.
  Value emitReduced(Value destination) const;

private:
  /// How `array` is indexed by loops over the batch and `axes`.
  AffineMap getMap(const PairArray &array, ArrayRef<PairAxis> axes) const;
  /// The hyper-parameters and, behind them, their directions.
  SmallVector<Value> getParamValues() const;
  /// The same within a loop; `elements` are those of arrays.
  SmallVector<Value> getParams(ValueRange elements) const;

  ArrayEmitter *emitter;
  PairOpInterface op;
  Type accumulator;
  /// The destination first.
  SmallVector<PairArray> arrays;
  /// As many; slices in place of what has columns.
  SmallVector<PairArray> columns;
  SmallVector<OpFoldResult> batchSizes;
};

} // namespace mlir::kron

#endif // KRON_CONVERSION_KRONTOLINALG_PAIRLOOPS_H
