//===- KronScale.cpp - Scalars of kron operations -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace mlir::kron;

Type kron::getAccumulatorType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  return element;
}

bool kron::isFloat8(Type element) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(element);
}

Type kron::getElementType(Value array) {
  return cast<ShapedType>(array.getType()).getElementType();
}

static bool isRealConstant(TypedAttr attr, double value) {
  if (auto real = dyn_cast_or_null<FloatAttr>(attr))
    return real.getValueAsDouble() == value;
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr))
    return integer.getValue() == static_cast<int64_t>(value);
  if (auto number = dyn_cast_or_null<complex::NumberAttr>(attr))
    return number.getReal().convertToDouble() == value &&
           number.getImag().isZero();
  return false;
}

bool kron::isZeroConstant(TypedAttr attr) { return isRealConstant(attr, 0.0); }
bool kron::isOneConstant(TypedAttr attr) { return isRealConstant(attr, 1.0); }

TypedAttr kron::getScalarAttr(Type type, double value) {
  if (auto complexType = dyn_cast<ComplexType>(type))
    return complex::NumberAttr::get(complexType, value, 0.0);
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType, value);
  return IntegerAttr::get(type, static_cast<int64_t>(value));
}

Value Scale::materialize(OpBuilder &builder, Location loc) const {
  if (value)
    return value;
  if (auto number = dyn_cast<complex::NumberAttr>(constant)) {
    auto type = cast<ComplexType>(number.getType());
    Type part = type.getElementType();
    return complex::ConstantOp::create(
        builder, loc, type,
        builder.getArrayAttr({FloatAttr::get(part, number.getReal()),
                              FloatAttr::get(part, number.getImag())}));
  }
  return arith::ConstantOp::create(builder, loc, constant);
}

static Scale getScale(ScaledOpInterface op, Value value, TypedAttr constant,
                      double defaultValue) {
  if (value)
    return {nullptr, value};
  if (!constant)
    constant = getScalarAttr(
        getAccumulatorType(getElementType(op.getInitValue())), defaultValue);
  return {constant, nullptr};
}

Scale kron::getAlpha(ScaledOpInterface op) {
  return getScale(op, op.getAlphaValue(), op.getStaticAlphaAttr(), 1.0);
}

Scale kron::getBeta(ScaledOpInterface op) {
  return getScale(op, op.getBetaValue(), op.getStaticBetaAttr(), 0.0);
}
