//===- KronFoldModeProducts.cpp - Mid-level canonicalization ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Mode products that do nothing, two factors on one axis whose product is
// cheaper to apply, and kron.fused whose operands changed their types.
//
//===----------------------------------------------------------------------===//

#include "KronFolds.h"
#include "KronShapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

Value kron::multiplyFactors(OpBuilder &builder, Location loc, Value first,
                            unsigned firstDim, Value second, unsigned secondDim,
                            bool conjugateSecond, Precision precision) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(first.getType()).getShape());
  shape[firstDim] = getDimSize(second, 1 - secondDim);
  SmallVector<int64_t, 2> roles(2, ModeProductOp::kResulting);
  roles[secondDim] = ModeProductOp::kContracted;
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, getElementType(first));
  auto product = ModeProductOp::create(
      builder, loc, empty.getType(), first, second, /*alpha=*/Value(),
      /*beta=*/Value(), /*addend=*/Value(), empty, firstDim, roles,
      /*conj_input=*/false, conjugateSecond, /*static_alpha=*/TypedAttr(),
      /*static_beta=*/TypedAttr(), precision, /*plan=*/Attribute());
  return product.getResult(0);
}

bool kron::isMergeableFactor(Value factor) {
  auto type = dyn_cast<RankedTensorType>(factor.getType());
  return type && type.getRank() == 2 && type.hasStaticShape() &&
         getAccumulatorType(type.getElementType()) == type.getElementType();
}

//===----------------------------------------------------------------------===//
// kron.mode_product
//===----------------------------------------------------------------------===//

namespace {
struct IdentityModeProduct : OpRewritePattern<ModeProductOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ModeProductOp op,
                                PatternRewriter &rewriter) const override {
    if (isInFusedOp(op) || op.getConjInput() || !isUnscaled(op))
      return rewriter.notifyMatchFailure(op, "more than a product, or fused");
    if (!isIdentityFactor(op.getFactor()))
      return rewriter.notifyMatchFailure(op, "factor is no identity");
    return replaceByInput(rewriter, op);
  }
};

/// Two products on one axis, factors [p1, q1] and [q1, q2], with nothing but
/// products on other axes between them, become one with the product of the
/// factors where that takes fewer multiply-adds. In a row, it does if
///
///   R*p1*q2 + p1*q1*q2  <  R*p1*q1 + R*q1*q2
///
/// where R counts the elements along the other axes. A product between the two
/// works on q2 instead of q1 elements along the axis. Where sizes are unknown
/// they count as many, so that p1*q1*q2 does not matter.
struct MergeModeProducts : OpRewritePattern<ModeProductOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ModeProductOp op,
                                PatternRewriter &rewriter) const override {
    if (isInFusedOp(op) || !isPlain(op) || !isMergeableFactor(op.getFactor()))
      return rewriter.notifyMatchFailure(op, "more than a plain product");
    SmallVector<ModeProductOp> chain = getChain(op);
    if (chain.empty())
      return rewriter.notifyMatchFailure(op, "no product before on this axis");
    if (!saves(chain))
      return rewriter.notifyMatchFailure(op, "merging costs more");
    rewriter.replaceOp(op, rebuild(rewriter, chain));
    return success();
  }

