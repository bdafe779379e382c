//===- PairFunctions.cpp - Functions of pairs as instructions -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Roots, logarithms and powers of two of f32 are instructions of the
// special-function unit, which has one result for several of the FMA pipe.
// Where a function waits for that unit, part of its elements takes polynomials
// on the FMA pipe instead.
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"
#include "kron/CodeGen/GPU/KernelEpilogue.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

Value tile::emitExp(KernelBuilder &k, Value value) {
  Type type = value.getType();
  if (!type.isF32())
    return math::ExpOp::create(k.builder, k.loc, value);
  return emitExp2(
      k, arith::MulFOp::create(k.builder, k.loc, value,
                               k.constant(type, llvm::numbers::log2e)));
}

namespace {

/// What a region yields, in instructions.
class FunctionLowering {
public:
  FunctionLowering(KernelBuilder &k, Region &region, bool byPolynomials)
      : k(k), region(region), byPolynomials(byPolynomials) {}

  Value apply(ValueRange args, ValueRange params);

private:
  Value lower(Operation &op);
  Value lowerExp(math::ExpOp op);
  Value lowerRoot(math::SqrtOp op);
  Value lowerPower(math::PowFOp op);
  Value lowerSum(arith::AddFOp op);
  Value emitRoot(Value value);
  Value emitPowerOf2(Value logarithm, double exponent);
  Value emitAnyPower(Value base, Value exponent);
  Value emitPolynomial(Value value, ArrayRef<double> coefficients);
  Value mul(Value lhs, Value rhs) {
    return arith::MulFOp::create(k.builder, k.loc, lhs, rhs);
  }
  Value approximate(StringRef text, Value operand) {
    return k.inlinePTX({operand.getType()}, text, "=f,f", {operand},
                       /*hasSideEffects=*/false)[0];
  }
  /// `lhs` * `rhs` + `added` within [0, 1]; NaN become 0.
  Value saturate(Value lhs, Value rhs, Value added) {
    return k.inlinePTX({lhs.getType()}, "fma.rn.sat.f32 $0, $1, $2, $3;",
                       "=f,f,f,f", {lhs, rhs, added},
                       /*hasSideEffects=*/false)[0];
  }

  KernelBuilder &k;
  Region &region;
  const bool byPolynomials;
  IRMapping mapping;
  /// What a function of pairs has reduced so far, its third argument.
  Value reduced;
  /// What depends on the elements, and not on hyper-parameters alone.
  llvm::DenseSet<Value> varying;
  /// Factors of products that sums take by a multiply-add.
  llvm::DenseMap<Value, std::pair<Value, Value>> products;
};

} // namespace

