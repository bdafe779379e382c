//===- SplitSparse.cpp - kron.ksmm as products side by side -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// With the batch first, the d products of a Kronecker-sparse factor are
// interleaved: element t of every d. They can be taken apart first, in copies:
//
//   X[n, a, c, d] -> X'[n, a, d, c],  K[a, b, c, d] -> K'[a, d, b, c],
//   Y'[n, a, d, b] = K' X'  (a pattern of (a d, b, c, 1)),
//   Y'[n, a, d, b] -> Y[n, a, b, d],
//
// one block of rows after another, so that the copies do not take as much
// memory as the arrays.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
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

bool kron::hasDenseRows(KsmmOp op) {
  for (Value array : {op.getInput(), op.getInit()}) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(cast<MemRefType>(array.getType())
                   .getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return false;
  }
  return true;
}

namespace {
/// The rows of a block: the first one, and how many there are.
struct RowBlock {
  OpFoldResult first, count;
};
} // namespace

/// Those rows of `array` viewed as [rows, a, outer, inner].
static Value viewRows(RewriterBase &rewriter, Location loc, Value array,
                      const RowBlock &block, ArrayRef<int64_t> features) {
  int64_t rank = getShapedType(array).getRank();
  SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0)),
      strides(rank, rewriter.getIndexAttr(1)),
      sizes = memref::getMixedSizes(rewriter, loc, array);
  offsets.front() = block.first;
  sizes.front() = block.count;
  Value rows =
      memref::SubViewOp::create(rewriter, loc, array, offsets, sizes, strides);
  ArrayView view;
  view.groups = {{getShapedType(rows).getDimSize(0)},
                 SmallVector<int64_t>(features)};
  return expandView(rewriter, loc, rows, view);
}

/// The weights [a, b, c, d] of `op` as [a d, b, c, 1], in a new array.
static Value splitWeights(RewriterBase &rewriter, KsmmOp op, Value copy) {
  Location loc = op.getLoc();
  SmallVector<int64_t, 4> pattern = op.getPattern();
  bool isTransposed = op.getTransWeights() != Transpose::N;
  linalg::TransposeOp::create(rewriter, loc, op.getWeights(), copy,
                              isTransposed ? ArrayRef<int64_t>{0, 3, 2, 1}
                                           : ArrayRef<int64_t>{0, 3, 1, 2});
  ArrayView merged, last;
  merged.groups = {{pattern[0], pattern[3]}, {pattern[1]}, {pattern[2]}};
  last.groups = {{pattern[0] * pattern[3]}, {pattern[1]}, {pattern[2], 1}};
  return expandView(rewriter, loc, collapseView(rewriter, loc, copy, merged),
                    last);
}

/// Enters a loop over blocks of `block` rows of `array`, or nothing if that is
/// all of them: the block that the builder stands in then.
static RowBlock enterBlocks(RewriterBase &rewriter, Location loc, Value array,
                            int64_t block) {
  int64_t rows = getShapedType(array).getDimSize(0);
  if (rows == block)
    return {rewriter.getIndexAttr(0), rewriter.getIndexAttr(rows)};
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value end = emitDimSize(rewriter, loc, array, 0);
  auto loop = scf::ForOp::create(rewriter, loc, number(0), end, number(block));
  rewriter.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  if (!ShapedType::isDynamic(rows) && rows % block == 0)
    return {first, rewriter.getIndexAttr(block)};
  Value left = arith::SubIOp::create(rewriter, loc, end, first);
  Value count = arith::MinUIOp::create(rewriter, loc, left, number(block));
  return {first, count};
}

KsmmOp kron::splitProducts(IRRewriter &rewriter, KsmmOp op, int64_t blockRows) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Type element = kron::getElementType(op.getInit());
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t a = pattern[0], b = pattern[1], c = pattern[2], d = pattern[3];
  auto create = [&](ArrayRef<int64_t> shape) {
    return createBuffer(rewriter, loc, shape, /*sizes=*/{}, element,
                        /*onTensors=*/false);
  };
  Value buffers[] = {create({blockRows, a * d * c}), create({a, d, b, c}),
                     create({blockRows, a * d * b})};
  Value weights = splitWeights(rewriter, op, buffers[1]);

  RowBlock block = enterBlocks(rewriter, loc, op.getInit(), blockRows);
  RowBlock start{rewriter.getIndexAttr(0), block.count};
  auto copy = [&](Value from, Value to) {
    linalg::TransposeOp::create(rewriter, loc, from, to,
                                ArrayRef<int64_t>{0, 1, 3, 2});
  };
  Value input = viewRows(rewriter, loc, buffers[0], start, {a, d, c});
  Value results = viewRows(rewriter, loc, buffers[2], start, {a, d, b});
  copy(viewRows(rewriter, loc, op.getInput(), block, {a, c, d}), input);
  auto merge = [&](Value array) {
    ArrayRef<int64_t> shape = getShapedType(array).getShape();
    ArrayView view;
    view.groups = {{shape.front()}, SmallVector<int64_t>(shape.drop_front())};
    return collapseView(rewriter, loc, array, view);
  };
  Value flatInput = merge(input), flatResults = merge(results);
  auto product = cast<KsmmOp>(rewriter.clone(*op));
  rewriter.modifyOpInPlace(product, [&] {
    product.getInputMutable().assign(flatInput);
    product.getWeightsMutable().assign(weights);
    product.getInitMutable().assign(flatResults);
    product.setTransWeights(Transpose::N);
  });
  copy(results, viewRows(rewriter, loc, op.getInit(), block, {a, b, d}));
  rewriter.setInsertionPointAfter(op);
  for (Value buffer : buffers)
    releaseBuffer(rewriter, loc, buffer);
  rewriter.eraseOp(op);
  return product;
}
