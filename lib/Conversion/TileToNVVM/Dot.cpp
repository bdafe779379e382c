//===- Dot.cpp - tile.dot -------------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Row by row.
static LoweredFragment multiplyAdd(Lowering &lowering, DotOp op) {
  KernelBuilder &k = lowering.k;
  ArrayRef<int64_t> shape = op.getFragment().getType().getShape();
  int64_t sizeK = shape[1], width = shape[2];
  Type type = op.getSums().getType().getElementType();
  LoweredFragment source = lowering.fragments.at(op.getFragment());
  SmallVector<Value> weights =
      lowering.takeAll(lowering.fragments.at(op.getWeights())).front();
  LoweredFragment sums;
  sums.box = {1, width};
  sums.forParts = [=, &k](function_ref<void(const Boxes &)> body) {
    source.forParts([&](const Boxes &boxes) {
      Boxes results(boxes.size());
      for (auto [values, row] : llvm::zip_equal(boxes, results))
        for (int64_t place = 0; place < width && !values.empty(); ++place) {
          Value sum = k.constant(type, 0);
          for (int64_t at = place; at < sizeK * width; at += width)
            sum = k.fma(values[at], weights[at], sum);
          row.push_back(sum);
        }
      body(results);
    });
  };
  return sums;
}

/// By tiles of 16 rows, 32 results at a time: a lane has 8 of those of two
/// rows.
static LoweredFragment multiplyTiles(Lowering &lowering, DotOp op) {
  KernelBuilder &k = lowering.k;
  ArrayRef<int64_t> shape = op.getFragment().getType().getShape();
  int64_t rowTiles = shape[0] / 16, resultTiles = shape[2] / 8;
  Type type = op.getSums().getType().getElementType();
  bool isBF16 = k.element.isBF16();
  LoweredFragment source = lowering.fragments.at(op.getFragment());
  LoweredFragment weights = lowering.fragments.at(op.getWeights());
  LoweredFragment sums;
  sums.forParts = [=, &k](function_ref<void(const Boxes &)> body) {
    Value zero = k.constant(type, 0);
    for (int64_t tile = 0; tile < rowTiles; ++tile) {
      ArrayRef<Value> words = ArrayRef(source.registers).slice(4 * tile, 4);
      // Words of rows g and g + 8 alternate in an operand.
      Value a[] = {words[0], words[2], words[1], words[3]};
      for (int64_t first = 0; first < resultTiles; first += kTilesTogether) {
        Boxes results(2 * rowTiles,
                      SmallVector<Value>(2 * resultTiles, nullptr));
        for (int64_t number = first; number < first + kTilesTogether;
             ++number) {
          SmallVector<Value> own =
              k.mmaHalf(a, ArrayRef(weights.registers).slice(2 * number, 2),
                        {zero, zero, zero, zero}, isBF16);
          for (int64_t index = 0; index < 4; ++index)
            results[2 * tile + index / 2][2 * number + index % 2] = own[index];
        }
        body(results);
      }
    }
  };
  return sums;
}

void tile::lower(Lowering &lowering, DotOp op) {
  lowering.fragments[op.getSums()] = op.getAtom() == AtomKind::Fma
                                         ? multiplyAdd(lowering, op)
                                         : multiplyTiles(lowering, op);
}
