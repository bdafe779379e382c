//===- StageFewRows.cpp - Factors that are used as they lie -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The depth and the repeat mapping, for rows so few that packing a factor would
// cost more than the product.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "StageEmitter.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Depth mapping
//===----------------------------------------------------------------------===//

/// Every one of `count` segments of `segment` lanes in `first` and `second`,
/// with its halves added up; those of `second` (if any) behind.
static Value emitHalvedSegments(Emitter &emitter, Value first, Value second,
                                int64_t segment) {
  OpBuilder &builder = emitter.builder;
  int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  int64_t total = second ? 2 * lanes : lanes;
  SmallVector<int64_t> lower, upper;
  for (int64_t begin = 0; begin < total; begin += segment) {
    for (int64_t lane = 0; lane < segment / 2; ++lane) {
      lower.push_back(begin + lane);
      upper.push_back(begin + segment / 2 + lane);
    }
  }
  Value other = second ? second : first;
  Value left =
      vector::ShuffleOp::create(builder, emitter.loc, first, other, lower);
  Value right =
      vector::ShuffleOp::create(builder, emitter.loc, first, other, upper);
  if (isa<FloatType>(emitter.element))
    return arith::AddFOp::create(builder, emitter.loc, left, right);
  return arith::AddIOp::create(builder, emitter.loc, left, right);
}

/// One vector with the sums over p of all `accumulators` (a power of two, at
/// most one vector of results): `group` lanes each, in their order.
static Value emitDepthSum(Emitter &emitter, SmallVector<Value> accumulators,
                          int64_t lanes, int64_t group) {
  int64_t segment = lanes;
  for (; accumulators.size() > 1; segment /= 2) {
    SmallVector<Value> halved;
    for (size_t index = 0; index < accumulators.size(); index += 2)
      halved.push_back(emitHalvedSegments(emitter, accumulators[index],
                                          accumulators[index + 1], segment));
    accumulators = std::move(halved);
  }
  Value sum = accumulators.front();
  for (; segment > group; segment /= 2)
    sum = emitHalvedSegments(emitter, sum, nullptr, segment);
  return sum;
}

void StageEmitter::emitDepthTile(const Bases &at, const DepthTile &tile) {
  int64_t lanes = getMaxLanes(stage), extent = stage.depth * tile.group;
  VectorType type = emitter.getVectorType(lanes);
  SmallVector<Value> sums(tile.rows * tile.results, emitter.zero(type));
  auto emitStep = [&](Int first, Value mask, SmallVectorImpl<Value> &sums) {
    SmallVector<Value> x;
    for (int64_t row = 0; row < tile.rows; ++row)
      x.push_back(emitter.loadVector(
          type,
          emitter.offsetPointer(
              at.source, emitter.add(first, emitter.mul(row, tile.source))),
          mask));
    for (int64_t q = 0; q < tile.results; ++q) {
      Value f = emitter.loadVector(
          type,
          emitter.offsetPointer(
              at.factor,
              emitter.add(first, emitter.mul(q, factor.resultStride)),
              factor.element),
          mask, factor.element);
      for (int64_t row = 0; row < tile.rows; ++row) {
        Value &sum = sums[row * tile.results + q];
        sum = emitMultiplyAdd(emitter, f, x[row], sum);
      }
    }
  };
  int64_t full = extent / lanes * lanes;
  sums =
      emitter.forLoop(0, full, lanes, sums, [&](Int first, ValueRange carried) {
        SmallVector<Value> values(carried);
        emitStep(first, nullptr, values);
        return values;
      });
  if (full < extent)
    emitStep(full, emitter.firstLanes(lanes, extent - full), sums);

  int64_t perVector = std::min(lanes / tile.group, tile.results);
  for (int64_t row = 0; row < tile.rows; ++row) {
    for (int64_t q = 0; q < tile.results; q += perVector) {
      ArrayRef<Value> own =
          ArrayRef(sums).slice(row * tile.results + q, perVector);
      Value sum =
          emitDepthSum(emitter, SmallVector<Value>(own), lanes, tile.group);
      int64_t element = q * tile.group;
      storeResult(at, sum,
                  emitter.add(element, emitter.mul(row, tile.destination)),
                  emitter.add(element, emitter.mul(row, tile.addend)), nullptr);
    }
  }
}

