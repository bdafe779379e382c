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

/// Which rows and columns of a tile this thread has: those that are
/// `rowOffset(i)` behind `row`, and `columnOffset(j)` behind `column`.
struct ThreadGrid {
  ThreadGrid(Lowering &lowering, int64_t lanes, FragmentType fragment);
  int64_t rowOffset(int64_t number) const {
    return number * (ofAtom ? 8 : groups);
  }
  int64_t columnOffset(int64_t number) const {
    return ofAtom ? number / 2 * 8 + number % 2 : number * lanes;
  }
  int64_t lanes, groups;
  /// Whether lanes have results of matrix instructions.
  bool ofAtom;
  Int row, column;
};

/// One of the two sides of a tile: rows in global memory, which come to shared
/// memory some positions of K at a time.
struct PairSide {
  Type element;
  /// The first row of the tile; rows of that, and those that exist.
  Value base;
  int64_t rows;
  Int present;
  Int rowStride, strideK;
  /// In shared memory: first slot, bytes of a slot and of a row.
  int64_t begin, slotBytes, pitch;
};

/// The side of `rows` rows from `firstRow` on of `view`, through `ring`.
PairSide getPairSide(Lowering &lowering, Value view, Value place, Value ring,
                     Int firstRow, int64_t rows);

/// The first column of a tile at `place`, or of its block; that may be null.
Int getFirstColumn(Lowering &lowering, Value place, Value block,
                   int64_t columns);

/// Whether the rows of a tile at `place` are still to be copied: where a ring
/// of `stages` slots has all steps of K, that is in the first block only. Null:
/// they always are.
Value needsRows(Lowering &lowering, Value place, Value block, Int steps,
                int64_t stages);

/// Copies `stepK` positions of K, of `sizeK` that exist, from `position` on to
/// the slot at `slot`, by 16 bytes: thread `thread` its part. What does not
/// exist becomes 0.
void copyRowChunks(Lowering &lowering, const PairSide &side, Int thread,
                   Int position, Int slot, Int sizeK, int64_t stepK);

/// The number of this thread, read anew: addresses that follow from it take no
/// registers from what is in a loop.
Int readThreadId(KernelBuilder &k);

/// A loop over `steps` steps along K whose copies are `stages - 1` steps in
/// front of what is reduced: one loop has both, so that addresses are computed,
/// and kept in registers, once. The barrier is also that between turns of the
/// loop around this.
SmallVector<Value> reduceThroughRing(
    KernelBuilder &k, Int steps, int64_t stages, ValueRange sums,
    function_ref<void(Int step, Int slot)> copy,
    function_ref<SmallVector<Value>(Int step, Int slot, ValueRange sums)>
        reduce);

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
