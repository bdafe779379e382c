//===- KronFoldFactors.cpp - Canonicalization of factors --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Factors that need not be applied: identities and 1x1 constants, and two
// factors on one axis whose product is cheaper to apply. An identity is dropped
// as what it is, so a NaN beside it no longer spreads along its axis.
//
//===----------------------------------------------------------------------===//

#include "KronFolds.h"
#include "KronShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Constant factors
//===----------------------------------------------------------------------===//

/// Largest constant that is searched for an identity, in elements.
static constexpr int64_t maxSearchedElements = 1 << 20;

/// Largest number of rows of an identity that stands for two.
static constexpr int64_t maxMergedRows = 64;

template <typename RangeT, typename IsValueT>
static bool isIdentity(RangeT values, int64_t rows, IsValueT isValue) {
  for (auto [index, value] : llvm::enumerate(values)) {
    int64_t position = index;
    bool isDiagonal = position / rows == position % rows;
    if (!isValue(value, isDiagonal ? 1 : 0))
      return false;
  }
  return true;
}

static DenseElementsAttr getConstantMatrix(Value factor) {
  DenseElementsAttr elements;
  if (getRank(factor) != 2 || !matchPattern(factor, m_Constant(&elements)))
    return nullptr;
  return elements;
}

bool kron::isIdentityFactor(Value factor) {
  DenseElementsAttr elements = getConstantMatrix(factor);
  if (!elements)
    return false;
  int64_t rows = elements.getType().getDimSize(0);
  if (elements.getType().getDimSize(1) != rows ||
      elements.getNumElements() > maxSearchedElements ||
      (elements.isSplat() && rows != 1))
    return false;
  auto isFloat = [](const APFloat &value, int expected) {
    return value.isExactlyValue(expected) || (expected == 0 && value.isZero());
  };
  Type element = elements.getElementType();
  if (isa<FloatType>(element))
    return isIdentity(elements.getValues<APFloat>(), rows, isFloat);
  if (isa<IntegerType>(element))
    return isIdentity(elements.getValues<APInt>(), rows,
                      [](const APInt &value, int expected) {
                        return value == static_cast<uint64_t>(expected);
                      });
  return isIdentity(elements.getValues<std::complex<APFloat>>(), rows,
                    [&](const std::complex<APFloat> &value, int expected) {
                      return isFloat(value.real(), expected) &&
                             value.imag().isZero();
                    });
}

/// The only element of a constant 1x1 factor in the accumulation type, or null.
static TypedAttr getConstantScalar(Value factor) {
  DenseElementsAttr elements = getConstantMatrix(factor);
  if (!elements || elements.getNumElements() != 1)
    return nullptr;
  return kron::getScalarAttr(getAccumulatorType(elements.getElementType()),
                             *elements.getValues<Attribute>().begin());
}

static TypedAttr getComplexAttr(Type type, const APFloat &real,
                                const APFloat &imag) {
  return complex::NumberAttr::get(cast<ComplexType>(type),
                                  real.convertToDouble(), imag.convertToDouble());
}

static TypedAttr conjugate(TypedAttr value) {
  auto number = dyn_cast<complex::NumberAttr>(value);
  if (!number)
    return value;
  return getComplexAttr(number.getType(), number.getReal(), -number.getImag());
}

/// a * b, rounded as arithmetic of their type is.
static TypedAttr multiply(TypedAttr a, TypedAttr b) {
  if (auto real = dyn_cast<FloatAttr>(a))
    return FloatAttr::get(real.getType(),
                          real.getValue() * cast<FloatAttr>(b).getValue());
  if (auto integer = dyn_cast<IntegerAttr>(a))
    return IntegerAttr::get(integer.getType(), integer.getValue() *
                                                   cast<IntegerAttr>(b).getValue());
  auto x = cast<complex::NumberAttr>(a);
  auto y = cast<complex::NumberAttr>(b);
  return getComplexAttr(x.getType(),
                        x.getReal() * y.getReal() - x.getImag() * y.getImag(),
                        x.getReal() * y.getImag() + x.getImag() * y.getReal());
}

/// Whether `value` may stand where a `type` stood: no axis was stretched.
static bool isSameArray(Value value, Type type) {
  auto from = dyn_cast<RankedTensorType>(value.getType());
  auto to = dyn_cast<RankedTensorType>(type);
  if (!from || !to || from.getRank() != to.getRank())
    return false;
  return llvm::none_of(llvm::zip(from.getShape(), to.getShape()), [](auto sizes) {
    return std::get<0>(sizes) == 1 && std::get<1>(sizes) != 1;
  });
}

/// Replaces `op`, which does nothing, by its input if the types allow.
static LogicalResult replaceByInput(PatternRewriter &rewriter,
                                    ScaledOpInterface op) {
  if (op->getNumResults() == 0 ||
      !isSameArray(op.getInputValue(), op->getResult(0).getType()))
    return rewriter.notifyMatchFailure(op, "result is another array");
  Value result = castToType(rewriter, op.getLoc(), op.getInputValue(),
                            op->getResult(0).getType());
  if (!result)
    return rewriter.notifyMatchFailure(op, "result has another type");
  rewriter.replaceOp(op, result);
  return success();
}