void StageEmitter::emitDepth(const LoopAxis *rowAxis, const Bases &bases) {
  DepthTile tile;
  tile.group = nest.inner.empty() ? 1 : nest.inner.back().size.getConstant();
  if (rowAxis) {
    tile.source = rowAxis->source;
    tile.destination = rowAxis->destination;
    tile.addend = rowAxis->addend;
  }
  // About 16 accumulators (8 where there are 16 registers): 1 row of 16 q, 2 of
  // 8, 3 or 4 of 4.
  int64_t total = rowAxis ? rowAxis->size.getConstant() : 1;
  int64_t block = llvm::divideCeil(total, llvm::divideCeil(total, 4));
  int64_t accumulators = stage.vectorBits == 512 ? 16 : 8;
  int64_t results = accumulators / llvm::PowerOf2Ceil(block);
  Int first = 0;
  // What is left of the results goes in blocks of half as many, and so on.
  for (int64_t left = stage.results; left > 0; results /= 2) {
    int64_t count = left / results;
    left -= count * results;
    tile.results = results;
    emitter.forLoop(0, count, 1, [&](Int position) {
      Int q = emitter.add(first, emitter.mul(position, results));
      emitBlocks(total, block, [&](Int row, int64_t rows) {
        Bases at = rowAxis ? advance(bases, *rowAxis, row) : bases;
        Int element = emitter.mul(q, tile.group);
        at.factor = emitter.offsetPointer(
            at.factor, emitter.mul(q, factor.resultStride), factor.element);
        at.destination = emitter.offsetPointer(at.destination, element,
                                               stage.destination.element);
        if (at.addend)
          at.addend =
              emitter.offsetPointer(at.addend, element, stage.addend.element);
        tile.rows = rows;
        emitDepthTile(at, tile);
      });
    });
    first = emitter.add(first, count * results);
  }
}

//===----------------------------------------------------------------------===//
// Repeat mapping
//===----------------------------------------------------------------------===//

/// The sums over p: vectors of [lanes, repeats], for one q after the other.
SmallVector<Value> StageEmitter::emitRepeatSums(const Bases &at,
                                                const RepeatTile &tile) {
  int64_t lanes = getMaxLanes(stage), elements = tile.lanes * tile.repeats;
  int64_t vectors = llvm::divideCeil(elements, lanes);
  VectorType type = emitter.getVectorType(lanes);
  Value laneMask = emitter.firstLanes(lanes, tile.lanes);
  Value tail = emitter.firstLanes(lanes, elements - (vectors - 1) * lanes);
  SmallVector<Value> sums(tile.results * vectors, emitter.zero(type));
  auto emitStep = [&](Int p, ValueRange carried) {
    SmallVector<Value> sums(carried), f;
    for (int64_t q = 0; q < tile.results; ++q)
      f.push_back(emitter.loadVector(
          type,
          emitter.offsetPointer(
              at.factor,
              emitter.add(emitter.mul(p, factor.depthStride),
                          emitter.mul(q, factor.resultStride)),
              factor.element),
          laneMask, factor.element));
    Value source = emitter.offsetPointer(
        at.source, emitter.mul(p, stage.source.strides[stage.axis]));
    for (int64_t vector = 0; vector < vectors; ++vector) {
      SmallVector<int64_t> numbers;
      for (int64_t lane = 0; lane < lanes; ++lane)
        numbers.push_back(
            std::min((vector * lanes + lane) / tile.repeats, tile.lanes - 1));
      Value x = emitter.loadVector(
          type, emitter.offsetPointer(source, vector * lanes),
          vector == vectors - 1 ? tail : Value());
      for (int64_t q = 0; q < tile.results; ++q) {
        Value repeated = vector::ShuffleOp::create(emitter.builder, emitter.loc,
                                                   f[q], f[q], numbers);
        Value &sum = sums[q * vectors + vector];
        sum = emitMultiplyAdd(emitter, repeated, x, sum);
      }
    }
    return sums;
  };
  return emitter.forLoop(0, stage.depth, 1, sums, emitStep);
}

void StageEmitter::emitRepeatTile(const Bases &at, const RepeatTile &tile) {
  int64_t lanes = getMaxLanes(stage), elements = tile.lanes * tile.repeats;
  SmallVector<Value> sums = emitRepeatSums(at, tile);
  int64_t vectors = sums.size() / tile.results;
  for (auto [index, sum] : llvm::enumerate(sums)) {
    int64_t q = index / vectors, element = index % vectors * lanes;
    storeResult(
        at, sum,
        emitter.add(element,
                    emitter.mul(q, stage.destination.strides[stage.axis])),
        emitter.add(element, emitter.mul(q, getStride(stage.addend.strides,
                                                      stage.axis))),
        emitter.firstLanes(lanes, elements - element));
  }
}

void StageEmitter::emitRepeat(const LoopAxis &laneAxis, int64_t repeats,
                              const Bases &bases) {
  int64_t lanes = getMaxLanes(stage), size = laneAxis.size.getConstant();
  int64_t vectors = llvm::divideCeil(std::min(lanes, size) * repeats, lanes);
  // Registers hold the accumulators, a vector of the factor per q, an X, a
  // shuffled factor and the numbers of lanes for every shuffle.
  int64_t registers = stage.vectorBits == 512 ? 32 : 16;
  int64_t results =
      std::max<int64_t>(1, (registers - 4 - vectors) / (vectors + 1));
  emitBlocks(stage.results, results, [&](Int q, int64_t count) {
    emitBlocks(size, lanes, [&](Int first, int64_t used) {
      Bases at = advanceResults(advance(bases, laneAxis, first), q);
      at.factor = emitter.offsetPointer(
          at.factor, emitter.mul(q, factor.resultStride), factor.element);
      emitRepeatTile(at, {count, used, repeats});
    });
  });
}
