//===- Quantize.cpp - Reference lowering of kron.quantize -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The largest magnitude of each row, its scale, then the rounded elements. In
// f32 magnitudes are compared as integers, which order NaN behind infinities
// and those behind numbers.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
/// Builds the three loops of one operation, on axes in which the batch comes
/// before the features.
class Quantizer {
public:
  Quantizer(ArrayEmitter &emitter, QuantizeOp op);

  SmallVector<Value> emit();

private:
  Value emitLargest();
  Value emitScales(Value largest);
  Value emitElements(Value scales);
  Value emitMagnitude(OpBuilder &b, Location loc, Value value);

  ArrayEmitter &emitter;
  QuantizeOp op;
  Type real;
  /// In which magnitudes are compared.
  Type ordered;
  /// How the input, and how the scales, are indexed.
  AffineMap inputMap, scalesMap;
};
} // namespace

Quantizer::Quantizer(ArrayEmitter &emitter, QuantizeOp op)
    : emitter(emitter), op(op), real(kron::getElementType(op.getScales())) {
  OpBuilder &builder = emitter.getBuilder();
  ordered = real.isF32() ? Type(builder.getI32Type()) : real;
  unsigned rank = cast<ShapedType>(op.getInput().getType()).getRank();
  unsigned batchRank = cast<ShapedType>(op.getScales().getType()).getRank();
  SmallVector<AffineExpr> exprs(rank);
  unsigned nextFeature = batchRank;
  for (unsigned dim = 0; dim < rank; ++dim) {
    unsigned batch = dim - op.getFirstBatchDim();
    exprs[dim] =
        builder.getAffineDimExpr(batch < batchRank ? batch : nextFeature++);
  }
  MLIRContext *context = builder.getContext();
  inputMap = AffineMap::get(rank, 0, exprs, context);
  scalesMap = AffineMap::getMultiDimIdentityMap(rank, context)
                  .getMajorSubMap(batchRank);
}

/// |value| as it is compared.
Value Quantizer::emitMagnitude(OpBuilder &b, Location loc, Value value) {
  value = emitConversion(b, loc, value, real);
  if (ordered == real)
    return math::AbsFOp::create(b, loc, value);
  Value bits = arith::BitcastOp::create(b, loc, ordered, value);
  Value mask =
      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0x7fffffff));
  return arith::AndIOp::create(b, loc, bits, mask);
}

Value Quantizer::emitLargest() {
  SmallVector<OpFoldResult> sizes;
  unsigned batchRank = scalesMap.getNumResults();
  for (unsigned dim = 0; dim < batchRank; ++dim)
    sizes.push_back(
        emitter.getSize(op.getInput(), op.getFirstBatchDim() + dim));
  return emitter.emitGeneric(
      op.getInput(), emitter.createZeros(sizes, ordered), {inputMap, scalesMap},
      /*reductions=*/inputMap.getNumDims() - batchRank,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value magnitude = emitMagnitude(b, loc, args[0]);
        if (ordered != real)
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
      scalesMap.getNumResults(), op.getContext());
  double limit = getLargestOf8(kron::getElementType(op.getInit()));
  return emitter.emitGeneric(
      largest, op.getScales(), {identity, identity}, /*reductions=*/0,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        auto constant = [&](double value) -> Value {
          return arith::ConstantOp::create(b, loc, getScalarAttr(real, value));
        };
        Value number = args[0];
        if (ordered != real)
          number = arith::BitcastOp::create(b, loc, real, number);
        Value scale = arith::DivFOp::create(b, loc, number, constant(limit));
        Value isSmall = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                                              scale, constant(0x1p-126));
        scale = arith::SelectOp::create(b, loc, isSmall, constant(0), scale);
        // Infinities and NaN, minus themselves, are NaN.
        Value nothing = arith::SubFOp::create(b, loc, number, number);
        return arith::AddFOp::create(b, loc, scale, nothing);
      });
}

Value Quantizer::emitElements(Value scales) {
  Type byte = kron::getElementType(op.getInit());
  return emitter.emitGeneric(
      {op.getInput(), scales}, op.getInit(), {inputMap, scalesMap, inputMap},
      /*reductions=*/0,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value one = arith::ConstantOp::create(b, loc, getScalarAttr(real, 1));
        Value inverse = arith::DivFOp::create(b, loc, one, args[1]);
        Value isUsable = arith::CmpFOp::create(
            b, loc, arith::CmpFPredicate::OGT, args[1], emitZero(b, loc, real));
        Value number = arith::MulFOp::create(
            b, loc, emitConversion(b, loc, args[0], real), inverse);
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
  return {emitElements(scales), scales};
}

SmallVector<Value> kron::emitQuantize(ArrayEmitter &emitter, QuantizeOp op) {
  return Quantizer(emitter, op).emit();
}
