//===- BatchCopies.cpp - Operands of tile.contract_batch ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Packed operands in shared memory, all of lines of 128 bytes:
//
//   batch first    per position n of the batch, chunks of all warps along t for
//                  one row after the other; unit u of 16 bytes is at u ^
//                  turn(n)
//   batch last     per row, positions of the batch; unit u is at
//                  u ^ 4 (row % 2)
//   wgmma          64 positions of the batch of one row after the other, then
//                  the next 64; unit u is at u ^ (row % 8)
//
// such that the threads of a load meet in no bank.
//
// Threads walk along what is contiguous in memory.
//
//===----------------------------------------------------------------------===//

#include "Batch.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Copies that are written out one by one.
static constexpr int64_t kUnrolledCopies = 8, kUnrolledNarrow = 2;

/// Elements that one copy can take, provided that the array is aligned to 16
/// bytes.
int64_t BatchProduct::getPiece(const BatchOperand &operand) const {
  int64_t piece = 16 / blocks.elementBytes;
  SmallVector<Int> others;
  if (blocks.batchLast) {
    if (!operand.batch.is(1))
      return 1;
    others.push_back(operand.feature);
  } else {
    if (!operand.feature.is(1))
      return 1;
    if (blocks.lanes != blocks.lanesPerChunk)
      piece = blocks.lanesPerChunk;
    else if (blocks.groups > 1)
      others.push_back(operand.side->size * blocks.lanes);
    others.push_back(operand.batch);
  }
  for (Int stride : others)
    while (stride.isConstant() && stride.getConstant() % piece != 0)
      piece /= 2;
  return piece;
}

/// What is left of `size` from `start` on; the constant `extent` if that is
/// always enough.
Int BatchProduct::getLimit(int64_t size, Int start, int64_t extent) {
  if (size % extent == 0)
    return extent;
  return k.sub(size, start);
}

Int BatchProduct::getSlot(Int step) {
  return k.add(k.mul(k.rem(step, stages), blocks.getStageBytes()), stageOffset);
}

/// What the number of a unit is xor'ed with at position `row` of the batch. Two
/// rows of four positions are loaded together; they differ in one of the three
/// low bits of the unit, and the positions turn the other two.
Int BatchProduct::getTurn(Int row) {
  Int number = k.bitAnd(row, 3);
  switch (blocks.laneWarps) {
  case 2:
    return k.bitOr(k.bitAnd(number, 1), k.mul(k.bitAnd(number, 2), 2));
  case 4:
    return number;
  default:
    return k.mul(number, 2);
  }
}

/// Copy number `fast` of position `row` of the batch; offsets from the K step's
/// first element, and from the side's packed operand.
SparsePiece BatchProduct::locateBatchFirst(const BatchOperand &operand,
                                           const BatchTile &tile, int64_t piece,
                                           Int row, Int fast) {
  const BatchSide &side = *operand.side;
  int64_t extent = blocks.getRows(side);
  Int laneChunk = k.rem(fast, blocks.laneWarps);
  Int element = k.mul(k.floorDiv(fast, blocks.laneWarps), piece);
  Int inChunk = k.rem(element, blocks.getChunk());
  Int chunkRow =
      k.mul(k.floorDiv(element, blocks.getChunk()), blocks.rowsPerChunk);
  Int position = k.add(chunkRow, k.floorDiv(inChunk, blocks.lanesPerChunk));
  Int lane = k.add(k.mul(laneChunk, blocks.lanesPerChunk),
                   k.rem(inChunk, blocks.lanesPerChunk));
  bool isSegment = blocks.lanes == blocks.lanesPerChunk;
  Int feature =
      isSegment ? element : k.add(k.mul(position, blocks.lanes), lane);

  SparsePiece copy;
  copy.from = k.materialize(k.extend(getTileOffset(
      k, {row, feature}, {blocks.batchStep, extent * blocks.lanes},
      {operand.batch, operand.feature})));
  Int chunk = k.floorDiv(element, blocks.getChunk());
  Int bytes = k.add(k.mul(k.add(k.mul(chunk, blocks.laneWarps), laneChunk),
                          blocks.chunkBytes),
                    k.mul(inChunk, blocks.elementBytes));
  Int unit = k.bitXor(k.floorDiv(bytes, 16), getTurn(row));
  copy.to = k.materialize(k.add(k.mul(row, blocks.getPitch(side)),
                                k.add(k.mul(unit, 16), k.rem(bytes, 16))));

  Value exists = k.less(row, tile.rows);
  Int limit = getLimit(side.size, getFirst(operand, tile), extent);
  Int left = piece;
  if (!limit.is(extent)) {
    exists = k.both(exists, k.less(position, limit));
    if (isSegment && piece > blocks.lanesPerChunk)
      left = k.sub(k.mul(limit, blocks.lanesPerChunk), element);
  }
  Int lanes = getLimit(blocks.lanes, tile.lane, blocks.getLanes());
  if (!lanes.is(blocks.getLanes()))
    exists = k.both(exists, k.less(lane, lanes));
  copy.valid = math.getValidBytes(exists, left, piece * blocks.elementBytes);
  return copy;
}

