//===- SparseWholeCopies.cpp - Copies of 16 bytes from anywhere -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Segments of memory that start at no multiple of 16 bytes would be copied
// element by element, and a copy takes as long whatever it moves. So they come
// from the multiple before them on, together with what stands there, as they
// lie. Once they have arrived, chunks are made of their elements, in shared
// memory that all K steps share.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseCopies.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

/// Chunks that are written out one by one.
static constexpr int64_t kUnrolledChunks = 4;

bool SparseCopies::isAlongRows(const SparseCopy &copy) const {
  return plan.alongRows && !copy.isFactor;
}

/// Elements from the first one of the copy to that of a segment.
Int SparseCopies::getSegment(const SparseCopy &copy, Int row, Int segment) {
  int64_t segments = plan.getWholeRow(copy.isFactor).segments;
  return getTileOffset(k, {row, segment}, {copy.rows, segments},
                       {copy.array->row, copy.array->strideK});
}

/// Bytes from a multiple of 16 to the segment that is `offset` elements behind
/// the copy's first one.
Int SparseCopies::getShift(const SparseCopy &copy, Int offset) {
  Value address = LLVM::PtrToIntOp::create(k.builder, k.loc,
                                           k.builder.getI64Type(), copy.from);
  int64_t bytes = getElementBytes(copy.array->element);
  Int behind = k.mul(k.truncate(offset), bytes);
  return k.bitAnd(k.add(k.truncate(Int(address)), behind),
                  kSparseChunkBytes - 1);
}

/// Whether row `row` of a copy exists; null if it always does. Where rows are
/// neighbours, they are the elements of a segment.
Value SparseCopies::hasRow(const SparseCopy &copy, Int row) {
  if (isAlongRows(copy))
    return nullptr;
  Value exists = isBelow(k, row, copy.rowLimit);
  if (copy.rowStart.isConstant())
    return exists;
  return k.both(exists, k.less(k.sub(copy.rowStart, 1), row));
}

void SparseCopies::copyWhole(const SparseCopy &copy) {
  tile::WholeRow whole = plan.getWholeRow(copy.isFactor);
  int64_t perRow = whole.segments * whole.pieces;
  int64_t bytes = getElementBytes(copy.array->element);
  Int elements = whole.elements;
  if (isAlongRows(copy)) {
    if (!copy.rowLimit.isConstant())
      elements = copy.rowLimit;
  } else if (whole.segments == 1 && !copy.limitK.isConstant()) {
    elements = k.mul(copy.limitK, plan.getLanes());
  } else if (whole.segments > 1 && !copy.laneLimit.isConstant()) {
    elements = copy.laneLimit;
  }
  copyPieces(plan.countWholeRows(copy.isFactor) * perRow, kSparseChunkBytes,
             copy.byAll, [&](Int item) {
               Int row = k.floorDiv(item, perRow), inRow = k.rem(item, perRow);
               Int number = k.floorDiv(inRow, whole.pieces);
               Int first = k.mul(k.rem(inRow, whole.pieces), kSparseChunkBytes);
               Int offset = getSegment(copy, row, number);
               Int shift = getShift(copy, offset);
               // What is behind a segment is not read: the array may end there.
               Int left = k.sub(k.add(shift, k.mul(elements, bytes)), first);
               Value valid = k.materialize(k.min(left, kSparseChunkBytes), 32);
               Value exists = k.both(hasRow(copy, row), k.less(0, left));
               if (whole.segments > 1)
                 exists = k.both(exists, isBelow(k, number, copy.limitK));
               SparsePiece piece;
               piece.valid = k.select(exists, valid, k.materialize(0, 32));
               piece.from = k.offsetBytes(
                   k.offsetElements(copy.from, copy.array->element, offset),
                   k.sub(first, shift));
               Int place = k.add(k.mul(number, whole.getSegmentBytes()), first);
               piece.to = k.shared(
                   k.add(copy.to, k.add(k.mul(row, whole.getBytes()), place)));
               return piece;
             });
}

/// The same of an array that is not aligned to 16 bytes, of which nothing in
/// front may be read: its segments start at such multiples in shared memory.
void SparseCopies::copyElements(const SparseCopy &copy) {
  tile::WholeRow whole = plan.getWholeRow(copy.isFactor);
  Type type = copy.array->element;
  bool alongRows = isAlongRows(copy);
  int64_t bytes = getElementBytes(type);
  // What lies side by side: lanes of a row, or rows.
  int64_t width = alongRows ? copy.rows : plan.getLanes();
  int64_t perRow = plan.stepK * width;
  int64_t rows = plan.countWholeRows(copy.isFactor);
  copyPieces(rows * perRow, bytes, copy.byAll, [&](Int item) {
    Int row = k.floorDiv(item, perRow), inRow = k.rem(item, perRow);
    Int positionK = k.floorDiv(inRow, width), inner = k.rem(inRow, width);
    SparsePiece piece;
    piece.element = type;
    Int stride = alongRows ? copy.array->row : copy.array->lane;
    piece.from = k.offsetElements(
        copy.from, type,
        getTileOffset(k, {row, positionK, inner}, {rows, plan.stepK, width},
                      {copy.array->row, copy.array->strideK, stride}));
    Int offset = whole.segments == 1
                     ? k.mul(inRow, bytes)
                     : k.add(k.mul(positionK, whole.getSegmentBytes()),
                             k.mul(inner, bytes));
    piece.to =
        k.shared(k.add(copy.to, k.add(k.mul(row, whole.getBytes()), offset)));
    Int limit = alongRows ? copy.rowLimit : copy.laneLimit;
    Value exists =
        k.both(isBelow(k, inner, limit), isBelow(k, positionK, copy.limitK));
    exists = k.both(exists, hasRow(copy, row));
    piece.valid = math.getValidBytes(exists, /*left=*/1, bytes, type);
    return piece;
  });
}

