//===- SparseGuard.cpp - Sums of a sparse kernel that are not finite ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Infinities and NaN do not survive the splitting of values: where sums are not
// finite, a warp computes its results again.
//
//===----------------------------------------------------------------------===//

#include "SparseKernel.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

/// Computes the warp's results with plain multiply-adds, an element at a time,
/// and stores them: infinities and NaN do not survive the splitting of values.
void SparseKernel::computeAgain(const SparseTile &tile) {
  SmallVector<int64_t> extents{plan.getRowsPerWarp(), plan.getResultsPerWarp(),
                               plan.alongRows ? 1 : plan.getLanes()};
  int64_t total = extents[0] * extents[1] * extents[2];
  Value outputBase, data;
  if (!plan.writesShared)
    outputBase = stores.getBase(targets.output, tile);
  if (!plan.readsShared)
    data = offsetSparseTile(k, input, tile, /*isFactor=*/false);
  Value weights = offsetSparseTile(k, factor, tile, /*isFactor=*/true);
  k.rolledLoop(0, total, 32, [&](Int first) {
    Positions place =
        decodeItem(k, k.add(first, k.laneId()), extents, {2, 1, 0});
    Int row = k.add(place[0], k.mul(thread.rowWarp, plan.getRowsPerWarp()));
    Int result =
        k.add(place[1], k.mul(thread.resultWarp, plan.getResultsPerWarp()));
    Int lane = place[2];
    // Where the row is in arrays; it is counted as its data are.
    Int ownRow = plan.turnsRows ? getRowOfSlot(row) : row;
    Value exists = plan.readsShared && plan.writesShared
                       ? stores.isColumnInside(tile, result, lane)
                       : stores.isInside(tile, ownRow, result, lane);
    k.ifThen(exists, [&] {
      auto loadData = [&](Int positionK) {
        if (plan.readsShared) {
          Int line = k.add(k.mul(getGroupNumber(tile), plan.sizeK), positionK);
          Int feature = k.add(k.mul(line, plan.lanes), k.add(tile.lane, lane));
          return ops.load(plan.element, locateFeature(row, feature));
        }
        Value from = k.offsetElements(data, plan.element,
                                      stores.getOffset(input, row, 0, lane));
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
            stores.round(sum.front()),
            next->locateFeature(plan.alongRows ? getSlotOfRow(row) : row,
                                getFeature(tile, result, lane)));
      k.store(stores.finishElement(sum.front(), tile, ownRow, result, lane),
              k.offsetElements(
                  outputBase, plan.element,
                  stores.getOffset(targets.output, ownRow, result, lane)));
    });
  });
}

void SparseKernel::store(ArrayRef<MmaC> sums, const SparseTile &tile) {
  auto storeAll = [&] {
    plan.writesShared ? storeShared(sums, tile)
                      : stores.store(sums, tile, isAligned);
  };
  if (!plan.element.isF32() || plan.is16BitFloat())
    return storeAll();
  SmallVector<const MmaC *> pointers;
  for (const MmaC &sum : sums)
    pointers.push_back(&sum);
  Value isBad = products.isAnyNotFinite(pointers);
  k.choose(
      isBad, [&] { computeAgain(tile); }, storeAll);
}
