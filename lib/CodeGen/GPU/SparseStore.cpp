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

#include "SparseKernel.h"
#include "TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The row (in its tile) of a sum in half `half` of tile `tile`, element `part`
/// of a chunk.
Int SparseKernel::getRowOf(int64_t tile, int64_t half, int64_t part) {
  Int row = k.add(group, 16 * tile + 8 * half);
  if (plan.alongRows)
    row = k.add(k.mul(row, plan.getChunk()), part);
  return k.add(row, k.mul(rowWarp, plan.getRowsPerWarp()));
}

/// Whether a place of the tile is in the array; null if it always is.
Value SparseKernel::isInside(const SparseTile &tile, Int row, Int result,
                             Int lane, int64_t rowCount) {
  Value inside;
  auto check = [&](Int position, Int start, Int size, int64_t extent) {
    if (size.isConstant() && size.getConstant() % extent == 0)
      return;
    inside = k.both(inside, k.less(position, k.sub(size, start)));
  };
  check(k.add(row, rowCount - 1), tile.row, rows, plan.getRows());
  check(result, tile.result, plan.results, plan.getResults());
  check(lane, tile.lane, plan.lanes, plan.getLanes());
  return inside;
}

/// Elements from the tile's first row, result and lane.
Int SparseKernel::getOffset(const SparseArray &array, Int row, Int result,
                            Int lane) {
  return getTileOffset(k, {row, result, lane},
                       {plan.getRows(), plan.getResults(), plan.getLanes()},
                       {array.row, array.depth, array.lane});
}

