//===- Load.cpp - tile.load -----------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Indexed.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Boxes that a buffer holds.
static Boxes loadBoxes(Lowering &lowering, LoadOp op, BufferType type,
                       ArrayRef<int64_t> box) {
  KernelBuilder &k = lowering.k;
  BoxPlaces places(type.getTileLayout(), op.getAlong(), box);
  Int buffer = lowering.buffers.at(op.getSource());
  Boxes boxes;
  for (Int number : lowering.turns.at(op.getBoxes()).numbers) {
    Int start = places.getStart(k, number);
    SmallVector<Value> &values = boxes.emplace_back();
    places.forPieces(lowering.getChunk(), [&](int64_t, int64_t offset,
                                              int64_t width) {
      Value pointer = lowering.getElement(buffer, places.layout, start, offset);
      Type type = width == 1 ? k.element : Type(k.getVectorType(width));
      llvm::append_range(values, k.unpack(k.load(type, pointer)));
    });
  }
  return boxes;
}

/// Boxes that a buffer of a ring along an axis holds.
static Boxes loadWindow(Lowering &lowering, LoadOp op, BufferType buffer) {
  KernelBuilder &k = lowering.k;
  WindowPlaces places(lowering, op.getSource());
  LoweredTurn &turn =
      lowering.placeBoxes(op.getBoxes(), buffer.getShape(), op.getAlong());
  Boxes boxes;
  for (const BoxPosition &box : turn.positions) {
    SmallVector<Value> &values = boxes.emplace_back();
    places.forVectors(
        box, op.getAlong(), [&](int64_t, int64_t width, Value pointer) {
          Type type = width == 1 ? k.element : Type(k.getVectorType(width));
          llvm::append_range(values, k.unpack(k.load(type, pointer)));
        });
  }
  return boxes;
}

/// A pair that the other CTA of a cluster has where `own` is.
static SmallVector<Value> loadOther(KernelBuilder &k, Value own) {
  Value address =
      LLVM::PtrToIntOp::create(k.builder, k.loc, k.builder.getI32Type(), own);
  return k.inlinePTX({k.element, k.element},
                     "{ .reg .b32 a; mapa.shared::cluster.u32 a, $2, $3; "
                     "ld.shared::cluster.v2.f64 {$0, $1}, [a]; }",
                     "=d,=d,r,r,~{memory}",
                     {address, k.materialize(k.sub(1, k.clusterRank()), 32)});
}

/// Boxes that the lanes of a warp share.
static Boxes loadPairs(Lowering &lowering, LoadOp op, BufferType buffer) {
  KernelBuilder &k = lowering.k;
  LaneBoxes lane =
      IndexedTile(k, buffer.getShape())
          .getBoxes(lowering, op.getBoxes(), op.getAlong().front());
  // A lane's position along the axis of slots is its slot.
  IndexedPlaces places =
      op.getHalves() ? IndexedPlaces(lowering, op.getSource(), lane.index,
                                     k.bitAnd(k.laneId(), 3))
                     : IndexedPlaces(lowering, op.getSource(), lane.index);
  Type pair = k.getVectorType(2);
  Boxes boxes;
  for (int64_t known : lane.known) {
    Value pointer = places.getPointer(known);
    SmallVector<Value> second;
    if (op.getHalves())
      second = loadOther(k, pointer);
    SmallVector<Value> &values =
        boxes.emplace_back(k.unpack(k.load(pair, pointer)));
    if (!op.getHalves())
      second = k.unpack(k.load(pair, places.getPointer(known + lane.second)));
    llvm::append_range(values, second);
  }
  return boxes;
}

/// Boxes of a view. One that is outside of it is at the first position, which
/// is always there.
static Boxes loadView(Lowering &lowering, LoadOp op) {
  KernelBuilder &k = lowering.k;
  const LoweredTile &tile = lowering.tiles.at({op, op.getSource()});
  LoweredTurn &turn =
      lowering.placeBoxes(op.getBoxes(), tile.sizes, op.getAlong());
  Boxes boxes;
  for (auto [box, inside] :
       llvm::zip_equal(turn.positions, turn.inside.at(op))) {
    for (auto [position, more] : llvm::zip_equal(box.base, box.more)) {
      if (!inside)
        break;
      position = k.add(position, more);
      more = 0;
      if (!position.isConstant()) {
        Value value = k.materialize(position);
        position =
            k.select(inside, value,
                     k.materialize(0, value.getType().getIntOrFloatBitWidth()));
      }
    }
    SmallVector<Value> &values = boxes.emplace_back();
    for (Value address : lowering.getAddresses(
             lowering.views.at(op.getSource()), tile, box, op.getAlong(),
             op.getFragment().getType().getBox()))
      values.push_back(k.load(k.element, address, CacheHint::ReadOnly));
  }
  return boxes;
}

void tile::lower(Lowering &lowering, LoadOp op) {
  if (getBlocks(op.getBoxes()))
    return loadBlock(lowering, op);
  SmallVector<int64_t> box(op.getFragment().getType().getBox());
  auto buffer = dyn_cast<BufferType>(op.getSource().getType());
  Boxes boxes;
  if (!buffer)
    boxes = loadView(lowering, op);
  else if (op.getFragment().getType().getAtom() == AtomKind::Dmma) {
    boxes = loadPairs(lowering, op, buffer);
    box = {2, 2};
  } else if (lowering.windows.contains(op.getSource()))
    boxes = loadWindow(lowering, op, buffer);
  else
    boxes = loadBoxes(lowering, op, buffer, box);
  LoweredFragment fragment;
  fragment.box = box;
  fragment.forParts = [boxes](function_ref<void(const Boxes &)> body) {
    body(boxes);
  };
  lowering.fragments[op.getFragment()] = fragment;
}
