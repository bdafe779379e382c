//===- TransposeRows.cpp - Sparse factors with the batch last instead -----===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Blocks of rows are transposed, multiplied with the batch last, and transposed
// again: elements that lie apart with the batch first are rows then.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "kron/Dialect/Kron/Transforms/SparseRewrites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::kron;

SmallVector<KsmmOp> kron::transposeRows(IRRewriter &rewriter, KsmmOp op,
                                        int64_t blockRows) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto initType = cast<MemRefType>(op.getInit().getType());
  Type element = initType.getElementType();
  int64_t rows = initType.getDimSize(0), results = initType.getDimSize(1);
  int64_t sizeK = cast<ShapedType>(op.getInput().getType()).getDimSize(1);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto slice = [&](Value array, Value first, int64_t rows) -> Value {
    int64_t features = cast<MemRefType>(array.getType()).getDimSize(1);
    OpFoldResult zero = rewriter.getIndexAttr(0),
                 one = rewriter.getIndexAttr(1);
    OpFoldResult offsets[] = {first, zero}, strides[] = {one, one};
    OpFoldResult sizes[] = {rewriter.getIndexAttr(rows),
                            rewriter.getIndexAttr(features)};
    return memref::SubViewOp::create(rewriter, loc, array, offsets, sizes,
                                     strides);
  };
  auto clone = [&](Value input, Value init) {
    auto product = cast<KsmmOp>(rewriter.clone(*op));
    rewriter.modifyOpInPlace(product, [&] {
      product.getInputMutable().assign(input);
      product.getInitMutable().assign(init);
    });
    return product;
  };
  auto transpose = [&](Value from, Value to) {
    linalg::TransposeOp::create(rewriter, loc, from, to,
                                ArrayRef<int64_t>{1, 0});
  };
  auto create = [&](int64_t features) {
    return createBuffer(rewriter, loc, {features, blockRows}, /*sizes=*/{},
                        element,
                        /*onTensors=*/false);
  };

  SmallVector<KsmmOp> products;
  int64_t left = rows % blockRows;
  Value end = number(rows - left);
  if (left)
    products.push_back(
        clone(slice(op.getInput(), end, left), slice(op.getInit(), end, left)));
  Value input = create(sizeK), init = create(results);
  auto loop =
      scf::ForOp::create(rewriter, loc, number(0), end, number(blockRows));
  rewriter.setInsertionPointAfter(loop);
  releaseBuffer(rewriter, loc, input);
  releaseBuffer(rewriter, loc, init);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  transpose(slice(op.getInput(), first, blockRows), input);
  KsmmOp product = clone(input, init);
  rewriter.modifyOpInPlace(product,
                           [&] { product.setLayout(Layout::BatchLast); });
  products.push_back(product);
  rewriter.setInsertionPointAfter(product);
  transpose(init, slice(op.getInit(), first, blockRows));
  rewriter.eraseOp(op);
  return products;
}
