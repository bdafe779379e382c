//===- SliceSparse.cpp - kron.ksmm as loops over products -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Weights of a Kronecker-sparse factor may be copied, such that those that are
// multiplied together lie together. With the batch last every t is a dense
// product of strided matrices, of which loops on the host take one after the
// other.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "kron/Dialect/Kron/IR/LaunchChoice.h"
#include "kron/Dialect/Kron/Transforms/SparseRewrites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

bool kron::isBareProduct(KsmmOp op) {
  return op.getTransInput() == Transpose::N && !kron::getAlpha(op).isZero() &&
         !op.getBias() && !op.getResidual() && !op.getScaleAttr() &&
         op.getActivation() == Activation::Identity;
}

void kron::transposeWeights(IRRewriter &rewriter, KsmmOp op) {
  rewriter.setInsertionPoint(op);
  Value weights = op.getWeights();
  SmallVector<int64_t> shape(getShapedType(weights).getShape());
  std::swap(shape[1], shape[2]);
  bool onTensors = isOnTensors(weights);
  Value copy = createBuffer(rewriter, op.getLoc(), shape, /*sizes=*/{},
                            kron::getElementType(weights), onTensors);
  auto transpose = linalg::TransposeOp::create(
      rewriter, op.getLoc(), weights, copy, ArrayRef<int64_t>{0, 2, 1, 3});
  if (onTensors)
    copy = transpose->getResult(0);
  rewriter.modifyOpInPlace(op, [&] {
    op.getWeightsMutable().assign(copy);
    op.setTransWeights(Transpose::N);
  });
  rewriter.setInsertionPointAfter(op);
  releaseBuffer(rewriter, op.getLoc(), copy);
}

void kron::copyWeightsByProducts(IRRewriter &rewriter, KsmmOp op,
                                 int64_t alignedBytes) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value weights = op.getWeights();
  SmallVector<int64_t, 4> pattern = op.getPattern();
  Type element = kron::getElementType(weights);
  int64_t run = alignedBytes * 8 / element.getIntOrFloatBitWidth();
  SmallVector<int64_t> sizes{pattern[0], pattern[3], pattern[1], pattern[2]};
  SmallVector<int64_t> shape(sizes), zeros(4, 0), ones(4, 1);
  shape.back() = llvm::alignTo(shape.back(), run);
  Value buffer = createBuffer(rewriter, loc, shape, /*sizes=*/{}, element,
                              /*onTensors=*/false);
  Value copy = buffer;
  if (shape != sizes)
    copy = memref::SubViewOp::create(rewriter, loc, buffer, zeros, sizes, ones);
  bool isTransposed = op.getTransWeights() != Transpose::N;
  int64_t first = isTransposed ? 2 : 1, second = isTransposed ? 1 : 2;
  linalg::TransposeOp::create(rewriter, loc, weights, copy,
                              ArrayRef<int64_t>{0, 3, first, second});
  auto back = AffineMapAttr::get(AffineMap::getPermutationMap(
      ArrayRef<unsigned>{0, 2, 3, 1}, rewriter.getContext()));
  Value view = memref::TransposeOp::create(rewriter, loc, copy, back);
  rewriter.modifyOpInPlace(op, [&] {
    op.getWeightsMutable().assign(view);
    op.setTransWeights(Transpose::N);
  });
  rewriter.setInsertionPointAfter(op);
  releaseBuffer(rewriter, loc, buffer);
}

/// Enters a loop on the host: its counter.
static Value enterLoop(IRRewriter &rewriter, Location loc, int64_t end,
                       int64_t step) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto loop =
      scf::ForOp::create(rewriter, loc, number(0), number(end), number(step));
  rewriter.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

/// `count` rows of a matrix, `stride` apart.
static Value sliceRows(IRRewriter &rewriter, Location loc, Value array,
                       Value first, int64_t count, int64_t stride) {
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  OpFoldResult columns = memref::getMixedSize(rewriter, loc, array, 1);
  OpFoldResult offsets[] = {first, zero};
  OpFoldResult sizes[] = {rewriter.getIndexAttr(count), columns};
  OpFoldResult strides[] = {rewriter.getIndexAttr(stride), one};
  return memref::SubViewOp::create(rewriter, loc, array, offsets, sizes,
                                   strides);
}

/// A copy of `op` on other arrays, which replaces it.
static KsmmOp cloneOn(IRRewriter &rewriter, KsmmOp op, Value input,
                      Value weights, Value init) {
  auto product = cast<KsmmOp>(rewriter.clone(*op));
  rewriter.modifyOpInPlace(product, [&] {
    product.getInputMutable().assign(input);
    product.getWeightsMutable().assign(weights);
    product.getInitMutable().assign(init);
  });
  rewriter.eraseOp(op);
  return product;
}

