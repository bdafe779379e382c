//===- SparseCopies.cpp - Packed operands of a sparse kernel --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Packed operands in shared memory are rows of chunks. A chunk's place in its
// row is changed by bits of the row's number, so that the eight threads that
// read at a time (two rows, four neighbouring chunks of each) meet in no bank.
//
// What is beyond the end of an array becomes 0: on K, since it is added up,
// elsewhere because the copy has to write something.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseCopies.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

/// Copies that are written out one by one; more of those for which a thread
/// waits where there is little else to do.
static constexpr int64_t kUnrolledCopies = 8, kUnrolledLoads = 16;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

SparseThread SparseThread::get(KernelBuilder &k, const SparsePlan &plan) {
  SparseThread thread;
  Int warp = k.warpId();
  thread.warpGroupThread = k.threadId();
  if (plan.warpGroups > 1) {
    thread.warpGroup = k.floorDiv(warp, plan.getWarpGroupThreads() / 32);
    // ptxas sees then that all threads of a warp have the same one, although
    // warp groups do different things. (Not measured in chains.)
    if (!plan.isChained())
      thread.warpGroup = Int(k.shuffle(k.materialize(thread.warpGroup, 32), 0));
    warp = k.rem(warp, plan.getWarpGroupThreads() / 32);
    thread.warpGroupThread =
        k.rem(thread.warpGroupThread, plan.getWarpGroupThreads());
  }
  Int rest;
  if (plan.usesWgmma) {
    // The warps of a group share results.
    thread.rowWarp = k.rem(warp, plan.rowWarps);
    thread.resultWarp =
        Int(k.shuffle(k.materialize(k.floorDiv(warp, plan.rowWarps), 32), 0));
  } else {
    thread.resultWarp = k.rem(warp, plan.resultWarps);
    rest = k.floorDiv(warp, plan.resultWarps);
    thread.rowWarp = k.rem(rest, plan.rowWarps);
  }
  (plan.tileWarps > 1 ? thread.tileWarp : thread.warpK) =
      k.floorDiv(rest, plan.rowWarps);
  thread.group = k.floorDiv(k.laneId(), 4);
  thread.quad = k.bitAnd(k.laneId(), 3);
  return thread;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

SparseTile kron::getSparseTile(KernelBuilder &k, const SparsePlan &plan,
                               ArrayRef<Int> freeSizes, Int part, Int block) {
  SparseTile tile;
  Digits blocks{k, block}, parts{k, part};
  SmallVector<Int> free(freeSizes.size());
  for (unsigned axis = free.size(); axis-- > 0;)
    free[axis] = blocks.take(freeSizes[axis]);
  tile.row = k.mul(k.extend(blocks.rest), plan.getRows());
  tile.result = k.mul(parts.take(plan.getResultBlocks()), plan.getResults());
  tile.lane = k.mul(parts.take(plan.getLaneBlocks()), plan.getLanes());
  tile.groups.resize(plan.groupSizes.size());
  for (unsigned axis = plan.groupSizes.size(); axis-- > 0;)
    tile.groups[axis] = parts.take(plan.groupSizes[axis]);
  tile.groups.append(free);
  return tile;
}

Value kron::offsetSparseTile(KernelBuilder &k, const SparseArray &array,
                             const SparseTile &tile, bool isFactor) {
  Int offset = k.mul(k.extend(isFactor ? tile.result : tile.row), array.row);
  offset = k.add(offset, k.mul(k.extend(tile.lane), array.lane));
  for (auto [position, stride] : llvm::zip(tile.groups, array.groups))
    offset = k.add(offset, k.mul(k.extend(position), stride));
  return k.offsetElements(array.base, array.element, offset);
}

/// What is left of `size` from `start` on, in 32 bits; the constant `extent` if
/// that is always enough.
static Int getLimit(KernelBuilder &k, Int size, Int start, int64_t extent) {
  if (size.isConstant() && size.getConstant() % extent == 0)
    return extent;
  Value left = k.materialize(k.min(k.sub(size, start), extent));
  return k.truncate(Int(left));
}

SparseCopy SparseCopies::getCopy(const SparseArray &array,
                                 const SparseTile &tile, Int startK, Int to,
                                 bool isFactor, Int rows) {
  SparseCopy copy;
  copy.array = &array;
  copy.isFactor = isFactor;
  copy.byAll = isFactor && plan.keepsFactor;
  copy.from =
      k.offsetElements(offsetSparseTile(k, array, tile, isFactor),
                       array.element, k.mul(k.extend(startK), array.strideK));
  copy.to = to;
  copy.rows = isFactor ? plan.getResults() : plan.getPackedRows();
  copy.rowLimit = isFactor ? getLimit(k, plan.sizeN, tile.result, copy.rows)
                           : getLimit(k, rows, tile.row, copy.rows);
  if (isFactor && plan.shiftsResults()) {
    copy.rowStart = k.sub(0, tile.result);
    copy.rowLimit = k.min(k.add(copy.rowStart, plan.sizeN), copy.rows);
  }
  copy.limitK = getLimit(k, plan.sizeK, startK, plan.stepK);
  copy.laneLimit = getLimit(k, plan.lanes, tile.lane, plan.getLanes());
  return copy;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// Elements that one copy can take, provided that the array is aligned to 16
/// bytes: as far as elements of a chunk are neighbours in memory, too. Chunks
/// of 8-bit values that follow each other are copied in pairs.
int64_t SparseCopies::getPiece(const SparseArray &array, bool alongRows) const {
  int64_t piece = 1, bytes = getElementBytes(array.element);
  SmallVector<Int> others(array.groups);
  if (alongRows) {
    if (array.row.is(1))
      piece = kSparseChunkBytes / bytes;
    others.append({array.strideK, array.lane});
  } else {
    bool isSegment = plan.lanesPerChunk == 1
                         ? array.strideK.is(1)
                         : plan.lanes == plan.lanesPerChunk &&
                               array.lane.is(1) && array.strideK.is(plan.lanes);
    others.push_back(array.row);
    if (isSegment) {
      piece =
          plan.laneChunks == 1 ? kSparseChunkBytes / bytes : plan.getAccess();
      if (plan.laneChunks * plan.lanesPerChunk > 1)
        others.push_back(plan.lanesPerChunk == 1 ? array.lane : Int(0));
    } else if (array.lane.is(1)) {
      piece = plan.lanesPerChunk & -plan.lanesPerChunk;
      others.push_back(array.strideK);
    }
  }
  for (Int stride : others) {
    if (!stride.isConstant())
      piece = std::min(piece, plan.getAccess());
    while (stride.isConstant() && stride.getConstant() % piece != 0)
      piece /= 2;
  }
  // Narrower copies are of single elements.
  return piece * bytes < 4 ? 1 : piece;
}

/// Shares `items` copies of `bytes` each out among the threads of a warp group,
/// or of all.
void SparseCopies::copyPieces(int64_t items, int64_t bytes, bool byAll,
                              function_ref<SparsePiece(Int)> get) {
  math.copyItems(byAll ? plan.getThreads() : plan.getWarpGroupThreads(),
                 byAll ? k.threadId() : thread.warpGroupThread, items,
                 bytes >= 4 || !plan.skinnyM ? kUnrolledCopies : kUnrolledLoads,
                 bytes, /*wholeLines=*/!plan.alongRows, get);
  // Lanes may have left the loop at different times.
  k.syncWarp();
}

//===----------------------------------------------------------------------===//
// Packed operands
//===----------------------------------------------------------------------===//

/// What the number of a chunk of 16 bytes in row `row` + `known` is xor'ed
/// with.
Int SparseCopies::getSwizzle(Int row, int64_t known, Int chunkIndexK,
                             bool isFactor) {
  if (plan.getPackedRowBytes(isFactor) % 128 != 0)
    return 0;
  Int parity = k.bitAnd(k.bitXor(row, k.floorDiv(row, 4)), 1);
  parity = k.bitXor(parity, known / 4 & 1);
  switch (plan.laneChunks) {
  case 1:
    return k.mul(parity, 4);
  case 2:
    return parity;
  case 4:
    return k.bitOr(k.mul(parity, 2), k.bitAnd(k.floorDiv(chunkIndexK, 2), 1));
  default:
    return 0;
  }
}

/// The number of the place of a chunk in row `row` + `known`. Chunks of 8 bytes
/// are in the order in which threads take them.
Int SparseCopies::getPlace(Int row, int64_t known, Int chunk, bool isFactor) {
  Int chunkIndexK = k.floorDiv(chunk, plan.laneChunks);
  if (plan.getChunkBytes(isFactor) == kSparseChunkBytes)
    return k.bitXor(chunk, getSwizzle(row, known, chunkIndexK, isFactor));
  Int laneChunk = k.rem(chunk, plan.laneChunks);
  return k.add(k.mul(laneChunk, plan.getKChunks()), chunkIndexK);
}

/// Where a chunk of row `row` is in the packed operand at byte `to`.
Value SparseCopies::getChunk(Int to, Int row, Int chunk, bool isFactor) {
  Int place = getPlace(row, /*known=*/0, chunk, isFactor);
  Int offset = k.add(k.mul(row, plan.getPackedRowBytes(isFactor)),
                     k.mul(place, plan.getChunkBytes(isFactor)));
  return k.shared(k.add(to, offset));
}

Value kron::isBelow(KernelBuilder &k, Int lhs, Int rhs) {
  return rhs.isConstant() ? nullptr : k.less(lhs, rhs);
}

/// The copy number `number` of row `row` + `known` (which have no bits in
/// common and, if `known` is not 0, it is a multiple of 4).
SparsePiece SparseCopies::getPieceOf(const SparseCopy &copy, Int number,
                                     Int row, int64_t known) {
  int64_t rowBytes = plan.getPackedRowBytes(copy.isFactor);
  Type type = copy.array->element;
  int64_t bytes = copy.piece * getElementBytes(type);
  int64_t perChunk = std::max<int64_t>(plan.getChunk() / copy.piece, 1);
  Int chunk = k.mul(k.floorDiv(number, perChunk),
                    std::max<int64_t>(copy.piece / plan.getChunk(), 1));
  Int part = k.rem(number, perChunk);
  Int element = k.mul(part, copy.piece);
  Int chunkIndexK = k.floorDiv(chunk, plan.laneChunks);
  Int positionK = k.add(k.mul(chunkIndexK, plan.chunkK),
                        k.floorDiv(element, plan.lanesPerChunk));
  Int lane = k.add(k.mul(k.rem(chunk, plan.laneChunks), plan.lanesPerChunk),
                   k.rem(element, plan.lanesPerChunk));
  SparsePiece result;
  // What is known comes last, such that it becomes part of the instruction.
  result.from = k.offsetElements(
      copy.from, type,
      getTileOffset(k, {row, positionK, lane},
                    {copy.rows, plan.stepK, plan.getLanes()},
                    {copy.array->row, copy.array->strideK, copy.array->lane}));
  if (known)
    result.from =
        k.offsetElements(result.from, type, k.mul(copy.array->row, known));
  Int place = getPlace(row, known, chunk, copy.isFactor);
  Int offset = k.add(k.mul(row, rowBytes),
                     k.add(k.mul(place, plan.getChunkBytes(copy.isFactor)),
                           k.mul(part, bytes)));
  result.to = k.offsetBytes(k.shared(k.add(copy.to, offset)), known * rowBytes);
  Value exists = k.both(isBelow(k, k.add(row, known), copy.rowLimit),
                        isBelow(k, lane, copy.laneLimit));
  if (!copy.rowStart.isConstant())
    exists = k.both(exists, k.less(k.sub(copy.rowStart, 1), k.add(row, known)));
  Int left = copy.piece;
  if (!copy.limitK.isConstant()) {
    exists = k.both(exists, k.less(positionK, copy.limitK));
    if (plan.lanesPerChunk % copy.piece != 0) {
      left = k.mul(k.sub(copy.limitK, positionK), plan.lanesPerChunk);
      // Pieces of wide chunks start at any lane.
      if (plan.isWideChunk())
        left = k.sub(left, k.rem(element, plan.lanesPerChunk));
    }
  }
  result.element = type;
  result.valid = math.getValidBytes(exists, left, bytes, type);
  return result;
}

/// Whether all lanes of a chunk's part of K are 16-byte pieces of memory,
/// although elements of a chunk are no neighbours there.
bool SparseCopies::canCopySegments(const SparseArray &array) const {
  if (plan.elementBytes > 4 || plan.lanes != plan.getLanes() ||
      plan.lanesPerChunk == plan.getChunk() || plan.laneChunks == 1 ||
      plan.sizeK % plan.chunkK != 0 || !array.lane.is(1) ||
      !array.strideK.is(plan.lanes))
    return false;
  SmallVector<Int> strides(array.groups);
  strides.push_back(array.row);
  return llvm::all_of(strides, [&](Int stride) {
    return !stride.isConstant() || stride.getConstant() % plan.getChunk() == 0;
  });
}

/// Shares chunks of K out among the threads that copy: what `load` has read of
/// `unrolled` ones, `store` writes.
void SparseCopies::moveChunks(
    const SparseCopy &copy, int64_t unrolled,
    function_ref<SmallVector<Value>(Int row, Int chunk, Value exists)> load,
    function_ref<void(Int row, Int chunk, ArrayRef<Value>)> store) {
  int64_t perRow = plan.getKChunks();
  forItems(
      k, copy.byAll ? plan.getThreads() : plan.getWarpGroupThreads(),
      copy.byAll ? k.threadId() : thread.warpGroupThread, copy.rows * perRow,
      unrolled, [&](ArrayRef<Int> numbers, ArrayRef<Value> exist) {
        SmallVector<SmallVector<Value>> loaded;
        for (auto [number, exists] : llvm::zip(numbers, exist))
          loaded.push_back(
              load(k.floorDiv(number, perRow), k.rem(number, perRow), exists));
        for (auto [number, exists, words] : llvm::zip(numbers, exist, loaded))
          k.ifThen(exists, [&, number = number, &words = words] {
            store(k.floorDiv(number, perRow), k.rem(number, perRow), words);
          });
      });
  k.syncWarp();
}

/// As copyPackedOperand, through registers, where elements change places.
void SparseCopies::copySegments(const SparseCopy &copy) {
  constexpr int64_t kUnrolledSegments = 2;
  int64_t chunkBytes = plan.getChunkBytes(copy.isFactor);
  bool isOf8 = chunkBytes < kSparseChunkBytes;
  auto vector = VectorType::get({chunkBytes / 4}, k.builder.getI32Type());
  auto load = [&](Int row, Int segment, Value exists) {
    Int positionK = k.mul(segment, plan.chunkK);
    exists = k.both(exists, isBelow(k, row, copy.rowLimit));
    exists = k.both(exists, isBelow(k, positionK, copy.limitK));
    Value from = k.offsetElements(
        copy.from, copy.array->element,
        getTileOffset(k, {row, positionK}, {copy.rows, plan.stepK},
                      {copy.array->row, copy.array->strideK}));
    return k.orZeros(exists, SmallVector<Type>(plan.laneChunks, vector), [&] {
      SmallVector<Value> pieces;
      for (int64_t piece = 0; piece < plan.laneChunks; ++piece)
        pieces.push_back(k.load(vector, k.offsetBytes(from, piece * chunkBytes),
                                CacheHint::ReadOnly));
      return pieces;
    });
  };
  auto store = [&](Int row, Int segment, ArrayRef<Value> pieces) {
    SmallVector<Value> words;
    for (Value piece : pieces)
      llvm::append_range(words, k.unpack(piece));
    for (int64_t laneChunk = 0; laneChunk < plan.laneChunks; ++laneChunk) {
      auto locate = [&](int64_t element) {
        return element / plan.lanesPerChunk * plan.lanes +
               laneChunk * plan.lanesPerChunk + element % plan.lanesPerChunk;
      };
      SmallVector<Value> chunk;
      if (isOf8)
        for (int64_t element = 0; element < plan.getChunk(); element += 4)
          chunk.push_back(math.gatherBytes(
              words, {locate(element), locate(element + 1), locate(element + 2),
                      locate(element + 3)}));
      for (int64_t element = 0; !isOf8 && element < plan.getChunk();
           element += plan.is16BitFloat() ? 2 : 1) {
        int64_t first = locate(element), second = locate(element + 1);
        chunk.push_back(plan.is16BitFloat()
                            ? math.pairHalves(words[first / 2], first,
                                              words[second / 2], second)
                            : words[first]);
      }
      Int chunkNumber = k.add(k.mul(segment, plan.laneChunks), laneChunk);
      k.store(k.makeVector(chunk),
              getChunk(copy.to, row, chunkNumber, copy.isFactor));
    }
  };
  moveChunks(copy, kUnrolledSegments, load, store);
}

/// Builds the copies of rows x K x lanes into rows of chunks.
void SparseCopies::copyPackedOperand(const SparseCopy &copy) {
  int64_t bytes = copy.piece * getElementBytes(copy.array->element);
  int64_t perRow = plan.stepK * plan.getLanes() / copy.piece;
  int64_t total = copy.rows * perRow;
  int64_t threads = copy.byAll ? plan.getThreads() : plan.getWarpGroupThreads();
  // Turns of all threads after which they are at the same places of rows.
  int64_t turns = plan.isWideChunk() ? 3 : 1;
  int64_t rowStep = turns * threads / perRow;
  bool rowsFirst = copy.array->row.is(1) && copy.piece == 1;
  // A thread has the same place in rows that are a known number apart: one
  // address does for all of them. (Narrow copies are of factors that are kept.)
  if (bytes == kSparseChunkBytes && turns * threads % perRow == 0 &&
      llvm::isPowerOf2_64(rowStep) && rowStep % 4 == 0 &&
      total % (turns * threads) == 0 && total / threads <= kUnrolledLoads) {
    Int own = copy.byAll ? k.threadId() : thread.warpGroupThread;
    SmallVector<SparsePiece> pieces;
    for (int64_t turn = 0; turn < turns; ++turn) {
      Int item = k.add(own, turn * threads);
      for (int64_t known = 0; known < copy.rows; known += rowStep)
        pieces.push_back(getPieceOf(copy, k.rem(item, perRow),
                                    k.floorDiv(item, perRow), known));
    }
    return math.copy(pieces, bytes, /*wholeLines=*/true);
  }
  copyPieces(total, bytes, copy.byAll, [&](Int item) {
    int64_t fastest = rowsFirst ? copy.rows : perRow;
    Int fast = k.rem(item, fastest), slow = k.floorDiv(item, fastest);
    return getPieceOf(copy, rowsFirst ? slow : fast, rowsFirst ? fast : slow,
                      /*known=*/0);
  });
}

Int kron::getSparsePlaceAlong(KernelBuilder &k, const SparsePlan &plan,
                              Int positionK, Int row, int64_t rows) {
  int64_t chunkBytes = plan.getChunkBytes(/*isFactor=*/false);
  int64_t perTurn = 2 * kSparseChunkBytes / chunkBytes;
  Int turn = k.mul(k.bitAnd(k.floorDiv(positionK, plan.chunkK), 3), perTurn);
  Int place = k.bitXor(k.floorDiv(row, plan.getChunk()), turn);
  return k.add(k.mul(positionK, rows * plan.dataBytes),
               k.add(k.mul(place, chunkBytes),
                     k.mul(k.rem(row, plan.getChunk()), plan.dataBytes)));
}

/// Builds the copies of K x rows, with the rows side by side.
void SparseCopies::copyRows(const SparseCopy &copy) {
  Type type = copy.array->element;
  int64_t bytes = copy.piece * plan.dataBytes;
  int64_t perRow = copy.rows / copy.piece;
  SmallVector<int64_t> extents{plan.stepK, copy.rows};
  SmallVector<Int> strides{copy.array->strideK, copy.array->row};
  copyPieces(plan.stepK * perRow, bytes, copy.byAll, [&](Int item) {
    Int positionK = k.floorDiv(item, perRow), piece = k.rem(item, perRow);
    Int row = k.mul(piece, copy.piece);
    SparsePiece result;
    result.from = k.offsetElements(
        copy.from, type, getTileOffset(k, {positionK, row}, extents, strides));
    result.to = k.shared(k.add(
        copy.to, getSparsePlaceAlong(k, plan, positionK, row, copy.rows)));
    Value exists = isBelow(k, positionK, copy.limitK);
    Int left = copy.piece;
    if (!copy.rowLimit.isConstant()) {
      exists = k.both(exists, k.less(row, copy.rowLimit));
      left = k.sub(copy.rowLimit, row);
    }
    result.element = type;
    result.valid = math.getValidBytes(exists, left, bytes, type);
    return result;
  });
}

void SparseCopies::start(SparseCopy copy, ArrayRef<Int> groups,
                         bool isAligned) {
  if (plan.copiesWhole(copy.isFactor))
    return isAligned ? copyWhole(copy) : copyElements(copy);
  const SparseArray &array = *copy.array;
  bool areRowsInner = copy.isFactor ? plan.swapsOperands : plan.alongRows;
  copy.piece = isAligned ? getPiece(array, areRowsInner) : 1;
  if (areRowsInner)
    copyRows(copy);
  else if (isAligned && copy.isFactor && getPickedAxis(array) >= 0)
    copyPicked(copy, groups);
  else if (isAligned && canCopySegments(array))
    copySegments(copy);
  else
    copyPackedOperand(copy);
}

void SparseCopies::pairFactor(int64_t keptOffset) {
  constexpr int64_t kUnrolled = 4;
  int64_t together = plan.getMacroK() / (4 * plan.chunkK);
  int64_t rowBytes = plan.getPackedRowBytes(/*isFactor=*/true);
  int64_t perRow = rowBytes / kSparseChunkBytes / together;
  auto type = VectorType::get({4}, k.builder.getI32Type());
  // Rows of all K steps follow each other, a multiple of 8 in each.
  auto locate = [&](Int item, int64_t number) {
    Int row = k.floorDiv(item, perRow), rest = k.rem(item, perRow);
    Int laneChunk = k.rem(rest, plan.laneChunks);
    rest = k.floorDiv(rest, plan.laneChunks);
    Int chunkIndexK = k.add(k.mul(k.floorDiv(rest, 4), 4 * together),
                            k.add(k.rem(rest, 4), 4 * number));
    Int chunk = k.add(k.mul(chunkIndexK, plan.laneChunks), laneChunk);
    return getChunk(keptOffset, row, chunk, /*isFactor=*/true);
  };
  auto pair = [&](ArrayRef<Value> words) {
    SmallVector<Value> pairs;
    int64_t lanes = plan.lanesPerChunk;
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t positionK = 0; positionK < plan.chunkK * together;
           positionK += 2) {
        int64_t first = positionK * lanes + lane, second = first + lanes;
        pairs.push_back(math.pairHalves(words[first / 2], first,
                                        words[second / 2], second));
      }
    return pairs;
  };
  // Those that others have are theirs to read, too: they replace them.
  auto load = [&](Int item, Value exists) {
    return k.orZeros(exists, SmallVector<Type>(together, type), [&] {
      SmallVector<Value> chunks;
      for (int64_t number = 0; number < together; ++number)
        chunks.push_back(k.load(type, locate(item, number)));
      return chunks;
    });
  };
  forItems(k, plan.getThreads(), k.threadId(),
           plan.getKeptBytes() / kSparseChunkBytes / together, kUnrolled,
           [&](ArrayRef<Int> items, ArrayRef<Value> exist) {
             SmallVector<SmallVector<Value>> words(items.size());
             for (auto [item, chunks, exists] : llvm::zip(items, words, exist))
               for (Value chunk : load(item, exists))
                 llvm::append_range(chunks, k.unpack(chunk));
             for (auto [item, chunks, exists] : llvm::zip(items, words, exist))
               k.ifThen(exists, [&, item = item, chunks = pair(chunks)] {
                 for (int64_t number = 0; number < together; ++number)
                   k.store(k.makeVector(ArrayRef(chunks).slice(4 * number, 4)),
                           locate(item, number));
               });
           });
  k.syncWarp();
}