/// Where unit number `unit` of row `row` is, batch last.
Int BatchProduct::getPlaceAlong(const BatchSide &side, Int row, Int unit) {
  if (!blocks.usesWgmma)
    return k.add(k.mul(row, blocks.getPitch(side)),
                 k.mul(k.bitXor(unit, k.mul(k.bitAnd(row, 1), 4)), 16));
  Int place = k.bitXor(k.rem(unit, 8), k.rem(row, 8));
  Int line = k.add(k.mul(k.floorDiv(unit, 8), blocks.getRows(side)), row);
  return k.add(k.mul(line, 128), k.mul(place, 16));
}

/// The same for copy number `fast` of row number `row`.
SparsePiece BatchProduct::locateBatchLast(const BatchOperand &operand,
                                          const BatchTile &tile, int64_t piece,
                                          Int row, Int fast) {
  const BatchSide &side = *operand.side;
  int64_t extent = blocks.getRows(side);
  Int position = k.mul(fast, piece);
  Int feature = k.mul(row, blocks.lanes);
  SparsePiece copy;
  copy.from = k.materialize(k.extend(getTileOffset(
      k, {position, feature}, {blocks.batchStep, extent * blocks.lanes},
      {operand.batch, operand.feature})));
  Int bytes = k.mul(position, blocks.elementBytes);
  copy.to = k.materialize(
      k.add(getPlaceAlong(side, row, k.floorDiv(bytes, 16)), k.rem(bytes, 16)));
  Value exists = k.less(position, tile.rows);
  Int limit = getLimit(side.size, getFirst(operand, tile), extent);
  if (!limit.is(extent))
    exists = k.both(exists, k.less(row, limit));
  copy.valid = math.getValidBytes(exists, k.sub(tile.rows, position),
                                  piece * blocks.elementBytes);
  return copy;
}

/// Copies a K step of the batch-last side behind `from` to `to` in pieces of 16
/// bytes. A thread's copies are of the same positions of the batch, and of rows
/// at known distances.
void BatchProduct::copySegments(const BatchOperand &operand,
                                const BatchTile &tile, Value from, Value to) {
  const BatchSide &side = *operand.side;
  int64_t extent = blocks.getRows(side), chunk = blocks.getChunk();
  int64_t units = blocks.batchStep / chunk;
  int64_t rowStep = blocks.getThreads() / units;
  Int unit = k.rem(k.threadId(), units);
  Int row = k.floorDiv(k.threadId(), units);
  Int position = k.mul(unit, chunk);
  from =
      k.offsetElements(from, blocks.element,
                       getTileOffset(k, {position, k.mul(row, blocks.lanes)},
                                     {blocks.batchStep, extent * blocks.lanes},
                                     {operand.batch, operand.feature}));
  to = k.offsetBytes(to, getPlaceAlong(side, row, unit));
  Value exists = k.less(position, tile.rows);
  Int positions = k.sub(tile.rows, position);
  Int limit = getLimit(side.size, getFirst(operand, tile), extent);
  Int step = k.mul(operand.feature, rowStep * blocks.lanes);
  for (int64_t known = 0; known < extent; known += rowStep) {
    if (known > 0)
      from = k.offsetElements(from, blocks.element, step);
    Value isRow = exists;
    if (!limit.is(extent))
      isRow = k.both(isRow, k.less(row, k.sub(limit, known)));
    SparsePiece copy;
    copy.from = from;
    copy.to = k.offsetBytes(to, getPlaceAlong(side, known, 0));
    copy.valid = math.getValidBytes(isRow, positions, 16);
    if (known + rowStep > extent)
      copy.exists = k.less(row, extent - known);
    math.copy(copy, 16, /*wholeLines=*/true);
  }
}

