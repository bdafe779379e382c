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
    // A warpgroup has 64 rows in an instruction, each warp 16 of them.
    if (ofWarpgroup)
      return number / 2 * 64 + number % 2 * 8;
    return number * (ofAtom ? 8 : groups);
  }
  /// Finds out row and column, of threads' own results, here once more: what
  /// follows from them takes no registers from what is in a loop.
  void readAnew(KernelBuilder &k);
  int64_t columnOffset(int64_t number) const {
    return ofAtom ? number / 2 * 8 + number % 2 : number * lanes;
  }
  int64_t lanes, groups;
  /// Whether lanes have results of matrix instructions; of warpgroups.
  bool ofAtom, ofWarpgroup;
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
/// exist becomes 0. With `exchanges`, the 16 bytes of rows of 64 are where
/// getRowChunk says; with `swapsPairs`, each two elements of four bytes have
/// changed places.
void copyRowChunks(Lowering &lowering, const PairSide &side, Int thread,
                   Int position, Int slot, Int sizeK, int64_t stepK,
                   bool exchanges = false, bool swapsPairs = false);

/// Starts to copy elements of `bytes` to shared memory, from `begin` on,
/// `pitch` apart: of `count` items this thread's. `find` says where an item
/// comes from, and whether it exists, or null: 0 takes the place of one that
/// does not.
void copyItems(Lowering &lowering, int64_t count, Int begin, int64_t pitch,
               int64_t bytes,
               function_ref<std::pair<Value, Value>(Int item)> find);

/// Where the 16 bytes `chunk` of row `row`, of 64 bytes, are among these: those
/// with one number of eight rows are in different banks.
Int getRowChunk(KernelBuilder &k, Int row, Int chunk);

/// One of two arrays whose elements are as the user has them.
struct CopiedSide : PairSide {
  /// Whether threads copy neighbouring rows, where they do it element by
  /// element.
  bool alongRows;
  /// Whether rows may be copied by 16 bytes; null: they may not.
  Value isAligned;
  /// Whether positions 2i and 2i + 1 change places in shared memory. A load of
  /// 16 bytes fills registers in their order: elements of both sides would be
  /// in the same bank of the register file, which gives one of them in a clock.
  bool swapsPairs = false;
};

/// Copies rows to buffers of a ring, and loads them from there.
class RowCopies {
public:
  /// Of rows of `view`, through `ring`.
  RowCopies(Lowering &lowering, Value view, TypedValue<RingType> ring);

  /// The side of `rows` rows from `firstRow` on; 0: of those of a buffer.
  CopiedSide getSide(Value view, Value place, TypedValue<RingType> ring,
                     Int firstRow, bool alongRows, int64_t rows = 0);
  /// Copies the positions from `position` on to slot number `slot`.
  void copySide(const CopiedSide &side, Int position, Int slot);
  /// `width` positions of the row that is `behind` bytes behind `start`.
  SmallVector<Value> loadRow(const CopiedSide &side, Int start, int64_t behind);

protected:
  Value getAlignment(const CopiedSide &side);
  void copyElements(const CopiedSide &side, Int position, Int slot);

  Lowering &lowering;
  KernelBuilder &k;
  /// Bytes of an element, positions of K of a buffer and of a load.
  const int64_t bytes, stepK, width;
  Int sizeK;
  /// Positions of a step that may be read.
  int64_t usedK;
};

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

/// Blocks whose columns arrive together: half of those that its ring has.
int64_t countBlocksTogether(PairsOfRowsOp op);

/// The first block that is this CTA's, of `by` of `size` columns, and the one
/// behind its last one: `perPart` for each part, of which `place` says the
/// number.
std::pair<Int, Int> getBlocksOf(Lowering &lowering, Value place, Value perPart,
                                Int size, int64_t by);
/// Those of `op`.
std::pair<Int, Int> getBlocks(Lowering &lowering, ForPairsOp op);

/// Counts the steps along K of all blocks of `op`, where warpgroups multiply
/// its rows.
void passBlocks(Lowering &lowering, ForPairsOp op);

/// A tile.for_pairs whose values come through a ring.
void lowerValueProducts(Lowering &lowering, ForPairsOp op);

/// The element of `view` at the batch of `place`, the first one along its
/// `innerRank` last axes.
Value getBatch(Lowering &lowering, Value view, Value place, size_t innerRank);

SmallVector<Value> getBox(Lowering &lowering, Value fragment);

/// e^value: of f32 by the machine's 2^x, so that the rounding of the product
/// with log2(e) adds |value| / 2 units in the last place.
Value emitExp(KernelBuilder &k, Value value);

/// Whether element `number` of a thread is one of those, `share` of 16 that are
/// spread evenly, whose powers are of a table.
bool usesTable(int64_t number, int64_t share);

/// Makes the table of the first power in the function `inner` of `op`, of
/// which `polynomials` of 16 elements take it, in front of the loop over tiles.
void startPowers(Lowering &lowering, Operation *op, Region &inner,
                 int64_t polynomials);

/// The table that was made for `op`, if one was.
std::optional<PowerTable> findPowerTable(Lowering &lowering, Operation *op);

/// |`base`| to the exponent of `table`, as a product of two: to 7e-7 of itself.
std::pair<Value, Value> emitTablePower(KernelBuilder &k,
                                       const PowerTable &table, Value base);

/// Values of hyper-parameters.
SmallVector<Value> getParams(Lowering &lowering, ValueRange params);

/// What `region` yields for `args` and the hyper-parameters. Roots and powers
/// of f32 are those of the machine, or of `table`, if there is one.
Value applyFunction(KernelBuilder &k, Region &region, ValueRange args,
                    ValueRange params, std::optional<PowerTable> table = {});

/// `value` in its accumulation type.
Value toSum(KernelBuilder &k, Value value);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_PAIRS_H
