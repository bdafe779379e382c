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
  /// Starts to copy what rows and columns of the tile have beside their parts:
  /// norms and scales, which are of no use before setResults. Whoever reads
  /// those of the block before is done, since its threads have voted since.
  void copyNorms();
  /// Makes the results of sums of products, and of the operation. What
  /// copyNorms has started has arrived, and threads have waited for each other.
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
  /// Of a row or column, its norm and its scale: null, if it has none.
  struct Norms {
    Value norm, scale;
  };

  void copyNormsOf(unsigned side);
  SmallVector<Norms> loadNorms(unsigned side);
  Value isBesideDiagonal();
  Value finish(MutableArrayRef<Value> products, bool mayBeSelf);
  Value isOfAll(Value condition);
  /// Bytes of a norm or scale, and of those of a row.
  int64_t getNormBytes() {
    return kron::getElementBytes(type.getElementType());
  }
  int64_t getNormPitch() {
    bool isSquare = !op.getNorms().empty(), isScaled = !op.getScales().empty();
    return ((isSquare ? 1 : 0) + (isScaled ? 1 : 0)) * getNormBytes();
  }
  int64_t getSideRows(unsigned side) const {
    return side ? columns * grid.lanes : rows * grid.groups;
  }

  /// In shared memory: norms and scales of rows, and of columns.
  std::array<int64_t, 2> normPlaces = {};
};

/// A tile.multiply_rows by warpgroups.
void multiplyByWarpgroups(Lowering &lowering, MultiplyRowsOp op);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_ROWPRODUCTS_H