/// Copies a K step of the batch-first side behind `from` to `to` in pieces of
/// 16 bytes. A warp takes blocks of 8 units times all warps along t times
/// neighbouring positions of the batch, so that a thread's copies differ by
/// known distances.
void BatchProduct::copyUnits(const BatchOperand &operand, const BatchTile &tile,
                             Value from, Value to) {
  const BatchSide &side = *operand.side;
  int64_t extent = blocks.getRows(side);
  int64_t warps = blocks.getWarps(), chunk = 16 / blocks.elementBytes;
  int64_t rowsPerBlock = 4 / blocks.laneWarps, pitch = blocks.getPitch(side);
  int64_t rowBlocks = blocks.batchStep / rowsPerBlock;
  int64_t units = extent * blocks.lanesPerChunk / chunk;
  int64_t lines = llvm::divideCeil(units, 8);
  bool isSegment = blocks.lanes == blocks.lanesPerChunk;
  Int laneChunk = k.rem(k.laneId(), blocks.laneWarps);
  Int column = k.rem(k.floorDiv(k.laneId(), blocks.laneWarps), 8);
  Int row = k.floorDiv(k.laneId(), 8 * blocks.laneWarps);
  row = k.add(row, k.mul(k.rem(k.warpId(), rowBlocks), rowsPerBlock));
  Int unit = k.add(column, k.mul(k.floorDiv(k.warpId(), rowBlocks), 8));
  int64_t rowStep = std::min(warps, rowBlocks) * rowsPerBlock;
  int64_t lineStep = std::max<int64_t>(warps / rowBlocks, 1);

  // A unit is a row (and some t), or part of a segment of rows.
  int64_t perUnit = isSegment ? chunk : blocks.lanes;
  Int lane = k.mul(laneChunk, blocks.lanesPerChunk);
  from = k.offsetElements(
      from, blocks.element,
      getTileOffset(k, {row, k.add(k.mul(unit, perUnit), lane)},
                    {blocks.batchStep, 8 * lines * perUnit + blocks.lanes},
                    {operand.batch, operand.feature}));
  Int place =
      k.bitXor(k.add(k.mul(unit, blocks.laneWarps), laneChunk), getTurn(row));
  to = k.offsetBytes(to, k.add(k.mul(row, pitch), k.mul(place, 16)));

  Int rowLimit = k.sub(tile.rows, row);
  Int limit =
      getLimit(side.size, getFirst(operand, tile), blocks.getRows(side));
  Int lanes = getLimit(blocks.lanes, tile.lane, blocks.getLanes());
  Value laneExists;
  if (!lanes.is(blocks.getLanes()))
    laneExists = k.less(lane, lanes);
  SmallVector<SparsePiece> copies;
  for (int64_t number = 0; number < lines; number += lineStep)
    for (int64_t known = 0; known < blocks.batchStep; known += rowStep) {
      Value exists = k.both(k.less(known, rowLimit), laneExists);
      Int left = chunk;
      if (!limit.is(extent)) {
        left = k.sub(k.mul(limit, isSegment ? blocks.lanesPerChunk : chunk),
                     k.mul(k.add(unit, 8 * number), chunk));
        exists = k.both(exists, k.less(0, left));
      }
      SparsePiece copy;
      copy.valid = math.getValidBytes(exists, left, 16);
      Int offset = k.add(k.mul(operand.batch, known), 8 * number * perUnit);
      copy.from = k.offsetElements(from, blocks.element, offset);
      copy.to =
          k.offsetBytes(to, known * pitch + 128 * number * blocks.laneWarps);
      if (8 * (number + lineStep) > units)
        copy.exists = k.less(unit, units - 8 * number);
      copies.push_back(copy);
    }
  math.copy(copies, 16, /*wholeLines=*/true);
}

/// Copies K step number `step` of one side in pieces of `piece` elements.
void BatchProduct::copySide(const BatchOperand &operand, const BatchTile &tile,
                            Int step, int64_t piece) {
  const BatchSide &side = *operand.side;
  int64_t rowCount = blocks.batchLast ? blocks.getRows(side) : blocks.batchStep;
  int64_t perRow =
      (blocks.batchLast ? blocks.batchStep
                        : blocks.getRows(side) * blocks.getLanes()) /
      piece;
  // What is left of the tile from this K step on.
  BatchTile rest = tile;
  Int done = k.mul(step, blocks.batchStep);
  rest.firstRow = k.add(tile.firstRow, k.extend(done));
  rest.rows = k.sub(tile.rows, done);
  Value from = offsetTile(operand, rest);
  Value to = k.shared(k.add(getSlot(step), operand.offset));
  int64_t bytes = piece * blocks.elementBytes;
  if (bytes == 16 && !blocks.batchLast &&
      llvm::isPowerOf2_64(blocks.laneWarps * blocks.getWarps()))
    return copyUnits(operand, rest, from, to);
  // Rows that are so far apart lie alike.
  if (bytes == 16 && blocks.batchLast &&
      blocks.getThreads() % (perRow * (blocks.usesWgmma ? 8 : 2)) == 0)
    return copySegments(operand, rest, from, to);
  // Narrow copies are rare, and not worth registers.
  math.copyItems(blocks.getThreads(), k.threadId(), perRow * rowCount,
                 bytes == 16 ? kUnrolledCopies : kUnrolledNarrow, bytes,
                 /*wholeLines=*/bytes == 16, [&](Int item) {
                   Int row = k.floorDiv(item, perRow),
                       fast = k.rem(item, perRow);
                   SparsePiece copy =
                       blocks.batchLast
                           ? locateBatchLast(operand, rest, piece, row, fast)
                           : locateBatchFirst(operand, rest, piece, row, fast);
                   copy.from =
                       k.offsetElements(from, blocks.element, Int(copy.from));
                   copy.to = k.offsetBytes(to, Int(copy.to));
                   return copy;
                 });
}

/// Starts the copies of K step number `step`, if there is one.
void BatchProduct::issue(const BatchTile &tile, Int step, Int steps) {
  k.ifThen(k.less(step, steps), [&] {
    auto copyBoth = [&](bool aligned) {
      for (const BatchOperand *operand : {&left, &right})
        copySide(*operand, tile, step, aligned ? getPiece(*operand) : 1);
    };
    if (getPiece(left) == 1 && getPiece(right) == 1)
      return copyBoth(false);
    k.choose(isAligned, copyBoth);
  });
  // Lanes may have left loops at different times.
  k.syncWarp();
  k.commitCopies();
}
