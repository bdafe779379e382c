//===- TileRows.h - Rows that threads share ---------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEROWS_H
#define KRON_DIALECT_TILE_IR_TILEROWS_H

#include "kron/Dialect/Tile/IR/TileOps.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::kron::tile {

/// Bytes of a segment of a row.
inline constexpr int64_t kSegmentBytes = 16;

/// Rows that threads share: elements of a row, the threads of one, and elements
/// of a segment.
struct SharedRows {
  int64_t length, threads, perSegment;

  /// Of `length` elements of type `element`.
  static SharedRows get(int64_t length, Type element, int64_t threads) {
    return {length, threads, kSegmentBytes / getBytesOf(element)};
  }
  static SharedRows get(LoadRowsOp op) {
    auto [shape, element] = getShapeAndElement(op.getSource());
    return get(shape.back(), element, op.getThreads());
  }
  /// Those of a view or a buffer.
  static std::pair<ArrayRef<int64_t>, Type> getShapeAndElement(Value source);

  /// Of a row, the last of which may end behind it.
  int64_t getSegments() const { return llvm::divideCeil(length, perSegment); }
  /// Whether segments of the rows of `view` are whole, and begin at multiples
  /// of their elements as far as strides are known.
  bool areWhole(ViewType view) const;
  /// One at least, which the row need not have.
  int64_t getSegmentsOfThread() const {
    return std::max<int64_t>(llvm::divideCeil(getSegments(), threads), 1);
  }
};

} // namespace mlir::kron::tile

#endif // KRON_DIALECT_TILE_IR_TILEROWS_H
