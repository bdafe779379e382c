//===- WgmmaRows.cpp - Rows of a block for wgmma --------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/WgmmaRows.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// `value`, or 0 if `position`, which is at most `largest`, is not below
/// `sizeK`.
static Value maskK(KernelBuilder &k, Value value, Int position, int64_t largest,
                   int64_t sizeK) {
  if (largest < sizeK)
    return value;
  return k.select(k.less(position, sizeK), value,
                  k.constant(value.getType(), 0.0));
}

SmallVector<Value> kron::loadWgmmaQuads(KernelBuilder &k, Int t,
                                        const WgmmaQuadBases &bases,
                                        int64_t positions, int64_t sizeK) {
  Type vector = k.getVectorType(4);
  SmallVector<Value> values;
  for (int64_t first = 0; first < positions; first += 16) {
    SmallVector<Value> parts[2];
    for (int64_t number = 0; number < 2; ++number) {
      Value pointer =
          k.offsetBytes(bases[number][first / 16 % 2], first / 32 * 128);
      parts[number] = k.unpack(k.load(vector, pointer));
      for (int64_t part = 0; part < 4; ++part)
        parts[number][part] =
            maskK(k, parts[number][part], k.add(k.mul(t, 4), first + part),
                  first + 12 + part, sizeK);
    }
    for (int64_t part = 0; part < 4; ++part)
      values.append({parts[0][part], parts[1][part]});
  }
  return values;
}

SmallVector<Value> kron::loadWgmmaPairs(KernelBuilder &k, Int t, Value base,
                                        int64_t pitchBytes, int64_t positions,
                                        int64_t sizeK) {
  Int position = k.mul(t, 2);
  Type vector = k.getVectorType(2);
  SmallVector<Value> values;
  for (int64_t first = 0; first < positions; first += 8)
    for (int64_t odd = 0; odd < 2; ++odd) {
      Value pair =
          k.load(vector, k.offsetBytes(base, (first + odd) * pitchBytes));
      for (int64_t row = 0; row < 2; ++row)
        values.push_back(maskK(k, k.extract(pair, row),
                               k.add(position, first + odd), first + 6 + odd,
                               sizeK));
    }
  return values;
}