/// From the constant term on.
Value FunctionLowering::emitPolynomial(Value value,
                                       ArrayRef<double> coefficients) {
  Value result = k.constant(value.getType(), coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = k.fma(result, value, k.constant(value.getType(), coefficient));
  return result;
}

/// The root of `value`, a magnitude: to 8e-7 of itself. Half of the exponent,
/// taken off of that of a constant, is that of an inverse root y, from below to
/// 6 %; with e = 1 - value y y, which is in [0, 0.119], the root is value y
/// (1 - e)^(-1/2). Of infinity e is 0, not infinite, since it saturates. The
/// constant makes -y, by which no instruction negates a product.
Value FunctionLowering::emitRoot(Value value) {
  static constexpr uint32_t kSeed = 0x5f30c700, kSign = 0x80000000;
  static constexpr double kInverseRoot[] = {
      1, 0.5001063346862793, 0.36970773339271545, 0.38551199436187744};
  OpBuilder &b = k.builder;
  Type type = value.getType();
  Value bits = k.bitcast(value, b.getI32Type());
  Value half = arith::ShRUIOp::create(b, k.loc, bits, k.materialize(1, 32));
  Value seed = arith::ConstantOp::create(
      b, k.loc, b.getI32IntegerAttr(static_cast<int32_t>(kSeed | kSign)));
  Value inverse = k.bitcast(arith::SubIOp::create(b, k.loc, seed, half), type);
  Value root = mul(arith::NegFOp::create(b, k.loc, value), inverse);
  Value rest = saturate(root, inverse, k.constant(type, 1));
  return mul(root, emitPolynomial(rest, kInverseRoot));
}

/// 2^(exponent logarithm): to 1e-7 of itself by a polynomial, of the rest of
/// the product less the integer below it. Of infinite logarithms that is 1,
/// and the caller's factor is what decides.
Value FunctionLowering::emitPowerOf2(Value logarithm, double exponent) {
  Type type = logarithm.getType();
  Value factor = k.constant(type, exponent);
  if (!byPolynomials)
    return emitExp2(k, mul(logarithm, factor));
  // Added to this, a sum has no place for a fraction, and the integer in its
  // last bits.
  static constexpr double kShift = 0x1.8p23;
  static constexpr double kPowers[] = {1,
                                       0.6931512951850891,
                                       0.24016444385051727,
                                       0.05579991266131401,
                                       0.009017030708491802,
                                       0.0018671300495043397};
  OpBuilder &b = k.builder;
  Value shifted = k.inlinePTX({type}, "fma.rm.f32 $0, $1, $2, $3;", "=f,f,f,f",
                              {logarithm, factor, k.constant(type, kShift)},
                              /*hasSideEffects=*/false)[0];
  Value below =
      arith::SubFOp::create(b, k.loc, k.constant(type, kShift), shifted);
  Value power = emitPolynomial(saturate(logarithm, factor, below), kPowers);
  Type i32 = b.getI32Type();
  Value scale = arith::ShLIOp::create(b, k.loc, k.bitcast(shifted, i32),
                                      k.materialize(23, 32));
  return k.bitcast(
      arith::AddIOp::create(b, k.loc, scale, k.bitcast(power, i32)), type);
}

/// An exponential. Of a product with what is the same for all elements, that is
/// multiplied by log2(e) once for all of them.
Value FunctionLowering::lowerExp(math::ExpOp op) {
  Value value = mapping.lookup(op.getOperand());
  auto product = op.getOperand().getDefiningOp<arith::MulFOp>();
  if (!product)
    return emitExp(k, value);
  Value own = product.getLhs(), other = product.getRhs();
  if (!varying.contains(own))
    std::swap(own, other);
  if (!varying.contains(own) || varying.contains(other))
    return emitExp(k, value);
  Value factor = mul(mapping.lookup(other),
                     k.constant(value.getType(), llvm::numbers::log2e));
  return emitExp2(k, mul(mapping.lookup(own), factor));
}

/// Whether `value` is `base`, or a product of such.
static bool isWholePower(Value value, Value base) {
  if (value == base)
    return true;
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && isWholePower(product.getLhs(), base) &&
         isWholePower(product.getRhs(), base);
}

/// A root, to one unit in the last place. Where it becomes a power from 3/2 on,
/// what it is of magnitudes below the smallest normal one makes no difference.
Value FunctionLowering::lowerRoot(math::SqrtOp op) {
  Value base = op.getOperand(), value = mapping.lookup(base);
  bool isMagnitude = bool(base.getDefiningOp<math::AbsFOp>());
  bool isOfPower = llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto product = dyn_cast<arith::MulFOp>(user);
    return product &&
           isWholePower(product.getLhs() == op.getResult() ? product.getRhs()
                                                           : product.getLhs(),
                        base);
  });
  if (!isOfPower || !isMagnitude)
    return approximate("sqrt.approx.f32 $0, $1;", value);
  return byPolynomials ? emitRoot(value)
                       : approximate("sqrt.approx.ftz.f32 $0, $1;", value);
}

