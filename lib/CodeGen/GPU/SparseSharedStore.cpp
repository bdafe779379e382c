//===- SparseSharedStore.cpp - Results by way of shared memory ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thread has results of several products, or of every other column, which are
// 2 to 16 bytes at places that others' stand between: each store then fills a
// part of a sector, and the second-level cache takes as long for that as for
// the whole one. So are the rows that it has of a result where rows are
// neighbours but start anywhere. Warps leave eight rows of sums, or eight
// results of neighbouring rows, in shared memory, of their own, and store them
// one neighbour beside the other, wherever they begin. What is done to results
// on their way, and what is read for that, is where they are stored.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseStores.h"

using namespace mlir;
using namespace mlir::kron;

/// Leaves this thread's sums of half `half` of tile `rowTile`, and of `tiles`
/// tiles of results from `firstTile` on, in the warp's region.
void SparseStores::leaveRows(ArrayRef<MmaC> sums, Value region, int64_t rowTile,
                             int64_t half, int64_t firstTile, int64_t tiles) {
  int64_t lanes = plan.getLanes();
  Int row = k.mul(thread.group, plan.getStoredPitch());
  for (int64_t number = 0; number < tiles; ++number)
    for (int64_t column : {0, 1}) {
      auto [own, known] =
          multiplier.getResultOf(k.add(k.mul(thread.quad, 2), column), number);
      Int first = k.add(row, k.mul(own, lanes));
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value sum = sums[multiplier.getSumNumber(
            lane / plan.lanesPerChunk, lane % plan.lanesPerChunk, rowTile,
            firstTile + number)][2 * half + column];
        k.store(sum, k.offsetElements(region, accumulator,
                                      k.add(first, known * lanes + lane)));
      }
    }
}

/// Leaves this thread's sums of tile `rowTile` of rows and `resultTile` of
/// results: chunks of neighbouring rows of two results.
void SparseStores::leaveResults(ArrayRef<MmaC> sums, Value region,
                                int64_t rowTile, int64_t resultTile) {
  int64_t chunk = plan.getChunk();
  int64_t width = kSparseChunkBytes / plan.getSumBytes();
  for (int64_t column : {0, 1})
    for (int64_t half : {0, 1}) {
      Int result = k.add(k.mul(thread.quad, 2), column);
      Int row = k.mul(k.add(thread.group, 8 * half), chunk);
      Int first = k.add(k.mul(result, plan.getStoredPitch()), row);
      SmallVector<Value> values;
      for (int64_t part = 0; part < chunk; ++part)
        values.push_back(sums[multiplier.getSumNumber(
            /*laneChunk=*/0, part, rowTile, resultTile)][2 * half + column]);
      for (int64_t part = 0; part < chunk; part += width)
        k.store(k.makeVector(ArrayRef(values).slice(part, width)),
                k.offsetElements(region, accumulator, k.add(first, part)));
    }
}

/// Stores what is in the warp's region: `tiles` tiles of results of eight rows,
/// or, where rows are neighbours, eight results of a tile of rows, from these
/// on.
void SparseStores::storeRows(Value region, const SparseTile &tile, Int firstRow,
                             Int firstResult, int64_t tiles) {
  constexpr int64_t kWarpThreads = 32;
  int64_t lanes = plan.getLanes();
  int64_t elements = plan.alongRows ? 16 * plan.getChunk() : 8 * tiles * lanes;
  int64_t pieces = tile::kStagedRows * elements / kWarpThreads;
  // Results come in tiles of eight: pieces are an even number.
  int64_t together = pieces % 4 == 0 ? 4 : 2;
  Value base = getBase(targets.output, tile);
  struct Place {
    Int row, result, lane;
    Value sum;
  };
  k.rolledLoop(0, pieces * kWarpThreads, together * kWarpThreads, [&](Int at) {
    SmallVector<Place> places;
    for (int64_t piece = 0; piece < together; ++piece) {
      Int position = k.add(k.add(at, piece * kWarpThreads), k.laneId());
      Int line = k.floorDiv(position, elements);
      Int inLine = k.rem(position, elements);
      Int row = line, result = k.floorDiv(inLine, lanes);
      if (plan.alongRows) {
        row = inLine;
        result = line;
      }
      Value from =
          k.offsetElements(region, accumulator,
                           k.add(k.mul(line, plan.getStoredPitch()), inLine));
      places.push_back({k.add(firstRow, row), k.add(firstResult, result),
                        plan.alongRows ? Int(0) : k.rem(inLine, lanes),
                        k.load(accumulator, from)});
    }
    for (const Place &place : places)
      k.ifThen(isInside(tile, place.row, place.result, place.lane), [&] {
        k.store(
            finishElement(place.sum, tile, place.row, place.result, place.lane),
            k.offsetElements(base, plan.element,
                             getOffset(targets.output, place.row, place.result,
                                       place.lane)));
      });
  });
}

void SparseStores::storeShared(ArrayRef<MmaC> sums, const SparseTile &tile) {
  Int warp = k.add(k.mul(thread.warpGroup, plan.rowWarps), thread.rowWarp);
  warp = k.add(k.mul(warp, plan.resultWarps), thread.resultWarp);
  Value region =
      k.shared(k.add(k.mul(warp, plan.getStoredBytesPerWarp()), sharedOffset));
  Int firstRow = k.mul(thread.rowWarp, plan.getRowsPerWarp());
  Int firstResult = k.mul(thread.resultWarp, plan.getResultsPerWarp());
  if (plan.alongRows) {
    for (int64_t rowTile = 0; rowTile < plan.rowTiles; ++rowTile)
      for (int64_t number = 0; number < plan.resultTiles; ++number) {
        k.syncWarp();
        leaveResults(sums, region, rowTile, number);
        k.syncWarp();
        storeRows(region, tile, k.add(firstRow, 16 * plan.getChunk() * rowTile),
                  k.add(firstResult, 8 * number), /*tiles=*/1);
      }
    return;
  }
  for (int64_t rowTile = 0; rowTile < plan.rowTiles; ++rowTile)
    for (int64_t half : {0, 1})
      for (int64_t first = 0; first < plan.resultTiles;
           first += plan.getStoredTiles()) {
        int64_t tiles =
            std::min(plan.getStoredTiles(), plan.resultTiles - first);
        // Others have read what was there.
        k.syncWarp();
        leaveRows(sums, region, rowTile, half, first, tiles);
        k.syncWarp();
        storeRows(region, tile, k.add(firstRow, 16 * rowTile + 8 * half),
                  k.add(firstResult, 8 * first), tiles);
      }
}
