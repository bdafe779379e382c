//===- TileColumns.h - How columns of rows lie in views ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILECOLUMNS_H
#define KRON_DIALECT_TILE_IR_TILECOLUMNS_H

#include "kron/Dialect/Tile/IR/TileOps.h"

namespace mlir::kron::tile {

/// Columns of a view whose last three axes are K, groups, and the results of a
/// group.
struct ColumnLayout {
  ColumnLayout(ViewType view, int64_t width);

  int64_t sizeK, groups, sizeN;
  /// Results of a column.
  int64_t width;
  /// Whether the results of a group share their elements; or have elements of
  /// their own, all of which follow each other.
  bool isShared, isDense;
  /// Groups that the results of a column belong to at most, and whether each of
  /// them belongs to the same one, counted from the first, in all columns.
  int64_t span;
  bool isRegular;

  /// Elements that a column loads, and those of them that follow each other.
  int64_t getElements() const {
    return isShared ? span * sizeK : width * sizeK;
  }
  int64_t getSegment() const;
  /// Columns that a warp has of a group.
  int64_t getColumnsPerGroup() const;
};

/// The loop whose columns `columns` are; null if they are of none.
ForColumnsOp getColumnsLoop(Value columns);

} // namespace mlir::kron::tile

#endif // KRON_DIALECT_TILE_IR_TILECOLUMNS_H
