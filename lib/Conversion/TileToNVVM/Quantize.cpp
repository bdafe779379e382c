//===- Quantize.cpp - tile.quantize ---------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"
#include "kron/CodeGen/GPU/QuantizedRows.h"
#include "kron/CodeGen/GPU/RowQuantizer.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Neighbours that a thread quantizes at a time, and bytes of them.
static constexpr int64_t kLanes = 4;

namespace {

class TileQuantizer {
public:
  TileQuantizer(Lowering &lowering, tile::QuantizeOp op);

  void emit();

private:
  Value locate(Int row, Int number);
  void meet();
  void quantizeRow(Int row);

  Lowering &lowering;
  KernelBuilder &k;
  tile::QuantizeOp op;
  SharedTile source;
  ArrayRef<int64_t> shape;
  ScalarOps ops;
  KernelScale alpha;
  QuantizedRows rows;
  Int size, firstRow;
  /// Where warps leave what they know of a row: of two rows in turn, so that
  /// nobody writes what others still read.
  int64_t maxima, threads;
};

} // namespace

void tile::testQuantize(Lowering &lowering, tile::QuantizeOp op) {
  isAligned(lowering, {op.getView()}, kLanes);
}

QuantizedRows tile::getQuantizedRows(Lowering &lowering, Value bytes,
                                     Value scales, int64_t together) {
  const LoweredView &view = lowering.views.at(bytes);
  const LoweredView &beside = lowering.views.at(scales);
  QuantizedRows rows;
  rows.byte = view.element;
  rows.bytes = view.array.base;
  rows.bytesStride = view.array.strides.front();
  rows.scales = beside.array.base;
  rows.scalesStride = beside.array.strides.front();
  rows.isAligned = isAligned(lowering, {bytes}, together);
  if (rows.bytesStride.isConstant() &&
      rows.bytesStride.getConstant() % together != 0)
    rows.isAligned = lowering.k.equal(lowering.k.threadId(), -1);
  return rows;
}

TileQuantizer::TileQuantizer(Lowering &lowering, tile::QuantizeOp op)
    : lowering(lowering), k(lowering.k), op(op),
      source(k, op.getSource().getType(), lowering.buffers.at(op.getSource())),
      shape(op.getSource().getType().getShape()), ops(k, k.element),
      alpha(getScale(lowering, op.getAlpha())),
      rows(getQuantizedRows(lowering, op.getView(), op.getScales(), kLanes)),
      threads(lowering.getGroupThreads()) {
  size = k.truncate(lowering.views.at(op.getView()).sizes.front());
  firstRow =
      k.truncate(k.mul(lowering.numbers.at(op.getTile()), shape.front()));
  maxima = k.allocateShared(2 * (lowering.threads / 32) * 4);
}

/// Where element `number` of row `row` is.
Value TileQuantizer::locate(Int row, Int number) {
  Positions position{row};
  llvm::append_range(position, delinearize(k, number, shape.drop_front()));
  return source.getAddress(source.getOffset(position, 0), 0);
}

void TileQuantizer::meet() {
  if (lowering.groups == 1)
    k.barrier();
  else
    k.namedBarrier(k.add(lowering.getGroup(), 1), threads);
}

void TileQuantizer::quantizeRow(Int row) {
  RowQuantizer math(k, rows.byte, /*hasFloat8=*/true);
  Int thread = lowering.getThreadOfGroup();
  int64_t segments = llvm::product_of(shape.drop_front()) / kLanes;
  auto type = VectorType::get({kLanes}, k.builder.getF32Type());
  SmallVector<Value> exist;
  SmallVector<SmallVector<Value>> kept;
  Value largest = math.zero();
  for (int64_t first = 0; first < segments; first += threads) {
    Int segment = k.add(thread, first);
    exist.push_back(first + threads <= segments ? Value()
                                                : k.less(segment, segments));
    Int number =
        k.mul(exist.back() ? k.min(segment, segments - 1) : segment, kLanes);
    SmallVector<Scalar> values = llvm::map_to_vector(
        k.unpack(k.load(type, locate(row, number))), [](Value value) {
          return Scalar{value, nullptr};
        });
    values = ops.scaledSums(alpha, KernelScale(), values,
                            [] { return SmallVector<Scalar>(); });
    SmallVector<Value> &own = kept.emplace_back();
    for (const Scalar &value : values)
      own.push_back(value.re);
    largest = math.addMagnitudes(largest, own);
  }
  largest = math.shareInWarp(largest, 32);
  int64_t warps = threads / 32;
  Int base =
      k.add(k.mul(lowering.getGroup(), 2 * warps), k.mul(k.rem(row, 2), warps));
  auto locateWarp = [&](Int warp) {
    return k.shared(k.add(k.mul(k.add(base, warp), 4), maxima));
  };
  k.ifThen(k.equal(k.laneId(), 0),
           [&] { k.store(largest, locateWarp(lowering.getWarpOfGroup())); });
  meet();
  for (int64_t other = 0; other < warps; ++other)
    largest =
        math.max(largest, k.load(k.builder.getI32Type(), locateWarp(other)));
  RowScale scaling = math.getScale(largest);
  Int place = k.add(firstRow, row);
  Value isRow = k.less(place, size);
  k.ifThen(k.both(isRow, k.equal(thread, 0)),
           [&] { rows.storeScale(k, place, scaling.stored); });
  Value bytes = rows.locate(k, place);
  for (auto [index, values] : llvm::enumerate(kept)) {
    Int segment = k.add(thread, int64_t(index) * threads);
    k.ifThen(k.both(isRow, exist[index]), [&, &values = values] {
      Value word = math.packWord(values, scaling);
      rows.store(k, word, k.offsetBytes(bytes, k.mul(segment, kLanes)));
    });
  }
}

void TileQuantizer::emit() {
  k.rolledLoop(0, shape.front(), 1, [&](Int row) { quantizeRow(row); });
}

void tile::lower(Lowering &lowering, tile::QuantizeOp op) {
  TileQuantizer(lowering, op).emit();
}
