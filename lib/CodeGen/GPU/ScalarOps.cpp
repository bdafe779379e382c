//===- ScalarOps.cpp - Arithmetic of one element in a kernel ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/ScalarOps.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value ScalarOps::multiplyAdd(Value a, Value b, Value c) {
  if (!isInteger())
    return kernel.fma(a, b, c);
  Value product = multiply(a, b);
  return arith::AddIOp::create(kernel.builder, kernel.loc, product, c);
}

Value ScalarOps::multiply(Value a, Value b) {
  if (isInteger())
    return arith::MulIOp::create(kernel.builder, kernel.loc, a, b);
  return arith::MulFOp::create(kernel.builder, kernel.loc, a, b);
}

Value ScalarOps::negate(Value value) {
  return arith::NegFOp::create(kernel.builder, kernel.loc, value);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Scalar ScalarOps::zero() {
  if (!isComplex())
    return {kernel.zero(accumulator), nullptr};
  Value part = kernel.zero(cast<ComplexType>(accumulator).getElementType());
  return {part, part};
}

Scalar ScalarOps::fma(const Scalar &a, const Scalar &b, const Scalar &c) {
  if (!isComplex())
    return {multiplyAdd(a.re, b.re, c.re), nullptr};
  Value re = multiplyAdd(a.re, b.re, c.re);
  Value im = multiplyAdd(a.re, b.im, c.im);
  return {multiplyAdd(negate(a.im), b.im, re), multiplyAdd(a.im, b.re, im)};
}

Scalar ScalarOps::mul(const Scalar &a, const Scalar &b) {
  if (!isComplex())
    return {multiply(a.re, b.re), nullptr};
  return {multiplyAdd(negate(a.im), b.im, multiply(a.re, b.re)),
          multiplyAdd(a.im, b.re, multiply(a.re, b.im))};
}

Scalar ScalarOps::add(const Scalar &a, const Scalar &b) {
  Value re = emitAdd(kernel.builder, kernel.loc, a.re, b.re);
  if (!isComplex())
    return {re, nullptr};
  return {re, emitAdd(kernel.builder, kernel.loc, a.im, b.im)};
}

Scalar ScalarOps::conjugate(const Scalar &value) {
  return isComplex() ? Scalar{value.re, negate(value.im)} : value;
}

Scalar ScalarOps::select(Value condition, const Scalar &lhs,
                         const Scalar &rhs) {
  Scalar result{kernel.select(condition, lhs.re, rhs.re), nullptr};
  if (isComplex())
    result.im = kernel.select(condition, lhs.im, rhs.im);
  return result;
}

Value ScalarOps::isZero(const Scalar &value) {
  auto test = [&](Value part) -> Value {
    Value none = kernel.zero(part.getType());
    if (isInteger())
      return kernel.equal(Int(part), Int(none));
    return arith::CmpFOp::create(kernel.builder, kernel.loc,
                                 arith::CmpFPredicate::OEQ, part, none);
  };
  return isComplex() ? kernel.both(test(value.re), test(value.im))
                     : test(value.re);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Scalar ScalarOps::load(Type element, Value pointer, CacheHint hint) {
  if (isComplex()) {
    // A user's array is aligned to the parts, not to the whole.
    Type part = cast<ComplexType>(element).getElementType();
    Value im = kernel.offsetElements(pointer, part, 1);
    return {kernel.load(part, pointer, hint), kernel.load(part, im, hint)};
  }
  if (element == accumulator)
    return {kernel.load(element, pointer, hint), nullptr};
  OpBuilder &b = kernel.builder;
  if (isFloat8(element)) {
    Value code = kernel.load(b.getI8Type(), pointer, hint);
    Value number = arith::BitcastOp::create(b, kernel.loc, element, code);
    return {emitConversion(b, kernel.loc, number, accumulator), nullptr};
  }
  Value value = kernel.load(element, pointer, hint);
  return {arith::ExtFOp::create(b, kernel.loc, accumulator, value), nullptr};
}

SmallVector<Scalar> ScalarOps::loadMany(int64_t count, Value pointer) {
  Type part = accumulator;
  int64_t parts = count;
  if (auto complex = dyn_cast<ComplexType>(accumulator)) {
    part = complex.getElementType();
    parts *= 2;
  }
  int64_t partBytes = part.getIntOrFloatBitWidth() / 8;
  int64_t width = 16 / partBytes;
  while (parts % width != 0)
    width /= 2;
  SmallVector<Value> values;
  for (int64_t first = 0; first < parts; first += width) {
    Type type = width == 1 ? part : VectorType::get({width}, part);
    Value from = kernel.offsetElements(pointer, part, first);
    llvm::append_range(values, kernel.unpack(kernel.load(type, from)));
  }
  SmallVector<Scalar> numbers;
  for (int64_t index = 0; index < count; ++index)
    numbers.push_back(isComplex()
                          ? Scalar{values[2 * index], values[2 * index + 1]}
                          : Scalar{values[index], nullptr});
  return numbers;
}

void ScalarOps::store(const Scalar &value, Type element, Value pointer,
                      CacheHint hint) {
  if (isComplex()) {
    Type part = cast<ComplexType>(element).getElementType();
    kernel.store(value.re, pointer, hint);
    kernel.store(value.im, kernel.offsetElements(pointer, part, 1), hint);
    return;
  }
  Value number = value.re;
  if (element != accumulator)
    number =
        arith::TruncFOp::create(kernel.builder, kernel.loc, element, number);
  kernel.store(number, pointer, hint);
}

void ScalarOps::storeMany(ArrayRef<Scalar> values, Type element, Value pointer,
                          CacheHint hint) {
  if (values.size() == 1)
    return store(values.front(), element, pointer, hint);
  Value vector = kernel.makeVector(llvm::map_to_vector(
      values, [](const Scalar &value) { return value.re; }));
  if (element != accumulator)
    vector = arith::TruncFOp::create(
        kernel.builder, kernel.loc,
        VectorType::get({int64_t(values.size())}, element), vector);
  kernel.store(vector, pointer, hint);
}

//===----------------------------------------------------------------------===//
// Scaling
//===----------------------------------------------------------------------===//

KernelScale ScalarOps::enter(const Scale &scale, bool isNeutral) {
  if (isNeutral)
    return {};
  OpBuilder &hostBuilder = kernel.host.builder;
  KernelScale entered;
  entered.isDynamic = !scale.constant;
  if (!isComplex()) {
    Value value = scale.constant ? scale.materialize(kernel.builder, kernel.loc)
                                 : kernel.enter(scale.value);
    entered.value = Scalar{value, nullptr};
    return entered;
  }
  Type part = cast<ComplexType>(accumulator).getElementType();
  auto constant = dyn_cast_or_null<complex::NumberAttr>(scale.constant);
  auto getPart = [&](bool imaginary) -> Value {
    if (constant)
      return arith::ConstantOp::create(
          kernel.builder, kernel.loc,
          FloatAttr::get(part,
                         imaginary ? constant.getImag() : constant.getReal()));
    Value value =
        imaginary
            ? Value(complex::ImOp::create(hostBuilder, kernel.loc, scale.value))
            : Value(
                  complex::ReOp::create(hostBuilder, kernel.loc, scale.value));
    return kernel.enter(value);
  };
  Value re = getPart(false);
  entered.value = Scalar{re, getPart(true)};
  return entered;
}

Scalar ScalarOps::scaledSum(const KernelScale &alpha, const KernelScale &beta,
                            const Scalar &value,
                            function_ref<Scalar()> addend) {
  return scaledSums(alpha, beta, value,
                    [&] { return SmallVector<Scalar>{addend()}; })
      .front();
}

SmallVector<Scalar>
ScalarOps::scaledSums(const KernelScale &alpha, const KernelScale &beta,
                      ArrayRef<Scalar> values,
                      function_ref<SmallVector<Scalar>()> addends) {
  SmallVector<Scalar> results(values);
  for (Scalar &result : results) {
    if (!alpha.value)
      break;
    result = mul(*alpha.value, result);
    if (alpha.isDynamic)
      result = select(isZero(*alpha.value), zero(), result);
  }
  if (!beta.value)
    return results;
  auto addAll = [&] {
    SmallVector<Scalar> sums;
    for (auto [addend, result] : llvm::zip_equal(addends(), results))
      sums.push_back(fma(*beta.value, addend, result));
    return sums;
  };
  if (!beta.isDynamic)
    return addAll();
  auto list = [&](ArrayRef<Scalar> numbers) {
    SmallVector<Value> parts;
    for (const Scalar &number : numbers) {
      parts.push_back(number.re);
      if (isComplex())
        parts.push_back(number.im);
    }
    return parts;
  };
  SmallVector<Value> parts = list(results);
  SmallVector<Type> types =
      llvm::map_to_vector(parts, [](Value part) { return part.getType(); });
  parts = kernel.ifElse(
      isZero(*beta.value), types, [&] { return list(results); },
      [&] { return list(addAll()); });
  for (auto [index, result] : llvm::enumerate(results))
    result = isComplex() ? Scalar{parts[2 * index], parts[2 * index + 1]}
                         : Scalar{parts[index], nullptr};
  return results;
}
