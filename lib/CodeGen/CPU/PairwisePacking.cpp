//===- PairwisePacking.cpp - Copies of functions of pairs -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Lanes of columns that do not exist hold anything: their results are not
// used. The same goes for positions of K behind the last one, which packed
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
// B, and the values of a kron.pairwise_apply
//===----------------------------------------------------------------------===//

/// Columns lie next to each other.
void PairwiseBuilder::packContiguous(Emitter &emitter,
                                     const PairwiseMatrix &matrix, Int columns,
                                     Int count, Value panel, int64_t stride) {
  VectorType type = emitter.getVectorType(lanes);
  Type stored = matrix.element;
  emitter.forLoop(0, count, 1, [&](Int position) {
    Value row = emitter.offsetPointer(
        matrix.base, emitter.mul(position, matrix.inner), stored);
    Value to = emitter.offsetPointer(panel, emitter.mul(position, stride));
    forVectors(emitter, columns, lanes, [&](Int first, Value mask) {
      Value vector = emitter.loadVector(
          type, emitter.offsetPointer(row, first, stored), mask, stored);
      emitter.storeVector(vector, emitter.offsetPointer(to, first), nullptr);
    });
  });
}

/// Positions lie next to each other: squares of as many columns as there are
/// lanes are transposed in registers. Columns behind the last one repeat it.
void PairwiseBuilder::packTransposed(Emitter &emitter,
                                     const PairwiseMatrix &matrix, Int columns,
                                     Int count, Value panel, int64_t stride) {
  VectorType type = emitter.getVectorType(lanes);
  Type stored = matrix.element;
  Int last = emitter.sub(columns, 1);
  emitter.forLoop(0, columns, lanes, [&](Int column) {
    SmallVector<Value> rows;
    for (int64_t index = 0; index < lanes; ++index) {
      Int number = emitter.min(emitter.add(column, index), last);
      rows.push_back(emitter.offsetPointer(
          matrix.base, emitter.mul(number, matrix.row), stored));
    }
    Value to = emitter.offsetPointer(panel, column);
    forVectors(emitter, count, lanes, [&](Int first, Value mask) {
      SmallVector<Value> square;
      for (Value row : rows)
        square.push_back(emitter.loadVector(
            type, emitter.offsetPointer(row, first, stored), mask, stored));
      transposeSquare(emitter, square, /*unit=*/1);
      for (auto [index, vector] : llvm::enumerate(square)) {
        Int position = emitter.add(first, index);
        emitter.storeVector(
            vector, emitter.offsetPointer(to, emitter.mul(position, stride)),
            nullptr);
      }
    });
  });
}

void PairwiseBuilder::packPanel(Emitter &emitter, const PairwiseMatrix &matrix,
                                Int columns, Int count, Value to,
                                int64_t stride) {
  stride = stride ? stride : width;
  if (matrix.inner.is(1))
    return packTransposed(emitter, matrix, columns, count, to, stride);
  if (matrix.row.is(1))
    return packContiguous(emitter, matrix, columns, count, to, stride);
  emitter.forLoop(0, count, 1, [&](Int position) {
    emitter.forLoop(0, columns, 1, [&](Int column) {
      PairwiseMatrix from = matrix;
      moveMatrix(emitter, from, column, position);
      Int offset = emitter.add(emitter.mul(position, stride), column);
      emitter.storeScalar(emitter.loadScalar(from.base, matrix.element),
                          emitter.offsetPointer(to, offset));
    });
  });
}

void PairwiseBuilder::packColumns(Emitter &emitter, const PairwiseBlock &block,
                                  const PairwiseSlice &slice) {
  PairwiseMatrix rhs = block.rhs;
  moveMatrix(emitter, rhs, 0, slice.start);
  packPanel(emitter, rhs, block.columns, slice.count, scratch);
  if (!hasDirections())
    return;
  PairwiseMatrix along = block.rhsAlong;
  moveMatrix(emitter, along, 0, slice.start);
  packPanel(emitter, along, block.columns, slice.count,
            emitter.offsetPointer(scratch, alongOffset));
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
