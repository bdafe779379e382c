//===- Exchange.cpp - tile.exchange ---------------------------------------===//
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

/// To a buffer of a ring along an axis.
static void exchangeWindow(Lowering &lowering, ExchangeOp op,
                           const LoweredFragment &fragment) {
  KernelBuilder &k = lowering.k;
  BufferType buffer = op.getBuffer().getType();
  WindowPlaces places(lowering, op.getBuffer());
  LoweredTurn &turn =
      lowering.placeBoxes(op.getBoxes(), buffer.getShape(), op.getAlong());
  fragment.forParts([&](const Boxes &sums) {
    Boxes boxes = pinBoxes(k, sums);
    for (unsigned index = 0; index < boxes.size(); ++index)
      k.ifThen(index ? turn.valid[index] : Value(), [&] {
        places.forVectors(
            turn.positions[index], op.getAlong(),
            [&](int64_t number, int64_t width, Value pointer) {
              if (Value piece = lowering.getPiece(boxes[index], number, width))
                k.store(piece, pointer);
            });
      });
  });
}

/// To where lanes have two pairs of each box.
static void exchangePairs(Lowering &lowering, ExchangeOp op,
                          const LoweredFragment &fragment) {
  KernelBuilder &k = lowering.k;
  LaneBoxes lane =
      IndexedTile(k, op.getBuffer().getType().getShape())
          .getBoxes(lowering, op.getBoxes(), op.getAlong().front());
  IndexedPlaces places(lowering, op.getBuffer(), lane.index);
  fragment.forParts([&](const Boxes &boxes) {
    for (auto [known, values] : llvm::zip_equal(lane.known, boxes)) {
      k.store(lowering.getPiece(values, 0, 2), places.getPointer(known));
      k.store(lowering.getPiece(values, 2, 2),
              places.getPointer(known + lane.second));
    }
  });
}

/// Parts of the results of fibres along an axis.
static void exchangeParts(Lowering &lowering, ExchangeOp op,
                          const LoweredFragment &fragment) {
  KernelBuilder &k = lowering.k;
  BufferType buffer = op.getBuffer().getType();
  int64_t along = op.getAlong().front(), part = fragment.box.front();
  int64_t stride = buffer.getTileLayout().strides[along];
  Type storage = getStorageType(buffer.getElementType());
  LoweredTurn &turn =
      lowering.placeBoxes(op.getBoxes(), buffer.getShape(), op.getAlong());
  fragment.forParts([&](const Boxes &sums) {
    for (auto [index, values] : llvm::enumerate(pinBoxes(k, sums))) {
      Positions positions = turn.positions[index].base;
      positions[along] = k.mul(turn.part, part);
      Value first = lowering.getElement(op.getBuffer(), positions);
      k.ifThen(turn.valid[index], [&, &values = values] {
        for (int64_t result = 0; result < part; ++result)
          k.ifThen(
              existsInPart(k, turn, part, result, buffer.getShape()[along]),
              [&] {
                k.store(values[result],
                        k.offsetElements(first, storage, result * stride));
              });
      });
    }
  });
}

void tile::lower(Lowering &lowering, ExchangeOp op) {
  if (getBlocks(op.getBoxes()))
    return exchangeBlock(lowering, op);
  if (getFibres(op.getBoxes()))
    return exchangeFibres(lowering, op);
  if (op.getFragment().getDefiningOp<ContractStepOp>())
    return exchangeStep(lowering, op);
  KernelBuilder &k = lowering.k;
  const LoweredFragment &fragment = lowering.fragments.at(op.getFragment());
  if (op.getFragment().getType().getAtom() == AtomKind::Dmma)
    return exchangePairs(lowering, op, fragment);
  if (cast<ForBoxesOp>(op.getBoxes().getParentBlock()->getParentOp())
          .getParts())
    return exchangeParts(lowering, op, fragment);
  if (lowering.windows.contains(op.getBuffer()))
    return exchangeWindow(lowering, op, fragment);
  BoxPlaces places(op.getBuffer().getType().getTileLayout(), op.getAlong(),
                   fragment.box);
  Int buffer = lowering.buffers.at(op.getBuffer());
  SmallVector<Int> starts;
  for (Int number : lowering.turns.at(op.getBoxes()).numbers)
    starts.push_back(places.getStart(k, number));
  fragment.forParts([&](const Boxes &boxes) {
    for (auto [start, values] : llvm::zip_equal(starts, boxes))
      places.forPieces(lowering.getChunk(), [&, start = start,
                                             &values = values](int64_t number,
                                                               int64_t offset,
                                                               int64_t width) {
        if (Value stored = lowering.getPiece(values, number, width))
          k.store(stored,
                  lowering.getElement(buffer, places.layout, start, offset));
      });
  });
}
