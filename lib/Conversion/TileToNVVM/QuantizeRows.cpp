//===- QuantizeRows.cpp - tile.quantize_rows ------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Rows are loaded, and what a tile.reduce_rows finds of them is found, where
// they are stored: so a test of alignment is one of all that is done to a row.
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "kron/CodeGen/GPU/RowQuantizer.h"
#include "kron/Dialect/Tile/IR/TileRows.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

class RowsLowering {
public:
  RowsLowering(Lowering &lowering, QuantizeRowsOp op);

  void emit(bool isAligned);

private:
  Int getRowOffset(const LoweredView &view, Int row);
  Int getElement(Int number);
  Value hasSegment(Int number);
  Value load(Int number, bool isAligned);
  Value share(Value largest);
  void store(Int number, Value words, bool isAligned);

  KernelBuilder &k;
  LoadRowsOp source;
  SharedRows rows;
  RowQuantizer math;
  const LoweredView &input, &output, &scales;
  /// Rows of the view, this thread's row, and its place among those that share
  /// it.
  Int count, row, place;
  /// This row, or the last one, in memory.
  Value from, to;
  /// Where warps leave the magnitudes of their rows.
  int64_t sharedOffset = 0;
};

} // namespace

RowsLowering::RowsLowering(Lowering &lowering, QuantizeRowsOp op)
    : k(lowering.k), source(op.getLoad()), rows(SharedRows::get(source)),
      math(k, op.getBytes().getType().getElementType(), op.getNative()),
      input(lowering.views.at(source.getSource())),
      output(lowering.views.at(op.getBytes())),
      scales(lowering.views.at(op.getScales())),
      count(lowering.getRows(input, 1)),
      place(k.rem(k.threadId(), rows.threads)) {
  Int tile = lowering.numbers.at(op.getTile());
  row = k.add(k.mul(k.extend(tile), lowering.threads / rows.threads),
              k.extend(k.floorDiv(k.threadId(), rows.threads)));
  Int read = k.min(row, k.sub(count, 1));
  from = input.offset(k, input.array.base, getRowOffset(input, read));
  to = output.offset(k, output.array.base, getRowOffset(output, read));
  if (rows.threads > 32)
    sharedOffset = k.allocateShared(lowering.threads / 32 * 4);
}

/// Elements from the array's first one to row number `row`.
Int RowsLowering::getRowOffset(const LoweredView &view, Int row) {
  Int offset = 0;
  for (size_t axis = input.sizes.size() - 1; axis-- > 0;) {
    Int size = view.sizes[axis];
    offset = k.add(offset, k.mul(k.extend(axis ? k.rem(row, size) : row),
                                 view.array.strides[axis]));
    if (axis)
      row = k.floorDiv(row, size);
  }
  return offset;
}

/// The first element of this thread's segment of some number.
Int RowsLowering::getElement(Int number) {
  return k.mul(k.add(k.mul(number, rows.threads), place), rows.perSegment);
}

/// Whether the row has that segment; null if it does.
Value RowsLowering::hasSegment(Int number) {
  bool isFull = rows.getSegments() == rows.getSegmentsOfThread() * rows.threads;
  return isFull ? nullptr : k.less(getElement(number), rows.length);
}

/// A segment as four words, with zeros for what the row does not have.
Value RowsLowering::load(Int number, bool isAligned) {
  auto words = VectorType::get({4}, k.builder.getI32Type());
  Int first = getElement(number);
  Value segment = input.offset(k, from, first);
  auto loadIf = [&](Value exists, Type type, Value pointer) {
    return k.orZero(exists, type,
                    [&] { return k.load(type, pointer, CacheHint::ReadOnly); });
  };
  if (isAligned)
    return loadIf(hasSegment(number), words, segment);
  SmallVector<Value> values;
  for (int64_t index = 0; index < rows.perSegment; ++index)
    values.push_back(loadIf(k.less(k.add(first, index), rows.length),
                            input.element, input.offset(k, segment, index)));
  return k.bitcast(k.makeVector(values), words);
}

/// The largest of all threads that share a row.
Value RowsLowering::share(Value largest) {
  largest = math.shareInWarp(largest, std::min<int64_t>(rows.threads, 32));
  if (rows.threads <= 32)
    return largest;
  auto getPlace = [&](Int warp) {
    return k.shared(k.add(k.mul(warp, 4), sharedOffset));
  };
  k.ifThen(k.equal(k.laneId(), 0),
           [&] { k.store(largest, getPlace(k.warpId())); });
  k.barrier();
  int64_t warps = rows.threads / 32;
  Int first = k.mul(k.floorDiv(k.threadId(), rows.threads), warps);
  for (int64_t warp = 0; warp < warps; ++warp)
    largest = math.max(
        largest, k.load(k.builder.getI32Type(), getPlace(k.add(first, warp))));
  // Before those of the next rows are written.
  k.barrier();
  return largest;
}

/// Stores words of four bytes each, one or two of them.
void RowsLowering::store(Int number, Value words, bool isAligned) {
  Type i8 = k.builder.getI8Type();
  Int first = getElement(number);
  Value segment = k.offsetBytes(to, first);
  if (isAligned)
    return k.ifThen(hasSegment(number),
                    [&] { k.store(words, segment, CacheHint::Streaming); });
  auto type = VectorType::get({rows.perSegment}, i8);
  for (auto [index, value] : llvm::enumerate(k.unpack(k.bitcast(words, type))))
    k.ifThen(k.less(k.add(first, int64_t(index)), rows.length),
             [&, index = index, value = value] {
               k.store(value, k.offsetBytes(segment, int64_t(index)));
             });
}

void RowsLowering::emit(bool isAligned) {
  auto storeScale = [&](Value scale) {
    k.ifThen(k.equal(place, 0), [&] {
      k.store(scale,
              scales.offset(k, scales.array.base, getRowOffset(scales, row)));
    });
  };
  math.quantizeRow(
      {input.element, rows.getSegmentsOfThread(), int64_t(source.getKept()),
       k.less(row, count), [&](Int number) { return load(number, isAligned); },
       [&](Value largest) { return share(largest); }, storeScale,
       [&](Int number, Value words) { store(number, words, isAligned); }});
}

/// Whether segments are loaded at once, and stored so; null if neither is.
static std::pair<Value, Value> testRows(Lowering &lowering, QuantizeRowsOp op) {
  LoadRowsOp source = op.getLoad();
  if (source.getBytes() != kSegmentBytes)
    return {};
  Value from = source.getSource(), to = op.getBytes();
  Value isLoaded = isAligned(lowering, from, kSegmentBytes, /*axis=*/-1);
  return {isLoaded, isAligned(lowering, to, SharedRows::get(source).perSegment,
                              /*axis=*/-1)};
}

/// Whether rows are those of a buffer.
static bool areOfBuffer(QuantizeRowsOp op) {
  return isa<BufferType>(op.getLoad().getSource().getType());
}

void tile::testQuantizedRows(Lowering &lowering, QuantizeRowsOp op) {
  if (areOfBuffer(op))
    return testRowsOfBuffer(lowering, op);
  testRows(lowering, op);
}

void tile::lower(Lowering &lowering, QuantizeRowsOp op) {
  if (areOfBuffer(op))
    return quantizeRowsOfBuffer(lowering, op);
  RowsLowering rows(lowering, op);
  auto [isLoaded, isStored] = testRows(lowering, op);
  if (!isLoaded)
    return rows.emit(/*isAligned=*/false);
  lowering.k.choose(lowering.k.both(isLoaded, isStored),
                    [&](bool aligned) { rows.emit(aligned); });
}
