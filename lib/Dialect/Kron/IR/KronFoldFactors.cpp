//===- KronFoldFactors.cpp - Canonicalization of factors --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Factors that need not be applied: identities and 1x1 constants, and the
// factors of two products in a row. An identity is dropped as what it is, so a
// NaN beside it no longer spreads along its axis.
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
  return complex::NumberAttr::get(
      cast<ComplexType>(type), real.convertToDouble(), imag.convertToDouble());
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
    return IntegerAttr::get(integer.getType(),
                            integer.getValue() *
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
  return llvm::none_of(
      llvm::zip(from.getShape(), to.getShape()), [](auto sizes) {
        return std::get<0>(sizes) == 1 && std::get<1>(sizes) != 1;
      });
}

LogicalResult kron::replaceByInput(PatternRewriter &rewriter,
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
template <typename OpTy> struct AllIdentities : OpRewritePattern<OpTy> {
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
template <typename OpTy> struct FactorList {
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
template <typename OpTy> struct ScalarFactor : OpRewritePattern<OpTy> {
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
template <typename OpTy> struct AdjacentIdentities : OpRewritePattern<OpTy> {
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
      factors.values[i] =
          createIdentity(rewriter, op.getLoc(), rows, getElementType(first));
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

//===----------------------------------------------------------------------===//
// Two products in a row
//===----------------------------------------------------------------------===//

/// Multiply-adds of factors of these (contracted, resulting) sizes, applied to
/// one array of just those axes in the best order, which is by 1/P - 1/Q.
static double getChainCost(SmallVector<std::pair<double, double>> sizes) {
  llvm::sort(sizes, [](auto lhs, auto rhs) {
    return 1 / lhs.first - 1 / lhs.second < 1 / rhs.first - 1 / rhs.second;
  });
  double elements = 1;
  for (auto [contracted, resulting] : sizes)
    elements *= contracted;
  double cost = 0;
  for (auto [contracted, resulting] : sizes) {
    cost += elements * resulting;
    elements *= resulting / contracted;
  }
  return cost;
}

namespace {
/// (X * (F1 (x) F2)) * (G1 (x) G2) is X * (F1*G1 (x) F2*G2): the same as for
/// mode products, where it takes fewer multiply-adds.
template <typename OpTy> struct MergeProducts : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().template getDefiningOp<OpTy>();
    if (!inner || !inner->hasOneUse() || op.getTransInput() != Transpose::N)
      return rewriter.notifyMatchFailure(op, "no product before");
    if (!isUnscaled(inner) || inner.getPlanAttr() || op.getPlanAttr() ||
        inner.getPrecision() != op.getPrecision())
      return rewriter.notifyMatchFailure(op, "more than a plain product");
    if (!factorsMatch(inner, op))
      return rewriter.notifyMatchFailure(op,
                                         "factors do not meet on their axes");
    if (!saves(inner, op))
      return rewriter.notifyMatchFailure(op, "merging costs more");

    FactorList<OpTy> factors(inner);
    for (auto [index, factor] : llvm::enumerate(factors.values)) {
      bool conjugates = inner.getFactorTranspose(index) == Transpose::C;
      factor = multiplyFactors(
          rewriter, op.getLoc(), factor, getMatrixDims(inner, index).second,
          op.getFactors()[index], getMatrixDims(op, index).first,
          conjugates != (op.getFactorTranspose(index) == Transpose::C),
          op.getPrecision());
    }
    factors.op = op;
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(inner.getInput());
      op.setTransInput(inner.getTransInput());
      factors.assign(rewriter);
    });
    return success();
  }

private:
  static bool factorsMatch(OpTy inner, OpTy outer) {
    if (inner.getFactors().size() != outer.getFactors().size())
      return false;
    for (unsigned i = 0, e = inner.getFactors().size(); i < e; ++i)
      if (!isMergeableFactor(inner.getFactors()[i]) ||
          !isMergeableFactor(outer.getFactors()[i]) ||
          inner.getFactorShape(i).second != outer.getFactorShape(i).first)
        return false;
    return true;
  }

  static bool saves(OpTy inner, OpTy outer) {
    SmallVector<std::pair<double, double>> first, second, merged;
    double products = 0;
    for (unsigned i = 0, e = inner.getFactors().size(); i < e; ++i) {
      auto [p1, q1] = inner.getFactorShape(i);
      double q2 = outer.getFactorShape(i).second;
      first.emplace_back(p1, q1);
      second.emplace_back(q1, q2);
      merged.emplace_back(p1, q2);
      products += static_cast<double>(p1) * q1 * q2;
    }
    double before = getChainCost(first) + getChainCost(second);
    double after = getChainCost(merged);
    llvm::SmallDenseSet<unsigned> contracted;
    for (const CoreAxis &axis : getCoreAxes(outer))
      if (axis.numFactors != 0)
        contracted.insert(axis.initDim);
    double arrays = 1;
    for (unsigned dim = 0, rank = getRank(outer.getInit()); dim < rank; ++dim) {
      if (contracted.contains(dim))
        continue;
      int64_t size = getDimSize(outer.getInit(), dim);
      // Unknown sizes count as many.
      if (ShapedType::isDynamic(size))
        return after < before;
      arrays *= size;
    }
    return arrays * after + products < arrays * before;
  }
};
} // namespace

template <typename OpTy>
void kron::populateFactorPatterns(RewritePatternSet &patterns) {
  patterns.add<AllIdentities<OpTy>, MergeProducts<OpTy>>(patterns.getContext());
  if constexpr (!std::is_same_v<OpTy, BatchedOp>)
    patterns.add<ScalarFactor<OpTy>, AdjacentIdentities<OpTy>>(
        patterns.getContext());
}

template void kron::populateFactorPatterns<MkmOp>(RewritePatternSet &);
template void kron::populateFactorPatterns<KmmOp>(RewritePatternSet &);
template void kron::populateFactorPatterns<BatchedOp>(RewritePatternSet &);
