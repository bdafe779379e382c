//===- Arithmetic.cpp - Values of every type in kernels ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}

Value kron::emitSum(Emitter &emitter, Value lhs, Value rhs) {
  if (isFloat(lhs))
    return arith::AddFOp::create(emitter.builder, emitter.loc, lhs, rhs);
  return arith::AddIOp::create(emitter.builder, emitter.loc, lhs, rhs);
}

/// lhs * rhs, part by part.
static Value emitPartProduct(Emitter &emitter, Value lhs, Value rhs) {
  if (isFloat(lhs))
    return arith::MulFOp::create(emitter.builder, emitter.loc, lhs, rhs);
  return arith::MulIOp::create(emitter.builder, emitter.loc, lhs, rhs);
}

Value kron::emitMultiplyAdd(Emitter &emitter, Value a, Value b, Value c) {
  if (!c)
    return emitPartProduct(emitter, a, b);
  if (isFloat(a))
    return vector::FMAOp::create(emitter.builder, emitter.loc, a, b, c);
  return emitSum(emitter, emitPartProduct(emitter, a, b), c);
}

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

static Value emitShuffle(Emitter &emitter, Value value,
                         function_ref<int64_t(int64_t)> getSource) {
  int64_t parts = cast<VectorType>(value.getType()).getNumElements();
  SmallVector<int64_t> lanes;
  for (int64_t part = 0; part < parts; ++part)
    lanes.push_back(getSource(part));
  return vector::ShuffleOp::create(emitter.builder, emitter.loc, value, value,
                                   lanes);
}

Value kron::emitSwappedParts(Emitter &emitter, Value value) {
  return emitShuffle(emitter, value, [](int64_t part) { return part ^ 1; });
}

Value kron::emitRepeatedPart(Emitter &emitter, Value value, bool imaginary) {
  return emitShuffle(emitter, value, [&](int64_t part) {
    return part / 2 * 2 + (imaginary ? 1 : 0);
  });
}

Value kron::emitAlternating(Emitter &emitter, Value value, double real,
                            double imaginary) {
  auto type = cast<VectorType>(value.getType());
  Attribute pair[] = {
      emitter.builder.getFloatAttr(type.getElementType(), real),
      emitter.builder.getFloatAttr(type.getElementType(), imaginary)};
  SmallVector<Attribute> parts;
  for (int64_t part = 0; part < type.getNumElements(); ++part)
    parts.push_back(pair[part % 2]);
  return arith::ConstantOp::create(emitter.builder, emitter.loc,
                                   DenseElementsAttr::get(type, parts));
}

/// real * value + imaginary * i * value, for vectors of repeated parts.
static Value emitComplexProduct(Emitter &emitter, Value real, Value imaginary,
                                Value value) {
  Value turned = emitPartProduct(emitter, emitSwappedParts(emitter, value),
                                 emitAlternating(emitter, value, -1.0, 1.0));
  return emitMultiplyAdd(emitter, imaginary, turned,
                         emitPartProduct(emitter, real, value));
}

Value kron::emitProduct(Emitter &emitter, Value lhs, Value rhs) {
  if (emitter.getNumParts() == 1)
    return emitPartProduct(emitter, lhs, rhs);
  return emitComplexProduct(emitter, emitRepeatedPart(emitter, lhs, false),
                            emitRepeatedPart(emitter, lhs, true), rhs);
}

Value kron::emitConjugate(Emitter &emitter, Value value) {
  if (emitter.getNumParts() == 1)
    return value;
  return emitPartProduct(emitter, value,
                         emitAlternating(emitter, value, 1.0, -1.0));
}

//===----------------------------------------------------------------------===//
// Scaling
//===----------------------------------------------------------------------===//

TileScalar kron::getTileScalar(Emitter &emitter, const Scale &scale) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  if (emitter.getNumParts() == 1)
    return {scale.materialize(builder, loc), nullptr};
  if (auto number = dyn_cast_or_null<complex::NumberAttr>(scale.constant)) {
    Type part = emitter.getPartType();
    auto getPart = [&](const llvm::APFloat &value) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       FloatAttr::get(part, value));
    };
    return {getPart(number.getReal()), getPart(number.getImag())};
  }
  return {complex::ReOp::create(builder, loc, scale.value),
          complex::ImOp::create(builder, loc, scale.value)};
}

/// `part` in all lanes of a value like `value`.
static Value emitBroadcast(Emitter &emitter, Value part, Value value) {
  if (!isa<VectorType>(value.getType()))
    return part;
  return vector::BroadcastOp::create(emitter.builder, emitter.loc,
                                     value.getType(), part);
}

static Value emitIsZero(Emitter &emitter, Value part) {
  Value zero = emitter.zero(part.getType());
  if (isFloat(part))
    return arith::CmpFOp::create(emitter.builder, emitter.loc,
                                 arith::CmpFPredicate::OEQ, part, zero);
  return arith::CmpIOp::create(emitter.builder, emitter.loc,
                               arith::CmpIPredicate::eq, part, zero);
}

static bool isConstantZero(const TileScalar &scalar) {
  auto isZero = [](Value part) {
    return matchPattern(part, m_AnyZeroFloat()) || matchPattern(part, m_Zero());
  };
  return isZero(scalar.real) && (!scalar.imaginary || isZero(scalar.imaginary));
}

/// `factor * value`, but 0 where the factor is 0 whatever the value: BLAS does
/// not look at what alpha = 0 or beta = 0 scales, so a NaN there must not come
/// through.
static Value emitScaled(Emitter &emitter, const TileScalar &factor,
                        Value value) {
  OpBuilder &builder = emitter.builder;
  if (isConstantZero(factor))
    return emitter.zero(value.getType());
  Value real = emitBroadcast(emitter, factor.real, value);
  Value scaled =
      factor.imaginary
          ? emitComplexProduct(emitter, real,
                               emitBroadcast(emitter, factor.imaginary, value),
                               value)
          : emitPartProduct(emitter, real, value);
  if (matchPattern(factor.real, m_Constant()))
    return scaled;
  Value isZero = emitIsZero(emitter, factor.real);
  if (factor.imaginary)
    isZero = arith::AndIOp::create(builder, emitter.loc, isZero,
                                   emitIsZero(emitter, factor.imaginary));
  return arith::SelectOp::create(builder, emitter.loc, isZero,
                                 emitter.zero(value.getType()), scaled);
}

Value kron::emitScaledSum(Emitter &emitter, const TileScale &scale, Value value,
                          function_ref<Value()> addend) {
  if (scale.alpha)
    value = emitScaled(emitter, scale.alpha, value);
  if (!scale.beta)
    return value;
  return emitSum(emitter, value, emitScaled(emitter, scale.beta, addend()));
}
