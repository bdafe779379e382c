//===- MmaProducts.cpp - Products of one warp by mma.sync -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An f32 x is split into high + low, both TF32: high is x rounded to nearest,
// at 11 bits, and low = x - high is exact; the matrix unit cuts its last bits
// off. Cutting x instead of rounding it would double the error.
//
// Infinities and NaN do not survive splitting: low = inf - inf, and inf * low
// of a factor is NaN or the wrong infinity. They make the sum infinite or NaN
// though, which `isAnyNotFinite` finds, and then plain multiply-adds take over.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/MmaProducts.h"

using namespace mlir;
using namespace mlir::kron;

/// Half of the last place of a TF32, and the bits that it has.
static constexpr int64_t kHalfPlace = 0x1000;
static constexpr int64_t kBitsOfTF32 = int32_t(0xffffe000);

MmaOperand MmaProducts::getOperand(Value value, bool exact) {
  if (math == MmaMath::F64)
    return {value, nullptr};
  OpBuilder &builder = kernel.builder;
  Location loc = kernel.loc;
  Value bits = kernel.bitcast(value, builder.getI32Type());
  if (exact && math == MmaMath::TF32)
    return {bits, nullptr};
  Value rounded = arith::AddIOp::create(builder, loc, bits,
                                        kernel.materialize(kHalfPlace, 32));
  if (math == MmaMath::TF32) {
    // A NaN of all ones would wrap around.
    Value magnitude = LLVM::FAbsOp::create(builder, loc, value);
    Value finite = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OLE, magnitude,
        kernel.constant(builder.getF32Type(), 3.4028234663852886e38));
    return {kernel.select(finite, rounded, bits), nullptr};
  }
  Value high = arith::AndIOp::create(builder, loc, rounded,
                                     kernel.materialize(kBitsOfTF32, 32));
  Value low = arith::SubFOp::create(builder, loc, value,
                                    kernel.bitcast(high, value.getType()));
  return {high, kernel.bitcast(low, builder.getI32Type())};
}

Value MmaProducts::getZero() {
  OpBuilder &builder = kernel.builder;
  return kernel.constant(math == MmaMath::F64 ? Type(builder.getF64Type())
                                              : Type(builder.getF32Type()),
                         0.0);
}

MmaC MmaProducts::getZeros() {
  Value zero = getZero();
  return {zero, zero, zero, zero};
}

void MmaProducts::multiply(MmaC &sum, ArrayRef<Value> a, ArrayRef<Value> b) {
  SmallVector<Value> results;
  if (math != MmaMath::F64) {
    results = kernel.mmaTF32(a, b, sum);
  } else if (wideF64) {
    results = kernel.mmaF64(a, b, sum);
  } else {
    // m8n8k4 for each half of m and k.
    results.assign(sum.begin(), sum.end());
    for (unsigned half : {0, 1})
      for (unsigned step : {0, 1}) {
        SmallVector<Value> part = kernel.mmaF64Small(
            a[2 * step + half], b[step], ArrayRef(results).slice(2 * half, 2));
        results[2 * half] = part[0];
        results[2 * half + 1] = part[1];
      }
  }
  std::copy(results.begin(), results.end(), sum.begin());
}

void MmaProducts::multiply(ArrayRef<Term> terms) {
  auto getParts = [](ArrayRef<MmaOperand> operands, bool low) {
    SmallVector<Value, 4> parts;
    for (const MmaOperand &operand : operands)
      parts.push_back(low ? operand.low : operand.high);
    return parts;
  };
  auto addAll = [&](bool lowA, bool lowB) {
    for (const Term &term : terms)
      multiply(*term.sum, getParts(*term.a, lowA), getParts(*term.b, lowB));
  };
  if (math == MmaMath::SplitTF32) {
    addAll(/*lowA=*/true, /*lowB=*/false);
    addAll(/*lowA=*/false, /*lowB=*/true);
  }
  addAll(/*lowA=*/false, /*lowB=*/false);
}

Value MmaProducts::isAnyNotFinite(ArrayRef<const MmaC *> sums) {
  OpBuilder &builder = kernel.builder;
  Value zero = getZero();
  Value mark = zero;
  for (const MmaC *sum : sums)
    for (Value value : *sum)
      mark = kernel.fma(value, zero, mark);
  Value bad = arith::CmpFOp::create(builder, kernel.loc,
                                    arith::CmpFPredicate::UNO, mark, mark);
  return NVVM::VoteSyncOp::create(builder, kernel.loc, builder.getI1Type(),
                                  kernel.materialize(-1, 32), bad,
                                  NVVM::VoteSyncKind::any);
}