/// The words of a chunk whose `chunkK` parts, of neighbouring lanes, are at
/// `parts`.
SmallVector<Value> SparseCopies::loadParts(ArrayRef<Value> parts) {
  int64_t bytes = kSparseChunkBytes / parts.size();
  Type i32 = k.builder.getI32Type();
  SmallVector<Value> words;
  if (bytes >= 4) {
    for (Value part : parts) {
      Type type = bytes == 4 ? i32 : Type(VectorType::get({bytes / 4}, i32));
      Value loaded = k.load(type, part);
      bytes == 4 ? words.push_back(loaded)
                 : llvm::append_range(words, k.unpack(loaded));
    }
    return words;
  }
  for (Value part : parts)
    words.push_back(arith::ExtUIOp::create(
        k.builder, k.loc, i32, k.load(k.builder.getI16Type(), part)));
  SmallVector<Value> pairs;
  for (unsigned index = 0; index < words.size(); index += 2)
    pairs.push_back(math.pairHalves(words[index], 0, words[index + 1], 0));
  return pairs;
}

/// The chunk number `item` of neighbouring rows, in the order of positions on
/// K: its words, and where it goes behind byte `to`.
std::pair<SmallVector<Value>, Value>
SparseCopies::loadAlongRows(const SparseCopy &copy, Int item, Int to,
                            bool isAligned) {
  tile::WholeRow whole = plan.getWholeRow(copy.isFactor);
  int64_t bytes = getElementBytes(copy.array->element);
  int64_t chunks = copy.rows / plan.getChunk();
  Int positionK = k.floorDiv(item, chunks);
  Int row = k.mul(k.rem(item, chunks), plan.getChunk());
  Int shift = 0;
  if (isAligned)
    shift = getShift(copy, getSegment(copy, /*row=*/0, positionK));
  Int first = k.add(k.add(copy.to, k.mul(positionK, whole.getSegmentBytes())),
                    k.add(k.mul(row, bytes), shift));
  SmallVector<Value> parts;
  for (int64_t index = 0; index < plan.getChunk(); ++index)
    parts.push_back(k.offsetBytes(k.shared(first), index * bytes));
  Int place = getSparsePlaceAlong(k, plan, positionK, row, copy.rows);
  return {loadParts(parts), k.shared(k.add(to, place))};
}

void SparseCopies::makeChunks(const SparseCopy &copy, Int to, bool isAligned) {
  if (isAlongRows(copy)) {
    int64_t items = plan.stepK * copy.rows / plan.getChunk();
    forItems(k, plan.getWarpGroupThreads(), thread.warpGroupThread, items,
             kUnrolledChunks,
             [&](ArrayRef<Int> numbers, ArrayRef<Value> exist) {
               SmallVector<std::pair<SmallVector<Value>, Value>> chunks;
               for (Int number : numbers)
                 chunks.push_back(loadAlongRows(copy, number, to, isAligned));
               for (auto [exists, chunk] : llvm::zip(exist, chunks))
                 k.ifThen(exists, [&, chunk = chunk] {
                   k.store(k.makeVector(chunk.first), chunk.second);
                 });
             });
    k.syncWarp();
    return;
  }
  tile::WholeRow whole = plan.getWholeRow(copy.isFactor);
  int64_t bytes = getElementBytes(copy.array->element);
  int64_t perRow = plan.getKChunks() * plan.laneChunks;
  int64_t chunkBytes = plan.lanesPerChunk * bytes;
  auto load = [&](Int item) {
    Int row = k.floorDiv(item, perRow), chunk = k.rem(item, perRow);
    Int positionK = k.mul(k.floorDiv(chunk, plan.laneChunks), plan.chunkK);
    Int lane = k.mul(k.rem(chunk, plan.laneChunks), chunkBytes);
    Int line = k.add(k.mul(row, whole.getBytes()), copy.to);
    SmallVector<Value> parts;
    for (int64_t index = 0; index < plan.chunkK; ++index) {
      Int place = k.add(positionK, index), number = 0;
      if (whole.segments > 1)
        number = place;
      Int shift = 0;
      if (isAligned)
        shift = getShift(copy, getSegment(copy, row, number));
      Int offset = whole.segments > 1 ? k.mul(place, whole.getSegmentBytes())
                                      : k.mul(place, plan.getLanes() * bytes);
      parts.push_back(k.shared(k.add(k.add(line, lane), k.add(offset, shift))));
    }
    return loadParts(parts);
  };
  forItems(k, plan.getWarpGroupThreads(), thread.warpGroupThread,
           copy.rows * perRow, kUnrolledChunks,
           [&](ArrayRef<Int> items, ArrayRef<Value> exist) {
             SmallVector<SmallVector<Value>> words;
             for (Int item : items)
               words.push_back(load(item));
             for (auto [item, exists, chunk] : llvm::zip(items, exist, words))
               k.ifThen(exists, [&, item = item, chunk = chunk] {
                 k.store(k.makeVector(chunk),
                         getChunk(to, k.floorDiv(item, perRow),
                                  k.rem(item, perRow), copy.isFactor));
               });
           });
  k.syncWarp();
}
