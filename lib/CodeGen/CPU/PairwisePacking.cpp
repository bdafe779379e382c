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

void kron::forVectors(Emitter &emitter, Int count, int64_t lanes,
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
                                     Int count, Value panel, int64_t stride,
                                     Value centre) {
  VectorType type = emitter.getVectorType(lanes);
  Type stored = matrix.element;
  emitter.forLoop(0, count, 1, [&](Int position) {
    Value common;
    if (centre)
      common = broadcastScalar(
          emitter, type,
          emitter.loadScalar(emitter.offsetPointer(centre, position)));
    Value row = emitter.offsetPointer(
        matrix.base, emitter.mul(position, matrix.inner), stored);
    Value to = emitter.offsetPointer(panel, emitter.mul(position, stride));
    forVectors(emitter, columns, lanes, [&](Int first, Value mask) {
      Value vector = emitter.loadVector(
          type, emitter.offsetPointer(row, first, stored), mask, stored);
      if (centre)
        vector = arith::SubFOp::create(builder, loc, vector, common);
      emitter.storeVector(vector, emitter.offsetPointer(to, first), nullptr);
    });
  });
}

/// Positions lie next to each other: squares of as many columns as there are
/// lanes are transposed in registers. Columns behind the last one repeat it.
void PairwiseBuilder::packTransposed(Emitter &emitter,
                                     const PairwiseMatrix &matrix, Int columns,
                                     Int count, Value panel, int64_t stride,
                                     Value centre) {
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
      if (centre) {
        // Zeros behind the last position, as in the rows.
        Value common = emitter.loadVector(
            type, emitter.offsetPointer(centre, first), nullptr);
        for (Value &row : square)
          row = arith::SubFOp::create(builder, loc, row, common);
      }
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
                                int64_t stride, Value centre) {
  stride = stride ? stride : width;
  if (matrix.inner.is(1))
    return packTransposed(emitter, matrix, columns, count, to, stride, centre);
  if (matrix.row.is(1))
    return packContiguous(emitter, matrix, columns, count, to, stride, centre);
  emitter.forLoop(0, count, 1, [&](Int position) {
    emitter.forLoop(0, columns, 1, [&](Int column) {
      PairwiseMatrix from = matrix;
      moveMatrix(emitter, from, column, position);
      Int offset = emitter.add(emitter.mul(position, stride), column);
      Value element = emitter.loadScalar(from.base, matrix.element);
      if (centre)
        element = arith::SubFOp::create(
            builder, loc, element,
            emitter.loadScalar(emitter.offsetPointer(centre, position)));
      emitter.storeScalar(element, emitter.offsetPointer(to, offset));
    });
  });
}

void PairwiseBuilder::packColumns(Emitter &emitter, const PairwiseBlock &block,
                                  const PairwiseSlice &slice) {
  PairwiseMatrix rhs = block.rhs;
  moveMatrix(emitter, rhs, 0, slice.start);
  if (slice.form == PairwiseForm::Products) {
    packPanel(emitter, rhs, block.columns, slice.count, scratch, width,
              emitter.offsetPointer(scratch, centreOffset));
    return addNorms(emitter, scratch, width, plan.getVectors(), slice,
                    emitter.offsetPointer(scratch, columnNormsOffset));
  }
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

void PairwiseBuilder::copyRow(Emitter &emitter, const PairwiseMatrix &from,
                              Int count, Value to, Value centre) {
  VectorType type = emitter.getVectorType(lanes);
  auto takeOff = [&](Value value, Value common) -> Value {
    return arith::SubFOp::create(builder, loc, value, common);
  };
  if (from.inner.is(1))
    return forVectors(emitter, count, lanes, [&](Int first, Value mask) {
      Value value = emitter.loadVector(
          type, emitter.offsetPointer(from.base, first, from.element), mask,
          from.element);
      if (centre)
        value = takeOff(
            value, emitter.loadVector(
                       type, emitter.offsetPointer(centre, first), nullptr));
      emitter.storeVector(value, emitter.offsetPointer(to, first), nullptr);
    });
  emitter.forLoop(0, count, 1, [&](Int k) {
    Value value = emitter.loadScalar(
        emitter.offsetPointer(from.base, emitter.mul(k, from.inner),
                              from.element),
        from.element);
    if (centre)
      value =
          takeOff(value, emitter.loadScalar(emitter.offsetPointer(centre, k)));
    emitter.storeScalar(value, emitter.offsetPointer(to, k));
  });
}

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
    PairwiseMatrix from = lhs;
    moveMatrix(emitter, from, row);
    copyRow(emitter, from, slice.count,
            emitter.offsetPointer(converted.base, row * packedK), nullptr);
  }
  return converted;
}