/// A power of a magnitude; null of others. The logarithm is exact to 2^-22, of
/// itself or of 1: four units in the last place for each doubling of the power.
Value FunctionLowering::lowerPower(math::PowFOp op) {
  // Twelve products at most: larger exponents take the logarithm alone.
  static constexpr double kMostProducts = 64;
  APFloat number(0.0);
  if (!op.getLhs().getDefiningOp<math::AbsFOp>())
    return nullptr;
  Value base = mapping.lookup(op.getLhs());
  if (!matchPattern(op.getRhs(), m_ConstantFloat(&number)))
    return emitAnyPower(base, mapping.lookup(op.getRhs()));
  double exponent = number.convertToDouble();
  if (exponent == 0)
    return k.constant(base.getType(), 1);
  if (exponent < 1 || exponent > kMostProducts)
    return emitExp2(k, mul(approximate("lg2.approx.f32 $0, $1;", base),
                           k.constant(base.getType(), exponent)));
  // The whole part of the exponent are products, which are 0, infinite or NaN
  // where the power is.
  double whole = std::floor(exponent);
  Value product, square = base;
  for (auto left = static_cast<uint64_t>(whole); left != 0; left /= 2) {
    if (left % 2 != 0)
      product = product ? mul(product, square) : square;
    if (left > 1)
      square = mul(square, square);
  }
  if (exponent == whole)
    return product;
  Value fraction = emitPowerOf2(approximate("lg2.approx.ftz.f32 $0, $1;", base),
                                exponent - whole);
  Value result = mul(product, fraction);
  products[result] = {product, fraction};
  return result;
}

/// A power with an exponent that is not known: 1 if that is 0, whose product
/// with the logarithm of 0 or infinity is none.
Value FunctionLowering::emitAnyPower(Value base, Value exponent) {
  Type type = base.getType();
  Value power =
      emitExp2(k, mul(approximate("lg2.approx.f32 $0, $1;", base), exponent));
  Value isZero =
      arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OEQ,
                            exponent, k.constant(type, 0));
  return k.select(isZero, k.constant(type, 1), power);
}

/// A product that is added to what is reduced so far, at once; else null.
Value FunctionLowering::lowerSum(arith::AddFOp op) {
  if (mapping.lookup(op.getLhs()) != reduced)
    return nullptr;
  auto found = products.find(mapping.lookup(op.getRhs()));
  if (found == products.end())
    return nullptr;
  auto [lhs, rhs] = found->second;
  return k.fma(lhs, rhs, mapping.lookup(op.getLhs()));
}

/// What `op` becomes where the machine has instructions that are good enough;
/// null: there are none.
Value FunctionLowering::lower(Operation &op) {
  if (op.getNumResults() != 1 || !op.getResult(0).getType().isF32())
    return nullptr;
  if (auto exp = dyn_cast<math::ExpOp>(op))
    return lowerExp(exp);
  if (auto root = dyn_cast<math::SqrtOp>(op))
    return lowerRoot(root);
  if (auto power = dyn_cast<math::PowFOp>(op))
    return lowerPower(power);
  if (auto sum = dyn_cast<arith::AddFOp>(op))
    return lowerSum(sum);
  return nullptr;
}

Value FunctionLowering::apply(ValueRange args, ValueRange params) {
  if (args.size() == 3)
    reduced = args.back();
  SmallVector<Value> all(args);
  llvm::append_range(all, params);
  mapping.map(region.getArguments(), all);
  for (Value arg : region.getArguments().take_front(args.size()))
    varying.insert(arg);
  for (Operation &op : region.front().without_terminator()) {
    Value result = lower(op);
    if (!result)
      result = k.builder.clone(op, mapping)->getResult(0);
    mapping.map(op.getResult(0), result);
    if (llvm::any_of(op.getOperands(),
                     [&](Value value) { return varying.contains(value); }))
      varying.insert(op.getResult(0));
    if (isa<arith::MulFOp>(op))
      products[result] = {mapping.lookup(op.getOperand(0)),
                          mapping.lookup(op.getOperand(1))};
  }
  return mapping.lookup(region.front().getTerminator()->getOperand(0));
}

Value tile::applyFunction(KernelBuilder &k, Region &region, ValueRange args,
                          ValueRange params, bool byPolynomials) {
  return FunctionLowering(k, region, byPolynomials).apply(args, params);
}