private:
  /// No conjugation, no plan, no rounding on the way in or out.
  static bool isPlain(ModeProductOp op) {
    Type element = getElementType(op.getFactor());
    return !op.getConjInput() && !op.getConjFactor() && !op.getPlanAttr() &&
           getAccumulatorType(element) == element &&
           getElementType(op.getInput()) == element &&
           getElementType(op.getInit()) == element;
  }

  /// The products from the one before `last` on the same axis, which comes
  /// first, to `last` itself; empty if there is none that `last` may move to.
  static SmallVector<ModeProductOp> getChain(ModeProductOp last) {
    int64_t axis = last.getAxis();
    SmallVector<ModeProductOp> chain{last};
    while (true) {
      auto op = chain.back().getInput().getDefiningOp<ModeProductOp>();
      if (!op || !op->hasOneUse() || !isUnscaled(op) || !isPlain(op) ||
          op.getPrecision() != last.getPrecision() ||
          llvm::is_contained(op.getFactorDims(), axis))
        return {};
      chain.push_back(op);
      if (static_cast<int64_t>(op.getAxis()) != axis)
        continue;
      // The sizes differ if a product between the two stretches the axis.
      if (!isMergeableFactor(op.getFactor()) ||
          getDimSize(op.getFactor(), op.getResultingFactorDim()) !=
              getDimSize(last.getFactor(), last.getContractedFactorDim()))
        return {};
      return llvm::to_vector(llvm::reverse(chain));
    }
  }

  static double getSize(Value array, unsigned dim) {
    int64_t size = getDimSize(array, dim);
    return ShapedType::isDynamic(size) ? 1 : size;
  }

  /// Multiply-adds of `op` per element along `axis`, or in all if that is its
  /// own.
  static double getCost(ModeProductOp op, unsigned axis) {
    double cost = getSize(op.getFactor(), op.getContractedFactorDim());
    for (unsigned dim = 0, rank = getRank(op.getInit()); dim < rank; ++dim)
      if (dim != axis)
        cost *= getSize(op.getInit(), dim);
    return cost;
  }

  static bool saves(ArrayRef<ModeProductOp> chain) {
    ModeProductOp first = chain.front(), last = chain.back();
    unsigned axis = last.getAxis();
    double p1 = getSize(first.getFactor(), first.getContractedFactorDim());
    double q1 = getSize(first.getFactor(), first.getResultingFactorDim());
    double q2 = getSize(last.getFactor(), last.getResultingFactorDim());
    bool hasUnknown = llvm::any_of(chain, [](ModeProductOp op) {
      return !cast<ShapedType>(op.getInit().getType()).hasStaticShape();
    });
    double before = getCost(last, axis) * q2;
    double after = hasUnknown ? 0 : p1 * q1 * q2;
    for (ModeProductOp op : chain.drop_back()) {
      before += getCost(op, axis) * q1;
      after += getCost(op, axis) * q2;
    }
    return after < before;
  }

  /// The chain without its last product, which is merged into the first. What
  /// is then the last one takes its scaling and destination.
  static Value rebuild(PatternRewriter &rewriter,
                       ArrayRef<ModeProductOp> chain) {
    ModeProductOp first = chain.front(), last = chain.back();
    Location loc = last.getLoc();
    unsigned axis = last.getAxis();
    Value factor = multiplyFactors(
        rewriter, loc, first.getFactor(), first.getResultingFactorDim(),
        last.getFactor(), last.getContractedFactorDim(),
        /*conjugateSecond=*/false, last.getPrecision());
    OpFoldResult size = rewriter.getIndexAttr(
        getDimSize(last.getFactor(), last.getResultingFactorDim()));
    Value value = first.getInput();
    for (ModeProductOp op : chain.drop_back()) {
      bool isLast = op == chain[chain.size() - 2];
      Value init = last.getInit();
      if (!isLast) {
        SmallVector<OpFoldResult> sizes =
            tensor::getMixedSizes(rewriter, loc, op.getInit());
        sizes[axis] = size;
        init = tensor::EmptyOp::create(rewriter, loc, sizes,
                                       getElementType(op.getInit()));
      }
      auto product = ModeProductOp::create(
          rewriter, loc, init.getType(), value,
          op == first ? factor : op.getFactor(),
          isLast ? last.getAlpha() : Value(), isLast ? last.getBeta() : Value(),
          isLast ? last.getAddend() : Value(), init, op.getAxis(),
          op.getFactorDims(), /*conj_input=*/false, /*conj_factor=*/false,
          isLast ? last.getStaticAlphaAttr() : TypedAttr(),
          isLast ? last.getStaticBetaAttr() : TypedAttr(), last.getPrecision(),
          /*plan=*/Attribute());
      value = product.getResult(0);
    }
    return value;
  }
};
} // namespace

void kron::populateModeProductPatterns(RewritePatternSet &patterns) {
  patterns.add<IdentityModeProduct, MergeModeProducts>(patterns.getContext());
}

//===----------------------------------------------------------------------===//
// kron.fused
//===----------------------------------------------------------------------===//

namespace {
/// Upstream folds tensor.cast into operands of any destination-style operation;
/// the region follows here.
struct RefineArguments : OpRewritePattern<FusedOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FusedOp op,
                                PatternRewriter &rewriter) const override {
    Block &block = op.getBody().front();
    SmallVector<Type> types = getArgumentTypes(op);
    if (llvm::equal(block.getArgumentTypes(), types))
      return rewriter.notifyMatchFailure(op, "arguments match");
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [argument, type] : llvm::zip(block.getArguments(), types))
        argument.setType(type);
      SmallVector<ModeProductOp> products = op.getModeProducts();
      ModeProductOp last = products.back();
      EpilogueOp epilogue = op.getEpilogue();
      if (epilogue)
        epilogue.getInitMutable().assign(block.getArguments().back());
      else if (last.getAddend() || getBeta(last).isZero())
        last.getInitMutable().assign(block.getArguments().back());
      for (ModeProductOp product : products)
        product->getResult(0).setType(
            cast<RankedTensorType>(product.getInit().getType()));
      if (epilogue)
        epilogue->getResult(0).setType(
            cast<RankedTensorType>(epilogue.getInit().getType()));
    });
    return success();
  }
};
} // namespace

void FusedOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<RefineArguments>(context);
}

//===----------------------------------------------------------------------===//
// kron.epilogue
//===----------------------------------------------------------------------===//

/// A scale of 1 says nothing; an epilogue that does nothing is its input, if
/// that has the type of the result.
LogicalResult EpilogueOp::canonicalize(EpilogueOp op,
                                       PatternRewriter &rewriter) {
  if (TypedAttr scale = op.getScaleAttr();
      scale && Scale{scale, nullptr}.isOne()) {
    rewriter.modifyOpInPlace(op, [&] { op.removeScaleAttr(); });
    return success();
  }
  bool doesNothing = !op.getBias() && !op.getResidual() && !op.getScaleAttr() &&
                     op.getActivation() == Activation::Identity;
  if (!doesNothing || isInFusedOp(op) || op->getNumResults() == 0 ||
      op.getInput().getType() != op->getResult(0).getType())
    return failure();
  rewriter.replaceOp(op, op.getInput());
  return success();
}
