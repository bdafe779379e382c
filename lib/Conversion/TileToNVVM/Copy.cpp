//===- Copy.cpp - tile.copy -----------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Indexed.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

/// A copy of one tile.
struct TileCopy {
  Lowering &lowering;
  const LoweredView &view;
  Int tile, buffer;
  TileLayout layout;
  ArrayRef<int64_t> row;
  int64_t rows;

  void copyElements(Int valid);
  void copyChunks(Int valid);
};

} // namespace

/// What exists of the tile, element by element.
void TileCopy::copyElements(Int valid) {
  KernelBuilder &k = lowering.k;
  k.rolledLoop(k.threadId(), valid, lowering.threads, [&](Int index) {
    Int offset = lowering.getOffset(view, tile, rows, row, index);
    k.copyAsync(
        lowering.getElement(buffer, layout, lowering.getIndex(layout, index)),
        k.offsetPointer(view.array.base, offset), lowering.getElementBytes());
  });
  k.syncWarp();
}

/// The same by chunks of 16 bytes.
void TileCopy::copyChunks(Int valid) {
  KernelBuilder &k = lowering.k;
  int64_t chunk = lowering.getChunk();
  int64_t elements = rows * llvm::product_of(row);
  Value base = lowering.getTile(view, tile, rows, row);
  auto copy = [&](Int number, Value count) {
    Int index = k.mul(number, chunk);
    k.copyAsync(
        lowering.getElement(buffer, layout, lowering.getIndex(layout, index)),
        k.offsetPointer(base, index), 16, count);
  };
  k.ifThen(k.equal(valid, elements), [&] {
    lowering.forThreads(elements / chunk,
                        [&](Int number) { copy(number, Value()); });
  });
  // The last tile, in a loop: its chunks may be there in part.
  k.ifThen(k.less(valid, elements), [&] {
    Int present = k.ceilDiv(valid, chunk);
    k.rolledLoop(k.threadId(), present, lowering.threads, [&](Int number) {
      Int left = k.sub(valid, k.mul(number, chunk));
      Int bytes = k.mul(k.min(left, chunk), lowering.getElementBytes());
      copy(number, k.materialize(bytes, 32));
    });
    k.syncWarp();
  });
}

/// A box of the view, of what exists of it.
static void copyBox(Lowering &lowering, CopyOp op, Int tile) {
  KernelBuilder &k = lowering.k;
  const LoweredView &view = lowering.views.at(op.getView());
  ArrayRef<int64_t> sizes = op.getBuffer().getType().getShape();
  LoweredTile placed = lowering.placeTile(op.getView(), tile, sizes);
  unsigned last = sizes.size() - 1;
  int64_t width = op.getBytes() / lowering.getElementBytes();
  int64_t groups = op.getGroups();
  auto window = lowering.windows.find(op.getBuffer());
  unsigned along = window == lowering.windows.end() ? 0 : window->second.along;
  int64_t first = 0, end = sizes[along];
  if (op.getPart())
    first = (*op.getPart())[0], end = (*op.getPart())[1];
  // A vector counts as one position of the innermost axis.
  SmallVector<int64_t> extents(sizes);
  extents[along] = groups > 1 ? 1 : end - first;
  extents[last] /= width;
  SmallVector<unsigned> walk = getWalk(op.getOrder(), sizes.size());
  // Of groups, each has a position of its own.
  Int ownFirst = first, thread = k.threadId();
  Value mine;
  if (groups > 1) {
    ownFirst = k.floorDiv(thread, lowering.threads / groups);
    thread = k.rem(thread, lowering.threads / groups);
    if (first > 0)
      mine = k.less(first - 1, ownFirst);
    if (end < sizes[along])
      mine = k.both(mine, k.less(ownFirst, end));
  }
  auto copy = [&](Int item, Value valid) {
    Positions positions = decodeItem(k, item, extents, walk);
    positions[last] = k.mul(positions[last], width);
    positions[along] = k.add(positions[along], ownFirst);
    Value exists =
        k.both(valid, lowering.isInside(op.getView(), placed, positions));
    Int offset = getTileOffset(k, positions, sizes, view.array.strides);
    k.ifThen(exists, [&] {
      k.copyAsync(lowering.getElement(op.getBuffer(), positions),
                  k.offsetPointer(placed.base, offset), op.getBytes());
    });
  };
  k.ifThen(mine, [&] {
    forItems(k, lowering.threads / groups, thread, llvm::product_of(extents),
             op.getTogether(), [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
               for (auto [item, isValid] : llvm::zip_equal(items, valid))
                 copy(item, isValid);
             });
  });
}

