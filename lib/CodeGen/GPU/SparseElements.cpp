//===- SparseElements.cpp - Results of a sparse kernel, one by one --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where arrays are not made of aligned chunks, results are stored one by one;
// and where sums are not finite, they are computed again that way.
//
//===----------------------------------------------------------------------===//

#include "SparseKernel.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

/// What is stored of a sum.
Value SparseKernel::finishElement(Value sum, const SparseTile &tile, Int row,
                                  Int result, Int lane) {
  auto load = [&](const SparseArray &array) {
    return ops.load(plan.element,
                    k.offsetElements(getBase(array, tile), plan.element,
                                     getOffset(array, row, result, lane)));
  };
  Scalar scaled = ops.scaledSum(alpha, beta, Scalar{sum, nullptr},
                                [&] { return load(addend); });
  return round(epilogue
                   .apply(
                       scaled, [&] { return load(bias); },
                       [&] { return load(residual); })
                   .re);
}

void SparseKernel::storeElements(ArrayRef<MmaC> all, const SparseTile &tile) {
  SmallVector<MmaC> copy(all);
  MutableArrayRef<MmaC> sums(copy);
  Int firstResult = k.mul(resultWarp, plan.getResultsPerWarp());
  Value base = getBase(output, tile);
  int64_t laneChunks = plan.alongRows ? 1 : plan.laneChunks;
  auto storeOne = [&](Value sum, Int row, Int result, Int lane) {
    k.ifThen(isInside(tile, row, result, lane), [&] {
      k.store(finishElement(sum, tile, row, result, lane),
              k.offsetElements(base, plan.element,
                               getOffset(output, row, result, lane)));
    });
  };
  for (int64_t rowTile = 0; rowTile < plan.rowTiles; ++rowTile)
    for (int64_t half : {0, 1})
      for (int64_t index = 0; index < 2 * plan.resultTiles; ++index) {
        auto [own, known] =
            getResultOf(k.add(k.mul(quad, 2), index % 2), index / 2);
        Int result = k.add(k.add(firstResult, own), known);
        for (int64_t laneChunk = 0; laneChunk < laneChunks; ++laneChunk)
          for (int64_t part = 0; part < plan.getParts(); ++part) {
            Value sum = getSum(sums, laneChunk, part, rowTile,
                               index / 2)[2 * half + index % 2];
            Int row = getRowOf(rowTile, half, part);
            Int lane =
                plan.alongRows ? 0 : laneChunk * plan.lanesPerChunk + part;
            storeOne(sum, row, result, lane);
          }
      }
}

/// Computes the warp's results with plain multiply-adds, an element at a time,
/// and stores them: infinities and NaN do not survive the splitting of values.
void SparseKernel::computeAgain(const SparseTile &tile) {
  SmallVector<int64_t> extents{plan.getRowsPerWarp(), plan.getResultsPerWarp(),
                               plan.alongRows ? 1 : plan.getLanes()};
  int64_t total = extents[0] * extents[1] * extents[2];
  Value outputBase, data;
  if (!plan.writesShared)
    outputBase = getBase(output, tile);
  if (!plan.readsShared)
    data = offsetTile(input, tile, /*isFactor=*/false);
  Value weights = offsetTile(factor, tile, /*isFactor=*/true);
  k.rolledLoop(0, total, 32, [&](Int first) {
    Positions place =
        decodeItem(k, k.add(first, k.laneId()), extents, {2, 1, 0});
    Int row = k.add(place[0], k.mul(rowWarp, plan.getRowsPerWarp()));
    Int result = k.add(place[1], k.mul(resultWarp, plan.getResultsPerWarp()));
    Int lane = place[2];
    // Where the row is in arrays; it is counted as its data are.
    Int ownRow = plan.turnsRows ? getRowOfSlot(row) : row;
    Value exists = plan.readsShared && plan.writesShared
                       ? isColumnInside(tile, result, lane)
                       : isInside(tile, ownRow, result, lane);
    k.ifThen(exists, [&] {
      auto loadData = [&](Int positionK) {
        if (plan.readsShared) {
          Int line = k.add(k.mul(getGroupNumber(tile), plan.sizeK), positionK);
          Int feature = k.add(k.mul(line, plan.lanes), k.add(tile.lane, lane));
          return ops.load(plan.element, locateFeature(row, feature));
        }
        Value from = k.offsetElements(data, plan.element,
                                      getOffset(input, row, 0, lane));
        return ops.load(
            plan.element,
            k.offsetElements(from, plan.element,
                             k.mul(k.extend(positionK), input.strideK)),
            CacheHint::ReadOnly);
      };
      Value weight = k.offsetElements(
          weights, plan.element,
          getTileOffset(k, {result, lane}, {plan.getResults(), plan.getLanes()},
                        {factor.row, factor.lane}));
      SmallVector<Value> sum = k.rolledLoop(
          0, plan.sizeK, 1, ValueRange(ops.zero().re),
          [&](Int positionK, ValueRange carried) -> SmallVector<Value> {
            Value from =
                k.offsetElements(weight, plan.element,
                                 k.mul(k.extend(positionK), factor.strideK));
            Scalar number = ops.load(plan.element, from, CacheHint::ReadOnly);
            return {ops.fma(loadData(positionK), number,
                            Scalar{carried.front(), nullptr})
                        .re};
          });
      if (plan.writesShared)
        return k.store(
            round(sum.front()),
            next->locateFeature(plan.alongRows ? getSlotOfRow(row) : row,
                                getFeature(tile, result, lane)));
      k.store(finishElement(sum.front(), tile, ownRow, result, lane),
              k.offsetElements(outputBase, plan.element,
                               getOffset(output, ownRow, result, lane)));
    });
  });
}
