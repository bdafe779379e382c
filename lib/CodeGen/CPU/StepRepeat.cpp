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
  int64_t strideK =
      factor.strideK.isConstant() ? factor.strideK.getConstant() : lanes;
  auto emitStepOfK = [&](Int first, int64_t index,
                         MutableArrayRef<Value> sums) {
    SmallVector<Value> f;
    Int p = emitter.add(first, index);
    for (int64_t q = 0; q < tile.sizeN; ++q) {
      Value base = emitter.offsetPointer(
          at.factor,
          emitter.add(emitter.mul(p, factor.strideK),
                      emitter.mul(q, factor.resultStride)),
          factor.element);
      emitFactorPrefetch(base, index * strideK, strideK);
      f.push_back(emitter.loadVector(type, base, laneMask, factor.element));
    }
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
  };
  int64_t unrolled = getTurnsOfLine(strideK);
  int64_t full = step.sizeK / unrolled * unrolled;
  sums = emitter.forLoop(0, full, unrolled, sums,
                         [&](Int first, ValueRange carried) {
                           SmallVector<Value> values(carried);
                           for (int64_t index = 0; index < unrolled; ++index)
                             emitStepOfK(first, index, values);
                           return values;
                         });
  for (int64_t index = 0; index < step.sizeK - full; ++index)
    emitStepOfK(full, index, sums);
  return sums;
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
  int64_t sizeN = getRepeatResults(step, size, repeats);
  emitBlocks(step.sizeN, sizeN, [&](Int q, int64_t count) {
    emitBlocks(size, lanes, [&](Int first, int64_t used) {
      Bases at = advanceResults(advance(bases, laneAxis, first), q);
      at.factor = emitter.offsetPointer(
          at.factor, emitter.mul(q, factor.resultStride), factor.element);
      emitRepeatTile(at, {count, used, repeats});
    });
  });
}
