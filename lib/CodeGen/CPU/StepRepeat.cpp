//===- StepRepeat.cpp - Lanes over few rows and one more axis ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The repeat mapping, for rows so few that packing a factor would cost more
// than the product.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "StepEmitter.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

/// The sums over p: vectors of [lanes, repeats], for one q after the other.
SmallVector<Value> StepEmitter::emitRepeatSums(const Bases &at,
                                               const RepeatTile &tile) {
  int64_t lanes = getMaxLanes(step), elements = tile.lanes * tile.repeats;
  int64_t vectors = llvm::divideCeil(elements, lanes);
  VectorType type = emitter.getVectorType(lanes);
  Value laneMask = emitter.firstLanes(lanes, tile.lanes);
  Value tail = emitter.firstLanes(lanes, elements - (vectors - 1) * lanes);
  SmallVector<Value> sums(tile.sizeN * vectors, emitter.zero(type));
  auto emitStepOfK = [&](Int p, ValueRange carried) {
    SmallVector<Value> sums(carried), f;
    for (int64_t q = 0; q < tile.sizeN; ++q)
      f.push_back(emitter.loadVector(
          type,
          emitter.offsetPointer(
              at.factor,
              emitter.add(emitter.mul(p, factor.strideK),
                          emitter.mul(q, factor.resultStride)),
              factor.element),
          laneMask, factor.element));
    Value source = emitter.offsetPointer(
        at.source, emitter.mul(p, step.source.strides[step.axis]));
    for (int64_t vector = 0; vector < vectors; ++vector) {
      SmallVector<int64_t> numbers;
      for (int64_t lane = 0; lane < lanes; ++lane)
        numbers.push_back(
            std::min((vector * lanes + lane) / tile.repeats, tile.lanes - 1));
      Value x = emitter.loadVector(
          type, emitter.offsetPointer(source, vector * lanes),
          vector == vectors - 1 ? tail : Value());
      for (int64_t q = 0; q < tile.sizeN; ++q) {
        Value repeated = vector::ShuffleOp::create(emitter.builder, emitter.loc,
                                                   f[q], f[q], numbers);
        Value &sum = sums[q * vectors + vector];
        sum = emitMultiplyAdd(emitter, repeated, x, sum);
      }
    }
    return sums;
  };
  return emitter.forLoop(0, step.sizeK, 1, sums, emitStepOfK);
}

void StepEmitter::emitRepeatTile(const Bases &at, const RepeatTile &tile) {
  int64_t lanes = getMaxLanes(step), elements = tile.lanes * tile.repeats;
  SmallVector<Value> sums = emitRepeatSums(at, tile);
  int64_t vectors = sums.size() / tile.sizeN;
  for (auto [index, sum] : llvm::enumerate(sums)) {
    int64_t q = index / vectors, element = index % vectors * lanes;
    storeResult(
        at, sum,
        emitter.add(element,
                    emitter.mul(q, step.destination.strides[step.axis])),
        emitter.add(element,
                    emitter.mul(q, getStride(step.addend.strides, step.axis))),
        emitter.firstLanes(lanes, elements - element));
  }
}

void StepEmitter::emitRepeat(const LoopAxis &laneAxis, int64_t repeats,
                             const Bases &bases) {
  int64_t lanes = getMaxLanes(step), size = laneAxis.size.getConstant();
  int64_t vectors = llvm::divideCeil(std::min(lanes, size) * repeats, lanes);
  // Registers hold the accumulators, a vector of the factor per q, an X, a
  // shuffled factor and the numbers of lanes for every shuffle.
  int64_t registers = step.vectorBits == 512 ? 32 : 16;
  int64_t sizeN =
      std::max<int64_t>(1, (registers - 4 - vectors) / (vectors + 1));
  emitBlocks(step.sizeN, sizeN, [&](Int q, int64_t count) {
    emitBlocks(size, lanes, [&](Int first, int64_t used) {
      Bases at = advanceResults(advance(bases, laneAxis, first), q);
      at.factor = emitter.offsetPointer(
          at.factor, emitter.mul(q, factor.resultStride), factor.element);
      emitRepeatTile(at, {count, used, repeats});
    });
  });
}
