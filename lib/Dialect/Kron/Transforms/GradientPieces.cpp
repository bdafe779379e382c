//===- GradientPieces.cpp - kron.ksmm_grad in pieces ----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Elements of D may be too few for all threads: pieces of the batch are summed
// up by threads of their own, and then in their order, so that the result is
// the same every time.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "GradientDecomposer.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"

using namespace mlir;
using namespace mlir::kron;

/// A copy of `array` with the batch first: neighbouring threads take
/// neighbouring features.
Value GradientDecomposer::putBatchFirst(Value array) {
  SmallVector<int64_t> shape(cast<ShapedType>(array.getType()).getShape());
  std::swap(shape.front(), shape.back());
  SmallVector<Value> sizes;
  if (ShapedType::isDynamic(shape.front()))
    sizes.push_back(emitDimSize(rewriter, loc, array, 1));
  Value copy = createBuffer(rewriter, loc, shape, sizes, element, onTensors);
  auto transpose = linalg::TransposeOp::create(rewriter, loc, array, copy,
                                               ArrayRef<int64_t>{1, 0});
  return onTensors ? transpose->getResult(0) : copy;
}

/// `count` rows of `array`, batch first, from `first` on, as [pieces, rows, a,
/// middle, d]; without pieces if there is one.
Value GradientDecomposer::viewRows(Value array, OpFoldResult first,
                                   OpFoldResult count, int64_t pieces,
                                   int64_t middle) {
  SmallVector<OpFoldResult> offsets(2, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes(2, rewriter.getIndexAttr(a * middle * d));
  SmallVector<OpFoldResult> strides(2, rewriter.getIndexAttr(1));
  offsets[0] = first;
  sizes[0] = count;
  Value rows;
  if (onTensors)
    rows = tensor::ExtractSliceOp::create(rewriter, loc, array, offsets, sizes,
                                          strides);
  else
    rows = memref::SubViewOp::create(rewriter, loc, array, offsets, sizes,
                                     strides);
  int64_t known = cast<ShapedType>(rows.getType()).getDimSize(0);
  if (!ShapedType::isDynamic(known))
    known /= pieces;
  ArrayView view;
  view.groups = {{known}, {a, middle, d}};
  if (pieces > 1)
    view.groups.front().insert(view.groups.front().begin(), pieces);
  return expandView(rewriter, loc, rows, view);
}

/// Adds `getTerm` of the elements of `inputs` to `sum`, over the last dimension
/// of `maps`, those of the inputs and of the sum.
Value GradientDecomposer::emitReduction(
    ValueRange inputs, Value sum, ArrayRef<AffineMap> maps,
    function_ref<Value(OpBuilder &, ValueRange)> getTerm) {
  SmallVector<utils::IteratorType> iterators(maps.back().getNumDims(),
                                             utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      rewriter, loc, onTensors ? TypeRange(sum.getType()) : TypeRange(), inputs,
      sum, maps, iterators, [&](OpBuilder &builder, Location, ValueRange args) {
        Value term = getTerm(builder, args);
        linalg::YieldOp::create(builder, loc,
                                emitAdd(builder, loc, args.back(), term));
      });
  return onTensors ? generic.getResult(0) : sum;
}

/// Adds the products of `count` rows from `first` on to `sum`, [pieces, a, b,
/// c, d]; without pieces if there is one.
Value GradientDecomposer::emitProducts(Value sum, OpFoldResult first,
                                       OpFoldResult count, int64_t pieces) {
  MLIRContext *context = op.getContext();
  int64_t begin = pieces > 1 ? 1 : 0, rank = begin + 5;
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims.push_back(rewriter.getAffineDimExpr(dim));
  auto getMap = [&](int64_t middle) {
    SmallVector<AffineExpr> exprs{dims.back(), dims[begin], dims[middle],
                                  dims[begin + 3]};
    if (pieces > 1)
      exprs.insert(exprs.begin(), dims.front());
    return AffineMap::get(rank, 0, exprs, context);
  };
  AffineMap maps[] = {
      getMap(begin + 2), getMap(begin + 1),
      AffineMap::get(rank, 0, ArrayRef(dims).drop_back(), context)};
  Value inputs[] = {viewRows(input, first, count, pieces, c),
                    viewRows(grad, first, count, pieces, b)};
  return emitReduction(
      inputs, sum, maps, [&](OpBuilder &builder, ValueRange args) {
        return emitConjMul(builder, loc, args[0], op.getConjInput(), args[1],
                           op.getConjGrad(), accumulator);
      });
}

/// Adds the sums of all pieces to `sum`, in their order.
Value GradientDecomposer::addPieces(Value sum, Value pieces) {
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim < 5; ++dim)
    dims.push_back(rewriter.getAffineDimExpr(dim));
  SmallVector<AffineExpr> piece{dims[4], dims[0], dims[1], dims[2], dims[3]};
  AffineMap maps[] = {
      AffineMap::get(5, 0, piece, op.getContext()),
      AffineMap::get(5, 0, ArrayRef(dims).drop_back(), op.getContext())};
  return emitReduction(pieces, sum, maps, [](OpBuilder &, ValueRange args) {
    return args.front();
  });
}

Value GradientDecomposer::emitSumOfPieces() {
  if (batchDim == 0)
    return emitPieces();
  input = putBatchFirst(input);
  grad = putBatchFirst(grad);
  batchDim = 0;
  Value sum = emitPieces();
  releaseBuffer(rewriter, loc, grad);
  releaseBuffer(rewriter, loc, input);
  return sum;
}

/// The sum over the batch: that of equal pieces, then of the rows behind them.
Value GradientDecomposer::emitPieces() {
  Value sum = createZeros({a, b, c, d});
  int64_t pieces = form.pieces;
  OpFoldResult begin = rewriter.getIndexAttr(0), end = begin, remainder;
  if (ShapedType::isDynamic(batch)) {
    Value size = emitBatchSize();
    Value count = arith::ConstantIndexOp::create(rewriter, loc, pieces);
    Value rows = arith::RemUIOp::create(rewriter, loc, size, count);
    remainder = pieces > 1 ? rows : size;
    if (pieces > 1)
      end = Value(arith::SubIOp::create(rewriter, loc, size, rows));
  } else {
    end = rewriter.getIndexAttr(pieces > 1 ? batch / pieces * pieces : 0);
    remainder = rewriter.getIndexAttr(pieces > 1 ? batch % pieces : batch);
  }
  if (pieces > 1) {
    Value sums = createZeros({pieces, a, b, c, d});
    sums = emitProducts(sums, begin, end, pieces);
    sum = addPieces(sum, sums);
    releaseBuffer(rewriter, loc, sums);
  }
  if (isConstantIntValue(remainder, 0))
    return sum;
  return emitProducts(sum, end, remainder, /*pieces=*/1);
}
