//===- NarrowFloats.cpp - f16 and bf16 in vectors of f32 --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/NarrowFloats.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// Builds arithmetic on i32 and f32, or on vectors of them.
class BitEmitter {
public:
  /// For values of the shape of `like`.
  BitEmitter(Emitter &emitter, Value like)
      : builder(emitter.builder), loc(emitter.loc), like(like.getType()) {}

  /// `element`, or a vector of it.
  Type getType(Type element) const {
    if (auto vector = dyn_cast<VectorType>(like))
      return vector.clone(element);
    return element;
  }
  Value constant(int64_t number) {
    Type type = getType(builder.getI32Type());
    TypedAttr attr = builder.getI32IntegerAttr(static_cast<int32_t>(number));
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value toBits(Value value) {
    return arith::BitcastOp::create(builder, loc, getType(builder.getI32Type()),
                                    value);
  }
  Value toFloat(Value bits) {
    return arith::BitcastOp::create(builder, loc, getType(builder.getF32Type()),
                                    bits);
  }
  Value extend(Value narrow) {
    return arith::ExtUIOp::create(builder, loc, getType(builder.getI32Type()),
                                  narrow);
  }
  Value truncate(Value wide) {
    return arith::TruncIOp::create(builder, loc, getType(builder.getI16Type()),
                                   wide);
  }
  template <typename OpTy> Value apply(Value lhs, Value rhs) {
    return OpTy::create(builder, loc, lhs, rhs);
  }
  template <typename OpTy> Value apply(Value lhs, int64_t rhs) {
    return apply<OpTy>(lhs, constant(rhs));
  }
  /// lhs < rhs, signed, and lhs == rhs.
  Value less(Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lhs,
                                 rhs);
  }
  Value equal(Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lhs,
                                 rhs);
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return arith::SelectOp::create(builder, loc, condition, lhs, rhs);
  }

  OpBuilder &builder;
  Location loc;

private:
  Type like;
};

} // namespace

/// Bits of f32 infinity, and those of the smallest normal f16 in f32.
static constexpr int64_t kInfinity = 255 << 23;
static constexpr int64_t kSmallestNormalHalf = 113 << 23;

static Value emitHalfToFloat(BitEmitter &bits, Value half) {
  Value wide = bits.extend(half);
  Value sign =
      bits.apply<arith::ShLIOp>(bits.apply<arith::AndIOp>(wide, 0x8000), 16);
  Value magnitude =
      bits.apply<arith::ShLIOp>(bits.apply<arith::AndIOp>(wide, 0x7fff), 13);
  Value exponent = bits.apply<arith::AndIOp>(magnitude, 0x7c00 << 13);
  Value normal = bits.apply<arith::AddIOp>(magnitude, (127 - 15) << 23);
  // Infinities and NaNs have the largest exponent in both types.
  Value special = bits.apply<arith::OrIOp>(magnitude, kInfinity);
  // Denormal numbers: a leading one is set and taken off again, in f32.
  Value leading = bits.apply<arith::AddIOp>(magnitude, kSmallestNormalHalf);
  Value denormal = bits.toBits(bits.apply<arith::SubFOp>(
      bits.toFloat(leading), bits.toFloat(bits.constant(kSmallestNormalHalf))));
  Value result =
      bits.select(bits.equal(exponent, bits.constant(0)), denormal, normal);
  result = bits.select(bits.equal(exponent, bits.constant(0x7c00 << 13)),
                       special, result);
  return bits.toFloat(bits.apply<arith::OrIOp>(result, sign));
}

