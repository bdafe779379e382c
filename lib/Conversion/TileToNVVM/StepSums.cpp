//===- StepSums.cpp - Sums of chain steps, to rows and views --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Steps.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// The feature that the result at a place of the part is.
Int ChainStep::getFeature(Int result, Int lane) {
  Int line =
      k.add(k.mul(rows.getGroup(tile), plan.sizeN), k.add(tile.result, result));
  return k.add(k.mul(line, plan.lanes), k.add(tile.lane, lane));
}

/// Hands sums on where a thread has neighbouring rows, which are apart in
/// shared memory, and two neighbouring results of each.
void ChainStep::exchangeAlong(ChainStep &reader) {
  const SparsePlan &next = reader.plan;
  int64_t segment = next.lanes > 1 ? next.lanes : next.sizeK;
  bool arePairs = plan.is16BitFloat() && plan.lanes == 1 &&
                  plan.sizeN % 2 == 0 && segment % 2 == 0;
  for (int64_t index = 0; index < plan.resultTiles; ++index) {
    Int result = multiplier.getResult(thread.quad, /*column=*/0, index);
    SmallVector<Value> inside;
    for (int64_t column : {0, 1})
      inside.push_back(stores.isColumnInside(tile, k.add(result, column), 0));
    for (int64_t row = 0; row < plan.rowTiles; ++row)
      for (int64_t half : {0, 1})
        for (int64_t part = 0; part < plan.getParts(); ++part) {
          MmaC &sum = sums[multiplier.getSumNumber(0, part, row, index)];
          ArrayRef<Value> values = ArrayRef<Value>(sum).slice(2 * half, 2);
          Int slot = rows.getSlotOfRow(stores.getRowOf(row, half, part));
          auto locate = [&](int64_t column) {
            return reader.rows.locate(slot,
                                      getFeature(k.add(result, column), 0));
          };
          if (arePairs) {
            k.ifThen(inside[0], [&] {
              k.store(stores.packWords(values).front(), locate(0));
            });
            continue;
          }
          for (int64_t column : {0, 1})
            k.ifThen(inside[column], [&, column = column] {
              k.store(stores.round(values[column]), locate(column));
            });
        }
  }
}

/// Hands sums on by chunks where neighbours, of results of all lanes or of
/// lanes, are 16 bytes of the next step's, too.
void ChainStep::exchangeAcross(ChainStep &reader) {
  int64_t width = plan.order == SparseOrder::Chunks ? plan.chunkK : 1;
  bool areNeighbours = plan.lanes == plan.lanesPerChunk || width == 1;
  bool areChunks = width * plan.getParts() == plan.getChunk() &&
                   areNeighbours && plan.sizeN % width == 0 &&
                   reader.rows.keepsChunks();
  for (int64_t row = 0; row < plan.rowTiles; ++row)
    for (int64_t half : {0, 1})
      for (int64_t first = 0; first < 2 * plan.resultTiles; first += width)
        for (int64_t laneChunk = 0; laneChunk < plan.laneChunks; ++laneChunk) {
          SmallVector<Value> values;
          SmallVector<Int> results, lanes;
          for (int64_t index = first; index < first + width; ++index) {
            Int result =
                multiplier.getResult(thread.quad, index % 2, index / 2);
            for (int64_t part = 0; part < plan.getParts(); ++part) {
              values.push_back(sums[multiplier.getSumNumber(
                  laneChunk, part, row, index / 2)][2 * half + index % 2]);
              results.push_back(result);
              lanes.push_back(laneChunk * plan.lanesPerChunk + part);
            }
          }
          handOn(values, stores.getRowOf(row, half, 0), results, lanes, reader,
                 areChunks);
        }
}

/// Stores values of one row: one by one, or as a chunk.
void ChainStep::handOn(ArrayRef<Value> values, Int row, ArrayRef<Int> results,
                       ArrayRef<Int> lanes, ChainStep &reader, bool isChunk) {
  auto storeAt = [&](unsigned index, Value value) {
    k.ifThen(stores.isColumnInside(tile, results[index], lanes[index]), [&] {
      k.store(value, reader.rows.locate(
                         row, getFeature(results[index], lanes[index])));
    });
  };
  if (isChunk)
    return storeAt(0, k.makeVector(stores.packWords(values)));
  for (auto [index, value] : llvm::enumerate(values))
    storeAt(index, stores.round(value));
}

/// Rows behind the array's end, whose data are zeros, too: they must not hold
/// NaN.
void ChainStep::exchange(ChainStep &reader) {
  stores.guard(
      products, sums,
      [&] {
        computeAgain([&](Value sum, Int row, Int result, Int lane) {
          k.store(
              stores.round(sum),
              reader.rows.locate(plan.alongRows ? rows.getSlotOfRow(row) : row,
                                 getFeature(result, lane)));
        });
      },
      [&] { plan.alongRows ? exchangeAlong(reader) : exchangeAcross(reader); });
}

void ChainStep::store() {
  stores.guard(
      products, sums,
      [&] {
        Value base = stores.getBase(targets.output, tile);
        computeAgain([&](Value sum, Int row, Int result, Int lane) {
          Int own = plan.turnsRows ? rows.getRowOfSlot(row) : row;
          stores.storeElement(sum, base, tile, own, result, lane);
        });
      },
      [&] { stores.store(sums, tile, factor.isAligned); });
}

/// Computes the part's results again, from the view or the rows that it reads.
void ChainStep::computeAgain(
    function_ref<void(Value sum, Int row, Int result, Int lane)> storeOne) {
  Value from;
  if (!plan.readsShared)
    from = offsetSparseTile(k, data, tile, /*isFactor=*/false);
  auto exists = [&](Int row, Int result, Int lane) {
    if (plan.readsShared && plan.writesShared)
      return stores.isColumnInside(tile, result, lane);
    Int own = plan.turnsRows ? rows.getRowOfSlot(row) : row;
    return stores.isInside(tile, own, result, lane);
  };
  auto load = [&](Int row, Int lane, Int positionK) {
    if (!plan.readsShared)
      return stores.loadData(data, from, row, lane, positionK);
    Int line = k.add(k.mul(rows.getGroup(tile), plan.sizeK), positionK);
    Int feature = k.add(k.mul(line, plan.lanes), k.add(tile.lane, lane));
    return ops.load(plan.element, rows.locate(row, feature));
  };
  stores.computeAgain(tile, factor.given, {exists, load, storeOne});
}
