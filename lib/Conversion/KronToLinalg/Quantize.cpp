//===- Quantize.cpp - Reference lowering of kron.quantize -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The largest magnitude of each row, its scale and the inverse of that, then
// the rounded elements. Magnitudes are compared as integers, which order NaN
// behind infinities and those behind finite values. Loops run over the input as
// it lies.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "kron/Conversion/QuantizeLoops.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::kron;

using CreateArray = function_ref<Value(Type element)>;

namespace {
/// Builds the loops of one operation.
class Quantizer {
public:
  Quantizer(ArrayEmitter &emitter, const QuantizeArrays &arrays,
            CreateArray createArray);

  SmallVector<Value> emit();

private:
  Value emitLargest();
  Value emitScales(Value largest);
  Value emitInverses(Value scales);
  Value emitElements(Value inverses);
  Value emitMagnitude(OpBuilder &b, Location loc, Value value);

  ArrayEmitter &emitter;
  QuantizeArrays arrays;
  CreateArray createArray;
  Type element, real;
  /// In which magnitudes are compared.
  Type ordered;
  /// How the input, and how the scales, are indexed; of what is no batch.
  AffineMap inputMap, scalesMap;
  SmallVector<unsigned> featureDims;
};
} // namespace

Quantizer::Quantizer(ArrayEmitter &emitter, const QuantizeArrays &arrays,
                     CreateArray createArray)
    : emitter(emitter), arrays(arrays), createArray(createArray),
      element(kron::getElementType(arrays.input)),
      real(kron::getElementType(arrays.scales)) {
  MLIRContext *context = emitter.getBuilder().getContext();
  constexpr unsigned kMostBits = 64;
  unsigned bits = element.getIntOrFloatBitWidth();
  ordered = bits > kMostBits ? element : IntegerType::get(context, bits);
  unsigned rank = cast<ShapedType>(arrays.input.getType()).getRank();
  unsigned batchRank = cast<ShapedType>(arrays.scales.getType()).getRank();
  SmallVector<unsigned> batchDims;
  for (unsigned dim = 0; dim < rank; ++dim) {
    bool isBatch = dim - arrays.firstBatchDim < batchRank;
    (isBatch ? batchDims : featureDims).push_back(dim);
  }
  inputMap = AffineMap::getMultiDimIdentityMap(rank, context);
  scalesMap = inputMap.getSubMap(batchDims);
}

/// |value| as it is compared.
Value Quantizer::emitMagnitude(OpBuilder &b, Location loc, Value value) {
  if (ordered == element)
    return math::AbsFOp::create(b, loc, value);
  Value bits = arith::BitcastOp::create(b, loc, ordered, value);
  Value mask = arith::ConstantOp::create(
      b, loc,
      b.getIntegerAttr(
          ordered, APInt::getSignedMaxValue(ordered.getIntOrFloatBitWidth())));
  return arith::AndIOp::create(b, loc, bits, mask);
}

Value Quantizer::emitLargest() {
  Value zeros = emitter.fillZeros(createArray(ordered));
  return emitter.emitGeneric(
      arrays.input, zeros, {inputMap, scalesMap}, featureDims,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value magnitude = emitMagnitude(b, loc, args[0]);
        if (ordered != element)
          return arith::MaxUIOp::create(b, loc, magnitude, args[1]);
        // A NaN stays.
        Value isLess = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE,
                                             magnitude, args[1]);
        Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO,
                                            args[1], args[1]);
        Value keeps = arith::OrIOp::create(b, loc, isLess, isNaN);
        return arith::SelectOp::create(b, loc, keeps, args[1], magnitude);
      });
}

Value Quantizer::emitScales(Value largest) {
  AffineMap identity = AffineMap::getMultiDimIdentityMap(
      scalesMap.getNumResults(), scalesMap.getContext());
  double limit = getLargestOf8(kron::getElementType(arrays.init));
  return emitter.emitGeneric(
      largest, arrays.scales, {identity, identity}, /*reductions=*/0,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        auto constant = [&](double value) -> Value {
          return arith::ConstantOp::create(b, loc, getScalarAttr(real, value));
        };
        Value number = args[0];
        if (ordered != element)
          number = arith::BitcastOp::create(b, loc, element, number);
        number = emitConversion(b, loc, number, real);
        Value scale = arith::DivFOp::create(b, loc, number, constant(limit));
        Value isSmall = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                                              scale, constant(0x1p-126));
        scale = arith::SelectOp::create(b, loc, isSmall, constant(0), scale);
        // Infinities and NaN, minus themselves, are NaN.
        Value nothing = arith::SubFOp::create(b, loc, number, number);
        return arith::AddFOp::create(b, loc, scale, nothing);
      });
}

/// 1 / S; 0 for rows that become zeros.
Value Quantizer::emitInverses(Value scales) {
  AffineMap identity = AffineMap::getMultiDimIdentityMap(
      scalesMap.getNumResults(), scalesMap.getContext());
  return emitter.emitGeneric(
      scales, createArray(real), {identity, identity}, /*reductions=*/0,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value zero = emitZero(b, loc, real);
        Value one = arith::ConstantOp::create(b, loc, getScalarAttr(real, 1));
        Value inverse = arith::DivFOp::create(b, loc, one, args[0]);
        Value isUsable = arith::CmpFOp::create(
            b, loc, arith::CmpFPredicate::OGT, args[0], zero);
        return arith::SelectOp::create(b, loc, isUsable, inverse, zero);
      });
}

Value Quantizer::emitElements(Value inverses) {
  Type byte = kron::getElementType(arrays.init);
  return emitter.emitGeneric(
      {arrays.input, inverses}, arrays.init, {inputMap, scalesMap, inputMap},
      /*reductions=*/0,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value isUsable = arith::CmpFOp::create(
            b, loc, arith::CmpFPredicate::OGT, args[1], emitZero(b, loc, real));
        Value number = arith::MulFOp::create(
            b, loc, emitConversion(b, loc, args[0], real), args[1]);
        Value rounded = emitRoundTo8(b, loc, number, byte);
        Type i8 = b.getI8Type();
        if (byte != i8)
          rounded = arith::BitcastOp::create(b, loc, i8, rounded);
        Value result = arith::SelectOp::create(b, loc, isUsable, rounded,
                                               emitZero(b, loc, i8));
        if (byte != i8)
          result = arith::BitcastOp::create(b, loc, byte, result);
        return result;
      });
}

SmallVector<Value> Quantizer::emit() {
  Value scales = emitScales(emitLargest());
  return {emitElements(emitInverses(scales)), scales};
}

SmallVector<Value> kron::emitQuantize(ArrayEmitter &emitter, QuantizeOp op) {
  SmallVector<OpFoldResult> sizes;
  unsigned batchRank = cast<ShapedType>(op.getScales().getType()).getRank();
  for (unsigned dim = 0; dim < batchRank; ++dim)
    sizes.push_back(
        emitter.getSize(op.getInput(), op.getFirstBatchDim() + dim));
  QuantizeArrays arrays{op.getInput(), op.getInit(), op.getScales(),
                        op.getFirstBatchDim()};
  auto createArray = [&](Type element) {
    return emitter.createEmpty(sizes, element);
  };
  return Quantizer(emitter, arrays, createArray).emit();
}

void kron::emitQuantizeLoops(OpBuilder &builder, Location loc,
                             const QuantizeArrays &arrays,
                             CreateArray createArray) {
  ArrayEmitter emitter(builder, loc, /*onTensors=*/false);
  Quantizer(emitter, arrays, createArray).emit();
}
