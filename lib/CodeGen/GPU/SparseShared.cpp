//===- SparseShared.cpp - What steps of a sparse chain hand on ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A row in shared memory holds the features that the next factor reads, group
// by group as chunks of 16 bytes: what a K step takes lies as it does in a
// packed operand that was copied. Behind the end of a group's K are zeros.
//
//===----------------------------------------------------------------------===//

#include "SparseKernel.h"

using namespace mlir;
using namespace mlir::kron;

/// The number of a tile's group among all of them.
Int SparseKernel::getGroupNumber(const SparseTile &tile) {
  Int number = 0;
  for (auto [position, size] : llvm::zip(tile.groups, plan.groupSizes))
    number = k.add(k.mul(number, size), position);
  return number;
}

/// Byte offset, in a row, of the first chunk that `tile` reads.
Int SparseKernel::getRegion(const SparseTile &tile) {
  Int block = k.floorDiv(tile.lane, plan.getLanes());
  Int region = k.add(k.mul(getGroupNumber(tile), plan.getLaneBlocks()), block);
  return k.mul(region, plan.getRegionBytes());
}

/// Byte offset, from a row's region of `getRegion`, of a position.
Int SparseKernel::getRegionOffset(Int positionK, Int lane) {
  Int chunk = k.add(k.mul(k.floorDiv(positionK, plan.chunkK), plan.laneChunks),
                    k.floorDiv(lane, plan.lanesPerChunk));
  Int element = k.add(k.mul(k.rem(positionK, plan.chunkK), plan.lanesPerChunk),
                      k.rem(lane, plan.lanesPerChunk));
  return k.add(k.mul(chunk, kSparseChunkBytes),
               k.mul(element, plan.elementBytes));
}

/// Where the data have `feature` of `row`, counted as in memory.
Value SparseKernel::locateFeature(Int row, Int feature) {
  Int place = k.mul(feature, plan.elementBytes);
  if (!keepsFeatures()) {
    Int lane = k.rem(feature, plan.lanes);
    Int positionK = k.rem(k.floorDiv(feature, plan.lanes), plan.sizeK);
    Int group = k.floorDiv(feature, plan.lanes * plan.sizeK);
    Int region = k.add(k.mul(group, plan.getLaneBlocks()),
                       k.floorDiv(lane, plan.getLanes()));
    place = k.add(k.mul(region, plan.getRegionBytes()),
                  getRegionOffset(positionK, k.rem(lane, plan.getLanes())));
  }
  return k.shared(
      k.add(k.add(k.mul(row, plan.sharedRowBytes), place), dataOffset));
}

/// Whether rows in shared memory are features in their order.
bool SparseKernel::keepsFeatures() const {
  return plan.lanes == plan.lanesPerChunk &&
         plan.stepsK * plan.stepK == plan.sizeK;
}

/// Whether features that are a chunk of the array are one in these rows, too.
bool SparseKernel::keepsChunks() const {
  return keepsFeatures() || plan.lanesPerChunk == plan.getChunk();
}

/// Fills the rows that this chain step reads with zeros: what is behind the end
/// of a group's K stays so.
void SparseKernel::clearData() {
  int64_t chunks = plan.getRows() * plan.sharedRowBytes / kSparseChunkBytes;
  Value zeros = k.zero(VectorType::get({4}, k.builder.getI32Type()));
  k.rolledLoop(0, chunks, plan.getWarpGroupThreads(), [&](Int first) {
    Int chunk = k.add(first, thread.warpGroupThread);
    k.ifThen(k.less(chunk, chunks), [&] {
      k.store(zeros,
              k.shared(k.add(k.mul(chunk, kSparseChunkBytes), dataOffset)));
    });
  });
  k.syncWarp();
}

/// The feature that the result at a place of the tile is.
Int SparseKernel::getFeature(const SparseTile &tile, Int result, Int lane) {
  Int line = k.add(k.mul(getGroupNumber(tile), plan.sizeN),
                   k.add(tile.result, result));
  return k.add(k.mul(line, plan.lanes), k.add(tile.lane, lane));
}

/// Where rows in shared memory have row `row` of a block, if the last chain
/// step turns them: such that a thread of it, which has rows g and g + 8 of
/// each matrix tile, gets neighbours.
Int SparseKernel::getSlotOfRow(Int row) {
  if (!turning)
    return row;
  int64_t own = turning->getThreadRows();
  Int warp = k.floorDiv(row, 8 * own), rest = k.rem(row, 8 * own);
  return k.add(k.mul(warp, 8 * own),
               k.add(k.mul(k.rem(rest, own), 8), k.floorDiv(rest, own)));
}

Int SparseKernel::getRowOfSlot(Int slot) {
  if (!turning)
    return slot;
  int64_t own = turning->getThreadRows();
  Int warp = k.floorDiv(slot, 8 * own), rest = k.rem(slot, 8 * own);
  return k.add(k.mul(warp, 8 * own),
               k.add(k.mul(k.rem(rest, 8), own), k.floorDiv(rest, 8)));
}

