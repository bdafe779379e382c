//===- Rearrange.cpp - Copies that change the order of elements -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Rearrange.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

static Value emitShuffle(Emitter &emitter, Value first, Value second,
                         ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(emitter.builder, emitter.loc, first, second,
                                   lanes);
}

void kron::forBlocks(Emitter &emitter, int64_t size, int64_t block,
                     function_ref<void(Int, int64_t)> body) {
  int64_t full = size / block * block;
  emitter.forLoop(0, full, block, [&](Int first) { body(first, block); });
  if (full < size)
    body(full, size - full);
}

void kron::transposeSquare(Emitter &emitter, MutableArrayRef<Value> rows,
                           int64_t unit) {
  int64_t size = rows.size();
  for (int64_t step = 1; step < size; step *= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < size * unit; ++lane) {
      bool moves = lane / unit & step;
      int64_t distance = step * unit, second = size * unit;
      upper.push_back(moves ? second + lane - distance : lane);
      lower.push_back(moves ? second + lane : lane + distance);
    }
    for (int64_t row = 0; row < size; ++row) {
      if (row & step)
        continue;
      Value first = rows[row], second = rows[row + step];
      rows[row] = emitShuffle(emitter, first, second, upper);
      rows[row + step] = emitShuffle(emitter, first, second, lower);
    }
  }
}

void kron::emitTransposition(Emitter &emitter, const Transposition &shape,
                             int64_t lanes, Value from, Value to, Type stored) {
  int64_t size = lanes / shape.unit;
  VectorType type = emitter.getVectorType(lanes);
  auto emitSquare = [&](Int row, int64_t numRows, Int column,
                        int64_t numColumns) {
    Value source =
        emitter.offsetPointer(from,
                              emitter.add(emitter.mul(row, shape.sourceStride),
                                          emitter.mul(column, shape.unit)),
                              stored);
    Value target = emitter.offsetPointer(
        to, emitter.add(emitter.mul(column, shape.targetStride),
                        emitter.mul(row, shape.unit)));
    SmallVector<Value> vectors(size, emitter.zero(type));
    Value mask = emitter.firstLanes(lanes, numColumns * shape.unit);
    for (int64_t index = 0; index < numRows; ++index)
      vectors[index] = emitter.loadVector(
          type,
          emitter.offsetPointer(source, emitter.mul(index, shape.sourceStride),
                                stored),
          mask, stored);
    transposeSquare(emitter, vectors, shape.unit);
    mask = emitter.firstLanes(lanes, numRows * shape.unit);
    for (int64_t index = 0; index < numColumns; ++index)
      emitter.storeVector(
          vectors[index],
          emitter.offsetPointer(target, index * shape.targetStride), mask);
  };
  forBlocks(emitter, shape.rows, size, [&](Int row, int64_t numRows) {
    forBlocks(emitter, shape.columns, size, [&](Int column, int64_t number) {
      emitSquare(row, numRows, column, number);
    });
  });
}

void kron::emitDeinterleaving(Emitter &emitter, const Transposition &shape,
                              int64_t lanes, Value from, Value to,
                              Type stored) {
  int64_t columns = shape.columns;
  VectorType type = emitter.getVectorType(lanes);
  SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  forBlocks(emitter, shape.rows, lanes, [&](Int row, int64_t numRows) {
    Value source =
        emitter.offsetPointer(from, emitter.mul(row, columns), stored);
    SmallVector<Value> vectors(columns, emitter.zero(type));
    for (int64_t index = 0; index * lanes < numRows * columns; ++index)
      vectors[index] = emitter.loadVector(
          type, emitter.offsetPointer(source, index * lanes, stored),
          emitter.firstLanes(lanes, numRows * columns - index * lanes), stored);
    // Every step moves the lowest bit of an element's number to the top.
    for (int64_t step = 1; step < columns; step *= 2) {
      SmallVector<Value> previous(vectors);
      for (int64_t pair = 0; pair < columns / 2; ++pair) {
        Value first = previous[2 * pair], second = previous[2 * pair + 1];
        vectors[pair] = emitShuffle(emitter, first, second, even);
        vectors[columns / 2 + pair] = emitShuffle(emitter, first, second, odd);
      }
    }
    Value mask = emitter.firstLanes(lanes, numRows);
    for (int64_t column = 0; column < columns; ++column)
      emitter.storeVector(
          vectors[column],
          emitter.offsetPointer(to,
                                emitter.add(row, column * shape.targetStride)),
          mask);
  });
}

void kron::emitPrefetchSoon(Emitter &emitter, Value pointer) {
  // To be read, prefetcht0, data.
  LLVM::Prefetch::create(emitter.builder, emitter.loc, pointer, /*rw=*/0,
                         /*hint=*/3, /*cache=*/1);
}

void kron::emitContiguousCopy(Emitter &emitter, int64_t elements, int64_t lanes,
                              Value from, Value to, Type stored) {
  forBlocks(emitter, elements, lanes, [&](Int first, int64_t count) {
    Value mask = emitter.firstLanes(lanes, count);
    Value vector = emitter.loadVector(
        emitter.getVectorType(lanes),
        emitter.offsetPointer(from, first, stored), mask, stored);
    emitter.storeVector(vector, emitter.offsetPointer(to, first), mask);
  });
}