KsmmOp kron::sliceGroups(IRRewriter &rewriter, KsmmOp op) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  if (pattern[0] == 1)
    return op;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value group = enterLoop(rewriter, loc, pattern[0], 1);
  auto slice = [&](Value array, int64_t rows) {
    Value count = arith::ConstantIndexOp::create(rewriter, loc, rows);
    Value first = arith::MulIOp::create(rewriter, loc, group, count);
    return sliceRows(rewriter, loc, array, first, rows, 1);
  };
  Value input = slice(op.getInput(), pattern[2] * pattern[3]);
  Value init = slice(op.getInit(), pattern[1] * pattern[3]);
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets(4, zero), strides(4, one), sizes{one};
  for (int64_t size : getShapedType(op.getWeights()).getShape().drop_front())
    sizes.push_back(rewriter.getIndexAttr(size));
  offsets.front() = group;
  Value weights = memref::SubViewOp::create(rewriter, loc, op.getWeights(),
                                            offsets, sizes, strides);
  return cloneOn(rewriter, op, input, weights, init);
}

KsmmOp kron::sliceByT(IRRewriter &rewriter, KsmmOp op) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value t = enterLoop(rewriter, loc, pattern[3], 1);
  // Row i of X belongs to product i mod d.
  Value input = sliceRows(rewriter, loc, op.getInput(), t,
                          pattern[0] * pattern[2], pattern[3]);
  Value init = sliceRows(rewriter, loc, op.getInit(), t,
                         pattern[0] * pattern[1], pattern[3]);
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{zero, zero, zero, t}, strides(4, one);
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : getShapedType(op.getWeights()).getShape().drop_back())
    sizes.push_back(rewriter.getIndexAttr(size));
  sizes.push_back(one);
  Value weights = memref::SubViewOp::create(rewriter, loc, op.getWeights(),
                                            offsets, sizes, strides);
  return cloneOn(rewriter, op, input, weights, init);
}

KsmmOp kron::sliceProducts(IRRewriter &rewriter, KsmmOp op, int64_t sizeN) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t products = pattern[3];
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value t = enterLoop(rewriter, loc, products, 1);
  Value first = enterLoop(rewriter, loc, pattern[1], sizeN);
  Value count = arith::ConstantIndexOp::create(rewriter, loc, products);
  Value start = arith::MulIOp::create(rewriter, loc, first, count);
  start = arith::AddIOp::create(rewriter, loc, start, t);
  // Row i of X belongs to product i mod d.
  Value input =
      sliceRows(rewriter, loc, op.getInput(), t, pattern[2], products);
  Value init = sliceRows(rewriter, loc, op.getInit(), start, sizeN, products);
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{zero, first, zero, t};
  SmallVector<OpFoldResult> sizes{one, rewriter.getIndexAttr(sizeN),
                                  rewriter.getIndexAttr(pattern[2]), one};
  SmallVector<OpFoldResult> strides(4, one);
  Value weights = memref::SubViewOp::create(rewriter, loc, op.getWeights(),
                                            offsets, sizes, strides);
  return cloneOn(rewriter, op, input, weights, init);
}

std::pair<KsmmOp, KsmmOp> kron::branchByRows(IRRewriter &rewriter, KsmmOp op,
                                             int64_t leastRows,
                                             int64_t rowUnit) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value rows = memref::DimOp::create(rewriter, loc, op.getInit(),
                                     1 - op.getFeatureDim());
  Value remainder;
  if (rowUnit > 1)
    remainder = arith::RemUIOp::create(rewriter, loc, rows, number(rowUnit));
  Value isMany = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge,
                                       rows, number(leastRows));
  LaunchRequirements requirements{{"min_rows", leastRows}};
  if (remainder) {
    Value isEven = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, remainder, number(0));
    isMany = arith::AndIOp::create(rewriter, loc, isMany, isEven);
    requirements.push_back({"row_unit", rowUnit});
  }
  markLaunchChoice(isMany, requirements);
  auto branches =
      scf::IfOp::create(rewriter, loc, isMany, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branches.thenBlock());
  auto many = cast<KsmmOp>(rewriter.clone(*op));
  rewriter.setInsertionPointToStart(branches.elseBlock());
  auto others = cast<KsmmOp>(rewriter.clone(*op));
  rewriter.eraseOp(op);
  return {many, others};
}
