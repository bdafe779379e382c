//===- RowProducts.h - Products of rows of two tiles ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_ROWPRODUCTS_H
#define KRON_LIB_CONVERSION_TILETONVVM_ROWPRODUCTS_H

#include "Pairs.h"

namespace mlir::kron::tile {

/// What a tile.multiply_rows does whichever instruction multiplies.
class RowProducts {
public:
  RowProducts(Lowering &lowering, MultiplyRowsOp op);

protected:
  Value constant(double value) {
    return k.constant(type.getElementType(), value);
  }
  Value mul(Value lhs, Value rhs) {
    return arith::MulFOp::create(k.builder, k.loc, lhs, rhs);
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddFOp::create(k.builder, k.loc, lhs, rhs);
  }
  /// Parts of the rows of this tile from row `first` on.
  SmallVector<PairSide> getSides(ValueRange views, Value ring, Int first,
                                 int64_t rows);
  /// Copies `stepK` positions of K from `position` on to slot number `slot`:
  /// thread `thread` its part.
  void copySides(ArrayRef<PairSide> sides, Int thread, Int position, Int slot);
  /// Makes the results of sums of products, and of the operation.
  void setResults(SmallVector<Value> products);

  Lowering &lowering;
  KernelBuilder &k;
  MultiplyRowsOp op;
  FragmentType type;
  ThreadGrid grid;
  Type element;
  const int64_t stepK, rows, columns, parts, stages;
  /// Of a row of a step and part.
  const int64_t rowBytes;
  Int sizeK, firstRow, firstColumn;

private:
  SmallVector<Value> loadOfRows(ValueRange views, bool ofColumns);
  Value finish(MutableArrayRef<Value> products);
  Value isOfAll(Value condition);
};

/// A tile.multiply_rows by warpgroups.
void multiplyByWarpgroups(Lowering &lowering, MultiplyRowsOp op);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_ROWPRODUCTS_H
