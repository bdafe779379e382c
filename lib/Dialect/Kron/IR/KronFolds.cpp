//===- KronFolds.cpp - Canonicalization of scaling and op() -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What every computing operation shares. In canonical form
//
// - constant alpha and beta are attributes, and absent where they are 1 and 0;
// - an addend is there only where it is read and is not the destination;
// - a tensor destination whose contents are not read is a tensor.empty;
// - alpha is not 0 (but for a beta other than 0 and 1, which lowerings handle);
// - T stands for C on real types, and trans_factors is absent if all are N;
// - no operand is the transpose of a tensor if op() or factor_dims can say so.
//
//===----------------------------------------------------------------------===//

#include "KronFolds.h"
#include "KronShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

bool kron::isInFusedOp(Operation *op) {
  return isa<FusedOp>(op->getParentOp());
}

bool kron::isUnscaled(ScaledOpInterface op) {
  return getAlpha(op).isOne() && getBeta(op).isZero();
}

Value kron::castToType(OpBuilder &builder, Location loc, Value value,
                       Type type) {
  if (value.getType() == type)
    return value;
  if (!tensor::CastOp::areCastCompatible(value.getType(), type))
    return nullptr;
  return tensor::CastOp::create(builder, loc, type, value);
}

static APFloat convertFloat(FloatType type, Attribute attr) {
  APFloat value = cast<FloatAttr>(attr).getValue();
  bool losesInfo;
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

TypedAttr kron::getScalarAttr(Type type, Attribute attr) {
  if (auto floatType = dyn_cast<FloatType>(type);
      floatType && isa<FloatAttr>(attr))
    return FloatAttr::get(floatType, convertFloat(floatType, attr));
  if (isa<IntegerType>(type) && isa<IntegerAttr>(attr))
    return cast<TypedAttr>(attr);
  auto complexType = dyn_cast<ComplexType>(type);
  auto parts = dyn_cast<ArrayAttr>(attr);
  if (!complexType || !parts || parts.size() != 2 ||
      !llvm::all_of(parts, llvm::IsaPred<FloatAttr>))
    return nullptr;
  auto part = cast<FloatType>(complexType.getElementType());
  // The attribute is built from doubles.
  if (part.getWidth() > 64)
    return nullptr;
  return complex::NumberAttr::get(
      complexType, convertFloat(part, parts[0]).convertToDouble(),
      convertFloat(part, parts[1]).convertToDouble());
}

//===----------------------------------------------------------------------===//
// Scaling
//===----------------------------------------------------------------------===//

static TypedAttr getConstant(Value value) {
  Attribute attr;
  if (!value || !matchPattern(value, m_Constant(&attr)))
    return nullptr;
  return kron::getScalarAttr(value.getType(), attr);
}

namespace {
/// A constant operand becomes an attribute.
template <typename OpTy> struct ConstantScale : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    TypedAttr alpha = getConstant(op.getAlpha());
    TypedAttr beta = getConstant(op.getBeta());
    if (!alpha && !beta)
      return rewriter.notifyMatchFailure(op, "no constant scalar operand");
    rewriter.modifyOpInPlace(op, [&] {
      if (alpha) {
        op.setStaticAlphaAttr(alpha);
        op.getAlphaMutable().clear();
      }
      if (beta) {
        op.setStaticBetaAttr(beta);
        op.getBetaMutable().clear();
      }
    });
    return success();
  }
};

/// alpha(1) and beta(0) say nothing.
template <typename OpTy> struct DefaultScale : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    bool hasAlpha = isOneConstant(op.getStaticAlphaAttr());
    bool hasBeta = isZeroConstant(op.getStaticBetaAttr());
    bool hasScale = false;
    if constexpr (std::is_same_v<OpTy, KsmmOp>)
      hasScale = isOneConstant(op.getScaleAttr());
    if (!hasAlpha && !hasBeta && !hasScale)
      return rewriter.notifyMatchFailure(op, "no default given");
    rewriter.modifyOpInPlace(op, [&] {
      if (hasAlpha)
        op.removeStaticAlphaAttr();
      if (hasBeta)
        op.removeStaticBetaAttr();
      if constexpr (std::is_same_v<OpTy, KsmmOp>)
        if (hasScale)
          op.removeScaleAttr();
    });
    return success();
  }
};

