//===- SparseSteps.cpp - Products of a sparse factor's kernel -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The data are operand A, the factor is operand B. Both come as chunks of 16
// bytes. Where the elements of a chunk belong to different products, two chunks
// at different positions on K give the pairs of values that an operand of f16
// or bf16 consists of.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseProducts.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The result (in its warp) that stands in `column` of tile number `tile`: a
/// part that depends on the column and a known one, which have no bits in
/// common.
std::pair<Int, int64_t> SparseProducts::getResultOf(Int column, int64_t tile) {
  switch (plan.order) {
  case SparseOrder::Plain:
    return {column, 8 * tile};
  case SparseOrder::Chunks: {
    int64_t width = plan.chunkK, tiles = width / 2;
    Int part = k.add(k.mul(k.floorDiv(column, 2), width), k.bitAnd(column, 1));
    return {part, 4 * width * (tile / tiles) + 2 * (tile % tiles)};
  }
  case SparseOrder::Spread:
    return {k.add(k.mul(k.bitAnd(column, 1), 4), k.floorDiv(column, 2)),
            8 * tile};
  case SparseOrder::Pairs:
    return {k.add(k.add(k.mul(k.bitAnd(column, 1), 4), k.bitAnd(column, 2)),
                  k.floorDiv(column, 4)),
            8 * tile};
  }
  llvm_unreachable("all orders are above");
}

/// The same of any tile.
Int SparseProducts::getResultOf(Int column, Int tile) {
  Int inTile = getResultOf(column, int64_t(0)).first;
  if (plan.order != SparseOrder::Chunks)
    return k.add(inTile, k.mul(tile, 8));
  int64_t width = plan.chunkK, tiles = width / 2;
  return k.add(inTile, k.add(k.mul(k.floorDiv(tile, tiles), 4 * width),
                             k.mul(k.rem(tile, tiles), 2)));
}

Int SparseProducts::getResult(Int quad, int64_t column, int64_t tile) {
  Int first = k.mul(thread.resultWarp, plan.getResultsPerWarp());
  auto [part, known] = getResultOf(k.add(k.mul(quad, 2), column), tile);
  return k.add(k.add(first, part), known);
}

/// Where this thread finds chunk number 4 `number` + quad on K, lane chunk
/// `laneChunk`, in a row of parity `parity` (null: chunks are in their order):
/// bytes, the known ones apart.
std::pair<Int, int64_t> SparseProducts::getChunkOffset(Value parity,
                                                       int64_t number,
                                                       int64_t laneChunk,
                                                       bool isFactor) {
  int64_t chunks = plan.laneChunks, bytes = plan.getChunkBytes(isFactor);
  if (bytes < kSparseChunkBytes)
    return {k.mul(thread.quad, bytes),
            (4 * number + laneChunk * plan.getKChunks()) * bytes};
  bool isSwizzled = parity && plan.getPackedRowBytes(isFactor) % 128 == 0;
  Int place = k.mul(thread.quad, chunks);
  int64_t known = 4 * number * chunks;
  if (isSwizzled && chunks == 1) {
    place = k.add(thread.quad, k.mul(k.bitXor(Int(parity), number & 1), 4));
    known = 4 * (number & ~int64_t(1));
  } else if (isSwizzled && chunks == 2) {
    place = k.add(place, k.bitXor(Int(parity), laneChunk));
  } else if (isSwizzled && chunks == 4) {
    Int turn =
        k.bitOr(k.mul(Int(parity), 2), k.bitAnd(k.floorDiv(thread.quad, 2), 1));
    place = k.add(place, k.bitXor(turn, laneChunk));
  } else {
    known += laneChunk;
  }
  return {k.mul(place, bytes), known * bytes};
}

