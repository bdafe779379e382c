//===- BatchProducts.cpp - Products of tile.contract_batch ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Thread (g, q) of a warp loads, for row g of an instruction, chunks at
// positions q, q + 4, ... of the batch (batch first), or chunk q (batch last).
// Batch first, each of a chunk's elements is operand of an instruction of its
// own: rows j times rows k, for each t.
//
//===----------------------------------------------------------------------===//

#include "Batch.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

MmaC &BatchProduct::getSum(const BatchBlocks &blocks,
                           MutableArrayRef<MmaC> sums, int64_t lane,
                           int64_t leftPart, int64_t rightPart,
                           int64_t leftTile, int64_t rightTile) {
  int64_t index = lane * blocks.rowsPerChunk + leftPart;
  index = index * blocks.rowsPerChunk + rightPart;
  index = index * blocks.left.tiles + leftTile;
  return sums[index * blocks.right.tiles + rightTile];
}

/// The first row of this thread's warp, in rows of chunks.
Int BatchProduct::getFirstRow(const BatchOperand &operand) {
  return k.mul(operand.warp, operand.side->unit * operand.side->tiles);
}

/// Where this thread finds its chunks from `firstRow` on in the pipeline stage
/// at `slot`: of even and odd eights of rows (batch first), or loads (batch
/// last).
void BatchProduct::placeThread(const BatchOperand &operand, Int slot,
                               Int firstRow, Value (&pointers)[2]) {
  int64_t pitch = blocks.getPitch(*operand.side);
  Int packed = k.add(slot, operand.offset);
  for (int64_t parity : {0, 1}) {
    Int offset;
    if (blocks.batchLast) {
      Int unit =
          k.bitXor(k.add(quad, 4 * parity), k.mul(k.bitAnd(group, 1), 4));
      offset = k.add(k.mul(k.add(firstRow, group), pitch), k.mul(unit, 16));
    } else {
      Int row = k.add(k.add(firstRow, group), 8 * parity);
      Int chunk = k.add(k.mul(row, blocks.laneWarps), laneWarp);
      Int bytes = k.mul(chunk, blocks.chunkBytes);
      Int unit = k.bitXor(k.floorDiv(bytes, 16), getTurn(quad));
      offset =
          k.add(k.mul(quad, pitch), k.add(k.mul(unit, 16), k.rem(bytes, 16)));
    }
    pointers[parity] = k.shared(k.add(packed, offset));
  }
}

/// The chunks of load number `macro` in this thread's row of eight rows number
/// `row`.
SparseChunks BatchProduct::loadRow(const BatchOperand &operand,
                                   Value (&pointers)[2], int64_t macro,
                                   int64_t row) {
  int64_t pitch = blocks.getPitch(*operand.side);
  auto load = [&](Value pointer, int64_t offset) {
    return math.loadChunk(k.offsetBytes(pointer, offset), blocks.chunkBytes);
  };
  if (blocks.batchLast)
    return {{load(pointers[macro % 2], 8 * row * pitch + macro / 2 * 128)},
            blocks.getChunk(),
            1};
  SparseChunks result{{}, 1, 1};
  for (int64_t index = 0; index < blocks.getKPerThread(); ++index) {
    int64_t line = macro * blocks.getK() + 4 * index;
    result.chunks.push_back(
        load(pointers[row % 2], line * pitch + row / 2 * 16 * blocks.laneWarps *
                                                   blocks.chunkBytes));
  }
  return result;
}

void BatchProduct::multiplyMacro(MutableArrayRef<MmaC> sums,
                                 Value (&leftPointers)[2],
                                 Value (&rightPointers)[2], int64_t macro) {
  SmallVector<SparseChunks> leftRows, rightRows;
  for (int64_t row = 0; row < 2 * blocks.left.tiles; ++row)
    leftRows.push_back(loadRow(left, leftPointers, macro, row));
  int64_t steps = blocks.getMacroK() / blocks.getK();
  int64_t parts = blocks.getParts();
  for (int64_t step = 0; step < steps; ++step) {
    SmallVector<SparseA> a;
    for (int64_t tile = 0; tile < blocks.left.tiles; ++tile)
      for (int64_t part = 0; part < parts; ++part)
        a.push_back(math.getOperandA(leftRows[2 * tile], leftRows[2 * tile + 1],
                                     step, part));
    for (int64_t tile = 0; tile < blocks.right.tiles; ++tile) {
      if (step == 0)
        rightRows.push_back(loadRow(right, rightPointers, macro, tile));
      SmallVector<SparseB> b;
      for (int64_t part = 0; part < parts; ++part)
        b.push_back(math.getOperands(rightRows[tile], step, part));
      SmallVector<SparseMath::Term> terms;
      for (int64_t leftTile = 0; leftTile < blocks.left.tiles; ++leftTile)
        for (int64_t leftPart = 0; leftPart < blocks.rowsPerChunk; ++leftPart)
          for (int64_t rightPart = 0; rightPart < blocks.rowsPerChunk;
               ++rightPart)
            for (int64_t lane = 0; lane < blocks.lanesPerChunk; ++lane)
              terms.push_back({&getSum(blocks, sums, lane, leftPart, rightPart,
                                       leftTile, tile),
                               &a[leftTile * parts +
                                  leftPart * blocks.lanesPerChunk + lane],
                               &b[rightPart * blocks.lanesPerChunk + lane]});
      math.multiply(terms);
    }
  }
}

/// sums += the products of the pipeline stage at `slot`.
void BatchProduct::multiplyStep(MutableArrayRef<MmaC> sums, Int slot) {
  Value leftPointers[2], rightPointers[2];
  placeThread(left, slot, getFirstRow(left), leftPointers);
  placeThread(right, slot, getFirstRow(right), rightPointers);
  for (int64_t macro = 0; macro < blocks.batchStep / blocks.getMacroK();
       ++macro)
    multiplyMacro(sums, leftPointers, rightPointers, macro);
}
