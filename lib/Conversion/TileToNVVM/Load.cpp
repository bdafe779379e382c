//===- Load.cpp - tile.load -----------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

void tile::lowerLoad(Lowering &lowering, LoadOp op) {
  KernelBuilder &k = lowering.k;
  ArrayRef<int64_t> box = op.getFragment().getType().getBox();
  BoxPlaces places(op.getBuffer().getType().getTileLayout(), op.getAlong(),
                   box);
  Int buffer = lowering.buffers.at(op.getBuffer());
  Boxes boxes;
  for (Int number : lowering.boxes.at(op.getBoxes())) {
    Int start = places.getStart(k, number);
    SmallVector<Value> &values = boxes.emplace_back();
    places.forPieces(
        0, 0, box.front(), lowering.getChunk(),
        [&](int64_t, int64_t offset, int64_t width) {
          Value pointer =
              lowering.getElement(buffer, places.layout, start, offset);
          Type type = width == 1 ? k.element : Type(k.getVectorType(width));
          llvm::append_range(values, k.unpack(k.load(type, pointer)));
        });
  }
  LoweredFragment fragment;
  fragment.box.assign(box.begin(), box.end());
  fragment.step = box.front();
  fragment.make = [boxes](int64_t, int64_t) { return boxes; };
  lowering.fragments[op.getFragment()] = fragment;
}