//===----------------------------------------------------------------------===//
// kron.mkm, kron.kmm, kron.batched
//===----------------------------------------------------------------------===//

namespace {
/// X * (I (x) ... (x) I) is X.
template <typename OpTy>
struct AllIdentities : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (op.getTransInput() != Transpose::N || !isUnscaled(op))
      return rewriter.notifyMatchFailure(op, "input is transposed or scaled");
    if (!llvm::all_of(op.getFactors(), isIdentityFactor))
      return rewriter.notifyMatchFailure(op, "a factor is no identity");
    return replaceByInput(rewriter, op);
  }
};

/// The factors and op() flags of an operation, edited together.
template <typename OpTy>
struct FactorList {
  explicit FactorList(OpTy op) : op(op), values(op.getFactors()) {
    for (unsigned i = 0, e = values.size(); i < e; ++i)
      transposes.push_back(
          TransposeAttr::get(op.getContext(), op.getFactorTranspose(i)));
  }

  void erase(unsigned index) {
    values.erase(values.begin() + index);
    transposes.erase(transposes.begin() + index);
  }

  void assign(PatternRewriter &rewriter) {
    op.getFactorsMutable().assign(values);
    op.setTransFactorsAttr(rewriter.getArrayAttr(transposes));
  }

  OpTy op;
  SmallVector<Value> values;
  SmallVector<Attribute> transposes;
};

/// A constant 1x1 factor is part of alpha.
template <typename OpTy>
struct ScalarFactor : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Scale alpha = getAlpha(op);
    if (op.getFactors().size() < 2 || alpha.isZero())
      return rewriter.notifyMatchFailure(op, "needs another factor");
    for (auto [index, factor] : llvm::enumerate(op.getFactors())) {
      TypedAttr scalar = getConstantScalar(factor);
      if (!scalar || (alpha.value && !isOneConstant(scalar)))
        continue;
      if (op.getFactorTranspose(index) == Transpose::C)
        scalar = conjugate(scalar);
      TypedAttr product =
          alpha.value ? TypedAttr() : multiply(alpha.constant, scalar);
      // A factor of 0 still spreads NaNs; alpha = 0 does not.
      if (product && isZeroConstant(product))
        continue;
      FactorList<OpTy> factors(op);
      factors.erase(index);
      rewriter.modifyOpInPlace(op, [&] {
        factors.assign(rewriter);
        if (product)
          op.setStaticAlphaAttr(product);
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no constant 1x1 factor");
  }
};

/// I_m (x) I_n is I_mn: one axis instead of two.
template <typename OpTy>
struct AdjacentIdentities : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i = 0, e = op.getFactors().size(); i + 1 < e; ++i) {
      Value first = op.getFactors()[i];
      Value second = op.getFactors()[i + 1];
      if (!isIdentityFactor(first) || !isIdentityFactor(second))
        continue;
      int64_t rows = getDimSize(first, 0) * getDimSize(second, 0);
      if (rows > maxMergedRows)
        continue;
      FactorList<OpTy> factors(op);
      factors.erase(i + 1);
      factors.values[i] = createIdentity(rewriter, op.getLoc(), rows,
                                         getElementType(first));
      factors.transposes[i] = TransposeAttr::get(op.getContext(), Transpose::N);
      rewriter.modifyOpInPlace(op, [&] { factors.assign(rewriter); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no two adjacent small identities");
  }

private:
  static Value createIdentity(OpBuilder &builder, Location loc, int64_t rows,
                              Type element) {
    auto getElement = [&](double value) -> Attribute {
      TypedAttr attr = kron::getScalarAttr(element, value);
      auto number = dyn_cast<complex::NumberAttr>(attr);
      if (!number)
        return attr;
      Type part = cast<ComplexType>(element).getElementType();
      return builder.getArrayAttr({FloatAttr::get(part, number.getReal()),
                                   FloatAttr::get(part, number.getImag())});
    };
    SmallVector<Attribute> values(rows * rows, getElement(0.0));
    for (int64_t row = 0; row < rows; ++row)
      values[row * rows + row] = getElement(1.0);
    auto type = RankedTensorType::get({rows, rows}, element);
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, values));
  }
};
} // namespace

template <typename OpTy>
void kron::populateFactorPatterns(RewritePatternSet &patterns) {
  patterns.add<AllIdentities<OpTy>>(patterns.getContext());
  if constexpr (!std::is_same_v<OpTy, BatchedOp>)
    patterns.add<ScalarFactor<OpTy>, AdjacentIdentities<OpTy>>(
        patterns.getContext());
}

template void kron::populateFactorPatterns<MkmOp>(RewritePatternSet &);
template void kron::populateFactorPatterns<KmmOp>(RewritePatternSet &);
template void kron::populateFactorPatterns<BatchedOp>(RewritePatternSet &);

//===----------------------------------------------------------------------===//
// kron.mode_product
//===----------------------------------------------------------------------===//

