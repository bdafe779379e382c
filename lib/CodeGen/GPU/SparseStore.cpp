//===- SparseStore.cpp - Results of a sparse factor's kernel --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Sums go from registers to memory. A thread holds those of two rows and two
// columns per matrix instruction; the order of the columns was chosen such that
// 16 bytes of memory are in one thread, and whole sectors in one instruction.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseStores.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

/// Chunks whose addends and residuals are read before any is stored.
static constexpr int64_t kChunksTogether = 8;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The row (in its tile) of a sum in half `half` of tile `tile`, element `part`
/// of a chunk.
Int SparseStores::getRowOf(int64_t tile, int64_t half, int64_t part) {
  Int row = plan.turnsRows ? k.add(k.mul(thread.group, plan.getThreadRows()),
                                   2 * tile + half)
                           : k.add(thread.group, 16 * tile + 8 * half);
  if (plan.alongRows)
    row = k.add(k.mul(row, plan.getChunk()), part);
  return k.add(row, k.mul(thread.rowWarp, plan.getRowsPerWarp()));
}

/// Whether position `position` of a tile's `extent` that start at `start` is
/// one of `size`; null if it always is.
static Value isBelowSize(KernelBuilder &k, Int position, Int start, Int size,
                         int64_t extent) {
  if (size.isConstant() && size.getConstant() % extent == 0)
    return nullptr;
  return k.less(position, k.sub(size, start));
}

Value SparseStores::isColumnInside(const SparseTile &tile, Int result,
                                   Int lane) {
  if (plan.shiftsResults()) {
    Int own = k.add(tile.result, result);
    return k.both(k.less(-1, own), k.less(own, plan.sizeN));
  }
  return k.both(
      isBelowSize(k, result, tile.result, plan.sizeN, plan.getResults()),
      isBelowSize(k, lane, tile.lane, plan.lanes, plan.getLanes()));
}

/// Whether `count` rows of the tile are in the array; null if they always are.
Value SparseStores::isRowInside(const SparseTile &tile, Int row,
                                int64_t count) {
  return isBelowSize(k, k.add(row, count - 1), tile.row, targets.rows,
                     plan.getRows());
}

/// The same of a place in these rows.
Value SparseStores::isInside(const SparseTile &tile, Int row, Int result,
                             Int lane, int64_t rowCount) {
  return k.both(isRowInside(tile, row, rowCount),
                isColumnInside(tile, result, lane));
}

/// Memory at the tile's first row, result and lane.
Value SparseStores::getBase(const SparseArray &array, const SparseTile &tile) {
  SparseTile place = tile;
  if (array.isBlock)
    place.row = 0;
  return k.offsetElements(offsetSparseTile(k, array, place, /*isFactor=*/false),
                          plan.element,
                          k.mul(k.extend(tile.result), array.strideK));
}

/// Elements from the tile's first row, result and lane.
Int SparseStores::getOffset(const SparseArray &array, Int row, Int result,
                            Int lane) {
  return getTileOffset(k, {row, result, lane},
                       {plan.getRows(), plan.getResults(), plan.getLanes()},
                       {array.row, array.strideK, array.lane});
}

