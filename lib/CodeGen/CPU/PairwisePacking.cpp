//===- PairwisePacking.cpp - Copies of a kron.pairwise ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Lanes of columns that do not exist hold anything: their results are not
// stored. The same goes for positions of K behind the last one, which packed
// parts have room for up to a whole vector.
//
//===----------------------------------------------------------------------===//

#include "PairwiseBuilder.h"
#include "Rearrange.h"

using namespace mlir;
using namespace mlir::kron;

/// Calls `body(first, mask)` for vectors of `count` elements; the mask is that
/// of the last one if it is not whole, else null.
static void forVectors(Emitter &emitter, Int count, int64_t lanes,
                       function_ref<void(Int, Value)> body) {
  Int whole = emitter.mul(emitter.floorDiv(count, lanes), lanes);
  emitter.forLoop(0, whole, lanes, [&](Int first) { body(first, nullptr); });
  if (whole == count)
    return;
  // At most one turn.
  emitter.forLoop(whole, count, lanes, [&](Int first) {
    body(first, emitter.firstLanes(lanes, emitter.sub(count, first)));
  });
}

//===----------------------------------------------------------------------===//
// B
//===----------------------------------------------------------------------===//

/// Columns lie next to each other.
void PairwiseBuilder::packContiguousColumns(Emitter &emitter,
                                            const PairwiseBlock &block,
                                            const PairwiseSlice &slice,
                                            Value from) {
  VectorType type = emitter.getVectorType(lanes);
  Type stored = block.rhs.element;
  emitter.forLoop(0, slice.count, 1, [&](Int k) {
    Value row =
        emitter.offsetPointer(from, emitter.mul(k, block.rhs.inner), stored);
    Value to = emitter.offsetPointer(scratch, emitter.mul(k, width));
    forVectors(emitter, block.columns, lanes, [&](Int first, Value mask) {
      Value vector = emitter.loadVector(
          type, emitter.offsetPointer(row, first, stored), mask, stored);
      emitter.storeVector(vector, emitter.offsetPointer(to, first), nullptr);
    });
  });
}

/// Positions of K lie next to each other: squares of as many columns as there
/// are lanes are transposed in registers. Columns behind the last one repeat
/// it.
void PairwiseBuilder::packTransposed(Emitter &emitter,
                                     const PairwiseBlock &block,
                                     const PairwiseSlice &slice, Value from) {
  VectorType type = emitter.getVectorType(lanes);
  Type stored = block.rhs.element;
  Int last = emitter.sub(block.columns, 1);
  emitter.forLoop(0, block.columns, lanes, [&](Int column) {
    SmallVector<Value> rows;
    for (int64_t index = 0; index < lanes; ++index) {
      Int number = emitter.min(emitter.add(column, index), last);
      rows.push_back(emitter.offsetPointer(
          from, emitter.mul(number, block.rhs.row), stored));
    }
    Value to = emitter.offsetPointer(scratch, column);
    forVectors(emitter, slice.count, lanes, [&](Int first, Value mask) {
      SmallVector<Value> square;
      for (Value row : rows)
        square.push_back(emitter.loadVector(
            type, emitter.offsetPointer(row, first, stored), mask, stored));
      transposeSquare(emitter, square, /*unit=*/1);
      for (auto [index, vector] : llvm::enumerate(square)) {
        Int k = emitter.add(first, index);
        emitter.storeVector(
            vector, emitter.offsetPointer(to, emitter.mul(k, width)), nullptr);
      }
    });
  });
}

void PairwiseBuilder::packColumns(Emitter &emitter, const PairwiseBlock &block,
                                  const PairwiseSlice &slice) {
  const PairwiseMatrix &rhs = block.rhs;
  Value from = emitter.offsetPointer(
      rhs.base, emitter.mul(slice.start, rhs.inner), rhs.element);
  if (rhs.inner.is(1))
    return packTransposed(emitter, block, slice, from);
  if (rhs.row.is(1))
    return packContiguousColumns(emitter, block, slice, from);
  emitter.forLoop(0, slice.count, 1, [&](Int k) {
    emitter.forLoop(0, block.columns, 1, [&](Int column) {
      Int offset =
          emitter.add(emitter.mul(k, rhs.inner), emitter.mul(column, rhs.row));
      Value value = emitter.loadScalar(
          emitter.offsetPointer(from, offset, rhs.element), rhs.element);
      emitter.storeScalar(
          value, emitter.offsetPointer(
                     scratch, emitter.add(emitter.mul(k, width), column)));
    });
  });
}

//===----------------------------------------------------------------------===//
// A
//===----------------------------------------------------------------------===//

PairwiseMatrix PairwiseBuilder::convertRows(Emitter &emitter,
                                            const PairwiseMatrix &lhs,
                                            const PairwiseSlice &slice,
                                            int64_t rows) {
  VectorType type = emitter.getVectorType(lanes);
  PairwiseMatrix converted = lhs;
  converted.base = emitter.offsetPointer(scratch, convertedOffset);
  converted.element = accumulator;
  if (lhs.row.is(1) && !lhs.inner.is(1)) {
    int64_t stride = llvm::alignTo(rows, lanes);
    converted.inner = stride;
    emitter.forLoop(0, slice.count, 1, [&](Int k) {
      Value from = emitter.offsetPointer(lhs.base, emitter.mul(k, lhs.inner),
                                         lhs.element);
      Value to = emitter.offsetPointer(converted.base, emitter.mul(k, stride));
      forVectors(emitter, rows, lanes, [&](Int first, Value mask) {
        Value vector = emitter.loadVector(
            type, emitter.offsetPointer(from, first, lhs.element), mask,
            lhs.element);
        emitter.storeVector(vector, emitter.offsetPointer(to, first), nullptr);
      });
    });
    return converted;
  }
  converted.row = packedK;
  converted.inner = 1;
  for (int64_t row = 0; row < rows; ++row) {
    Value from =
        emitter.offsetPointer(lhs.base, emitter.mul(row, lhs.row), lhs.element);
    Value to = emitter.offsetPointer(converted.base, row * packedK);
    if (lhs.inner.is(1)) {
      forVectors(emitter, slice.count, lanes, [&](Int first, Value mask) {
        Value vector = emitter.loadVector(
            type, emitter.offsetPointer(from, first, lhs.element), mask,
            lhs.element);
        emitter.storeVector(vector, emitter.offsetPointer(to, first), nullptr);
      });
      continue;
    }
    emitter.forLoop(0, slice.count, 1, [&](Int k) {
      Value value = emitter.loadScalar(
          emitter.offsetPointer(from, emitter.mul(k, lhs.inner), lhs.element),
          lhs.element);
      emitter.storeScalar(value, emitter.offsetPointer(to, k));
    });
  }
  return converted;
}
