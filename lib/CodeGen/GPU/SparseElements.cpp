//===- SparseElements.cpp - Results of a sparse kernel, one by one --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where arrays are not made of aligned chunks, results are stored one by one.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseStores.h"

using namespace mlir;
using namespace mlir::kron;

/// What is stored of a sum.
Value SparseStores::finishElement(Value sum, const SparseTile &tile, Int row,
                                  Int result, Int lane) {
  auto load = [&](const SparseArray &array) {
    return ops.load(plan.element,
                    k.offsetElements(getBase(array, tile), plan.element,
                                     getOffset(array, row, result, lane)));
  };
  Scalar scaled =
      ops.scaledSum(targets.alpha, targets.beta, Scalar{sum, nullptr},
                    [&] { return load(targets.addend); });
  return round(targets.epilogue
                   .apply(
                       scaled, [&] { return load(targets.bias); },
                       [&] { return load(targets.residual); })
                   .re);
}

void SparseStores::storeElements(ArrayRef<MmaC> sums, const SparseTile &tile) {
  Value base = getBase(targets.output, tile);
  int64_t laneChunks = plan.alongRows ? 1 : plan.laneChunks;
  auto storeOne = [&](Value sum, Int row, Int result, Int lane) {
    k.ifThen(isInside(tile, row, result, lane),
             [&] { storeElement(sum, base, tile, row, result, lane); });
  };
  for (int64_t rowTile = 0; rowTile < plan.rowTiles; ++rowTile)
    for (int64_t half : {0, 1})
      for (int64_t index = 0; index < 2 * plan.resultTiles; ++index) {
        Int result = multiplier.getResult(thread.quad, index % 2, index / 2);
        for (int64_t laneChunk = 0; laneChunk < laneChunks; ++laneChunk)
          for (int64_t part = 0; part < plan.getParts(); ++part) {
            Value sum = sums[multiplier.getSumNumber(
                laneChunk, part, rowTile, index / 2)][2 * half + index % 2];
            Int row = getRowOf(rowTile, half, part);
            Int lane =
                plan.alongRows ? 0 : laneChunk * plan.lanesPerChunk + part;
            storeOne(sum, row, result, lane);
          }
      }
}