int64_t SparseProducts::getSumNumber(int64_t laneChunk, int64_t part,
                                     int64_t row, int64_t result) const {
  int64_t number = laneChunk * plan.getParts() + part;
  return (number * plan.rowTiles + row) * plan.resultTiles + result;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// The chunks of a macro step in the row that is `rowOffset` bytes behind the
/// one that `rows` points to.
SparseChunks SparseProducts::loadChunks(Value rows, Value parity, int64_t macro,
                                        int64_t laneChunk, int64_t rowOffset,
                                        bool isFactor) {
  SparseChunks result{{},
                      plan.chunkK,
                      plan.lanesPerChunk,
                      isFactor ? factorFloat8 : dataFloat8,
                      isFactor && plan.pairsFactor};
  int64_t bytes = plan.getChunkBytes(isFactor);
  // Warpgroups take half of a chunk of 8 positions at a time.
  if (plan.usesWgmma && plan.chunkK > plan.getKPerThread()) {
    int64_t parts = plan.chunkK / plan.getKPerThread();
    result.chunkK /= parts;
    bytes /= parts;
    rowOffset += macro % parts * bytes;
    macro /= parts;
  }
  int64_t count = plan.getMacroK() / (4 * plan.chunkK);
  for (int64_t index = 0; index < count; ++index) {
    auto [place, known] =
        getChunkOffset(parity, macro * count + index, laneChunk, isFactor);
    Value pointer = k.offsetBytes(rows, place);
    result.chunks.push_back(
        math.loadChunk(k.offsetBytes(pointer, known + rowOffset), bytes));
  }
  return result;
}

/// What the swizzle depends on of the number of row `row` + `known`, which have
/// no bits in common.
Value SparseProducts::getParity(Int row, int64_t known) {
  Int parity = k.bitAnd(k.bitXor(row, k.floorDiv(row, 4)), 1);
  return k.materialize(k.bitXor(parity, (known / 4) & 1), 32);
}

/// The data's chunks of rows 8 `half` and following. Rows that do not exist
/// repeat others, since nobody stores what comes of them.
SparseChunks SparseProducts::loadData(Value data, int64_t macro,
                                      int64_t laneChunk, int64_t half) {
  int64_t rowBytes =
      plan.readsShared ? plan.sharedRowBytes : plan.getPackedRowBytes(false);
  Int row = thread.group;
  if (plan.skinnyM && plan.skinnyM < 8 * (half + 1))
    row = k.min(thread.group, plan.skinnyM - 8 * half - 1);
  return loadChunks(k.offsetBytes(data, k.mul(row, rowBytes)),
                    plan.readsShared ? Value() : getParity(row, 0), macro,
                    laneChunk, 8 * half * rowBytes, /*isFactor=*/false);
}

/// The chunks of neighbouring rows that instruction `step` of a macro step
/// needs, of which each is at one position on K.
SparseChunks SparseProducts::loadRowChunks(Value data, int64_t macro,
                                           int64_t step, int64_t tile,
                                           int64_t half) {
  SparseChunks result{{}, 1, 1, dataFloat8};
  int64_t rowBytes = plan.getRows() * plan.dataBytes;
  int64_t bytes = plan.getChunkBytes(false);
  // In places that are turned by quad * 4, the higher bit is that of the half.
  Int halfOf = half;
  if (dataFloat8)
    halfOf = k.bitXor(k.floorDiv(thread.quad, 2), half);
  Value rows = k.offsetBytes(data, k.mul(halfOf, 8 * bytes));
  int64_t first = macro * plan.getMacroK() + step * plan.getKPerThread();
  for (int64_t index = 0; index < plan.getKPerThread(); ++index)
    result.chunks.push_back(math.loadChunk(
        k.offsetBytes(rows, (first + index) * rowBytes + 16 * tile * bytes),
        bytes));
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void SparseProducts::multiplyMacro(MutableArrayRef<MmaC> sums, Value data,
                                   Value factorRows, int64_t macro,
                                   int64_t laneChunk) {
  int64_t rowBytes = plan.getPackedRowBytes(true);
  SmallVector<SparseChunks> factorChunks, dataChunks;
  for (int64_t tile = 0; tile < plan.resultTiles; ++tile) {
    auto [part, known] = getResultOf(thread.group, tile);
    factorChunks.push_back(loadChunks(factorRows, getParity(part, known), macro,
                                      laneChunk, known * rowBytes,
                                      /*isFactor=*/true));
  }
  if (!plan.alongRows)
    for (int64_t half = 0; half < 2 * plan.rowTiles; ++half) {
      bool exists = !plan.skinnyM || plan.skinnyM > 8 * half;
      dataChunks.push_back(exists ? loadData(data, macro, laneChunk, half)
                                  : dataChunks.front());
    }
  int64_t steps = plan.getMacroK() / (4 * plan.getKPerThread());
  for (int64_t step = 0; step < steps; ++step) {
    if (plan.alongRows) {
      dataChunks.clear();
      for (int64_t half = 0; half < 2 * plan.rowTiles; ++half)
        dataChunks.push_back(
            loadRowChunks(data, macro, step, half / 2, half % 2));
    }
    SmallVector<SparseB> b(plan.resultTiles);
    for (int64_t part = 0; part < plan.getParts(); ++part) {
      // Products along the rows share the factor.
      if (part == 0 || !plan.alongRows)
        for (int64_t tile = 0; tile < plan.resultTiles; ++tile)
          b[tile] = math.getOperands(factorChunks[tile], step, part);
      SmallVector<SparseA> a(plan.rowTiles);
      SmallVector<SparseMath::Term> terms;
      for (int64_t row = 0; row < plan.rowTiles; ++row) {
        int64_t dataStep = plan.alongRows ? 0 : step;
        a[row] =
            pairsRows()
                ? math.getOperandOfRowPairs(dataChunks[2 * row + part])
                : math.getOperandA(dataChunks[2 * row], dataChunks[2 * row + 1],
                                   dataStep, part);
        for (int64_t tile = 0; tile < plan.resultTiles; ++tile)
          terms.push_back({&sums[getSumNumber(laneChunk, part, row, tile)],
                           &a[row], &b[tile]});
      }
      math.multiply(terms);
    }
  }
}

/// Whether the two rows of a chunk are those of one instruction instead of the
/// same one of two: sums of two parts have exchanged halves meanwhile.
bool SparseProducts::pairsRows() const {
  return plan.alongRows && plan.element.isF64();
}

void SparseProducts::exchangeRows(MutableArrayRef<MmaC> sums) {
  for (int64_t row = 0; row < plan.rowTiles; ++row)
    for (int64_t result = 0; result < plan.resultTiles; ++result) {
      MmaC &first = sums[getSumNumber(0, 0, row, result)];
      MmaC &second = sums[getSumNumber(0, 1, row, result)];
      std::swap(first[2], second[0]);
      std::swap(first[3], second[1]);
    }
}

void SparseProducts::multiplyStep(MutableArrayRef<MmaC> sums,
                                  const SparseStepPlace &from) {
  int64_t rowBytes = plan.getPackedRowBytes(false);
  int64_t factorRowBytes = plan.getPackedRowBytes(true);
  Int factorRow = k.add(getResultOf(thread.group, 0).first,
                        k.mul(thread.resultWarp, plan.getResultsPerWarp()));
  Value factorRows =
      k.shared(k.add(from.factor, k.mul(factorRow, factorRowBytes)));
  Int place;
  if (plan.alongRows) {
    int64_t chunks = 16 * plan.rowTiles;
    Int turn =
        dataFloat8 ? k.mul(k.bitAnd(thread.quad, 1), 4) : k.mul(thread.quad, 2);
    Int chunk =
        k.add(k.mul(thread.rowWarp, chunks), k.bitXor(thread.group, turn));
    place = k.add(
        k.mul(chunk, plan.getChunkBytes(false)),
        k.mul(thread.quad, plan.chunkK * plan.getRows() * plan.dataBytes));
  } else if (plan.readsShared) {
    place = k.add(
        k.mul(thread.rowWarp, plan.getRowsPerWarp() * plan.sharedRowBytes),
        k.add(from.region, k.mul(from.indexK, rowBytes)));
  } else {
    place = k.mul(thread.rowWarp, plan.getRowsPerWarp() * rowBytes);
  }
  if (!plan.readsShared)
    place = k.add(place, k.mul(thread.tileWarp, plan.getDataBytes()));
  Value data = k.shared(k.add(place, from.data));
  // Multiples of 128 bytes (see mayShareK), which change no swizzle.
  if (plan.warpsK > 1) {
    auto getPart = [&](int64_t bytes, bool isFactor) {
      return (plan.getChunkBytes(isFactor) < kSparseChunkBytes
                  ? plan.getKChunks() * plan.getChunkBytes(isFactor)
                  : bytes) /
             plan.warpsK;
    };
    int64_t dataPart = plan.alongRows ? plan.getDataBytes() / plan.warpsK
                                      : getPart(rowBytes, false);
    data = k.offsetBytes(data, k.mul(thread.warpK, dataPart));
    factorRows = k.offsetBytes(
        factorRows, k.mul(thread.warpK, getPart(factorRowBytes, true)));
  }
  int64_t macros = plan.stepK / plan.warpsK / plan.getMacroK();
  if (pairsRows())
    exchangeRows(sums);
  for (int64_t macro = 0; macro < macros; ++macro)
    for (int64_t chunk = 0; chunk < plan.laneChunks; ++chunk)
      multiplyMacro(sums, data, factorRows, macro, chunk);
  if (pairsRows())
    exchangeRows(sums);
}
