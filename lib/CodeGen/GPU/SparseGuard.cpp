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

#include "kron/CodeGen/GPU/SparseStores.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

void SparseStores::computeAgain(const SparseTile &tile,
                                const SparseArray &factor,
                                const SparseAgain &again) {
  SmallVector<int64_t> extents{plan.getRowsPerWarp(), plan.getResultsPerWarp(),
                               plan.alongRows ? 1 : plan.getLanes()};
  int64_t total = extents[0] * extents[1] * extents[2];
  Value weights = offsetSparseTile(k, factor, tile, /*isFactor=*/true);
  k.rolledLoop(0, total, 32, [&](Int first) {
    Positions place =
        decodeItem(k, k.add(first, k.laneId()), extents, {2, 1, 0});
    Int row = k.add(place[0], k.mul(thread.rowWarp, plan.getRowsPerWarp()));
    Int result =
        k.add(place[1], k.mul(thread.resultWarp, plan.getResultsPerWarp()));
    Int lane = place[2];
    k.ifThen(again.exists(row, result, lane), [&] {
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
            return {ops.fma(again.loadData(row, lane, positionK), number,
                            Scalar{carried.front(), nullptr})
                        .re};
          });
      again.store(sum.front(), row, result, lane);
    });
  });
}

Scalar SparseStores::loadData(const SparseArray &data, Value first, Int row,
                              Int lane, Int positionK) {
  Value from =
      k.offsetElements(first, plan.element, getOffset(data, row, 0, lane));
  return ops.load(plan.element,
                  k.offsetElements(from, plan.element,
                                   k.mul(k.extend(positionK), data.strideK)),
                  CacheHint::ReadOnly);
}

void SparseStores::storeElement(Value sum, Value first, const SparseTile &tile,
                                Int row, Int result, Int lane) {
  k.store(finishElement(sum, tile, row, result, lane),
          k.offsetElements(first, plan.element,
                           getOffset(targets.output, row, result, lane)));
}

void SparseStores::guard(MmaProducts &products, ArrayRef<MmaC> sums,
                         function_ref<void()> again,
                         function_ref<void()> store) {
  if (!plan.element.isF32() || plan.is16BitFloat())
    return store();
  SmallVector<const MmaC *> pointers;
  for (const MmaC &sum : sums)
    pointers.push_back(&sum);
  k.choose(products.isAnyNotFinite(pointers), again, store);
}
