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

Value kron::emitConversion(OpBuilder &builder, Location loc, Value value,
                           Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
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