/// An addend that is not read, or that is the destination itself.
template <typename OpTy> struct RedundantAddend : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getAddend())
      return rewriter.notifyMatchFailure(op, "no addend");
    if (!getBeta(op).isZero() && op.getAddend() != op.getInit())
      return rewriter.notifyMatchFailure(op, "addend is read");
    rewriter.modifyOpInPlace(op, [&] { op.getAddendMutable().clear(); });
    return success();
  }
};

/// Filling a destination whose contents are not read is a pass over memory for
/// nothing.
template <typename OpTy> struct UnreadInit : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isa<TensorType>(op.getInit().getType()) ||
        (!op.getAddend() && !getBeta(op).isZero()))
      return rewriter.notifyMatchFailure(op, "destination is read");
    Value init;
    if (auto fill = op.getInit().template getDefiningOp<linalg::FillOp>())
      init = fill.getDpsInits()[0];
    else if (op.getInit().template getDefiningOp<arith::ConstantOp>())
      init = tensor::EmptyOp::create(
          rewriter, op.getLoc(),
          tensor::getMixedSizes(rewriter, op.getLoc(), op.getInit()),
          getElementType(op.getInit()));
    if (!init || init.getType() != op.getInit().getType())
      return rewriter.notifyMatchFailure(op, "destination is not filled");
    rewriter.modifyOpInPlace(op, [&] { op.getInitMutable().assign(init); });
    return success();
  }
};

/// alpha = 0: Y is beta * Z, here for a beta of 0 and 1.
template <typename OpTy> struct ZeroAlpha : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!getAlpha(op).isZero() || isInFusedOp(op))
      return rewriter.notifyMatchFailure(op, "alpha is not 0");
    if constexpr (std::is_same_v<OpTy, KsmmOp>)
      if (op.hasEpilogue())
        return rewriter.notifyMatchFailure(op, "epilogue needs the product");
    bool isTensor = isa<TensorType>(op.getInit().getType());
    Scale beta = getBeta(op);
    if (beta.isZero()) {
      TypedAttr zero = kron::getScalarAttr(getElementType(op.getInit()), 0.0);
      Value constant = Scale{zero, nullptr}.materialize(rewriter, op.getLoc());
      auto fill =
          linalg::FillOp::create(rewriter, op.getLoc(), constant, op.getInit());
      rewriter.replaceOp(op, fill->getResults());
      return success();
    }
    if (!beta.isOne() || (!isTensor && op.getAddend()))
      return rewriter.notifyMatchFailure(op, "Z is scaled or copied");
    if (!isTensor) {
      rewriter.eraseOp(op);
      return success();
    }
    Value sum = op.getAddend() ? op.getAddend() : op.getInit();
    Value result =
        castToType(rewriter, op.getLoc(), sum, op->getResult(0).getType());
    if (!result)
      return rewriter.notifyMatchFailure(op, "Z has another type");
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

template <typename OpTy>
static void populateScalingPatterns(RewritePatternSet &patterns) {
  patterns.add<ConstantScale<OpTy>, DefaultScale<OpTy>, RedundantAddend<OpTy>,
               UnreadInit<OpTy>, ZeroAlpha<OpTy>>(patterns.getContext());
}

//===----------------------------------------------------------------------===//
// op() flags
//===----------------------------------------------------------------------===//

static bool isComplex(Value array) {
  return isa<ComplexType>(getElementType(array));
}

/// T for C where the elements are real.
static Transpose normalizeTranspose(Transpose transpose, bool isComplex) {
  return transpose == Transpose::C && !isComplex ? Transpose::T : transpose;
}

/// The dimensions that `value` permutes, if it is the transpose of a tensor.
static linalg::TransposeOp getTransposeOf(Value value) {
  auto transpose = value.getDefiningOp<linalg::TransposeOp>();
  if (!transpose || !isa<TensorType>(value.getType()))
    return nullptr;
  return transpose;
}

/// The tensor that `value` is the transpose of, if that only reverses its last
/// `count` dimensions.
static Value getReversed(Value value, int64_t count) {
  linalg::TransposeOp transpose = getTransposeOf(value);
  if (!transpose)
    return nullptr;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  int64_t rank = permutation.size();
  for (auto [dim, source] : llvm::enumerate(permutation)) {
    int64_t index = dim;
    int64_t expected =
        index < rank - count ? index : rank - 1 - (index - (rank - count));
    if (source != expected)
      return nullptr;
  }
  return transpose.getInput();
}

