//===- Copy.cpp - tile.copy -----------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

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

void tile::lowerCopy(Lowering &lowering, CopyOp op) {
  KernelBuilder &k = lowering.k;
  BufferType type = op.getBuffer().getType();
  ArrayRef<int64_t> row = type.getShape().drop_front();
  int64_t rows = op.getRows(), ahead = op.getAhead();
  Int tile = op.getTile() ? k.add(lowering.numbers.at(op.getTile()),
                                  k.mul(lowering.step, ahead))
                          : k.add(k.extend(k.blockId()),
                                  k.mul(k.extend(k.gridSize()), ahead));
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
