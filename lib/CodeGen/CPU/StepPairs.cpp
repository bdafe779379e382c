//===- StepPairs.cpp - The k mapping on pairs of bf16 -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// For few rows, widening a factor of bf16 takes longer than multiplying by it.
// So its even and odd elements are multiplied in vectors of their own, by those
// of X, which are taken apart once for all q. Where t has one position, both
// products go to the same sums. Else these are two, which are interleaved to
// what the k mapping would have without pairs.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "Pairs.h"
#include "StepEmitter.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// How many q that follow each other in memory a pair of vectors is read from.
int64_t StepEmitter::getPairResults(int64_t group) const {
  int64_t width = 2 * getMaxLanes(step);
  bool isDense = width % step.sizeK == 0 && factor.resultStride.is(step.sizeK);
  return group == 1 && isDense ? width / step.sizeK : 1;
}

/// Whether words of two elements are multiplied, whose products are added to
/// the same sum: those of two p, which a shuffle brings together where t lies
/// in between.
bool StepEmitter::multipliesWords(int64_t group) const {
  return step.mayPair &&
         (group == 1 || (llvm::isPowerOf2_64(group) && step.sizeK % 2 == 0 &&
                         2 * group <= getMaxLanes(step)));
}

/// Takes the elements of `total` rows of X apart. A row that several q share a
/// vector for is repeated.
StepEmitter::PairPanel StepEmitter::emitPairPanel(const LoopAxis *rows,
                                                  int64_t total, int64_t group,
                                                  Value source) {
  int64_t extent = step.sizeK * group;
  int64_t lanes = getMaxLanes(step), width = 2 * lanes;
  VectorType type = emitter.getVectorType(lanes);
  PairPanel panel;
  panel.rowElements = llvm::alignTo(extent, width);
  panel.base = allocateOnStack(total * panel.rowElements);
  auto load = [&](Value base, Int first, int64_t left) -> Value {
    if (left <= 0)
      return emitter.zero(type);
    return emitter.loadVector(type, emitter.offsetPointer(base, first),
                              emitter.firstLanes(lanes, left));
  };
  bool words = multipliesWords(group);
  int64_t segment = words ? group : 1;
  auto store = [&](Value to, Int first, std::pair<Value, Value> parts) {
    if (words)
      return emitter.storeVector(emitWords(emitter, parts.first, parts.second),
                                 emitter.offsetPointer(to, first), nullptr);
    emitter.storeVector(parts.first, emitter.offsetPointer(to, first), nullptr);
    emitter.storeVector(parts.second,
                        emitter.offsetPointer(to, emitter.add(first, lanes)),
                        nullptr);
  };
  emitter.forLoop(0, total, 1, [&](Int row) {
    Value from = source;
    if (rows)
      from = emitter.offsetPointer(source, emitter.mul(row, rows->source));
    Value to =
        emitter.offsetPointer(panel.base, emitter.mul(row, panel.rowElements));
    if (getPairResults(group) > 1) {
      // No more than that: it may just have been stored so.
      Value once =
          emitter.loadVector(emitter.getVectorType(extent), from, nullptr);
      SmallVector<int64_t> repeated;
      for (int64_t lane = 0; lane < lanes; ++lane)
        repeated.push_back(lane % extent);
      Value all = vector::ShuffleOp::create(emitter.builder, emitter.loc, once,
                                            once, repeated);
      return store(to, 0, emitDeinterleaved(emitter, all, all));
    }
    int64_t full = extent / width * width;
    emitter.forLoop(0, full, width, [&](Int first) {
      store(to, first,
            emitDeinterleaved(emitter, load(from, first, lanes),
                              load(from, emitter.add(first, lanes), lanes),
                              segment));
    });
    if (full < extent)
      store(to, full,
            emitDeinterleaved(emitter, load(from, full, extent - full),
                              load(from, full + lanes, extent - full - lanes),
                              segment));
  });
  return panel;
}

/// `emitKStep` on pairs; X is a panel.
void StepEmitter::emitPairStep(const Bases &at, const KTile &tile, Int first,
                               int64_t index, int64_t left,
                               MutableArrayRef<Value> sums) {
  int64_t lanes = getMaxLanes(step), width = 2 * lanes;
  int64_t units = tile.sizeN / tile.shared, parts = tile.getParts();
  VectorType type = emitter.getVectorType(lanes);
  for (int64_t phase = 0; phase < tile.phases && left > 0;
       ++phase, left -= width) {
    Int start = emitter.add(first, index + phase * width);
    SmallVector<std::pair<Value, Value>> x;
    for (int64_t row = 0; row < tile.rows; ++row) {
      Value base = emitter.offsetPointer(
          at.source, emitter.add(start, emitter.mul(row, tile.source)));
      Value second;
      if (!tile.words)
        second = emitter.loadVector(type, emitter.offsetPointer(base, lanes),
                                    nullptr);
      x.push_back({emitter.loadVector(type, base, nullptr), second});
    }
    for (int64_t unit = 0; unit < units; ++unit) {
      Int offset = emitter.add(
          start, emitter.mul(unit * tile.shared, factor.resultStride));
      Value base = emitter.offsetPointer(at.factor, offset, factor.element);
      emitFactorPrefetch(base, index + phase * width, width);
      int64_t count = std::min(left * tile.shared, width);
      auto getSum = [&](int64_t row) {
        return &sums[((row * units + unit) * tile.phases + phase) * parts];
      };
      if (tile.words) {
        Value words = emitWordsOfSegments(
            emitter, emitWordLoad(emitter, lanes, base, count), tile.group);
        for (int64_t row = 0; row < tile.rows; ++row)
          *getSum(row) =
              emitPairProduct(emitter, words, x[row].first, *getSum(row));
        continue;
      }
      auto [even, odd] = emitPairLoad(emitter, lanes, base, count);
      for (int64_t row = 0; row < tile.rows; ++row) {
        Value *sum = getSum(row);
        sum[0] = emitMultiplyAdd(emitter, even, x[row].first, sum[0]);
        sum[parts - 1] =
            emitMultiplyAdd(emitter, odd, x[row].second, sum[parts - 1]);
      }
    }
  }
}

/// From sums of even and odd elements in turn those of vectors of elements in
/// their order, a period of vectors for every q.
SmallVector<Value> StepEmitter::emitJoinedPairs(const KTile &tile,
                                                ArrayRef<Value> sums) {
  SmallVector<Value> joined;
  for (size_t begin = 0; begin < sums.size(); begin += 2 * tile.phases) {
    // Twice the period, in the order of memory.
    SmallVector<Value> vectors;
    for (int64_t phase = 0; phase < tile.phases; ++phase) {
      auto [first, second] = emitInterleaved(emitter, sums[begin + 2 * phase],
                                             sums[begin + 2 * phase + 1]);
      vectors.push_back(first);
      vectors.push_back(second);
    }
    for (int64_t phase = 0; phase < tile.phases; ++phase)
      joined.push_back(arith::AddFOp::create(emitter.builder, emitter.loc,
                                             vectors[phase],
                                             vectors[phase + tile.phases]));
  }
  return joined;
}
