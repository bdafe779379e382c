//===- Triangle.cpp - Boxes of one half of a matrix -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/Triangle.h"

using namespace mlir;
using namespace mlir::kron;

Int kron::selectInt(Emitter &emitter, Value condition, Int lhs, Int rhs) {
  Value left = emitter.materialize(lhs), right = emitter.materialize(rhs);
  if (left.getType() != right.getType()) {
    left = emitter.materialize(emitter.extend(lhs), 64);
    right = emitter.materialize(emitter.extend(rhs), 64);
  }
  return Int(arith::SelectOp::create(emitter.builder, emitter.loc, condition,
                                     left, right));
}

Triangle::Triangle(Emitter &emitter, Int size, Int boxRows, Int boxColumns)
    : emitter(emitter), boxRows(boxRows), boxColumns(boxColumns),
      rows(emitter.ceilDiv(size, boxRows)),
      columns(emitter.ceilDiv(size, boxColumns)) {
  // Rows i and rows - 1 - i have twice the columns less their first ones, whose
  // sum is that of the last row, or one less where these are rounded down.
  bool isExact = boxRows.isConstant() && boxColumns.isConstant() &&
                 boxRows.getConstant() % boxColumns.getConstant() == 0;
  Int first = getFirst(emitter.max(emitter.sub(rows, 1), 0));
  width =
      emitter.sub(emitter.add(emitter.mul(columns, 2), isExact ? 0 : 1), first);
  // Of no elements there are no numbers, but divisors.
  width = emitter.max(width, 1);
}

Int Triangle::getFirst(Int row) const {
  return emitter.floorDiv(emitter.mul(row, boxRows), boxColumns);
}

Int Triangle::getCount() const {
  return emitter.mul(emitter.ceilDiv(rows, 2), width);
}

Triangle::Box Triangle::getBox(Int number) const {
  return getBox(emitter.floorDiv(number, width), emitter.rem(number, width));
}

Int Triangle::moveAround(Int number, Int times, Int count) const {
  // Multiples of it are everywhere.
  constexpr int64_t kSection = 159, kWhole = 256;
  Int step = emitter.floorDiv(emitter.mul(count, kSection), kWhole);
  return emitter.rem(emitter.add(number, emitter.mul(times, step)), count);
}

Triangle::Box Triangle::getSpreadBox(Int number, Int matrix) const {
  Int moved = moveAround(number, matrix, getCount());
  Int upper = emitter.floorDiv(moved, width);
  return getBox(upper, moveAround(moved, upper, width));
}

Triangle::Box Triangle::getBox(Int upper, Int place) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Int lower = emitter.sub(emitter.sub(rows, 1), upper);
  Int count = emitter.sub(columns, getFirst(upper));
  Value isUpper = emitter.less(place, count);
  Box box;
  box.row = selectInt(emitter, isUpper, upper, lower);
  Int behind = selectInt(emitter, isUpper, place, emitter.sub(place, count));
  box.column = emitter.add(getFirst(box.row), behind);
  box.isFirst = emitter.equal(behind, 0);
  // The row in the middle is its own partner.
  Value hasPartner = emitter.less(upper, lower);
  Value isInside = emitter.less(box.column, columns);
  box.exists = arith::OrIOp::create(
      builder, loc, isUpper,
      arith::AndIOp::create(builder, loc, hasPartner, isInside));
  return box;
}