/// Whether known strides allow stores of 16 bytes.
bool SparseStores::canStoreChunks() const {
  int64_t access = plan.getAccess();
  auto fits = [&](const SparseArray &array) {
    SmallVector<Int> others(array.groups);
    if (plan.storesAlongRows()) {
      // What is the same for all rows is read as one element.
      if (array.row.is(0))
        return true;
      if (!array.row.is(1))
        return false;
      others.append({array.strideK, array.lane});
    } else {
      others.push_back(array.row);
      if (plan.lanes > 1 && !array.lane.is(1))
        return false;
      if (plan.order == SparseOrder::Chunks) {
        if (!array.strideK.is(plan.lanes))
          return false;
      } else {
        others.push_back(array.strideK);
      }
    }
    return llvm::all_of(others, [&](Int stride) {
      return !stride.isConstant() || stride.getConstant() % access == 0;
    });
  };
  if (plan.storesAlongRows()) {
    if (targets.rows.isConstant() && targets.rows.getConstant() % access != 0)
      return false;
  } else if (plan.order == SparseOrder::Chunks) {
    if (plan.sizeN % plan.chunkK != 0)
      return false;
  } else if (plan.lanesPerChunk != plan.getChunk()) {
    return false;
  }
  return fits(targets.output) &&
         (!targets.beta.value || fits(targets.addend)) &&
         (!targets.epilogue.hasBias || fits(targets.bias)) &&
         (!targets.epilogue.hasResidual || fits(targets.residual));
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// An accumulator as it is stored.
Value SparseStores::round(Value sum) {
  if (sum.getType() == plan.element)
    return sum;
  return arith::TruncFOp::create(k.builder, k.loc, plan.element, sum);
}

/// 16 bytes of results as four words.
SmallVector<Value> SparseStores::packWords(ArrayRef<Value> values) {
  Type element = plan.element;
  Type i32 = k.builder.getI32Type();
  SmallVector<Value> words;
  if (element.isF64()) {
    for (Value value : values)
      llvm::append_range(words,
                         k.unpack(k.bitcast(value, VectorType::get({2}, i32))));
    return words;
  }
  if (element.isF32()) {
    for (Value value : values)
      words.push_back(k.bitcast(value, i32));
    return words;
  }
  StringRef text = element.isF16() ? "cvt.rn.f16x2.f32 $0, $2, $1;"
                                   : "cvt.rn.bf16x2.f32 $0, $2, $1;";
  for (unsigned index = 0; index < values.size(); index += 2)
    words.push_back(k.inlinePTX({i32}, text, "=r,f,f",
                                {values[index], values[index + 1]},
                                /*hasSideEffects=*/false)
                        .front());
  return words;
}

/// A chunk of `array` at a place of the tile, as words; the tile's first ones
/// if that is not `inside`. Where all rows have the same, that one element.
/// Loads stay where they are built, so that many are under way together.
Value SparseStores::loadChunk(const SparseArray &array, const SparseTile &tile,
                              Int row, Int result, Int lane, Value inside) {
  Int offset = getOffset(array, row, result, lane);
  if (inside) {
    Value number = k.materialize(offset);
    Type type = number.getType();
    offset = Int(k.select(inside, number,
                          k.materialize(0, type.getIntOrFloatBitWidth())));
  }
  Value from = k.offsetElements(getBase(array, tile), plan.element, offset);
  if (plan.storesAlongRows() && array.row.is(0))
    return ops.load(plan.element, from).re;
  SmallVector<Type> types(4, k.builder.getI32Type());
  SmallVector<Value> words;
  for (int64_t first = 0; first < plan.getResultWords(); first += 4)
    llvm::append_range(
        words, k.inlinePTX(types, "ld.global.v4.b32 {$0, $1, $2, $3}, [$4];",
                           "=r,=r,=r,=r,l", {k.offsetBytes(from, 4 * first)}));
  return k.makeVector(words);
}

/// Stores what packWords returned.
void SparseStores::storeWords(ArrayRef<Value> words, Value to) {
  for (unsigned first = 0; first < words.size(); first += 4)
    k.store(k.makeVector(words.slice(first, 4)), k.offsetBytes(to, 4 * first),
            targets.output.isBlock ? CacheHint::None : CacheHint::Streaming);
}

/// The elements of what loadChunk returned, as accumulators.
SmallVector<Value> SparseStores::unpackChunk(Value chunk) {
  int64_t count = plan.getChunk();
  if (!isa<VectorType>(chunk.getType()))
    return SmallVector<Value>(count, chunk);
  auto type = VectorType::get({count}, plan.element);
  SmallVector<Value> values = k.unpack(k.bitcast(chunk, type));
  if (plan.element != accumulator)
    for (Value &value : values)
      value = arith::ExtFOp::create(k.builder, k.loc, accumulator, value);
  return values;
}

/// Z for a chunk; zeros, and nothing is read, if beta turns out to be 0.
Value SparseStores::loadAddend(const SparseTile &tile,
                               const SparseResults &place, Value inside) {
  auto load = [&]() -> SmallVector<Value> {
    return {loadChunk(targets.addend, tile, place.row, place.result, place.lane,
                      inside)};
  };
  if (!targets.beta.isDynamic)
    return load().front();
  Type type =
      plan.storesAlongRows() && targets.addend.row.is(0)
          ? accumulator
          : VectorType::get({plan.getResultWords()}, k.builder.getI32Type());
  return k
      .ifElse(
          ops.isZero(*targets.beta.value), {type},
          [&]() -> SmallVector<Value> { return {k.zero(type)}; }, load)
      .front();
}

/// The biases of this thread's results, which are the same in all rows: of
/// every `width` of them that share a chunk, for all chunks of lanes.
SmallVector<Value> SparseStores::loadBiases(const SparseTile &tile,
                                            int64_t width) {
  SmallVector<Value> biases;
  if (!targets.epilogue.hasBias)
    return biases;
  int64_t lanes = plan.alongRows   ? 1
                  : plan.turnsRows ? plan.getLanes()
                                   : plan.laneChunks;
  int64_t lanePitch = plan.turnsRows ? 1 : plan.lanesPerChunk;
  for (int64_t first = 0; first < 2 * plan.resultTiles; first += width) {
    Int result = multiplier.getResult(thread.quad, first % 2, first / 2);
    for (int64_t number = 0; number < lanes; ++number) {
      Int lane = number * lanePitch;
      biases.push_back(loadChunk(targets.bias, tile, 0, result, lane,
                                 isColumnInside(tile, result, lane)));
    }
  }
  return biases;
}

/// Finishes and stores chunks of sums.
void SparseStores::storeTogether(ArrayRef<SparseResults> chunks,
                                 ArrayRef<Value> biases,
                                 const SparseTile &tile) {
  SmallVector<Value> insides, addends, residuals;
  for (const SparseResults &chunk : chunks) {
    Value inside = isInside(tile, chunk.row, chunk.result, chunk.lane,
                            plan.storesAlongRows() ? plan.getChunk() : 1);
    insides.push_back(inside);
    if (targets.beta.value)
      addends.push_back(loadAddend(tile, chunk, inside));
    if (targets.epilogue.hasResidual)
      residuals.push_back(loadChunk(targets.residual, tile, chunk.row,
                                    chunk.result, chunk.lane, inside));
  }
  KernelScale read = targets.beta;
  read.isDynamic = false;
  auto finish = [&](int64_t number) {
    const SparseResults &chunk = chunks[number];
    SmallVector<Value> z, own, other, finished;
    if (targets.beta.value)
      z = unpackChunk(addends[number]);
    if (targets.epilogue.hasBias)
      own = unpackChunk(biases[chunk.column]);
    if (targets.epilogue.hasResidual)
      other = unpackChunk(residuals[number]);
    for (auto [index, value] : llvm::enumerate(chunk.values)) {
      auto take = [&, index = index](ArrayRef<Value> values) {
        return [&, values] { return Scalar{values[index], nullptr}; };
      };
      Scalar sum =
          ops.scaledSum(targets.alpha, read, {value, nullptr}, take(z));
      finished.push_back(
          targets.epilogue.apply(sum, take(own), take(other)).re);
    }
    return packWords(finished);
  };
  Value base = getBase(targets.output, tile);
  for (auto [number, chunk] : llvm::enumerate(chunks)) {
    if (plan.isWideChunk()) {
      // All threads take part in exchanges.
      storeWide(finish(number), chunk, tile);
      continue;
    }
    k.ifThen(insides[number], [&, number = number, &chunk = chunk] {
      Int offset =
          getOffset(targets.output, chunk.row, chunk.result, chunk.lane);
      storeWords(finish(number), k.offsetElements(base, plan.element, offset));
    });
  }
}

/// Results that share a chunk.
static int64_t getChunkWidth(const SparsePlan &plan) {
  return !plan.storesAlongRows() && plan.order == SparseOrder::Chunks
             ? plan.chunkK
             : 1;
}

SmallVector<SparseResults> SparseStores::collectChunks(ArrayRef<MmaC> sums) {
  int64_t width = getChunkWidth(plan);
  int64_t laneChunks = plan.alongRows ? 1 : plan.laneChunks;
  SmallVector<SparseResults> chunks;
  for (int64_t row = 0; row < plan.rowTiles; ++row)
    for (int64_t half : {0, 1})
      for (int64_t first = 0; first < 2 * plan.resultTiles; first += width)
        for (int64_t laneChunk = 0; laneChunk < laneChunks; ++laneChunk) {
          SparseResults &chunk = chunks.emplace_back();
          for (int64_t index = first; index < first + width; ++index)
            for (int64_t part = 0; part < plan.getParts(); ++part)
              chunk.values.push_back(sums[multiplier.getSumNumber(
                  laneChunk, part, row, index / 2)][2 * half + index % 2]);
          chunk.row = getRowOf(row, half, 0);
          chunk.result =
              multiplier.getResult(thread.quad, first % 2, first / 2);
          chunk.lane = laneChunk * plan.lanesPerChunk;
          chunk.column = first / width * laneChunks + laneChunk;
        }
  return chunks;
}

/// Chunks of a thread's neighbouring rows.
SmallVector<SparseResults> SparseStores::collectTurned(ArrayRef<MmaC> sums) {
  SmallVector<SparseResults> chunks;
  for (int64_t index = 0; index < 2 * plan.resultTiles; ++index) {
    Int result = multiplier.getResult(thread.quad, index % 2, index / 2);
    for (int64_t lane = 0; lane < plan.getLanes(); ++lane)
      for (int64_t first = 0; first < plan.getThreadRows();
           first += plan.getChunk()) {
        SparseResults &chunk = chunks.emplace_back();
        for (int64_t row = first; row < first + plan.getChunk(); ++row)
          chunk.values.push_back(sums[multiplier.getSumNumber(
              lane / plan.lanesPerChunk, lane % plan.lanesPerChunk, row / 2,
              index / 2)][2 * (row % 2) + index % 2]);
        chunk.row = getRowOf(first / 2, 0, 0);
        chunk.result = result;
        chunk.lane = lane;
        chunk.column = index * plan.getLanes() + lane;
      }
  }
  return chunks;
}

void SparseStores::storeChunks(ArrayRef<MmaC> sums, const SparseTile &tile) {
  SmallVector<SparseResults> chunks =
      plan.turnsRows ? collectTurned(sums) : collectChunks(sums);
  SmallVector<Value> biases = loadBiases(tile, getChunkWidth(plan));
  ArrayRef<SparseResults> rest(chunks);
  for (; !rest.empty();
       rest = rest.drop_front(std::min(rest.size(), size_t(kChunksTogether))))
    storeTogether(rest.take_front(kChunksTogether), biases, tile);
}

/// A result is 32 or 64 bytes; a thread has both halves of each 32. Threads 2 i
/// and 2 i + 1 give each other one, so that they store 32 bytes together.
void SparseStores::storePairs(ArrayRef<MmaC> sums, const SparseTile &tile) {
  Value isOdd = k.equal(k.bitAnd(thread.quad, 1), 1);
  Value base = getBase(targets.output, tile);
  SmallVector<Value> biases = loadBiases(tile, /*width=*/1);
  auto store = [&](ArrayRef<Value> words, Int row, int64_t owner,
                   int64_t column, int64_t number, int64_t firstChunk) {
    Int lane =
        k.mul(k.add(k.bitAnd(thread.quad, 1), firstChunk), plan.lanesPerChunk);
    // The thread of the pair that computed it.
    Int from = k.add(k.bitAnd(thread.quad, 2), owner);
    Int result = multiplier.getResult(from, column, number);
    k.ifThen(isInside(tile, row, result, lane), [&] {
      storeWords(words, k.offsetElements(
                            base, plan.element,
                            getOffset(targets.output, row, result, lane)));
    });
  };
  auto storeTwo = [&](int64_t rowTile, int64_t half, int64_t index,
                      int64_t firstChunk) {
    SmallVector<Value> halves[2];
    for (int64_t which : {0, 1}) {
      SmallVector<Value> values, own;
      int64_t chunk = firstChunk + which;
      if (targets.epilogue.hasBias)
        own = unpackChunk(biases[plan.laneChunks * index + chunk]);
      for (int64_t part = 0; part < plan.getParts(); ++part) {
        Scalar sum{sums[multiplier.getSumNumber(
                       chunk, part, rowTile, index / 2)][2 * half + index % 2],
                   nullptr};
        sum = targets.epilogue.apply(
            ops.scaledSum(targets.alpha, targets.beta, sum, nullptr),
            [&] {
              return Scalar{own[part], nullptr};
            },
            nullptr);
        values.push_back(sum.re);
      }
      halves[which] = packWords(values);
    }
    SmallVector<Value> even, odd;
    for (auto [first, second] : llvm::zip(halves[0], halves[1])) {
      Value other = k.shuffleXor(k.select(isOdd, first, second), 1);
      even.push_back(k.select(isOdd, other, first));
      odd.push_back(k.select(isOdd, second, other));
    }
    Int row = getRowOf(rowTile, half, 0);
    store(even, row, 0, index % 2, index / 2, firstChunk);
    store(odd, row, 1, index % 2, index / 2, firstChunk);
  };
  for (int64_t rowTile = 0; rowTile < plan.rowTiles; ++rowTile)
    for (int64_t half : {0, 1})
      for (int64_t index = 0; index < 2 * plan.resultTiles; ++index)
        for (int64_t chunk = 0; chunk < plan.laneChunks; chunk += 2)
          storeTwo(rowTile, half, index, chunk);
}

//===----------------------------------------------------------------------===//
// All ways
//===----------------------------------------------------------------------===//

void SparseStores::store(ArrayRef<MmaC> sums, const SparseTile &tile,
                         Value isAligned) {
  if (plan.sharedStore)
    return storeShared(sums, tile);
  if (plan.shiftsResults())
    return storeShifted(sums, tile);
  if (!canStoreChunks())
    return storeElements(sums, tile);
  k.choose(
      isAligned,
      [&] {
        if (plan.order == SparseOrder::Pairs && !plan.alongRows &&
            !targets.output.isBlock && !targets.beta.value &&
            !targets.epilogue.hasResidual)
          storePairs(sums, tile);
        else
          storeChunks(sums, tile);
      },
      [&] { storeElements(sums, tile); });
}
