//===- ExpandMath.cpp - Functions as arithmetic -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A GPU has no C library, and CUDA's (libdevice) comes with a toolkit only. The
// functions that epilogues use become polynomials here, to within two units in
// the last place of f32 or f64, with infinities and NaNs as in C. Smaller types
// are computed in f32.
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

namespace mlir::kron {
#define GEN_PASS_DEF_KRONEXPANDMATH
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {

/// Builds arithmetic on values of one type, f32 or f64 or vectors of them.
class MathBuilder {
public:
  MathBuilder(OpBuilder &builder, Location loc, Type type, bool fastErf,
              int64_t scaledBits)
      : builder(builder), loc(loc), type(type),
        isDouble(getElementTypeOrSelf(type).isF64()), fastErf(fastErf) {
    auto vector = dyn_cast<VectorType>(type);
    hasScaling =
        vector &&
        vector.getNumElements() * vector.getElementTypeBitWidth() == scaledBits;
  }

  Value exp(Value x);
  Value exp2(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log1p(Value x);
  /// x to the power of `exponent`, for x that is not negative, but may be NaN.
  Value power(Value x, double exponent);
  Value tanh(Value x);
  Value erf(Value x) {
    if (fastErf)
      return erfQuotient(x);
    return isDouble ? erfDouble(x) : erfSingle(x);
  }
  Value scale(Value x, double factor) { return mul(x, constant(factor)); }

private:
  Value erfSingle(Value x);
  Value erfQuotient(Value x);
  Value erfDouble(Value x);
  /// x = (1 + f) 2^e, with 1 + f within [sqrt(1/2), sqrt(2)), of numbers.
  struct Split {
    Value f, e;
  };
  Split split(Value x);
  /// ln(1 + f) - f, and the base-2 logarithm of 1 + f.
  Value logTail(Value f);
  Value log2OnePlus(Value f);
  /// e^r for |r| <= ln(2) / 2.
  Value expReduced(Value r);
  /// x * 2^n for an integer n that need not be an exponent.
  Value timesPowerOfTwo(Value x, Value n);
  Value powerOfTwo(Value n);
  /// coefficients[0] + x * (coefficients[1] + x * ...).
  Value polynomial(Value x, ArrayRef<double> coefficients);

  Value constant(double value);
  Value intConstant(int64_t value);
  Type getIntType();
  Value add(Value a, Value b) { return make<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return make<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return make<arith::DivFOp>(a, b); }
  Value fma(Value a, Value b, Value c) { return make<math::FmaOp>(a, b, c); }
  Value abs(Value a) { return make<math::AbsFOp>(a); }
  Value negate(Value a) { return make<arith::NegFOp>(a); }
  Value copySign(Value a, Value sign) {
    return make<math::CopySignOp>(a, sign);
  }
  Value select(Value condition, Value a, Value b) {
    return make<arith::SelectOp>(condition, a, b);
  }
  /// False for NaN, unless the predicate is unordered.
  Value compare(arith::CmpFPredicate predicate, Value a, double b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, constant(b));
  }
  /// NaN stays NaN.
  Value clamp(Value x, double low, double high) {
    x = select(compare(arith::CmpFPredicate::OLT, x, low), constant(low), x);
    return select(compare(arith::CmpFPredicate::OGT, x, high), constant(high),
                  x);
  }
  template <typename Op, typename... Args> Value make(Args... args) {
    return Op::create(builder, loc, args...);
  }

  OpBuilder &builder;
  Location loc;
  Type type;
  bool isDouble, fastErf;
  /// Whether an instruction multiplies by powers of two.
  bool hasScaling;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value MathBuilder::constant(double value) {
  TypedAttr attr = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(builder, loc, attr);
}

Type MathBuilder::getIntType() {
  Type element = builder.getIntegerType(isDouble ? 64 : 32);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

Value MathBuilder::intConstant(int64_t value) {
  Type intType = getIntType();
  TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(intType), value);
  if (auto vector = dyn_cast<VectorType>(intType))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(builder, loc, attr);
}

Value MathBuilder::polynomial(Value x, ArrayRef<double> coefficients) {
  Value result = constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, constant(coefficient));
  return result;
}

Value MathBuilder::powerOfTwo(Value n) {
  int64_t mantissaBits = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127;
  Value exponent = make<arith::AddIOp>(n, intConstant(bias));
  Value bits = make<arith::ShLIOp>(exponent, intConstant(mantissaBits));
  return arith::BitcastOp::create(builder, loc, type, bits);
}

Value MathBuilder::timesPowerOfTwo(Value x, Value n) {
  if (hasScaling)
    return LLVM::CallIntrinsicOp::create(builder, loc, type,
                                         builder.getStringAttr("llvm.ldexp"),
                                         ValueRange{x, n})
        .getResult(0);
  // In two steps: results that are subnormal, or whose power overflows.
  Value half = make<arith::ShRSIOp>(n, intConstant(1));
  Value rest = make<arith::SubIOp>(n, half);
  return mul(mul(x, powerOfTwo(half)), powerOfTwo(rest));
}

//===----------------------------------------------------------------------===//
// Exponential functions
//===----------------------------------------------------------------------===//

/// Taylor coefficients 1 / (first + k)! of e^x.
static SmallVector<double> getFactorials(int first, int count) {
  SmallVector<double> result;
  double factorial = std::tgamma(first + 1);
  for (int k = 0; k < count; ++k) {
    result.push_back(1 / factorial);
    factorial *= first + k + 1;
  }
  return result;
}

Value MathBuilder::expReduced(Value r) {
  return polynomial(r, getFactorials(0, isDouble ? 14 : 8));
}

Value MathBuilder::exp(Value x) {
  // Beyond these the result is 0 or infinite.
  x = isDouble ? clamp(x, -746, 710) : clamp(x, -104, 89);
  Value n = make<math::RoundEvenOp>(mul(x, constant(0x1.71547652b82fep0)));
  // ln(2) in two parts, the first with so few bits that n times it is exact.
  Value high = constant(isDouble ? -0x1.62e42fee00000p-1 : -0x1.62e400p-1);
  Value low = constant(isDouble ? -0x1.a39ef35793c76p-33 : -0x1.7f7d1cp-20);
  Value r = fma(n, low, fma(n, high, x));
  Value isNumber = compare(arith::CmpFPredicate::ORD, x, 0);
  n = select(isNumber, n, constant(0));
  Value exponent = arith::FPToSIOp::create(builder, loc, getIntType(), n);
  return timesPowerOfTwo(expReduced(r), exponent);
}

Value MathBuilder::exp2(Value x) {
  x = isDouble ? clamp(x, -1080, 1030) : clamp(x, -152, 130);
  Value n = make<math::RoundEvenOp>(x);
  Value r = mul(sub(x, n), constant(0x1.62e42fefa39efp-1));
  n = select(compare(arith::CmpFPredicate::ORD, x, 0), n, constant(0));
  Value exponent = arith::FPToSIOp::create(builder, loc, getIntType(), n);
  return timesPowerOfTwo(expReduced(r), exponent);
}

Value MathBuilder::expm1(Value x) {
  // Where subtracting 1 would cancel, the series without its first term.
  Value small = mul(x, polynomial(x, getFactorials(1, isDouble ? 16 : 9)));
  Value large = sub(exp(x), constant(1));
  return select(compare(arith::CmpFPredicate::OLT, abs(x), 0.5), small, large);
}

Value MathBuilder::tanh(Value x) {
  // From here on the result is 1.
  Value a = clamp(abs(x), 0, isDouble ? 22 : 10);
  Value t = expm1(add(a, a));
  return copySign(div(t, add(t, constant(2))), x);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

MathBuilder::Split MathBuilder::split(Value x) {
  int64_t mantissaBits = isDouble ? 52 : 23;
  double smallest = isDouble ? 0x1p-1022 : 0x1p-126;
  // Subnormal numbers become normal.
  Value isSubnormal = compare(arith::CmpFPredicate::OLT, x, smallest);
  Value number = select(isSubnormal, mul(x, constant(0x1p54)), x);
  Value bits = arith::BitcastOp::create(builder, loc, getIntType(), number);
  int64_t root = isDouble ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Value distance = make<arith::SubIOp>(bits, intConstant(root));
  Value exponent = make<arith::ShRSIOp>(distance, intConstant(mantissaBits));
  Value shifted = make<arith::ShLIOp>(exponent, intConstant(mantissaBits));
  Value mantissa = arith::BitcastOp::create(
      builder, loc, type, Value(make<arith::SubIOp>(bits, shifted)));
  Value e = arith::SIToFPOp::create(builder, loc, type, exponent);
  e = select(isSubnormal, sub(e, constant(54)), e);
  return {sub(mantissa, constant(1)), e};
}

Value MathBuilder::logTail(Value f) {
  // log(1 + f) = 2 atanh(s) with s = f / (2 + f); |s| < 0.172.
  Value s = div(f, add(f, constant(2)));
  SmallVector<double> series;
  for (int k = 1, count = isDouble ? 11 : 5; k <= count; ++k)
    series.push_back(2.0 / (2 * k + 1));
  Value square = mul(s, s);
  Value tail = mul(mul(s, square), polynomial(square, series));
  // 2 s = f - f s, whose first part is exact.
  return sub(tail, mul(f, s));
}

Value MathBuilder::log(Value x) {
  auto [f, e] = split(x);
  Value high = constant(isDouble ? 0x1.62e42fee00000p-1 : 0x1.62e400p-1);
  Value low = constant(isDouble ? 0x1.a39ef35793c76p-33 : 0x1.7f7d1cp-20);
  Value rest = fma(e, low, logTail(f));
  Value result = fma(e, high, add(f, rest));
  double infinity = HUGE_VAL;
  result = select(compare(arith::CmpFPredicate::UEQ, x, infinity), x, result);
  result = select(compare(arith::CmpFPredicate::OEQ, x, 0), constant(-infinity),
                  result);
  return select(compare(arith::CmpFPredicate::OLT, x, 0), constant(NAN),
                result);
}

Value MathBuilder::log1p(Value x) {
  Value sum = add(x, constant(1));
  // What rounding the sum lost.
  Value lost = div(sub(x, sub(sum, constant(1))), sum);
  Value result = add(log(sum), lost);
  Value isExact = compare(arith::CmpFPredicate::OEQ, sum, 1);
  Value isSpecial =
      make<arith::OrIOp>(compare(arith::CmpFPredicate::OEQ, sum, HUGE_VAL),
                         compare(arith::CmpFPredicate::OEQ, sum, 0));
  result = select(isSpecial, log(sum), result);
  return select(isExact, x, result);
}

/// log2(1 + f) / f as a polynomial, interpolated at Chebyshev nodes.
static constexpr double kLog2Single[] = {
    1.4426950035679826,  -0.7213474682495811, 0.4809107534594176,
    -0.3606932681336637, 0.28790326092261626, -0.23916988143989118,
    0.21607822558468928, -0.2058618802530109, 0.12310968416081866};

Value MathBuilder::log2OnePlus(Value f) {
  if (!isDouble)
    return mul(f, polynomial(f, kLog2Single));
  return mul(add(f, logTail(f)), constant(0x1.71547652b82fep0));
}

Value MathBuilder::power(Value x, double exponent) {
  auto [f, e] = split(x);
  Value p = constant(exponent);
  // p (e + log2(1 + f)) = n + r: e and n are integers, so that little is lost.
  Value fraction = mul(p, log2OnePlus(f));
  Value whole = fma(p, e, fraction);
  // Powers from 0 up to 1 are numbers; beyond these exponents the result is 0
  // or infinite.
  bool isClamped = exponent < 0 || exponent > 1;
  if (isClamped)
    whole = isDouble ? clamp(whole, -1080, 1030) : clamp(whole, -152, 130);
  Value n = make<math::RoundEvenOp>(whole);
  Value r = add(fma(p, e, negate(n)), fraction);
  if (isClamped)
    r = clamp(r, -1, 1);
  SmallVector<double> series = getFactorials(0, isDouble ? 14 : 8);
  for (auto [k, coefficient] : llvm::enumerate(series))
    coefficient *= std::pow(0x1.62e42fefa39efp-1, k);
  Value integer = arith::FPToSIOp::create(builder, loc, getIntType(), n);
  Value result = timesPowerOfTwo(polynomial(r, series), integer);
  // These are their own powers: 0, infinity, NaN; or those of their inverses.
  if (exponent > 0) {
    result = select(compare(arith::CmpFPredicate::UEQ, x, 0), x, result);
    return select(compare(arith::CmpFPredicate::OEQ, x, HUGE_VAL), x, result);
  }
  Value infinity = constant(HUGE_VAL);
  result = select(compare(arith::CmpFPredicate::UEQ, x, 0), add(x, infinity),
                  result);
  return select(compare(arith::CmpFPredicate::OEQ, x, HUGE_VAL), constant(0),
                result);
}

//===----------------------------------------------------------------------===//
// Error function
//===----------------------------------------------------------------------===//

Value MathBuilder::erfSingle(Value x) {
  Value a = abs(x), square = mul(x, x);
  // 1 - e^p(a), from 475/512 on.
  Value p = polynomial(a, {-1.28717512e-1, -6.34846687e-1, -1.06777877e-1,
                           2.42546219e-2, -3.88396438e-3, 3.83197126e-4,
                           -1.72853470e-5});
  p = fma(p, a, negate(a));
  Value large = copySign(sub(constant(1), exp(p)), x);
  Value small =
      polynomial(square, {1.28379166e-1, -3.76125336e-1, 1.12819925e-1,
                          -2.67681349e-2, 4.99119423e-3, -5.96761703e-4});
  small = fma(small, x, x);
  return select(compare(arith::CmpFPredicate::UGT, a, 0.927734375), large,
                small);
}

/// erf(x) / x as a quotient of polynomials in x^2, up to where the result is 1,
/// fitted for the least relative error.
static constexpr double kErfOverSingle[] = {1.12837915e+00, 1.87556780e-01,
                                            5.24439663e-02, 3.66160177e-03,
                                            2.85813867e-04, 2.11666532e-06};
static constexpr double kErfUnderSingle[] = {1.00000000e+00, 4.99550761e-01,
                                             1.12996491e-01, 1.47601999e-02,
                                             1.14326198e-03, 3.88252152e-05};
static constexpr double kErfOverDouble[] = {
    1.1283791670955126,     0.22015853843899785,    0.06611905319671976,
    0.006888795380727659,   0.0008555893042668514,  5.6935035350388716e-05,
    3.899927903843061e-06,  1.6944970246715932e-07, 6.758899381584506e-09,
    1.7194866674707327e-10, 3.3363477213527716e-12, 2.227104931379221e-14,
    1.5716399371991076e-17};
static constexpr double kErfUnderDouble[] = {1.0,
                                             0.5284437579662967,
                                             0.1347444045505081,
                                             0.02198498547989271,
                                             0.002564498924962411,
                                             0.00022606877394910045,
                                             1.5496508497969865e-05,
                                             8.348946997050542e-07,
                                             3.5149652597418004e-08,
                                             1.1243906164750144e-09,
                                             2.5490826911100828e-11,
                                             3.31929918561899e-13,
                                             8.852410576951672e-16};

Value MathBuilder::erfQuotient(Value x) {
  double end = isDouble ? 5.93 : 3.84;
  Value square = mul(x, x);
  Value over = isDouble ? polynomial(square, kErfOverDouble)
                        : polynomial(square, kErfOverSingle);
  Value under = isDouble ? polynomial(square, kErfUnderDouble)
                         : polynomial(square, kErfUnderSingle);
  Value inside = div(mul(x, over), under);
  return select(compare(arith::CmpFPredicate::OGE, abs(x), end),
                copySign(constant(1), x), inside);
}

/// erf(x) / x for |x| < 1 as a polynomial in 2 x^2 - 1, interpolated at
/// Chebyshev nodes.
static constexpr double kErfSmall[] = {
    0.9654687386698673,     -0.1405360890227171,    0.019852496688983708,
    -0.0022854855611440673, 0.00021751715604160108, -1.7537169441492004e-05,
    1.2233827383524026e-06, -7.511569160710623e-08, 4.115800597661665e-09,
    -2.03524938661036e-10,  9.167606748998164e-12,  -3.7910973708931526e-13,
    1.4548169783352384e-14, -5.16472878942302e-16};

/// erfc(x) e^(x^2) for 1 <= x <= 6 as a polynomial in 9.6 / (x + 2) - 2.2,
/// likewise.
static constexpr double kErfLarge[] = {
    0.2214295402299318,     0.16189356804102495,    0.038560570425182426,
    0.005588816281841403,   0.00019713917772795885, -8.07922042879663e-05,
    -7.340517938287998e-06, 1.9795619759276e-06,    1.6349937383405805e-07,
    -7.005371793736792e-08, -5.886053299221601e-10, 2.625007492297143e-09,
    -2.68698518348558e-10,  -7.468711818050684e-11, 2.2135736614933752e-11,
    4.775776110782188e-13,  -9.369456032869593e-13};

Value MathBuilder::erfDouble(Value x) {
  Value a = abs(x);
  Value square = mul(x, x);
  Value small =
      mul(x, polynomial(fma(square, constant(2), constant(-1)), kErfSmall));
  // At 6, 1 - erf(x) is less than half a unit in the last place.
  Value b = clamp(a, 1, 6);
  Value s = add(div(constant(9.6), add(b, constant(2))), constant(-2.2));
  Value tail = mul(exp(negate(mul(b, b))), polynomial(s, kErfLarge));
  Value large = copySign(sub(constant(1), tail), x);
  return select(compare(arith::CmpFPredicate::OLT, a, 1), small, large);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// The exponent of `op` if it is one finite number for all lanes, but not 0,
/// and the base an absolute value.
static std::optional<double> getExponent(math::PowFOp op) {
  FloatAttr number;
  DenseElementsAttr lanes;
  if (matchPattern(op.getRhs(), m_Constant(&lanes)) && lanes.isSplat())
    number = lanes.getSplatValue<FloatAttr>();
  else
    matchPattern(op.getRhs(), m_Constant(&number));
  if (!number || !op.getLhs().getDefiningOp<math::AbsFOp>())
    return std::nullopt;
  double exponent = number.getValueAsDouble();
  if (exponent == 0 || !std::isfinite(exponent))
    return std::nullopt;
  return exponent;
}

/// What `op` computes of `x`; null if it is not expanded.
static Value expand(Operation *op, MathBuilder &builder, Value x) {
  constexpr double log2E = 0x1.71547652b82fep0, log10E = 0x1.bcb7b1526e50ep-2;
  if (isa<math::ExpOp>(op))
    return builder.exp(x);
  if (isa<math::Exp2Op>(op))
    return builder.exp2(x);
  if (isa<math::ExpM1Op>(op))
    return builder.expm1(x);
  if (isa<math::LogOp>(op))
    return builder.log(x);
  if (isa<math::Log2Op>(op))
    return builder.scale(builder.log(x), log2E);
  if (isa<math::Log10Op>(op))
    return builder.scale(builder.log(x), log10E);
  if (isa<math::Log1pOp>(op))
    return builder.log1p(x);
  if (isa<math::TanhOp>(op))
    return builder.tanh(x);
  if (isa<math::ErfOp>(op))
    return builder.erf(x);
  if (auto power = dyn_cast<math::PowFOp>(op))
    if (std::optional<double> exponent = getExponent(power))
      return builder.power(x, *exponent);
  return nullptr;
}

/// Operations that the GPU has instructions for, or LLVM knows to build.
static bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp,
             math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
}

/// Whether the arithmetic that replaces `op` is one on scalars or vectors of
/// types that the polynomials are made for.
static bool isExpandable(Operation *op) {
  Type type = op->getResult(0).getType();
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType, VectorType>(type) &&
         (element.isF32() || element.isF64() || element.isF16() ||
          element.isBF16());
}

static LogicalResult expandOp(Operation *op, bool ignoresOthers, bool fastErf,
                              int64_t scaledBits) {
  if (isNative(op) || (ignoresOthers && !isExpandable(op)))
    return success();
  if (isa<FloatType>(getElementTypeOrSelf(op->getResult(0))) &&
      !isExpandable(op))
    return op->emitOpError("cannot run on a GPU: expects f16, bf16, f32 or "
                           "f64, but got ")
           << op->getResult(0).getType();
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  Type element = getElementTypeOrSelf(type), computed = type;
  Value x = op->getOperand(0);
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32) {
    auto vector = dyn_cast<VectorType>(type);
    computed = vector ? Type(vector.clone(builder.getF32Type()))
                      : Type(builder.getF32Type());
    x = arith::ExtFOp::create(builder, loc, computed, x);
  }
  MathBuilder mathBuilder(builder, loc, computed, fastErf, scaledBits);
  Value result = expand(op, mathBuilder, x);
  if (!result && ignoresOthers)
    return success();
  if (!result)
    return op->emitOpError(
        "cannot run on a GPU: expects exp, exp2, expm1, log, "
        "log2, log10, log1p, tanh, erf, sqrt, rsqrt, "
        "rounding, or constant powers of absf");
  if (computed != type)
    result = arith::TruncFOp::create(builder, loc, type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

namespace {
struct KronExpandMathPass : kron::impl::KronExpandMathBase<KronExpandMathPass> {
  using KronExpandMathBase::KronExpandMathBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(expandOp(op, ignoreOthers, fastErf, scaledBits)))
        return signalPassFailure();
  }
};
} // namespace