/// A box of sizes that are powers of two, of which each group of threads has a
/// share.
static void copyShares(Lowering &lowering, CopyOp op, Int tile) {
  KernelBuilder &k = lowering.k;
  const LoweredView &view = lowering.views.at(op.getView());
  ArrayRef<int64_t> sizes = op.getBuffer().getType().getShape();
  // Of a tile that two CTAs share, each has a half.
  SmallVector<int64_t> whole(sizes);
  auto window = lowering.windows.find(op.getBuffer());
  if (op.getSplit())
    whole[window->second.along] *= lowering.cluster;
  LoweredTile placed = lowering.placeTile(op.getView(), tile, whole);
  if (op.getSplit()) {
    unsigned along = window->second.along;
    Int first = k.mul(k.extend(k.clusterRank()), sizes[along]);
    placed.base =
        k.offsetPointer(placed.base, k.mul(first, view.array.strides[along]));
  }
  int64_t groups = op.getGroups(), threads = lowering.threads / groups;
  int64_t share = llvm::product_of(sizes) / groups;
  int64_t width = op.getBytes() / lowering.getElementBytes();
  Int group = groups == 1 ? Int(0) : k.floorDiv(k.threadId(), threads);
  Int slot = 0;
  Value mine;
  if (window != lowering.windows.end()) {
    int64_t slots = window->second.slotsPerBuffer;
    slot = k.floorDiv(group, groups / slots);
    ArrayRef<int64_t> part = op.getPart().value_or(ArrayRef<int64_t>());
    if (!part.empty() && part[0] > 0)
      mine = k.less(part[0] - 1, slot);
    if (!part.empty() && part[1] < slots)
      mine = k.both(mine, k.less(slot, part[1]));
  }
  k.ifThen(mine, [&] {
    Int index = k.add(k.mul(group, share),
                      k.mul(k.bitAnd(k.threadId(), threads - 1), width));
    IndexedTile indexed(k, sizes);
    IndexedPlaces places(lowering, op.getBuffer(), index, slot);
    ArrayRef<Int> strides = view.array.strides;
    Value from =
        k.offsetPointer(placed.base, indexed.getOffset(index, strides));
    for (int64_t known = 0; known < share; known += threads * width)
      k.ifThen(indexed.isInside(view.sizes, placed, index, known), [&] {
        k.copyAsync(places.getPointer(known),
                    k.offsetPointer(from, indexed.getOffset(known, strides)),
                    op.getBytes());
      });
  });
}

/// A box of the view through registers, as sums; of what is outside, the
/// box's first element.
static void fillBuffer(Lowering &lowering, CopyOp op) {
  KernelBuilder &k = lowering.k;
  const LoweredView &view = lowering.views.at(op.getView());
  BufferType buffer = op.getBuffer().getType();
  ArrayRef<int64_t> sizes = buffer.getShape();
  ScalarOps ops(k, buffer.getElementType());
  LoweredTile placed = lowering.placeTile(
      op.getView(), lowering.numbers.at(op.getTile()), sizes);
  SmallVector<unsigned> walk = getWalk(op.getOrder(), sizes.size());
  auto copy = [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
    SmallVector<Scalar> values;
    SmallVector<Value> targets;
    for (Int item : items) {
      Positions positions = decodeItem(k, item, sizes, walk);
      Int offset = getTileOffset(k, positions, sizes, view.array.strides);
      if (Value inside = lowering.isInside(op.getView(), placed, positions)) {
        Value number = k.materialize(offset);
        offset = k.select(
            inside, number,
            k.materialize(0, number.getType().getIntOrFloatBitWidth()));
      }
      values.push_back(ops.load(view.element,
                                view.offset(k, placed.base, offset),
                                CacheHint::ReadOnly));
      targets.push_back(lowering.getElement(op.getBuffer(), positions));
    }
    for (auto [value, target, isValid] :
         llvm::zip_equal(values, targets, valid))
      k.ifThen(isValid, [&, value = value, target = target] {
        k.store(toValue(k, value), target);
      });
  };
  forItems(k, lowering.threads, k.threadId(), llvm::product_of(sizes),
           op.getTogether(), copy);
}

void tile::lower(Lowering &lowering, CopyOp op) {
  if (op.getPieces())
    return copyPart(lowering, op);
  if (!op.getFill() && op.getBuffer().getDefiningOp<AllocOp>())
    return fillBuffer(lowering, op);
  KernelBuilder &k = lowering.k;
  BufferType type = op.getBuffer().getType();
  int64_t ahead = op.getAhead();
  Int tile =
      op.getTile()
          ? k.add(lowering.numbers.at(op.getTile()),
                  k.mul(lowering.step, ahead))
          : k.add(lowering.getFirstTile(
                      lowering.shares > 1 ? lowering.getTileCount(op) : Int(0)),
                  k.mul(lowering.getTileStep(), ahead));
  if (op.getFill()) {
    fillTile(lowering, op, tile);
    k.commitCopies();
    return;
  }
  if (!op.getRows()) {
    // There are no more CTAs than tiles.
    Value exists;
    if (ahead)
      exists = k.less(tile, lowering.getTileCount(op));
    k.ifThen(exists, [&] {
      if (type.getTileLayout().swizzles.empty())
        copyBox(lowering, op, tile);
      else
        copyShares(lowering, op, tile);
    });
    k.commitCopies();
    return;
  }
  ArrayRef<int64_t> row = type.getShape().drop_front();
  int64_t rows = *op.getRows();
  TileCopy copy{lowering,
                lowering.views.at(op.getView()),
                tile,
                lowering.buffers.at(op.getBuffer()),
                type.getTileLayout(),
                row,
                rows};
  Int existing = lowering.getRows(copy.view, row.size());
  k.ifThen(k.less(k.mul(k.extend(tile), rows), existing), [&] {
    Int valid = lowering.getValidElements(copy.view, tile, rows, row);
    if (op.getBytes() == 16)
      copy.copyChunks(valid);
    else
      copy.copyElements(valid);
  });
  k.commitCopies();
}