/// The rows that this chain step leaves in shared memory from byte `offset` on,
/// as an array.
SparseArray SparseKernel::getResultRows(Int offset) {
  SparseArray array;
  array.base = k.shared(offset);
  array.element = plan.element;
  array.isBlock = true;
  array.row = plan.resultRowBytes / plan.elementBytes;
  array.strideK = plan.lanes;
  array.lane = 1;
  int64_t stride = plan.sizeN * plan.lanes;
  array.groups.resize(plan.groupSizes.size());
  for (unsigned axis = array.groups.size(); axis-- > 0;
       stride *= plan.groupSizes[axis])
    array.groups[axis] = stride;
  return array;
}

/// Hands a tile's sums on where a thread has neighbouring rows, which are apart
/// in shared memory, and two neighbouring results of each.
void SparseKernel::storeSharedAlong(ArrayRef<MmaC> all,
                                    const SparseTile &tile) {
  SmallVector<MmaC> copy(all);
  MutableArrayRef<MmaC> sums(copy);
  const SparsePlan &reader = next->plan;
  int64_t segment = reader.lanes > 1 ? reader.lanes : reader.sizeK;
  bool arePairs = plan.is16BitFloat() && plan.lanes == 1 &&
                  plan.sizeN % 2 == 0 && segment % 2 == 0;
  Int firstResult = k.mul(thread.resultWarp, plan.getResultsPerWarp());
  for (int64_t index = 0; index < plan.resultTiles; ++index) {
    auto [own, known] = multiplier.getResultOf(k.mul(thread.quad, 2), index);
    Int result = k.add(k.add(firstResult, own), known);
    SmallVector<Value> inside;
    for (int64_t column : {0, 1})
      inside.push_back(stores.isColumnInside(tile, k.add(result, column), 0));
    for (int64_t row = 0; row < plan.rowTiles; ++row)
      for (int64_t half : {0, 1})
        for (int64_t part = 0; part < plan.getParts(); ++part) {
          MmaC &sum = multiplier.getSum(sums, 0, part, row, index);
          ArrayRef<Value> values = ArrayRef<Value>(sum).slice(2 * half, 2);
          Int slot = getSlotOfRow(stores.getRowOf(row, half, part));
          auto locate = [&](int64_t column) {
            return next->locateFeature(
                slot, getFeature(tile, k.add(result, column), 0));
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

/// Hands a tile's sums on to the next chain step. Rows behind the array's end,
/// whose data are zeros, too: they must not hold NaN.
void SparseKernel::storeShared(ArrayRef<MmaC> all, const SparseTile &tile) {
  if (plan.alongRows)
    return storeSharedAlong(all, tile);
  SmallVector<MmaC> copy(all);
  MutableArrayRef<MmaC> sums(copy);
  int64_t width = plan.order == SparseOrder::Chunks ? plan.chunkK : 1;
  // Neighbours, of results of all lanes or of lanes, are 16 bytes of the next
  // chain step's too.
  bool areNeighbours = plan.lanes == plan.lanesPerChunk || width == 1;
  bool areChunks = width * plan.getParts() == plan.getChunk() &&
                   areNeighbours && plan.sizeN % width == 0 &&
                   next->keepsChunks();
  Int firstResult = k.mul(thread.resultWarp, plan.getResultsPerWarp());
  for (int64_t row = 0; row < plan.rowTiles; ++row)
    for (int64_t half : {0, 1})
      for (int64_t first = 0; first < 2 * plan.resultTiles; first += width)
        for (int64_t laneChunk = 0; laneChunk < plan.laneChunks; ++laneChunk) {
          SmallVector<Value> values;
          SmallVector<Int> results, lanes;
          for (int64_t index = first; index < first + width; ++index) {
            auto [own, known] = multiplier.getResultOf(
                k.add(k.mul(thread.quad, 2), index % 2), index / 2);
            for (int64_t part = 0; part < plan.getParts(); ++part) {
              values.push_back(multiplier.getSum(
                  sums, laneChunk, part, row, index / 2)[2 * half + index % 2]);
              results.push_back(k.add(k.add(firstResult, own), known));
              lanes.push_back(laneChunk * plan.lanesPerChunk + part);
            }
          }
          handOn(values, stores.getRowOf(row, half, 0), results, lanes, tile,
                 areChunks);
        }
}

/// Stores values of one row: one by one, or as a chunk.
void SparseKernel::handOn(ArrayRef<Value> values, Int row,
                          ArrayRef<Int> results, ArrayRef<Int> lanes,
                          const SparseTile &tile, bool isChunk) {
  auto storeAt = [&](unsigned index, Value value) {
    k.ifThen(stores.isColumnInside(tile, results[index], lanes[index]), [&] {
      Int feature = getFeature(tile, results[index], lanes[index]);
      k.store(value, next->locateFeature(row, feature));
    });
  };
  if (isChunk)
    return storeAt(0, k.makeVector(stores.packWords(values)));
  for (auto [index, value] : llvm::enumerate(values))
    storeAt(index, stores.round(value));
}
