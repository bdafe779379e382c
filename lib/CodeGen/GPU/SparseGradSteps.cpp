//===- SparseGradSteps.cpp - Products of a gradient's kernel --------------===//
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

#include "SparseGradKernel.h"

using namespace mlir;
using namespace mlir::kron;

MmaC &SparseGradKernel::getSum(MutableArrayRef<MmaC> sums, int64_t lane,
                               int64_t leftPart, int64_t rightPart,
                               int64_t leftTile, int64_t rightTile) const {
  int64_t index = lane * plan.rowsPerChunk + leftPart;
  index = index * plan.rowsPerChunk + rightPart;
  index = index * plan.left.tiles + leftTile;
  return sums[index * plan.right.tiles + rightTile];
}

/// The first row of this thread's warp, in rows of chunks.
Int SparseGradKernel::getFirstRow(const SparseGradOperand &operand) {
  return k.mul(operand.warp, operand.side->unit * operand.side->tiles);
}

/// Where this thread finds its chunks from `firstRow` on in the pipeline stage
/// at `slot`: of even and odd eights of rows (batch first), or loads (batch
/// last).
void SparseGradKernel::placeThread(const SparseGradOperand &operand, Int slot,
                                   Int firstRow, Value (&pointers)[2]) {
  int64_t pitch = plan.getPitch(*operand.side);
  Int packed = k.add(slot, operand.offset);
  for (int64_t parity : {0, 1}) {
    Int offset;
    if (plan.batchLast) {
      Int unit =
          k.bitXor(k.add(quad, 4 * parity), k.mul(k.bitAnd(group, 1), 4));
      offset = k.add(k.mul(k.add(firstRow, group), pitch), k.mul(unit, 16));
    } else {
      Int row = k.add(k.add(firstRow, group), 8 * parity);
      Int chunk = k.add(k.mul(row, plan.laneWarps), laneWarp);
      Int bytes = k.mul(chunk, plan.chunkBytes);
      Int unit = k.bitXor(k.floorDiv(bytes, 16), getTurn(quad));
      offset =
          k.add(k.mul(quad, pitch), k.add(k.mul(unit, 16), k.rem(bytes, 16)));
    }
    pointers[parity] = k.shared(k.add(packed, offset));
  }
}

/// The chunks of load number `macro` in this thread's row of eight rows number
/// `row`.
SparseChunks SparseGradKernel::loadRow(const SparseGradOperand &operand,
                                       Value (&pointers)[2], int64_t macro,
                                       int64_t row) {
  int64_t pitch = plan.getPitch(*operand.side);
  auto load = [&](Value pointer, int64_t offset) {
    return math.loadChunk(k.offsetBytes(pointer, offset), plan.chunkBytes);
  };
  if (plan.batchLast)
    return {{load(pointers[macro % 2], 8 * row * pitch + macro / 2 * 128)},
            plan.getChunk(),
            1};
  SparseChunks result{{}, 1, 1};
  for (int64_t index = 0; index < plan.getKPerThread(); ++index) {
    int64_t line = macro * plan.getK() + 4 * index;
    result.chunks.push_back(
        load(pointers[row % 2],
             line * pitch + row / 2 * 16 * plan.laneWarps * plan.chunkBytes));
  }
  return result;
}

void SparseGradKernel::multiplyMacro(MutableArrayRef<MmaC> sums,
                                     Value (&leftPointers)[2],
                                     Value (&rightPointers)[2], int64_t macro) {
  SmallVector<SparseChunks> leftRows, rightRows;
  for (int64_t row = 0; row < 2 * plan.left.tiles; ++row)
    leftRows.push_back(loadRow(left, leftPointers, macro, row));
  int64_t steps = plan.getMacroK() / plan.getK();
  int64_t parts = plan.getParts();
  for (int64_t step = 0; step < steps; ++step) {
    SmallVector<SparseA> a;
    for (int64_t tile = 0; tile < plan.left.tiles; ++tile)
      for (int64_t part = 0; part < parts; ++part)
        a.push_back(math.getOperandA(leftRows[2 * tile], leftRows[2 * tile + 1],
                                     step, part));
    for (int64_t tile = 0; tile < plan.right.tiles; ++tile) {
      if (step == 0)
        rightRows.push_back(loadRow(right, rightPointers, macro, tile));
      SmallVector<SparseB> b;
      for (int64_t part = 0; part < parts; ++part)
        b.push_back(math.getOperands(rightRows[tile], step, part));
      SmallVector<SparseMath::Term> terms;
      for (int64_t leftTile = 0; leftTile < plan.left.tiles; ++leftTile)
        for (int64_t leftPart = 0; leftPart < plan.rowsPerChunk; ++leftPart)
          for (int64_t rightPart = 0; rightPart < plan.rowsPerChunk;
               ++rightPart)
            for (int64_t lane = 0; lane < plan.lanesPerChunk; ++lane)
              terms.push_back(
                  {&getSum(sums, lane, leftPart, rightPart, leftTile, tile),
                   &a[leftTile * parts + leftPart * plan.lanesPerChunk + lane],
                   &b[rightPart * plan.lanesPerChunk + lane]});
      math.multiply(terms);
    }
  }
}

/// sums += the products of the pipeline stage at `slot`.
void SparseGradKernel::multiplyStep(MutableArrayRef<MmaC> sums, Int slot) {
  Value leftPointers[2], rightPointers[2];
  placeThread(left, slot, getFirstRow(left), leftPointers);
  placeThread(right, slot, getFirstRow(right), rightPointers);
  for (int64_t macro = 0; macro < plan.batchStep / plan.getMacroK(); ++macro)
    multiplyMacro(sums, leftPointers, rightPointers, macro);
}
