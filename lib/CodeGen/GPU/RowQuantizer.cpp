//===- RowQuantizer.cpp - Eight bits per element and a scale --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/RowQuantizer.h"
#include "kron/CodeGen/Emitter.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kChunkBytes = 16;

Value RowQuantizer::constant(int64_t bits) {
  return arith::ConstantOp::create(k.builder, k.loc,
                                   k.builder.getI32IntegerAttr(bits));
}

Value RowQuantizer::max(Value lhs, Value rhs) {
  return arith::MaxUIOp::create(k.builder, k.loc, lhs, rhs);
}

/// Integers order NaN behind infinities and those behind finite values.
Value RowQuantizer::addMagnitudes(Value largest, ArrayRef<Value> numbers) {
  for (Value number : numbers)
    largest =
        max(largest,
            arith::AndIOp::create(k.builder, k.loc,
                                  k.bitcast(number, k.builder.getI32Type()),
                                  constant(0x7fffffff)));
  return largest;
}

Value RowQuantizer::shareInWarp(Value largest, int64_t lanes) {
  for (int64_t distance = 1; distance < lanes; distance *= 2)
    largest = max(largest, k.shuffleXor(largest, distance));
  return largest;
}

RowScale RowQuantizer::getScale(Value largest) {
  OpBuilder &b = k.builder;
  Type f32 = b.getF32Type();
  Value number = k.bitcast(largest, f32), zero = k.constant(f32, 0);
  Value scale = arith::DivFOp::create(b, k.loc, number,
                                      k.constant(f32, getLargestOf8(byte)));
  Value isSmall = arith::CmpFOp::create(b, k.loc, arith::CmpFPredicate::OLT,
                                        scale, k.constant(f32, 0x1p-126));
  Value isFinite = arith::CmpIOp::create(b, k.loc, arith::CmpIPredicate::ult,
                                         largest, constant(0x7f800000));
  scale = k.select(isSmall, zero, scale);
  Value isPositive =
      arith::CmpFOp::create(b, k.loc, arith::CmpFPredicate::OGT, scale, zero);
  RowScale result;
  result.stored =
      k.select(isFinite, scale, k.bitcast(constant(0x7fc00000), f32));
  result.inverse = arith::DivFOp::create(b, k.loc, k.constant(f32, 1), scale);
  result.isUsable = arith::AndIOp::create(b, k.loc, isFinite, isPositive);
  return result;
}

Value RowQuantizer::roundWord(ArrayRef<Value> numbers) {
  OpBuilder &b = k.builder;
  Type i32 = b.getI32Type();
  if (isFloat8(byte) && hasFloat8) {
    StringRef text = isa<Float8E4M3FNType>(byte)
                         ? "{ .reg .b16 a, b; "
                           "cvt.rn.satfinite.e4m3x2.f32 a, $2, $1; "
                           "cvt.rn.satfinite.e4m3x2.f32 b, $4, $3; "
                           "mov.b32 $0, {a, b}; }"
                         : "{ .reg .b16 a, b; "
                           "cvt.rn.satfinite.e5m2x2.f32 a, $2, $1; "
                           "cvt.rn.satfinite.e5m2x2.f32 b, $4, $3; "
                           "mov.b32 $0, {a, b}; }";
    return k
        .inlinePTX({i32}, text, "=r,f,f,f,f", numbers,
                   /*hasSideEffects=*/false)
        .front();
  }
  if (byte.isInteger(8)) {
    // Adding 1.5 * 2^23 leaves the nearest integer in the last byte.
    SmallVector<Value> words;
    for (Value number : numbers)
      words.push_back(
          k.bitcast(arith::AddFOp::create(b, k.loc, number,
                                          k.constant(b.getF32Type(), 0x1.8p23)),
                    i32));
    return k
        .inlinePTX({i32},
                   "{ .reg .b32 a, b; prmt.b32 a, $1, $2, 0x0040; "
                   "prmt.b32 b, $3, $4, 0x0040; prmt.b32 $0, a, b, 0x5410; }",
                   "=r,r,r,r,r", words, /*hasSideEffects=*/false)
        .front();
  }
  Value word;
  for (auto [index, number] : llvm::enumerate(numbers)) {
    Value code = arith::BitcastOp::create(b, k.loc, b.getI8Type(),
                                          emitRoundTo8(b, k.loc, number, byte));
    Value wide = arith::ExtUIOp::create(b, k.loc, i32, code);
    wide = arith::ShLIOp::create(b, k.loc, wide, constant(8 * index));
    word = word ? Value(arith::OrIOp::create(b, k.loc, word, wide)) : wide;
  }
  return word;
}

Value RowQuantizer::packWord(ArrayRef<Value> numbers, const RowScale &scale) {
  SmallVector<Value> scaled;
  for (Value number : numbers)
    scaled.push_back(
        arith::MulFOp::create(k.builder, k.loc, number, scale.inverse));
  return k.select(scale.isUsable, roundWord(scaled), constant(0));
}

/// The elements of a chunk, in f32.
SmallVector<Value> RowQuantizer::unpackChunk(Value chunk, Type element) {
  int64_t count = kChunkBytes * 8 / element.getIntOrFloatBitWidth();
  SmallVector<Value> values =
      k.unpack(k.bitcast(chunk, VectorType::get({count}, element)));
  for (Value &value : values)
    value = emitConversion(k.builder, k.loc, value, k.builder.getF32Type());
  return values;
}

void RowQuantizer::quantizeRow(const ChunkedRow &row) {
  bool isKept = row.chunks <= row.mostKept;
  SmallVector<Value> kept;
  Value largest = zero();
  auto add = [&](Value largest, Value chunk) {
    return addMagnitudes(largest, unpackChunk(chunk, row.element));
  };
  if (isKept) {
    for (int64_t number = 0; number < row.chunks; ++number)
      kept.push_back(row.load(number));
    for (Value chunk : kept)
      largest = add(largest, chunk);
  } else {
    largest =
        k.rolledLoop(0, row.chunks, 1, largest,
                     [&](Int number, ValueRange carried) -> SmallVector<Value> {
                       return {add(carried[0], row.load(number))};
                     })
            .front();
  }
  RowScale scale = getScale(row.share(largest));
  auto finish = [&](Value chunk, Int number) {
    SmallVector<Value> values = unpackChunk(chunk, row.element), words;
    for (unsigned first = 0; first < values.size(); first += 4)
      words.push_back(packWord(ArrayRef<Value>(values).slice(first, 4), scale));
    row.store(number, k.makeVector(words));
  };
  k.ifThen(row.exists, [&] {
    row.storeScale(scale.stored);
    if (isKept) {
      for (auto [number, chunk] : llvm::enumerate(kept))
        finish(chunk, int64_t(number));
      return;
    }
    k.rolledLoop(0, row.chunks, 1,
                 [&](Int number) { finish(row.load(number), number); });
  });
}
