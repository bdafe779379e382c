//===- MultiplyOut.cpp - Sparse factors multiplied with each other --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// With a = a' a1 and d = d1 d' for each factor, a' and d' common to all, their
// product is one of pattern (a', B, C, d'). Its weights are what the other
// factors make of the first one, written out as a matrix of C columns.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Transforms/SparseRewrites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

SparsePattern kron::getProductPattern(ArrayRef<SparsePattern> factors) {
  int64_t a = 0, d = 0;
  for (const SparsePattern &factor : factors) {
    a = std::gcd(a, factor[0]);
    d = std::gcd(d, factor[3]);
  }
  const SparsePattern &first = factors.front(), &last = factors.back();
  return {a, last[0] / a * last[1] * last[3] / d,
          first[0] / a * first[2] * first[3] / d, d};
}

/// The features behind `factor` that those in `reached` before it contribute
/// to.
static llvm::SmallBitVector reachBehind(const SparsePattern &factor,
                                        const llvm::SmallBitVector &reached) {
  auto [a, b, c, d] = std::tuple(factor[0], factor[1], factor[2], factor[3]);
  llvm::SmallBitVector groups(a * d), behind(a * b * d);
  for (unsigned feature : reached.set_bits())
    groups.set(feature / (c * d) * d + feature % d);
  for (unsigned group : groups.set_bits())
    for (int64_t j = 0; j < b; ++j)
      behind.set(group / d * b * d + j * d + group % d);
  return behind;
}

bool kron::isProductFull(ArrayRef<SparsePattern> factors) {
  SparsePattern product = getProductPattern(factors);
  SmallVector<SparsePattern> ofGroup(factors);
  for (SparsePattern &factor : ofGroup) {
    factor[0] /= product[0];
    factor[3] /= product[3];
  }
  // One column of each group of the first factor.
  const SparsePattern &first = ofGroup.front();
  for (int64_t outer = 0; outer < first[0]; ++outer)
    for (int64_t inner = 0; inner < first[3]; ++inner) {
      llvm::SmallBitVector reached(first[0] * first[2] * first[3]);
      reached.set(outer * first[2] * first[3] + inner);
      for (const SparsePattern &factor : ofGroup)
        reached = reachBehind(factor, reached);
      if (!reached.all())
        return false;
    }
  return true;
}

KsmmOp kron::cloneBare(OpBuilder &builder, KsmmOp op, Value input,
                       Value weights, Value init) {
  auto clone = cast<KsmmOp>(builder.clone(*op));
  clone.getInputMutable().assign(input);
  clone.getWeightsMutable().assign(weights);
  clone.getInitMutable().assign(init);
  clone->getResult(0).setType(init.getType());
  return clone;
}

static Value createEmpty(OpBuilder &builder, Location loc,
                         ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(builder, loc, shape, element);
}

/// In a linalg.generic: whether two of its loops are at the same position.
static Value isDiagonal(OpBuilder &builder, Location loc, int64_t loop,
                        int64_t other) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                               linalg::IndexOp::create(builder, loc, loop),
                               linalg::IndexOp::create(builder, loc, other));
}

/// The matrix that `first` is, of `columns` = (a1, c, d1): those of a group of
/// `product` lie in the same columns as those of all others.
static Value writeOut(OpBuilder &builder, KsmmOp first,
                      const SparsePattern &product) {
  Location loc = first.getLoc();
  Type element = kron::getElementType(first.getWeights());
  SparsePattern pattern = first.getPattern();
  int64_t a = product[0], b = pattern[1], c = pattern[2], d = product[3];
  int64_t outer = pattern[0] / a, inner = pattern[3] / d;
  if (outer * inner * d == 1) {
    SmallVector<ReassociationIndices> together{{0, 1}, {2, 3}};
    return tensor::CollapseShapeOp::create(builder, loc, first.getWeights(),
                                           together);
  }
  auto groups = RankedTensorType::get({a, outer, b, c, inner, d}, element);
  Value weights = tensor::ExpandShapeOp::create(
      builder, loc, groups, first.getWeights(),
      SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}, {4, 5}});
  SmallVector<int64_t> shape{a, outer, b, inner, d, outer, c, inner};
  MLIRContext *context = builder.getContext();
  auto loops = AffineMap::getMultiDimIdentityMap(shape.size(), context);
  auto ofWeights = AffineMap::getMultiDimMapWithTargets(
      shape.size(), {0, 1, 2, 6, 3, 4}, context);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  auto matrix = linalg::GenericOp::create(
      builder, loc, TypeRange(RankedTensorType::get(shape, element)), weights,
      createEmpty(builder, loc, shape, element), {ofWeights, loops},
      SmallVector<utils::IteratorType>(shape.size(),
                                       utils::IteratorType::parallel),
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        Value isInGroup =
            arith::AndIOp::create(builder, loc, isDiagonal(builder, loc, 1, 5),
                                  isDiagonal(builder, loc, 3, 7));
        Value value = arith::SelectOp::create(builder, loc, isInGroup,
                                              args.front(), zero);
        linalg::YieldOp::create(builder, loc, value);
      });
  return tensor::CollapseShapeOp::create(
      builder, loc, matrix.getResult(0),
      SmallVector<ReassociationIndices>{{0, 1, 2, 3, 4}, {5, 6, 7}});
}

/// `matrix`, of rows (a, B, d) and C columns, as weights of `product`.
static Value getWeights(OpBuilder &builder, Location loc, Value matrix,
                        const SparsePattern &product) {
  Type element = kron::getElementType(matrix);
  auto [a, b, c, d] =
      std::tuple(product[0], product[1], product[2], product[3]);
  if (d == 1)
    return tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get({a, b, c, d}, element), matrix,
        SmallVector<ReassociationIndices>{{0, 1}, {2, 3}});
  Value expanded = tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get({a, b, d, c}, element), matrix,
      SmallVector<ReassociationIndices>{{0, 1, 2}, {3}});
  return linalg::TransposeOp::create(
             builder, loc, expanded,
             createEmpty(builder, loc, {a, b, c, d}, element),
             ArrayRef<int64_t>{0, 1, 3, 2})
      ->getResult(0);
}

KsmmOp kron::multiplyOut(IRRewriter &rewriter, ArrayRef<KsmmOp> chain) {
  KsmmOp first = chain.front(), last = chain.back();
  SparsePattern product = getProductPattern(llvm::map_to_vector(
      chain, [](KsmmOp op) -> SparsePattern { return op.getPattern(); }));
  rewriter.setInsertionPoint(last);
  Value matrix = writeOut(rewriter, first, product);
  for (KsmmOp op : chain.drop_front()) {
    SparsePattern pattern = op.getPattern();
    Value init = createEmpty(rewriter, op.getLoc(),
                             {pattern[0] * pattern[1] * pattern[3], product[2]},
                             kron::getElementType(matrix));
    // The last one may do more than multiply.
    KsmmOp applied = cloneBare(rewriter, first, matrix, op.getWeights(), init);
    applied.setLayout(Layout::BatchLast);
    matrix = applied->getResult(0);
  }
  Value weights = getWeights(rewriter, last.getLoc(), matrix, product);
  rewriter.modifyOpInPlace(last, [&] {
    last.getInputMutable().assign(first.getInput());
    last.getWeightsMutable().assign(weights);
  });
  for (KsmmOp op : llvm::reverse(chain.drop_back())) {
    Operation *init = op.getInit().getDefiningOp();
    rewriter.eraseOp(op);
    if (init && isOpTriviallyDead(init))
      rewriter.eraseOp(init);
  }
  return last;
}
