//===- AmxInterleave.cpp - Results with a short axis inside ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where the factor depends on the innermost axis, matrix tiles leave results
// for one position of it after the other. In memory these lie next to each
// other: vectors of 32 results for each position are shuffled together.
//
//===----------------------------------------------------------------------===//

#include "AmxStep.h"
#include "AmxTile.h"
#include "Pairs.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kLanes = 2 * kAmxRows;

/// The axis that `copy.from` is contiguous along; -1 without one.
static int getSegmentAxis(const TileCopy &copy) {
  for (auto [axis, stride] : llvm::enumerate(copy.from.strides))
    if (stride.is(1))
      return axis;
  return -1;
}

bool kron::canInterleave(const TileCopy &copy) {
  constexpr int64_t kMaxPositions = 8;
  int axis = getSegmentAxis(copy);
  int inside = copy.sizes.size() - 1;
  Int positions = copy.sizes[inside];
  return axis >= 0 && axis < inside && copy.sizes[axis].isConstant() &&
         positions.isConstant() && positions.getConstant() > 1 &&
         positions.getConstant() <= kMaxPositions &&
         copy.to.strides[inside].is(1) && copy.to.strides[axis] == positions &&
         !copy.scale.beta && !copy.from.element && copy.to.element &&
         copy.to.element.isBF16();
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

void kron::emitInterleaving(Emitter &emitter, const TileCopy &copy) {
  int axis = getSegmentAxis(copy), inside = copy.sizes.size() - 1;
  int64_t size = copy.sizes[axis].getConstant();
  int64_t positions = copy.sizes[inside].getConstant();
  Emitter halves(emitter.builder, emitter.loc, emitter.builder.getI16Type());
  VectorType type = emitter.getVectorType(kAmxRows);

  auto emitChunk = [&](Value from, Value to, Int first, int64_t count) {
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
            emitter.loadVector(type, emitter.offsetPointer(from, offset),
                               emitter.firstLanes(kAmxRows, count - begin));
        parts[part] = emitScaledSum(emitter, copy.scale, value, nullptr);
      }
      vectors.push_back(emitToBF16(emitter, parts[0], parts[1]));
    }
    Value target = halves.offsetPointer(to, emitter.mul(first, positions));
    for (int64_t index = 0; index * kLanes < count * positions; ++index)
      halves.storeVector(
          emitTurns(emitter, vectors, index),
          halves.offsetPointer(target, index * kLanes),
          emitter.firstLanes(kLanes, count * positions - index * kLanes));
  };
  std::function<void(int, Value, Value)> emitLoops = [&](int number, Value from,
                                                         Value to) {
    if (number == inside) {
      int64_t full = size / kLanes * kLanes;
      emitter.forLoop(0, full, kLanes,
                      [&](Int first) { emitChunk(from, to, first, kLanes); });
      if (full < size)
        emitChunk(from, to, full, size - full);
      return;
    }
    Int extent = number == axis ? Int(1) : copy.sizes[number];
    emitter.forLoop(0, extent, 1, [&](Int index) {
      emitLoops(number + 1,
                emitter.offsetPointer(
                    from, emitter.mul(index, copy.from.strides[number])),
                halves.offsetPointer(
                    to, emitter.mul(index, copy.to.strides[number])));
    });
  };
  emitLoops(0, copy.from.base, copy.to.base);
}