static Value emitFloatToHalf(BitEmitter &bits, Value value) {
  Value wide = bits.toBits(value);
  Value sign = bits.apply<arith::ShRUIOp>(
      bits.apply<arith::AndIOp>(wide, INT64_C(0x80000000)), 16);
  Value magnitude = bits.apply<arith::AndIOp>(wide, 0x7fffffff);
  // Normal numbers: the exponent is moved, half of the last place added, or a
  // bit less where the last place is even; a carry runs into the exponent.
  Value odd =
      bits.apply<arith::AndIOp>(bits.apply<arith::ShRUIOp>(magnitude, 13), 1);
  Value rounded = bits.apply<arith::AddIOp>(
      magnitude, -((INT64_C(127) - 15) << 23) + 0xfff);
  Value normal =
      bits.apply<arith::ShRUIOp>(bits.apply<arith::AddIOp>(rounded, odd), 13);
  // Denormal numbers: the addition of a number whose last place is theirs
  // rounds.
  int64_t aligned = ((127 - 15) + (23 - 10) + 1) << 23;
  Value sum = bits.apply<arith::AddFOp>(bits.toFloat(magnitude),
                                        bits.toFloat(bits.constant(aligned)));
  Value denormal = bits.apply<arith::SubIOp>(bits.toBits(sum), aligned);
  Value isNaN = bits.less(bits.constant(kInfinity), magnitude);
  Value special =
      bits.select(isNaN, bits.constant(0x7e00), bits.constant(0x7c00));
  Value isSmall = bits.less(magnitude, bits.constant(kSmallestNormalHalf));
  Value result = bits.select(isSmall, denormal, normal);
  Value isFinite = bits.less(magnitude, bits.constant((127 + 16) << 23));
  result = bits.select(isFinite, result, special);
  return bits.truncate(bits.apply<arith::OrIOp>(result, sign));
}

/// Half of the last place, or a bit less where that place is even, is added
/// before the lower bits go. That would carry a NaN into infinity.
static Value emitFloatToBFloat(BitEmitter &bits, Value value) {
  Value wide = bits.toBits(value);
  Value upper = bits.apply<arith::ShRUIOp>(wide, 16);
  Value odd = bits.apply<arith::AndIOp>(upper, 1);
  Value sum =
      bits.apply<arith::AddIOp>(bits.apply<arith::AddIOp>(wide, 0x7fff), odd);
  Value rounded = bits.apply<arith::ShRUIOp>(sum, 16);
  Value isNaN = arith::CmpFOp::create(bits.builder, bits.loc,
                                      arith::CmpFPredicate::UNO, value, value);
  Value quiet = bits.apply<arith::OrIOp>(upper, 0x40);
  return bits.truncate(bits.select(isNaN, quiet, rounded));
}

Value kron::emitWidened(Emitter &emitter, Value bits, Type narrow) {
  BitEmitter arithmetic(emitter, bits);
  if (narrow.isBF16())
    return arithmetic.toFloat(
        arithmetic.apply<arith::ShLIOp>(arithmetic.extend(bits), 16));
  if (!emitter.has16BitConversion)
    return emitHalfToFloat(arithmetic, bits);
  Value half = arith::BitcastOp::create(emitter.builder, emitter.loc,
                                        arithmetic.getType(narrow), bits);
  return arith::ExtFOp::create(emitter.builder, emitter.loc,
                               arithmetic.getType(emitter.builder.getF32Type()),
                               half);
}

Value kron::emitToBF16(Emitter &emitter, Value low, Value high) {
  OpBuilder &builder = emitter.builder;
  SmallVector<Value> operands{low};
  if (high)
    operands.insert(operands.begin(), high);
  int64_t lanes = kRoundedLanes * operands.size();
  StringRef name = high ? "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
                        : "llvm.x86.avx512bf16.cvtneps2bf16.512";
  Value narrow =
      LLVM::CallIntrinsicOp::create(
          builder, emitter.loc, VectorType::get({lanes}, builder.getBF16Type()),
          builder.getStringAttr(name), ValueRange(operands))
          .getResult(0);
  return arith::BitcastOp::create(
      builder, emitter.loc, VectorType::get({lanes}, builder.getI16Type()),
      narrow);
}

Value kron::emitNarrowed(Emitter &emitter, Value value, Type narrow) {
  BitEmitter arithmetic(emitter, value);
  auto vector = dyn_cast<VectorType>(value.getType());
  if (narrow.isBF16() && emitter.roundsToBF16 && vector &&
      vector.getNumElements() == kRoundedLanes)
    return emitToBF16(emitter, value);
  if (narrow.isBF16())
    return emitFloatToBFloat(arithmetic, value);
  if (!emitter.has16BitConversion)
    return emitFloatToHalf(arithmetic, value);
  Value half = arith::TruncFOp::create(emitter.builder, emitter.loc,
                                       arithmetic.getType(narrow), value);
  return arith::BitcastOp::create(
      emitter.builder, emitter.loc,
      arithmetic.getType(emitter.builder.getI16Type()), half);
}
