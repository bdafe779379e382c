//===- AmxInterleave.cpp - Results with a short axis inside ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where the factor depends on the innermost axis, matrix tiles leave results
// for one position of it after the other. In memory these lie next to each
// other: vectors of 32 results for each position are shuffled together. An
// addend lies as the results do, and is taken apart for the positions.
//
//===----------------------------------------------------------------------===//

#include "AmxStep.h"
#include "AmxTile.h"
#include "kron/CodeGen/NarrowFloats.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kLanes = 2 * kAmxRows;

namespace {
/// Where a copy reads and writes; no addend without a beta.
struct Places {
  Value from, to, addend;
};
} // namespace

/// The axis that `copy.from` is contiguous along; -1 without one.
static int getSegmentAxis(const TileCopy &copy) {
  for (auto [axis, stride] : llvm::enumerate(copy.from.strides))
    if (stride.is(1))
      return axis;
  return -1;
}

/// Whether the positions of `array`, bf16, lie next to each other.
static bool hasPositionsInside(const StepArray &array, int axis, int inside,
                               Int positions) {
  return array.strides[inside].is(1) && array.strides[axis] == positions &&
         array.element && array.element.isBF16();
}

bool kron::canInterleave(const TileCopy &copy) {
  constexpr int64_t kMaxPositions = 8;
  int axis = getSegmentAxis(copy);
  int inside = copy.sizes.size() - 1;
  Int positions = copy.sizes[inside];
  return axis >= 0 && axis < inside && copy.sizes[axis].isConstant() &&
         positions.isConstant() && positions.getConstant() > 1 &&
         positions.getConstant() <= kMaxPositions && !copy.from.element &&
         hasPositionsInside(copy.to, axis, inside, positions) &&
         (!copy.scale.beta ||
          hasPositionsInside(copy.addend, axis, inside, positions));
}

/// Vector `index` of what `vectors` are when their lanes take turns.
static Value emitTurns(Emitter &emitter, ArrayRef<Value> vectors,
                       int64_t index) {
  int64_t count = vectors.size();
  Value result;
  for (int64_t source = 0; source + 1 < count; ++source) {
    bool isFirst = source == 0;
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      int64_t place = index * kLanes + lane;
      int64_t turn = place % count, from = place / count;
      bool isNew = turn == source + 1;
      lanes.push_back(isNew     ? kLanes + from
                      : isFirst ? (turn == 0 ? from : 0)
                                : lane);
    }
    result = vector::ShuffleOp::create(emitter.builder, emitter.loc,
                                       isFirst ? vectors.front() : result,
                                       vectors[source + 1], lanes);
  }
  return result;
}

/// Elements of `position` of as many addends as a tile has rows, or of the
/// first `count`, from `addend` on.
static Value emitAddend(Emitter &emitter, const TileCopy &copy, Value addend,
                        int64_t position, int64_t count) {
  int64_t positions = copy.sizes.back().getConstant();
  int64_t width = kAmxRows * positions;
  Value all = emitter.loadVector(
      emitter.getVectorType(width), addend,
      emitter.firstLanes(width, std::min(count, kAmxRows) * positions),
      copy.addend.element);
  SmallVector<int64_t> lanes;
  for (int64_t row = 0; row < kAmxRows; ++row)
    lanes.push_back(row * positions + position);
  return vector::ShuffleOp::create(emitter.builder, emitter.loc, all, all,
                                   lanes);
}

void kron::emitInterleaving(Emitter &emitter, const TileCopy &copy) {
  int axis = getSegmentAxis(copy), inside = copy.sizes.size() - 1;
  int64_t size = copy.sizes[axis].getConstant();
  int64_t positions = copy.sizes[inside].getConstant();
  Emitter halves(emitter.builder, emitter.loc, emitter.builder.getI16Type());
  VectorType type = emitter.getVectorType(kAmxRows);

  auto emitChunk = [&](const Places &at, Int first, int64_t count) {
    SmallVector<Value> vectors;
    for (int64_t position = 0; position < positions; ++position) {
      Value parts[2];
      for (int64_t part = 0; part < 2; ++part) {
        int64_t begin = part * kAmxRows;
        parts[part] = emitter.zero(type);
        if (begin >= count)
          continue;
        Int offset =
            emitter.add(emitter.mul(copy.from.strides[inside], position),
                        emitter.add(first, begin));
        Value value =
            emitter.loadVector(type, emitter.offsetPointer(at.from, offset),
                               emitter.firstLanes(kAmxRows, count - begin));
        parts[part] = emitScaledSum(emitter, copy.scale, value, [&] {
          Int place = emitter.mul(emitter.add(first, begin), positions);
          return emitAddend(emitter, copy,
                            halves.offsetPointer(at.addend, place), position,
                            count - begin);
        });
      }
      vectors.push_back(emitToBF16(emitter, parts[0], parts[1]));
    }
    Value target = halves.offsetPointer(at.to, emitter.mul(first, positions));
    for (int64_t index = 0; index * kLanes < count * positions; ++index)
      halves.storeVector(
          emitTurns(emitter, vectors, index),
          halves.offsetPointer(target, index * kLanes),
          emitter.firstLanes(kLanes, count * positions - index * kLanes));
  };
  std::function<void(int, const Places &)> emitLoops = [&](int number,
                                                           const Places &at) {
    if (number == inside) {
      int64_t full = size / kLanes * kLanes;
      emitter.forLoop(0, full, kLanes,
                      [&](Int first) { emitChunk(at, first, kLanes); });
      if (full < size)
        emitChunk(at, full, size - full);
      return;
    }
    Int extent = number == axis ? Int(1) : copy.sizes[number];
    emitter.forLoop(0, extent, 1, [&](Int index) {
      auto move = [&](Emitter &elements, Value base, const StepArray &array) {
        return elements.offsetPointer(
            base, emitter.mul(index, array.strides[number]));
      };
      emitLoops(
          number + 1,
          {move(emitter, at.from, copy.from), move(halves, at.to, copy.to),
           copy.scale.beta ? move(halves, at.addend, copy.addend) : Value()});
    });
  };
  emitLoops(0, {copy.from.base, copy.to.base, copy.addend.base});
}
