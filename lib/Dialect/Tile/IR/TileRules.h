//===- TileRules.h - Rules that operations on tiles share -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_TILE_IR_TILERULES_H
#define KRON_LIB_DIALECT_TILE_IR_TILERULES_H

#include "kron/Dialect/Tile/IR/TileBlocks.h"

namespace mlir::kron::tile {

/// The ring along an axis that `buffer` is of; null if it is of none.
RingType getRing(Value buffer);

/// Whether lanes of a warp share the boxes of `fragment`.
inline bool hasWarpBoxes(FragmentType fragment) {
  return fragment.getAtom() == AtomKind::Dmma;
}

/// Whether the boxes of `fragment`, which warps share as its atom says, are
/// those of `buffer`; else an error. With `halves`, of two CTAs' buffers.
LogicalResult verifyWarpBoxes(Operation *op, FragmentType fragment,
                              Value buffer, Value boxes,
                              ArrayRef<int64_t> along, bool halves);

/// The same of a box of `sizes` of a view, that all CTAs of a cluster share.
LogicalResult verifyWarpBoxes(Operation *op, FragmentType fragment,
                              ArrayRef<int64_t> sizes, Value boxes,
                              ArrayRef<int64_t> along);

/// Elements from one position along each axis of `view` to the next, dynamic
/// where only a launch knows them.
SmallVector<int64_t> getStrides(ViewType view);

/// Whether `boxes` are parts of fibres.
bool hasParts(Value boxes);

/// Whether a value of type `own` has elements `element`; else an error.
template <typename TileType>
LogicalResult verifyElements(Operation *op, TileType own, Type element) {
  if (own.getElementType() == element)
    return success();
  return op->emitOpError("expects elements of type ")
         << element << ", but got " << own;
}

/// Whether the sums of `op`, of type `own`, are of type `expected`; else an
/// error.
LogicalResult verifySums(Operation *op, FragmentType own,
                         FragmentType expected);

/// Whether `op` does more to what it stores than to scale and add; and whether
/// it does not, as what it stores, `what`, needs: else an error.
bool hasEpilogue(StoreOp op);
LogicalResult verifyNoEpilogue(StoreOp op, StringRef what);

/// Whether an epilogue, if `op` has one, is of elements that are stored one by
/// one; else an error.
LogicalResult verifyEpilogue(StoreOp op);

/// The loop that has `boxes`, of which a turn fills `fragment`; null, with an
/// error, if there is none.
ForBoxesOp getTurnOf(Operation *op, FragmentType fragment, Value boxes);

/// Whether `order`, if there is one, has each of `rank` axes once; else an
/// error.
LogicalResult verifyOrder(Operation *op, std::optional<ArrayRef<int64_t>> order,
                          int64_t rank);

/// Whether the boxes of `fragment`, which are parts of the results along
/// `along`, are all of a tile of `sizes` and of elements `element`; else an
/// error.
LogicalResult verifyParts(Operation *op, FragmentType fragment,
                          ArrayRef<int64_t> sizes, Type element, Value boxes,
                          ArrayRef<int64_t> along);

/// Whether a swizzled buffer, if `op` fills one, is filled in equal shares of
/// whole vectors, and a half of a tile by each CTA of a cluster; else an error.
LogicalResult verifyShares(CopyOp op);

/// The rules of operations on blocks of tile.for_blocks or tile.for_pieces.
LogicalResult verifyLoadedBlock(LoadOp op);
LogicalResult verifyExchangedBlock(ExchangeOp op);
LogicalResult verifyStoredBlock(StoreOp op);
LogicalResult verifyBlockProduct(ContractOp op);
LogicalResult verifyBlockFactor(PrepareOp op);

/// Whether `op` has axes and bytes of a `box` of each of its views, whose
/// dimensions from `firstMerged` on count as one; else an error.
LogicalResult verifyAxesAndBytes(StoreOp op, ArrayRef<int64_t> box,
                                 size_t firstMerged);

/// Whether blocks of `block` positions are those of a tile of `sizes`.
bool areBlocks(ArrayRef<int64_t> sizes, ArrayRef<int64_t> block);

/// Whether groups of `warps` warps are the CTA's; else an error.
LogicalResult verifyGroups(Operation *op, int64_t warps);

/// Whether a tile.copy_pieces of `view` to `ring`, in `pieces`, is in front of
/// the loop that `op` is in, and these go together; of chunks, with pieces of
/// `factor` to `factorRing`, or with a part of it that is `kept`. Else an
/// error.
LogicalResult verifyStartedPieces(Operation *op, Value view, Value ring,
                                  PiecesAttr pieces, Value factor = nullptr,
                                  Value factorRing = nullptr,
                                  Value kept = nullptr);

/// The ring of `slot` if that is acquired, or waited for, by a turn of a
/// tile.for_segments: all groups of threads share it; null otherwise. And what
/// multiplies by a slot of that ring, or null.
Value getKeptRing(Value slot);
ContractPiecesOp getKeptProduct(Value slot);

/// The rules of parts of a factor that stay for a segment: of what copies one,
/// and of what multiplies by it.
LogicalResult verifyPartCopy(CopyOp op);
LogicalResult verifyKeptFactor(ContractPiecesOp op);

/// Whether `source` is sums of a tile.contract_batch or totals of a
/// tile.add_pieces; and the rules of storing them.
bool isOfBatch(Value source);
LogicalResult verifyStoredBatch(StoreOp op);

/// The rules of operations on what a warpgroup multiplies.
LogicalResult verifyPackedFactor(PrepareOp op);
LogicalResult verifyStoredPieces(StoreOp op);

/// The same of fibres, and of a buffer of their sums that is stored along axes.
LogicalResult verifyExchangedFibres(ExchangeOp op);
LogicalResult verifyStoredFibres(StoreOp op);
LogicalResult verifyStoredSums(StoreOp op);

/// The same of a part of a chain step.
LogicalResult verifyExchangedStep(ExchangeOp op);
LogicalResult verifyStoredStep(StoreOp op);

/// Whether `kernel`, if it has several groups or shares, is made of operations
/// that know of these; else an error.
LogicalResult verifyDivision(gpu::GPUFuncOp kernel);

/// Those of a copy that fills a buffer up with zeros.
LogicalResult verifyFilled(CopyOp op);

/// Whether `slot` has room for the segments of a box of `sizes` along `axes` of
/// `view`, as they lie; else an error.
LogicalResult verifySegments(Operation *op, ViewType view, BufferType slot,
                             ArrayRef<int64_t> axes, ArrayRef<int64_t> sizes);

/// Whether `axes` are axes of `view`, each once, or -1 for dimensions of one
/// position, one for each of `sizes`; else an error.
LogicalResult verifyAxes(Operation *op, ViewType view, ArrayRef<int64_t> axes,
                         ArrayRef<int64_t> sizes);

/// Whether boxes of `sizes` along `axes` of `view` move by `bytes` where a
/// launch finds what it is asked to test aligned; else an error.
LogicalResult verifyBytes(Operation *op, ViewType view, ArrayRef<int64_t> axes,
                          ArrayRef<int64_t> sizes, int64_t bytes,
                          bool isStored);

/// Whether dimensions `first` and behind of a box, along `axes` of `view`, lie
/// without a gap, so that they count as one; else an error.
LogicalResult verifyMerged(Operation *op, ViewType view, ArrayRef<int64_t> axes,
                           ArrayRef<int64_t> sizes, size_t first);

/// Whether dimensions `rank - 1` and behind of `buffer` lie without a gap, and
/// others by multiples of `width`.
bool lieTogether(BufferType buffer, size_t rank, int64_t width);

/// Whether lanes find `width` neighbours of `blocks` together in `buffer`; else
/// an error.
LogicalResult verifyNeighbours(Operation *op, BufferType buffer,
                               const Blocks &blocks, int64_t width);

} // namespace mlir::kron::tile

#endif // KRON_LIB_DIALECT_TILE_IR_TILERULES_H
