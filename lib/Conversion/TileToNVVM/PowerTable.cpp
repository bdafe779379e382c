//===- PowerTable.cpp - Powers by a table and a cubic ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A power of f32 by the special-function unit is a logarithm and a power of
// two. Beside these, shared memory and the FMA pipe are idle: the exponent of
// |d| and the first bits of its fraction choose an element of a table, which
// has scale = 1 / a and a^p of the least number a with these bits. With u = |d|
// scale - 1, which is in [0, 1/4], |d|^p is a^p (1 + u)^p, a cubic. Numbers
// that are near each other have neighbouring elements, which are in different
// banks.
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Plan/GPU/PairwisePlan.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Of f32: bits of the fraction and of the exponent, and the exponent of 1; of
/// f64, the same.
static constexpr int64_t kFractionBits = 23, kExponentBits = 8, kBias = 127,
                         kWideFractionBits = 52, kWideBias = 1023;
/// Bits of the fraction that choose an element, and elements.
static constexpr int64_t kTableBits = 2,
                         kElements = int64_t(1) << (kExponentBits + kTableBits);
static constexpr int64_t kElementBytes = 8;
static_assert(kElements * kElementBytes == PairwisePlan::kPowerTableBytes);

/// The table of `power` in shared memory.
static void fill(Lowering &lowering, double power, int64_t begin) {
  KernelBuilder &k = lowering.k;
  OpBuilder &b = k.builder;
  Type f32 = b.getF32Type(), f64 = b.getF64Type();
  Type i64 = b.getI64Type();
  auto isEqual = [&](Int number, int64_t value) {
    return k.equal(number, Int(value));
  };
  k.rolledLoop(readThreadId(k), kElements, lowering.threads, [&](Int element) {
    Int exponent = k.floorDiv(element, int64_t(1) << kTableBits);
    Int part = k.rem(element, int64_t(1) << kTableBits);
    // 2^(power exponent), from bits of the exponent: f64 holds what is rounded
    // on the way.
    Value result = k.constant(f64, std::exp2(-power * kBias));
    for (int64_t bit = 0; bit < kExponentBits; ++bit) {
      Value factor = k.constant(
          f64, std::exp2(power * static_cast<double>(int64_t(1) << bit)));
      Int isSet = k.bitAnd(exponent, int64_t(1) << bit);
      Value used = k.select(isEqual(isSet, 0), k.constant(f64, 1), factor);
      result = arith::MulFOp::create(b, k.loc, result, used);
    }
    Value scale = k.constant(f64, 1), ofPart = k.constant(f64, 1);
    for (int64_t number = 1; number < (1 << kTableBits); ++number) {
      double least = 1 + static_cast<double>(number) / (1 << kTableBits);
      double inverse = static_cast<float>(1 / least);
      Value isPart = isEqual(part, number);
      scale = k.select(isPart, k.constant(f64, inverse), scale);
      ofPart = k.select(isPart, k.constant(f64, std::pow(1 / inverse, power)),
                        ofPart);
    }
    result = arith::TruncFOp::create(
        b, k.loc, f32, arith::MulFOp::create(b, k.loc, result, ofPart));
    // Zero stays zero. The cubic falls at last: of infinity it is the negative
    // one, and NaN of NaN.
    result = k.select(isEqual(exponent, 0), k.constant(f32, 0), result);
    result = k.select(isEqual(exponent, (1 << kExponentBits) - 1),
                      k.constant(f32, -INFINITY), result);
    Value shift = k.materialize(k.sub(kWideBias + kBias, exponent), 32);
    Value bits = arith::ShLIOp::create(
        b, k.loc, arith::ExtUIOp::create(b, k.loc, i64, shift),
        k.materialize(kWideFractionBits, 64));
    scale = arith::TruncFOp::create(
        b, k.loc, f32,
        arith::MulFOp::create(b, k.loc, scale, k.bitcast(bits, f64)));
    k.store(k.makeVector({result, scale}),
            k.shared(k.add(k.mul(element, kElementBytes), begin)));
  });
  k.barrier();
}

void tile::startPowers(Lowering &lowering, Operation *op, Region &inner,
                       int64_t polynomials) {
  if (polynomials == 0)
    return;
  for (Operation &inside : inner.front())
    if (std::optional<TablePower> power = getTablePower(inside)) {
      int64_t begin = lowering.k.allocateShared(PairwisePlan::kPowerTableBytes);
      lowering.powerTables[op] = {begin, power->exponent};
      return fill(lowering, power->exponent, begin);
    }
}

std::optional<PowerTable> tile::findPowerTable(Lowering &lowering,
                                               Operation *op) {
  auto found = lowering.powerTables.find(op);
  if (found == lowering.powerTables.end())
    return std::nullopt;
  return found->second;
}

/// (1 + u)^power for u in [0, 2^-kTableBits], from the constant term on: the
/// cubic through Chebyshev's points.
static std::array<double, 4> fitPower(double power) {
  std::array<double, 4> points, terms;
  double half = 0.5 / (1 << kTableBits);
  for (int number = 0; number < 4; ++number) {
    points[number] =
        half * (1 + std::cos((2 * number + 1) * llvm::numbers::pi / 8));
    terms[number] = std::pow(1 + points[number], power);
  }
  for (int order = 1; order < 4; ++order)
    for (int number = 3; number >= order; --number)
      terms[number] = (terms[number] - terms[number - 1]) /
                      (points[number] - points[number - order]);
  std::array<double, 4> cubic{terms[3]};
  for (int number = 2; number >= 0; --number) {
    for (int degree = 3; degree > 0; --degree)
      cubic[degree] = cubic[degree - 1] - points[number] * cubic[degree];
    cubic[0] = terms[number] - points[number] * cubic[0];
  }
  return cubic;
}

std::pair<Value, Value>
tile::emitTablePower(KernelBuilder &k, const PowerTable &table, Value base) {
  OpBuilder &b = k.builder;
  Type f32 = b.getF32Type();
  Value bits = k.bitcast(base, b.getI32Type());
  int64_t low = kFractionBits - kTableBits;
  Value element = arith::ShRUIOp::create(
      b, k.loc, bits, k.materialize(low - llvm::Log2_64(kElementBytes), 32));
  Int offset = k.bitAnd(Int(element), (kElements - 1) * kElementBytes);
  SmallVector<Value> loaded = k.unpack(
      k.load(VectorType::get({2}, f32), k.shared(k.add(offset, table.begin))));
  Value size = math::AbsFOp::create(b, k.loc, base);
  Value rest = k.fma(size, loaded[1], k.constant(f32, -1));
  std::array<double, 4> cubic = fitPower(table.exponent);
  Value result = k.constant(f32, cubic[3]);
  for (int degree = 2; degree >= 0; --degree)
    result = k.fma(result, rest, k.constant(f32, cubic[degree]));
  return {loaded[0], result};
}