/// Whether known strides allow stores of 16 bytes.
bool SparseKernel::canStoreChunks() const {
  int64_t chunk = plan.getChunk();
  auto fits = [&](const SparseArray &array) {
    SmallVector<Int> others(array.groups);
    if (plan.alongRows) {
      // An addend that is the same for all rows is read as one element.
      if (array.row.is(0))
        return true;
      if (!array.row.is(1))
        return false;
      others.push_back(array.depth);
    } else {
      others.push_back(array.row);
      if (plan.lanes > 1 && !array.lane.is(1))
        return false;
      if (plan.order == SparseOrder::Chunks) {
        if (!array.depth.is(plan.lanes))
          return false;
      } else {
        others.push_back(array.depth);
      }
    }
    return llvm::all_of(others, [&](Int stride) {
      return !stride.isConstant() || stride.getConstant() % chunk == 0;
    });
  };
  if (plan.alongRows) {
    if (rows.isConstant() && rows.getConstant() % chunk != 0)
      return false;
  } else if (plan.order == SparseOrder::Chunks) {
    if (plan.results % plan.depthPerChunk != 0)
      return false;
  } else if (plan.lanesPerChunk != chunk) {
    return false;
  }
  return fits(output) && (!beta.value || fits(addend));
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// An accumulator as it is stored.
Value SparseKernel::round(Value sum) {
  if (sum.getType() == plan.element)
    return sum;
  return arith::TruncFOp::create(k.builder, k.loc, plan.element, sum);
}

/// 16 bytes of results as four words.
static SmallVector<Value> packWords(KernelBuilder &k, ArrayRef<Value> values,
                                    Type element) {
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

/// Stores 16 bytes of sums, whose first one is at (`row`, `result`, `lane`).
void SparseKernel::storeChunk(ArrayRef<Value> values, const SparseTile &tile,
                              Int row, Int result, Int lane) {
  Value inside =
      isInside(tile, row, result, lane, plan.alongRows ? plan.getChunk() : 1);
  k.ifThen(inside, [&] {
    SmallVector<Value> scaled;
    if (beta.value) {
      auto type = VectorType::get({plan.getChunk()}, plan.element);
      Value base = k.offsetElements(
          offsetTile(addend, tile, /*isFactor=*/false), plan.element,
          k.add(k.mul(k.extend(tile.result), addend.depth),
                getOffset(addend, row, result, lane)));
      SmallVector<Value> others;
      auto load = [&]() -> SmallVector<Value> {
        if (!plan.alongRows || !addend.row.is(0))
          return {k.load(type, base)};
        Value one = k.load(plan.element, base);
        return {k.makeVector(SmallVector<Value>(plan.getChunk(), one))};
      };
      Value vector =
          !beta.isDynamic
              ? load().front()
              : k.ifElse(
                     ops.isZero(*beta.value), {type},
                     [&]() -> SmallVector<Value> { return {k.zero(type)}; },
                     load)
                    .front();
      others = k.unpack(vector);
      for (auto [value, other] : llvm::zip(values, others)) {
        Value wide = other;
        if (plan.element != accumulator)
          wide = arith::ExtFOp::create(k.builder, k.loc, accumulator, other);
        KernelScale read = beta;
        read.isDynamic = false;
        scaled.push_back(ops.scaledSum(alpha, read, Scalar{value, nullptr},
                                       [&] { return Scalar{wide, nullptr}; })
                             .re);
      }
    } else {
      for (Value value : values)
        scaled.push_back(
            ops.scaledSum(alpha, beta, Scalar{value, nullptr}, nullptr).re);
    }
    Value base = k.offsetElements(
        offsetTile(output, tile, /*isFactor=*/false), plan.element,
        k.add(k.mul(k.extend(tile.result), output.depth),
              getOffset(output, row, result, lane)));
    k.store(k.makeVector(packWords(k, scaled, plan.element)), base,
            CacheHint::Streaming);
  });
}

void SparseKernel::storeChunks(ArrayRef<MmaC> all, const SparseTile &tile) {
  SmallVector<MmaC> copy(all);
  MutableArrayRef<MmaC> sums(copy);
  Int firstResult = k.mul(resultWarp, plan.getResultsPerWarp());
  auto getResult = [&](int64_t column, int64_t number) {
    auto [part, known] = getResultOf(k.add(k.mul(quad, 2), column), number);
    return k.add(k.add(firstResult, part), known);
  };
  // Results that share a chunk.
  int64_t width = !plan.alongRows && plan.order == SparseOrder::Chunks
                      ? plan.depthPerChunk
                      : 1;
  int64_t laneChunks = plan.alongRows ? 1 : plan.laneChunks;
  for (int64_t row = 0; row < plan.rowTiles; ++row)
    for (int64_t half : {0, 1})
      for (int64_t first = 0; first < 2 * plan.resultTiles; first += width)
        for (int64_t laneChunk = 0; laneChunk < laneChunks; ++laneChunk) {
          SmallVector<Value> values;
          for (int64_t index = first; index < first + width; ++index)
            for (int64_t part = 0; part < plan.getParts(); ++part)
              values.push_back(getSum(sums, laneChunk, part, row,
                                      index / 2)[2 * half + index % 2]);
          storeChunk(values, tile, getRowOf(row, half, 0),
                     getResult(first % 2, first / 2),
                     laneChunk * plan.lanesPerChunk);
        }
}

/// A result is 32 bytes, of which a thread has both halves. Threads 2 i and 2 i
/// + 1 give each other one, so that they store a result together.
void SparseKernel::storePairs(ArrayRef<MmaC> all, const SparseTile &tile) {
  SmallVector<MmaC> copy(all);
  MutableArrayRef<MmaC> sums(copy);
  Value isOdd = k.equal(k.bitAnd(quad, 1), 1);
  Int firstResult = k.mul(resultWarp, plan.getResultsPerWarp());
  Int lane = k.mul(k.bitAnd(quad, 1), plan.lanesPerChunk);
  Value base = k.offsetElements(offsetTile(output, tile, /*isFactor=*/false),
                                plan.element,
                                k.mul(k.extend(tile.result), output.depth));
  auto store = [&](ArrayRef<Value> words, Int row, int64_t owner,
                   int64_t column, int64_t number) {
    // The thread of the pair that computed it.
    Int from = k.add(k.bitAnd(quad, 2), owner);
    auto [part, known] = getResultOf(k.add(k.mul(from, 2), column), number);
    Int result = k.add(k.add(firstResult, part), known);
    k.ifThen(isInside(tile, row, result, lane), [&] {
      k.store(k.makeVector(words),
              k.offsetElements(base, plan.element,
                               getOffset(output, row, result, lane)),
              CacheHint::Streaming);
    });
  };
  for (int64_t rowTile = 0; rowTile < plan.rowTiles; ++rowTile)
    for (int64_t half : {0, 1})
      for (int64_t index = 0; index < 2 * plan.resultTiles; ++index) {
        SmallVector<Value> halves[2];
        for (int64_t laneChunk : {0, 1}) {
          SmallVector<Value> values;
          for (int64_t part = 0; part < plan.getParts(); ++part) {
            Value sum = getSum(sums, laneChunk, part, rowTile,
                               index / 2)[2 * half + index % 2];
            values.push_back(
                ops.scaledSum(alpha, beta, Scalar{sum, nullptr}, nullptr).re);
          }
          halves[laneChunk] = packWords(k, values, plan.element);
        }
        SmallVector<Value> even, odd;
        for (auto [first, second] : llvm::zip(halves[0], halves[1])) {
          Value other = k.shuffleXor(k.select(isOdd, first, second), 1);
          even.push_back(k.select(isOdd, other, first));
          odd.push_back(k.select(isOdd, second, other));
        }
        Int row = getRowOf(rowTile, half, 0);
        store(even, row, 0, index % 2, index / 2);
        store(odd, row, 1, index % 2, index / 2);
      }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void SparseKernel::storeElements(ArrayRef<MmaC> all, const SparseTile &tile) {
  SmallVector<MmaC> copy(all);
  MutableArrayRef<MmaC> sums(copy);
  Int firstResult = k.mul(resultWarp, plan.getResultsPerWarp());
  auto getBase = [&](const SparseArray &array) {
    return k.offsetElements(offsetTile(array, tile, /*isFactor=*/false),
                            plan.element,
                            k.mul(k.extend(tile.result), array.depth));
  };
  Value base = getBase(output), addendBase;
  if (beta.value)
    addendBase = getBase(addend);
  int64_t laneChunks = plan.alongRows ? 1 : plan.laneChunks;
  auto storeOne = [&](Value sum, Int row, Int result, Int lane) {
    k.ifThen(isInside(tile, row, result, lane), [&] {
      Scalar scaled = ops.scaledSum(alpha, beta, Scalar{sum, nullptr}, [&] {
        return ops.load(plan.element,
                        k.offsetElements(addendBase, plan.element,
                                         getOffset(addend, row, result, lane)));
      });
      k.store(round(scaled.re),
              k.offsetElements(base, plan.element,
                               getOffset(output, row, result, lane)));
    });
  };
  for (int64_t rowTile = 0; rowTile < plan.rowTiles; ++rowTile)
    for (int64_t half : {0, 1})
      for (int64_t index = 0; index < 2 * plan.resultTiles; ++index) {
        auto [own, known] =
            getResultOf(k.add(k.mul(quad, 2), index % 2), index / 2);
        Int result = k.add(k.add(firstResult, own), known);
        for (int64_t laneChunk = 0; laneChunk < laneChunks; ++laneChunk)
          for (int64_t part = 0; part < plan.getParts(); ++part) {
            Value sum = getSum(sums, laneChunk, part, rowTile,
                               index / 2)[2 * half + index % 2];
            Int row = getRowOf(rowTile, half, part);
            Int lane =
                plan.alongRows ? 0 : laneChunk * plan.lanesPerChunk + part;
            storeOne(sum, row, result, lane);
          }
      }
}

/// Computes the warp's results with plain multiply-adds, an element at a time,
/// and stores them: infinities and NaN do not survive the splitting of numbers.
void SparseKernel::computeAgain(const SparseTile &tile) {
  SmallVector<int64_t> extents{plan.getRowsPerWarp(), plan.getResultsPerWarp(),
                               plan.alongRows ? 1 : plan.getLanes()};
  int64_t total = extents[0] * extents[1] * extents[2];
  auto getBase = [&](const SparseArray &array) {
    return k.offsetElements(offsetTile(array, tile, /*isFactor=*/false),
                            plan.element,
                            k.mul(k.extend(tile.result), array.depth));
  };
  Value outputBase = getBase(output), addendBase;
  if (beta.value)
    addendBase = getBase(addend);
  Value data = offsetTile(input, tile, /*isFactor=*/false);
  Value weights = offsetTile(factor, tile, /*isFactor=*/true);
  k.rolledLoop(0, total, 32, [&](Int first) {
    Positions place =
        decodeItem(k, k.add(first, k.laneId()), extents, {2, 1, 0});
    Int row = k.add(place[0], k.mul(rowWarp, plan.getRowsPerWarp()));
    Int result = k.add(place[1], k.mul(resultWarp, plan.getResultsPerWarp()));
    Int lane = place[2];
    k.ifThen(isInside(tile, row, result, lane), [&] {
      Value from =
          k.offsetElements(data, plan.element, getOffset(input, row, 0, lane));
      Value weight = k.offsetElements(
          weights, plan.element,
          getTileOffset(k, {result, lane}, {plan.getResults(), plan.getLanes()},
                        {factor.row, factor.lane}));
      SmallVector<Value> sum = k.rolledLoop(
          0, plan.depth, 1, ValueRange(ops.zero().re),
          [&](Int depth, ValueRange carried) -> SmallVector<Value> {
            auto load = [&](Value base, Int stride) {
              Int offset = k.mul(k.extend(depth), stride);
              return ops.load(plan.element,
                              k.offsetElements(base, plan.element, offset),
                              CacheHint::ReadOnly);
            };
            return {ops.fma(load(from, input.depth), load(weight, factor.depth),
                            Scalar{carried.front(), nullptr})
                        .re};
          });
      Scalar scaled =
          ops.scaledSum(alpha, beta, Scalar{sum.front(), nullptr}, [&] {
            return ops.load(
                plan.element,
                k.offsetElements(addendBase, plan.element,
                                 getOffset(addend, row, result, lane)));
          });
      k.store(round(scaled.re),
              k.offsetElements(outputBase, plan.element,
                               getOffset(output, row, result, lane)));
    });
  });
}

void SparseKernel::store(ArrayRef<MmaC> sums, const SparseTile &tile) {
  auto storeAll = [&] {
    if (!canStoreChunks())
      return storeElements(sums, tile);
    ifAligned([&](bool isAligned) {
      if (!isAligned)
        storeElements(sums, tile);
      else if (plan.order == SparseOrder::Pairs && !plan.alongRows &&
               !beta.value)
        storePairs(sums, tile);
      else
        storeChunks(sums, tile);
    });
  };
  if (!plan.element.isF32())
    return storeAll();
  SmallVector<const MmaC *> pointers;
  for (const MmaC &sum : sums)
    pointers.push_back(&sum);
  Value isBad = products.isAnyNotFinite(pointers);
  k.choose(isBad, [&] { computeAgain(tile); }, storeAll);
}
