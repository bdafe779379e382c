//===- QuantizeBlock.cpp - tile.quantize_rows of rows of a buffer ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The threads of a group go through the rows that a tile's results were left
// in, some lanes for each of some rows at a time.
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "kron/CodeGen/GPU/QuantizedRows.h"
#include "kron/CodeGen/GPU/RowQuantizer.h"
#include "kron/Dialect/Tile/IR/TileRows.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

class BlockQuantizer {
public:
  BlockQuantizer(Lowering &lowering, QuantizeRowsOp op);

  void emit();

private:
  Int getNumber(Int index);
  Value hasSegment(Int number);
  void quantizeRow(Int first);

  Lowering &lowering;
  KernelBuilder &k;
  LoadRowsOp source;
  SharedRows rows;
  RowQuantizer math;
  QuantizedRows results;
  Type element;
  /// Rows of the buffer, elements from one to the next, and rows that are
  /// quantized together.
  int64_t count, pitch, together;
  /// The tile's first row, rows of the array, and this thread among those that
  /// share a row.
  Int firstRow, size, place;
};

} // namespace

BlockQuantizer::BlockQuantizer(Lowering &lowering, QuantizeRowsOp op)
    : lowering(lowering), k(lowering.k), source(op.getLoad()),
      rows(SharedRows::get(source)),
      math(k, op.getBytes().getType().getElementType(), op.getNative()) {
  auto buffer = cast<BufferType>(source.getSource().getType());
  element = buffer.getElementType();
  count = buffer.getShape().front();
  pitch = buffer.getTileLayout().strides.front();
  together = lowering.getGroupThreads() / rows.threads;
  results = getQuantizedRows(lowering, op.getBytes(), op.getScales(),
                             rows.perSegment);
  size = lowering.views.at(op.getBytes()).sizes.front();
  firstRow = k.mul(k.extend(lowering.numbers.at(op.getTile())), count);
  place = k.rem(lowering.getThreadOfGroup(), rows.threads);
}

/// The row's segment that is this thread's one of some number, and whether
/// there is that; null if there is.
Int BlockQuantizer::getNumber(Int index) {
  return k.add(k.mul(index, rows.threads), place);
}

Value BlockQuantizer::hasSegment(Int number) {
  int64_t all = rows.getSegments();
  return all % rows.threads == 0 ? nullptr : k.less(number, all);
}

/// Quantizes this thread's one of the rows from `first` on.
void BlockQuantizer::quantizeRow(Int first) {
  Int own = k.add(first, k.floorDiv(lowering.getThreadOfGroup(), rows.threads));
  Int row = k.add(firstRow, k.extend(own));
  Value exists = k.less(row, size);
  if (count % together != 0)
    exists = k.both(exists, k.less(own, count));
  Value from =
      k.offsetElements(k.shared(lowering.buffers.at(source.getSource())),
                       element, k.mul(k.min(own, count - 1), pitch));
  Value to = results.locate(k, row);
  auto words = VectorType::get({4}, k.builder.getI32Type());
  auto load = [&](Int index) {
    Int number = getNumber(index);
    return k.orZero(hasSegment(number), words, [&] {
      return k.load(words, k.offsetBytes(from, k.mul(number, kSegmentBytes)));
    });
  };
  auto share = [&](Value largest) {
    return math.shareInWarp(largest, rows.threads);
  };
  auto storeScale = [&](Value scale) {
    k.ifThen(k.equal(place, 0), [&] { results.storeScale(k, row, scale); });
  };
  auto store = [&](Int index, Value bytes) {
    Int number = getNumber(index);
    k.ifThen(hasSegment(number), [&] {
      results.store(k, bytes,
                    k.offsetBytes(to, k.mul(number, rows.perSegment)));
    });
  };
  math.quantizeRow({element, rows.getSegmentsOfThread(),
                    int64_t(source.getKept()), exists, load, share, storeScale,
                    store});
}

void BlockQuantizer::emit() {
  k.rolledLoop(0, count, together, [&](Int first) { quantizeRow(first); });
}

void tile::testRowsOfBuffer(Lowering &lowering, QuantizeRowsOp op) {
  isAligned(lowering, {op.getBytes()},
            SharedRows::get(op.getLoad()).perSegment);
}

void tile::quantizeRowsOfBuffer(Lowering &lowering, QuantizeRowsOp op) {
  BlockQuantizer(lowering, op).emit();
}