/// op() of the stored operand when op() of its transpose is `transpose`; none
/// if that would conjugate without transposing.
static std::optional<Transpose> composeTranspose(Transpose transpose) {
  switch (transpose) {
  case Transpose::N:
    return Transpose::T;
  case Transpose::T:
    return Transpose::N;
  case Transpose::C:
    return std::nullopt;
  }
  llvm_unreachable("all transposes are covered");
}

namespace {
template <typename OpTy>
struct NormalizeProductTransposes : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    bool hasComplex = isComplex(op.getInput());
    Transpose input = normalizeTranspose(op.getTransInput(), hasComplex);
    SmallVector<Attribute> attrs;
    bool anyTransposed = false;
    for (unsigned i = 0, e = op.getFactors().size(); i < e; ++i) {
      Transpose transpose =
          normalizeTranspose(op.getFactorTranspose(i), hasComplex);
      anyTransposed |= transpose != Transpose::N;
      attrs.push_back(TransposeAttr::get(op.getContext(), transpose));
    }
    ArrayAttr factors =
        anyTransposed ? rewriter.getArrayAttr(attrs) : ArrayAttr();
    if (input == op.getTransInput() && factors == op.getTransFactorsAttr())
      return rewriter.notifyMatchFailure(op, "op() flags are canonical");
    rewriter.modifyOpInPlace(op, [&] {
      op.setTransInput(input);
      if (factors)
        op.setTransFactorsAttr(factors);
      else
        op.removeTransFactorsAttr();
    });
    return success();
  }
};

/// A transposed input or factor becomes an op() flag.
template <typename OpTy> struct FoldProductTransposes : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (Value input = getReversed(op.getInput(), getCoreRank(op)))
      if (auto transpose = composeTranspose(op.getTransInput())) {
        rewriter.modifyOpInPlace(op, [&] {
          op.getInputMutable().assign(input);
          op.setTransInput(*transpose);
        });
        return success();
      }
    for (unsigned i = 0, e = op.getFactors().size(); i < e; ++i) {
      Value factor = getReversed(op.getFactors()[i], 2);
      auto transpose = composeTranspose(op.getFactorTranspose(i));
      if (!factor || !transpose)
        continue;
      foldFactor(op, i, factor, *transpose, rewriter);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no transpose that op() could say");
  }

private:
  static void foldFactor(OpTy op, unsigned index, Value factor,
                         Transpose transpose, PatternRewriter &rewriter) {
    SmallVector<Attribute> attrs;
    for (unsigned i = 0, e = op.getFactors().size(); i < e; ++i)
      attrs.push_back(TransposeAttr::get(
          op.getContext(), i == index ? transpose : op.getFactorTranspose(i)));
    rewriter.modifyOpInPlace(op, [&] {
      op.getFactorsMutable()[index].assign(factor);
      op.setTransFactorsAttr(rewriter.getArrayAttr(attrs));
    });
  }
};

struct NormalizeKsmmTransposes : OpRewritePattern<KsmmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(KsmmOp op,
                                PatternRewriter &rewriter) const override {
    bool hasComplex = isComplex(op.getInput());
    Transpose input = normalizeTranspose(op.getTransInput(), hasComplex);
    Transpose weights = normalizeTranspose(op.getTransWeights(), hasComplex);
    if (input == op.getTransInput() && weights == op.getTransWeights())
      return rewriter.notifyMatchFailure(op, "op() flags are canonical");
    rewriter.modifyOpInPlace(op, [&] {
      op.setTransInput(input);
      op.setTransWeights(weights);
    });
    return success();
  }
};

/// The transpose of the weights exchanges b and c.
struct FoldKsmmTransposes : OpRewritePattern<KsmmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(KsmmOp op,
                                PatternRewriter &rewriter) const override {
    if (Value input = getReversed(op.getInput(), 2))
      if (auto transpose = composeTranspose(op.getTransInput())) {
        rewriter.modifyOpInPlace(op, [&] {
          op.getInputMutable().assign(input);
          op.setTransInput(*transpose);
        });
        return success();
      }
    linalg::TransposeOp weights = getTransposeOf(op.getWeights());
    auto transpose = composeTranspose(op.getTransWeights());
    if (!weights || !transpose ||
        weights.getPermutation() != ArrayRef<int64_t>{0, 2, 1, 3})
      return rewriter.notifyMatchFailure(op,
                                         "no transpose that op() could say");
    rewriter.modifyOpInPlace(op, [&] {
      op.getWeightsMutable().assign(weights.getInput());
      op.setTransWeights(*transpose);
    });
    return success();
  }
};

