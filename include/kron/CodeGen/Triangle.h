//===- Triangle.h - Boxes of one half of a matrix ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Of a matrix with as many rows as columns, in boxes, those that have an
// element on the diagonal or above it. Rows of boxes become shorter from the
// first one to the last one, so that one from either end together are always
// about as long: they are numbered as one row, a few numbers of which are left.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_TRIANGLE_H
#define KRON_CODEGEN_TRIANGLE_H

#include "kron/CodeGen/Emitter.h"

namespace mlir::kron {

/// `lhs` if `condition` holds, else `rhs`.
Int selectInt(Emitter &emitter, Value condition, Int lhs, Int rhs);

class Triangle {
public:
  /// Of `size` x `size` elements in boxes of `boxRows` x `boxColumns`.
  Triangle(Emitter &emitter, Int size, Int boxRows, Int boxColumns);

  struct Box {
    /// Whether there is one with the number; its row and column of boxes.
    Value exists;
    Int row, column;
    /// Whether it is the first one of its row.
    Value isFirst;
  };

  /// How many numbers there are.
  Int getCount() const;
  Box getBox(Int number) const;
  /// The same of another order, in which no stride finds boxes on the diagonal,
  /// that may take longer, or numbers without a box, of all of many matrices:
  /// `isFirst` means nothing then.
  Box getSpreadBox(Int number, Int matrix) const;

private:
  Box getBox(Int upper, Int place) const;
  /// `number` of `count`, moved `times` times by their golden section.
  Int moveAround(Int number, Int times, Int count) const;
  /// The first column of row `row` of boxes.
  Int getFirst(Int row) const;

  Emitter &emitter;
  Int boxRows, boxColumns;
  /// Boxes along either axis, and numbers of two rows of them.
  Int rows, columns, width;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_TRIANGLE_H