WgmmaRows kron::convertWgmmaRows(KernelBuilder &k, WgmmaKind kind,
                                 ArrayRef<Value> values) {
  Type i32 = k.builder.getI32Type(), f32 = k.builder.getF32Type();
  WgmmaRows rows;
  SmallVector<Value> residual;
  for (Value value : values) {
    if (kind == WgmmaKind::TF32) {
      // The unit cuts off the low bits. A little more than the value instead of
      // half a last place more: NaN and infinities stay what they are.
      Value larger = arith::MulFOp::create(k.builder, k.loc, value,
                                           k.constant(f32, 1.0 + 0x1.6ap-12));
      rows.main.push_back(k.bitcast(larger, i32));
      continue;
    }
    Int bits(k.bitcast(value, i32));
    Value main = k.materialize(k.bitAnd(k.add(bits, 0x1000), -0x2000));
    rows.main.push_back(main);
    residual.push_back(
        arith::SubFOp::create(k.builder, k.loc, value, k.bitcast(main, f32)));
  }
  if (kind == WgmmaKind::TF32)
    return rows;
  // Registers 0 and 2 of a TF32 operand are neighbours of one row, 1 and 3 of
  // the other; two operands make one of bf16.
  auto pack = [&](ArrayRef<Value> numbers, SmallVector<Value> &packed) {
    for (unsigned first = 0; first < numbers.size(); first += 4)
      for (unsigned row = 0; row < 2; ++row)
        packed.append(
            k.inlinePTX({i32}, "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,f,f",
                        {numbers[first + row], numbers[first + row + 2]},
                        /*hasSideEffects=*/false));
  };
  pack(values, rows.half);
  pack(residual, rows.residual);
  return rows;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The elements of the factor that a thread's sums take at position `p` on K:
/// those of column 8j + 2t + e in number 2j + e.
static SmallVector<Value> loadFactor(KernelBuilder &k,
                                     const WgmmaOperand &operand,
                                     const WgmmaFactor &factor, Int t, Int p) {
  Type f32 = k.builder.getF32Type(), i32 = k.builder.getI32Type();
  Type i16 = k.builder.getI16Type();
  int64_t coreStride = operand.paddedResults / 8 * 128;
  auto addressOf = [&](Int slot, int64_t bytes, int64_t copy) {
    Int core = k.mul(k.floorDiv(slot, 16 / bytes), coreStride);
    Int inside =
        k.add(k.mul(k.bitAnd(slot, 16 / bytes - 1), bytes), k.mul(t, 32));
    return k.shared(k.add(k.add(core, inside), factor.offset + copy));
  };
  Value main = addressOf(getWgmmaSlot(k, operand, p), 4, 0);
  Value residual =
      addressOf(getWgmmaHalfSlot(k, operand, p), 2, operand.factorBytes);
  SmallVector<Value> values;
  for (int64_t number = 0; number < operand.paddedResults / 4; ++number) {
    int64_t offset = number / 2 * 128 + number % 2 * 16;
    Value low = arith::ExtUIOp::create(
        k.builder, k.loc, i32, k.load(i16, k.offsetBytes(residual, offset)));
    low = arith::ShLIOp::create(k.builder, k.loc, low, k.materialize(16));
    values.push_back(arith::AddFOp::create(
        k.builder, k.loc, k.load(f32, k.offsetBytes(main, offset)),
        k.bitcast(low, f32)));
  }
  return values;
}

SmallVector<Value>
kron::guardWgmmaSums(KernelBuilder &k, const WgmmaOperand &operand,
                     const WgmmaFactor &factor, Int t, ArrayRef<Value> sums,
                     function_ref<Value(unsigned)> exists,
                     function_ref<Value(unsigned, Int)> loadElement) {
  Type f32 = k.builder.getF32Type();
  Value zero = k.constant(f32, 0.0);
  // 0 as long as all are finite, else NaN.
  SmallVector<Value> checks(4, zero);
  for (auto [number, sum] : llvm::enumerate(sums))
    checks[number % 4] = k.fma(sum, zero, checks[number % 4]);
  auto isBadRow = [&](unsigned row) -> Value {
    Value lhs = checks[2 * row], rhs = checks[2 * row + 1];
    Value check = arith::AddFOp::create(k.builder, k.loc, lhs, rhs);
    Value isBad = arith::CmpFOp::create(
        k.builder, k.loc, arith::CmpFPredicate::UNO, check, check);
    return k.both(isBad, exists(row));
  };
  // Rows that do not exist are what earlier kernels left in shared memory: they
  // must not decide how those beside them are computed.
  Value isFirstBad = isBadRow(0);
  Value isBad = arith::OrIOp::create(k.builder, k.loc, isFirstBad, isBadRow(1));
  Value anyBad = NVVM::VoteSyncOp::create(
      k.builder, k.loc, k.builder.getI1Type(), k.materialize(-1, 32), isBad,
      NVVM::VoteSyncKind::any);
  SmallVector<Type> types(sums.size(), f32);
  auto repair = [&] {
    SmallVector<Value> zeros(sums.size(), zero);
    return k.rolledLoop(
        0, operand.sizeK, 1, zeros, [&](Int p, ValueRange carried) {
          Value first = loadElement(0, p);
          Value second = loadElement(1, p);
          SmallVector<Value> column = loadFactor(k, operand, factor, t, p);
          SmallVector<Value> results;
          for (unsigned number = 0; number < sums.size(); ++number)
            results.push_back(k.fma(number % 4 < 2 ? first : second,
                                    column[number / 4 * 2 + number % 2],
                                    carried[number]));
          return results;
        });
  };
  return k.ifElse(anyBad, types, repair,
                  [&] { return SmallVector<Value>(sums); });
}