struct NormalizeGradientConjugation : OpRewritePattern<KsmmGradOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(KsmmGradOp op,
                                PatternRewriter &rewriter) const override {
    if (isComplex(op.getInput()) || (!op.getConjInput() && !op.getConjGrad()))
      return rewriter.notifyMatchFailure(op, "conjugates nothing real");
    rewriter.modifyOpInPlace(op, [&] {
      op.removeConjInputAttr();
      op.removeConjGradAttr();
    });
    return success();
  }
};

/// Where the input and the gradient are transposed, the batch is last.
struct FoldGradientTransposes : OpRewritePattern<KsmmGradOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(KsmmGradOp op,
                                PatternRewriter &rewriter) const override {
    Value input = getReversed(op.getInput(), 2);
    Value grad = getReversed(op.getGrad(), 2);
    if (!input || !grad)
      return rewriter.notifyMatchFailure(op, "not both are transposed");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(input);
      op.getGradMutable().assign(grad);
      op.setLayout(op.getLayout() == Layout::BatchFirst ? Layout::BatchLast
                                                        : Layout::BatchFirst);
    });
    return success();
  }
};

struct NormalizeConjugation : OpRewritePattern<ModeProductOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ModeProductOp op,
                                PatternRewriter &rewriter) const override {
    if (isComplex(op.getInput()) || (!op.getConjInput() && !op.getConjFactor()))
      return rewriter.notifyMatchFailure(op, "conjugates nothing real");
    rewriter.modifyOpInPlace(op, [&] {
      op.removeConjInputAttr();
      op.removeConjFactorAttr();
    });
    return success();
  }
};

/// Any permutation of the factor's dimensions is one of factor_dims.
struct FoldModeProductTranspose : OpRewritePattern<ModeProductOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ModeProductOp op,
                                PatternRewriter &rewriter) const override {
    linalg::TransposeOp transpose = getTransposeOf(op.getFactor());
    if (!transpose || isInFusedOp(op))
      return rewriter.notifyMatchFailure(op, "factor is no transpose");
    SmallVector<int64_t> roles(op.getFactorDims().size());
    for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
      roles[source] = op.getFactorDims()[dim];
    rewriter.modifyOpInPlace(op, [&] {
      op.getFactorMutable().assign(transpose.getInput());
      op.setFactorDims(roles);
    });
    return success();
  }
};
} // namespace

template <typename OpTy>
static void populateTransposePatterns(RewritePatternSet &patterns) {
  if constexpr (std::is_same_v<OpTy, KsmmOp>)
    patterns.add<NormalizeKsmmTransposes, FoldKsmmTransposes>(
        patterns.getContext());
  else if constexpr (std::is_same_v<OpTy, KsmmGradOp>)
    patterns.add<NormalizeGradientConjugation, FoldGradientTransposes>(
        patterns.getContext());
  else if constexpr (std::is_same_v<OpTy, ModeProductOp>)
    patterns.add<NormalizeConjugation, FoldModeProductTranspose>(
        patterns.getContext());
  else
    patterns.add<NormalizeProductTransposes<OpTy>, FoldProductTransposes<OpTy>>(
        patterns.getContext());
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

template <typename OpTy>
static void populateProductPatterns(RewritePatternSet &patterns) {
  populateScalingPatterns<OpTy>(patterns);
  populateTransposePatterns<OpTy>(patterns);
  populateFactorPatterns<OpTy>(patterns);
}

void MkmOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *) {
  populateProductPatterns<MkmOp>(patterns);
}

void KmmOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *) {
  populateProductPatterns<KmmOp>(patterns);
}

void BatchedOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  populateProductPatterns<BatchedOp>(patterns);
}

void KsmmOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *) {
  populateScalingPatterns<KsmmOp>(patterns);
  populateTransposePatterns<KsmmOp>(patterns);
}

void KsmmGradOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *) {
  populateScalingPatterns<KsmmGradOp>(patterns);
  populateTransposePatterns<KsmmGradOp>(patterns);
}

void FactorGradOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *) {
  populateScalingPatterns<FactorGradOp>(patterns);
}

void BiasGradOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *) {
  populateScalingPatterns<BiasGradOp>(patterns);
}

void ModeProductOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *) {
  populateScalingPatterns<ModeProductOp>(patterns);
  populateTransposePatterns<ModeProductOp>(patterns);
  populateModeProductPatterns(patterns);
}
