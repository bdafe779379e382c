//===- Exchange.cpp - tile.exchange ---------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

void tile::lowerExchange(Lowering &lowering, ExchangeOp op) {
  KernelBuilder &k = lowering.k;
  const LoweredFragment &fragment = lowering.fragments.at(op.getFragment());
  BoxPlaces places(op.getBuffer().getType().getTileLayout(), op.getAlong(),
                   fragment.box);
  Int buffer = lowering.buffers.at(op.getBuffer());
  SmallVector<Int> starts;
  for (Int number : lowering.boxes.at(op.getBoxes()))
    starts.push_back(places.getStart(k, number));
  int64_t size = fragment.box[fragment.dim];
  for (int64_t first = 0; first < size; first += fragment.step) {
    int64_t count = std::min(fragment.step, size - first);
    Boxes boxes = fragment.make(first, count);
    for (auto [start, values] : llvm::zip_equal(starts, boxes))
      places.forPieces(
          fragment.dim, first, count, lowering.getChunk(),
          [&, start = start, &values = values](int64_t number, int64_t offset,
                                               int64_t width) {
            Value stored =
                width == 1
                    ? values[number]
                    : k.makeVector(ArrayRef(values).slice(number, width));
            k.store(stored,
                    lowering.getElement(buffer, places.layout, start, offset));
          });
  }
}