namespace {
struct IdentityModeProduct : OpRewritePattern<ModeProductOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ModeProductOp op,
                                PatternRewriter &rewriter) const override {
    if (isInPass(op) || op.getConjInput() || !isUnscaled(op))
      return rewriter.notifyMatchFailure(op, "more than a product, or in a pass");
    if (!isIdentityFactor(op.getFactor()))
      return rewriter.notifyMatchFailure(op, "factor is no identity");
    return replaceByInput(rewriter, op);
  }
};

/// Two products in a row on one axis, factors [p1, q1] and [q1, q2], become one
/// with the product of the factors if that takes fewer multiply-adds:
///
///   R*p1*q2 + p1*q1*q2  <  R*p1*q1 + R*q1*q2
///
/// where R counts the elements along the other axes, infinity if it is unknown.
struct MergeModeProducts : OpRewritePattern<ModeProductOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ModeProductOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ModeProductOp>();
    if (!inner || !inner->hasOneUse() || inner.getAxis() != op.getAxis() ||
        isInPass(op))
      return rewriter.notifyMatchFailure(op, "no product before on this axis");
    if (!isUnscaled(inner) || !isMergeable(inner) || !isMergeable(op) ||
        inner.getPrecision() != op.getPrecision())
      return rewriter.notifyMatchFailure(op, "more than plain products");
    if (!saves(inner, op))
      return rewriter.notifyMatchFailure(op, "merging costs more");

    Value factor = multiplyFactors(rewriter, inner, op);
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(inner.getInput());
      op.getFactorMutable().assign(factor);
      op.setFactorDims(inner.getFactorDims());
    });
    return success();
  }

private:
  /// Plain matrices that need no rounding between them.
  static bool isMergeable(ModeProductOp op) {
    Type element = getElementType(op.getFactor());
    return !op.getConjInput() && !op.getConjFactor() && !op.getSchedule() &&
           cast<ShapedType>(op.getFactor().getType()).hasStaticShape() &&
           getRank(op.getFactor()) == 2 &&
           getAccumulatorType(element) == element &&
           getElementType(op.getInput()) == element &&
           getElementType(op.getInit()) == element;
  }

  static bool saves(ModeProductOp inner, ModeProductOp outer) {
    auto getSize = [](ModeProductOp op, unsigned dim) {
      return static_cast<double>(getDimSize(op.getFactor(), dim));
    };
    double p1 = getSize(inner, inner.getContractedFactorDim());
    double q1 = getSize(inner, inner.getResultingFactorDim());
    double q2 = getSize(outer, outer.getResultingFactorDim());
    double rows = 1;
    for (unsigned dim = 0, rank = getRank(outer.getInit()); dim < rank; ++dim) {
      if (dim == outer.getAxis())
        continue;
      int64_t size = getDimSize(outer.getInit(), dim);
      if (ShapedType::isDynamic(size))
        return p1 * q2 < p1 * q1 + q1 * q2;
      rows *= size;
    }
    return rows * p1 * q2 + p1 * q1 * q2 < rows * (p1 * q1 + q1 * q2);
  }

  /// The product of the factors, stored as the inner one is: a mode product of
  /// its own, along the resulting dimension of the inner factor.
  static Value multiplyFactors(PatternRewriter &rewriter, ModeProductOp inner,
                               ModeProductOp outer) {
    unsigned axis = inner.getResultingFactorDim();
    auto type = cast<RankedTensorType>(inner.getFactor().getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] =
        getDimSize(outer.getFactor(), outer.getResultingFactorDim());
    Value empty = tensor::EmptyOp::create(rewriter, outer.getLoc(), shape,
                                          type.getElementType());
    auto product = ModeProductOp::create(
        rewriter, outer.getLoc(), empty.getType(), inner.getFactor(),
        outer.getFactor(), /*alpha=*/Value(), /*beta=*/Value(),
        /*addend=*/Value(), empty, axis, outer.getFactorDims(),
        /*conj_input=*/false, /*conj_factor=*/false,
        /*static_alpha=*/TypedAttr(), /*static_beta=*/TypedAttr(),
        outer.getPrecision(), /*schedule=*/ScheduleAttr());
    return product.getResult(0);
  }
};
} // namespace

void kron::populateModeProductPatterns(RewritePatternSet &patterns) {
  patterns.add<IdentityModeProduct, MergeModeProducts>(patterns.getContext());
}

//===----------------------------------------------------------------------===//
// kron.pass
//===----------------------------------------------------------------------===//

namespace {
/// Upstream folds tensor.cast into operands of any destination-style operation;
/// the region follows here.
struct RefineArguments : OpRewritePattern<PassOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PassOp op,
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
      if (last.getAddend() || getBeta(last).isZero())
        last.getInitMutable().assign(block.getArguments().back());
      for (ModeProductOp product : products)
        product->getResult(0).setType(
            cast<RankedTensorType>(product.getInit().getType()));
    });
    return success();
  }
};
} // namespace

void PassOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<RefineArguments>(context);
}
