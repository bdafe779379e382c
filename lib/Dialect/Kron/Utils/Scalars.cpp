//===- Scalars.cpp - Arithmetic on one element ----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace mlir::kron;

static Value emitConstant(OpBuilder &builder, Location loc, Type type,
                          double value) {
  TypedAttr attr = getScalarAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(vector, Attribute(attr)));
  return Scale{attr, nullptr}.materialize(builder, loc);
}

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

Value kron::emitZero(OpBuilder &builder, Location loc, Type type) {
  return emitConstant(builder, loc, type, 0.0);
}

Value kron::emitAdd(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<ComplexType>(lhs.getType()))
    return complex::AddOp::create(builder, loc, lhs, rhs);
  if (isFloat(lhs.getType()))
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}

Value kron::emitMul(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<ComplexType>(lhs.getType()))
    return complex::MulOp::create(builder, loc, lhs, rhs);
  if (isFloat(lhs.getType()))
    return arith::MulFOp::create(builder, loc, lhs, rhs);
  return arith::MulIOp::create(builder, loc, lhs, rhs);
}

Value kron::emitConjugate(OpBuilder &builder, Location loc, Value value) {
  if (!isa<ComplexType>(value.getType()))
    return value;
  return complex::ConjOp::create(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Floating-point numbers of 8 bits
//===----------------------------------------------------------------------===//

namespace {
/// An 8-bit type: its mantissa has so many bits, its exponent the bias, and
/// numbers up to so much are finite.
struct Format8 {
  explicit Format8(Type type)
      : mantissa(isa<Float8E4M3FNType>(type) ? 3 : 2),
        bias(isa<Float8E4M3FNType>(type) ? 7 : 15),
        largest(getLargestOf8(type)) {}

  int64_t mantissa, bias;
  double largest;
};

/// Arithmetic on the bits of f32.
struct Bits {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) const {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  }
  Value real(double value) const {
    return emitConstant(builder, loc, builder.getF32Type(), value);
  }
  Value shiftLeft(Value value, int64_t count) const {
    return arith::ShLIOp::create(builder, loc, value, constant(count));
  }
  Value shiftRight(Value value, int64_t count) const {
    return arith::ShRUIOp::create(builder, loc, value, constant(count));
  }
  Value keep(Value value, int64_t mask) const {
    return arith::AndIOp::create(builder, loc, value, constant(mask));
  }
  Value add(Value value, Value other) const {
    return arith::AddIOp::create(builder, loc, value, other);
  }
  Value unite(Value value, Value other) const {
    return arith::OrIOp::create(builder, loc, value, other);
  }
  Value compare(arith::CmpIPredicate predicate, Value value,
                int64_t other) const {
    return arith::CmpIOp::create(builder, loc, predicate, value,
                                 constant(other));
  }
  Value select(Value condition, Value yes, Value no) const {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value cast(Value value, Type type) const {
    return arith::BitcastOp::create(builder, loc, type, value);
  }
};
} // namespace

/// The f32 that the 8-bit number `value` is.
static Value emitFrom8(OpBuilder &builder, Location loc, Value value) {
  Format8 format(value.getType());
  Bits bits{builder, loc};
  Value code = arith::ExtUIOp::create(builder, loc, builder.getI32Type(),
                                      bits.cast(value, builder.getI8Type()));
  Value magnitude = bits.keep(code, 0x7f);
  // Right but for the bias, subnormal numbers among them.
  Value number = bits.cast(bits.shiftLeft(magnitude, 23 - format.mantissa),
                           builder.getF32Type());
  number = arith::MulFOp::create(builder, loc, number,
                                 bits.real(std::ldexp(1, 127 - format.bias)));
  Value result = bits.cast(number, builder.getI32Type());
  if (format.mantissa == 3) {
    Value isNaN = bits.compare(arith::CmpIPredicate::eq, magnitude, 0x7f);
    result = bits.select(isNaN, bits.constant(0x7fc00000), result);
  } else {
    Value special =
        bits.unite(bits.shiftLeft(magnitude, 21), bits.constant(0x7f800000));
    Value isSpecial = bits.compare(arith::CmpIPredicate::uge, magnitude, 0x7c);
    result = bits.select(isSpecial, special, result);
  }
  Value sign = bits.shiftLeft(bits.keep(code, 0x80), 24);
  return bits.cast(bits.unite(result, sign), builder.getF32Type());
}

/// The f32 `value`, which is no NaN, as the nearest 8-bit number, ties to even;
/// the largest one if it is beyond that.
static Value emitTo8(OpBuilder &builder, Location loc, Value value, Type type) {
  Format8 format(type);
  Bits bits{builder, loc};
  Value code = bits.cast(value, builder.getI32Type());
  Value magnitude = bits.keep(code, 0x7fffffff);
  magnitude = arith::MinUIOp::create(
      builder, loc, magnitude,
      bits.constant(llvm::bit_cast<int32_t>(float(format.largest))));
  int64_t shift = 23 - format.mantissa;
  Value odd = bits.keep(bits.shiftRight(magnitude, shift), 1);
  Value rounded = bits.add(bits.add(magnitude, odd),
                           bits.constant((int64_t(1) << (shift - 1)) - 1));
  Value normal =
      bits.add(bits.shiftRight(rounded, shift),
               bits.constant(-((127 - format.bias) << format.mantissa)));
  // An addition rounds to multiples of the smallest number.
  float unit = std::ldexp(1.0f, 24 - format.bias - format.mantissa);
  Value sum = arith::AddFOp::create(builder, loc,
                                    bits.cast(magnitude, builder.getF32Type()),
                                    bits.real(unit));
  Value small =
      bits.add(bits.cast(sum, builder.getI32Type()),
               bits.constant(-int64_t(llvm::bit_cast<int32_t>(unit))));
  float leastNormal = std::ldexp(1.0f, 1 - format.bias);
  Value isSmall = bits.compare(arith::CmpIPredicate::ult, magnitude,
                               llvm::bit_cast<int32_t>(leastNormal));
  Value result = bits.select(isSmall, small, normal);
  Value sign = bits.keep(bits.shiftRight(code, 24), 0x80);
  Value byte = arith::TruncIOp::create(builder, loc, builder.getI8Type(),
                                       bits.unite(result, sign));
  return bits.cast(byte, type);
}

double kron::getLargestOf8(Type type) {
  if (type.isInteger(8))
    return 127;
  return isa<Float8E4M3FNType>(type) ? 448 : 57344;
}

Value kron::emitRoundTo8(OpBuilder &builder, Location loc, Value value,
                         Type type) {
  value = emitConversion(builder, loc, value, builder.getF32Type());
  if (isFloat8(type))
    return emitTo8(builder, loc, value, type);
  // Adding 1.5 * 2^23 leaves the nearest integer in the last bits.
  Bits bits{builder, loc};
  Value sum = arith::AddFOp::create(builder, loc, value, bits.real(0x1.8p23));
  Value word = bits.cast(sum, builder.getI32Type());
  return arith::TruncIOp::create(builder, loc, type, word);
}

Value kron::emitConversion(OpBuilder &builder, Location loc, Value value,
                           Type type) {
  if (value.getType() == type)
    return value;
  if (isFloat8(value.getType()))
    return emitConversion(builder, loc, emitFrom8(builder, loc, value), type);
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

Value kron::emitConjMul(OpBuilder &builder, Location loc, Value lhs,
                        bool conjLhs, Value rhs, bool conjRhs, Type type) {
  lhs = emitConversion(builder, loc, lhs, type);
  rhs = emitConversion(builder, loc, rhs, type);
  if (conjLhs)
    lhs = emitConjugate(builder, loc, lhs);
  if (conjRhs)
    rhs = emitConjugate(builder, loc, rhs);
  return emitMul(builder, loc, lhs, rhs);
}

static Value emitIsZero(OpBuilder &builder, Location loc, Value value) {
  Value zero = emitZero(builder, loc, value.getType());
  if (isa<ComplexType>(value.getType()))
    return complex::EqualOp::create(builder, loc, value, zero);
  if (isa<FloatType>(value.getType()))
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, value,
                                 zero);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                               zero);
}

Value kron::emitScaled(OpBuilder &builder, Location loc, const Scale &scale,
                       Value value) {
  if (scale.isOne())
    return value;
  if (scale.isZero())
    return emitZero(builder, loc, value.getType());
  Value factor = scale.materialize(builder, loc);
  Value product = emitMul(builder, loc, factor, value);
  if (scale.constant)
    return product;
  Value isZero = emitIsZero(builder, loc, factor);
  Value zero = emitZero(builder, loc, value.getType());
  return arith::SelectOp::create(builder, loc, isZero, zero, product);
}

static Value emitRelu(OpBuilder &builder, Location loc, Value value) {
  Value zero = emitZero(builder, loc, value.getType());
  if (isFloat(value.getType()))
    return arith::MaximumFOp::create(builder, loc, value, zero);
  return arith::MaxSIOp::create(builder, loc, value, zero);
}

/// A function of the math dialect, in f64 where `value` is wider than that.
template <typename OpTy>
static Value emitFunction(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (getElementTypeOrSelf(type).getIntOrFloatBitWidth() <= 64)
    return OpTy::create(builder, loc, value);
  Value narrow = emitConversion(builder, loc, value, builder.getF64Type());
  return emitConversion(builder, loc, OpTy::create(builder, loc, narrow), type);
}

static Value emitGelu(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  Value sqrtHalf = emitConstant(builder, loc, type, std::sqrt(0.5));
  Value scaled = emitMul(builder, loc, value, sqrtHalf);
  Value erf = emitFunction<math::ErfOp>(builder, loc, scaled);
  Value sum = emitAdd(builder, loc, erf, emitConstant(builder, loc, type, 1.0));
  Value half =
      emitMul(builder, loc, value, emitConstant(builder, loc, type, 0.5));
  return emitMul(builder, loc, half, sum);
}

static Value emitSilu(OpBuilder &builder, Location loc, Value value) {
  Value negated = arith::NegFOp::create(builder, loc, value);
  Value exp = emitFunction<math::ExpOp>(builder, loc, negated);
  Value one = emitConstant(builder, loc, value.getType(), 1.0);
  return arith::DivFOp::create(builder, loc, value,
                               emitAdd(builder, loc, exp, one));
}

Value kron::emitActivation(OpBuilder &builder, Location loc,
                           Activation activation, Value value) {
  switch (activation) {
  case Activation::Identity:
    return value;
  case Activation::Relu:
    return emitRelu(builder, loc, value);
  case Activation::Gelu:
    return emitGelu(builder, loc, value);
  case Activation::Silu:
    return emitSilu(builder, loc, value);
  }
  llvm_unreachable("all activations are handled");
}
