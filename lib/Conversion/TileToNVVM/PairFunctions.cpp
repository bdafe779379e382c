//===- PairFunctions.cpp - Functions of pairs as instructions -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Roots, logarithms and powers of two of f32 are instructions of the
// special-function unit, which has one result for several of the FMA pipe.
// Where a function waits for that unit, part of its elements takes powers of a
// table instead (PowerTable.cpp).
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"
#include "kron/CodeGen/GPU/KernelEpilogue.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
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
  FunctionLowering(KernelBuilder &k, Region &region,
                   std::optional<PowerTable> table)
      : k(k), region(region), table(table) {}

  Value apply(ValueRange args, ValueRange params);

private:
  Value lower(Operation &op);
  Value lowerExp(math::ExpOp op);
  Value lowerRoot(math::SqrtOp op);
  Value lowerPower(math::PowFOp op);
  Value lowerSum(arith::AddFOp op);
  Value lowerTablePower(const TablePower &power);
  Value emitWholePower(Value base, uint64_t exponent);
  Value emitAnyPower(Value base, Value exponent);
  Value mul(Value lhs, Value rhs) {
    return arith::MulFOp::create(k.builder, k.loc, lhs, rhs);
  }
  Value approximate(StringRef text, Value operand) {
    return k.inlinePTX({operand.getType()}, text, "=f,f", {operand},
                       /*hasSideEffects=*/false)[0];
  }

  KernelBuilder &k;
  Region &region;
  const std::optional<PowerTable> table;
  IRMapping mapping;
  /// What a function of pairs has reduced so far, its third argument.
  Value reduced;
  /// What depends on the elements, and not on hyper-parameters alone.
  llvm::DenseSet<Value> varying;
  /// Factors of products that sums take by a multiply-add.
  llvm::DenseMap<Value, std::pair<Value, Value>> products;
};

} // namespace

/// `base` to the power of a whole number of 1 or more.
Value FunctionLowering::emitWholePower(Value base, uint64_t exponent) {
  Value product, square = base;
  for (uint64_t left = exponent; left != 0; left /= 2) {
    if (left % 2 != 0)
      product = product ? mul(product, square) : square;
    if (left > 1)
      square = mul(square, square);
  }
  return product;
}

Value FunctionLowering::lowerTablePower(const TablePower &power) {
  Value base = mapping.lookup(power.base);
  // The table takes no sign off of what is shifted.
  Value inner = power.base.getDefiningOp<math::AbsFOp>().getOperand();
  auto [lhs, rhs] = emitTablePower(k, *table, mapping.lookup(inner));
  Value result = mul(lhs, rhs);
  if (power.factors) {
    rhs = result;
    lhs = emitWholePower(base, power.factors);
    result = mul(lhs, rhs);
  }
  products[result] = {lhs, rhs};
  return result;
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

/// A root, to one unit in the last place. Where it becomes a power from 3/2 on,
/// what it is of magnitudes below the smallest normal one makes no difference.
Value FunctionLowering::lowerRoot(math::SqrtOp op) {
  Value base = op.getOperand(), value = mapping.lookup(base);
  bool isMagnitude = bool(base.getDefiningOp<math::AbsFOp>());
  bool isOfPower = llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto product = dyn_cast<arith::MulFOp>(user);
    return product &&
           countFactors(product.getLhs() == op.getResult() ? product.getRhs()
                                                           : product.getLhs(),
                        base);
  });
  if (!isOfPower || !isMagnitude)
    return approximate("sqrt.approx.f32 $0, $1;", value);
  return approximate("sqrt.approx.ftz.f32 $0, $1;", value);
}

/// A power of a magnitude; null of others. The logarithm is exact to 2^-22, of
/// itself or of 1: four units in the last place for each doubling of the power.
Value FunctionLowering::lowerPower(math::PowFOp op) {
  APFloat number(0.0);
  if (!op.getLhs().getDefiningOp<math::AbsFOp>())
    return nullptr;
  Value base = mapping.lookup(op.getLhs());
  if (!matchPattern(op.getRhs(), m_ConstantFloat(&number)))
    return emitAnyPower(base, mapping.lookup(op.getRhs()));
  double exponent = number.convertToDouble();
  if (exponent == 0)
    return k.constant(base.getType(), 1);
  if (exponent < 1 || exponent > kMostWholePower)
    return emitExp2(k, mul(approximate("lg2.approx.f32 $0, $1;", base),
                           k.constant(base.getType(), exponent)));
  // The whole part of the exponent are products, which are 0, infinite or NaN
  // where the power is.
  double whole = std::floor(exponent);
  Value product = emitWholePower(base, static_cast<uint64_t>(whole));
  if (exponent == whole)
    return product;
  Value fraction =
      emitExp2(k, mul(approximate("lg2.approx.ftz.f32 $0, $1;", base),
                      k.constant(base.getType(), exponent - whole)));
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
  std::optional<TablePower> found = table ? getTablePower(op) : std::nullopt;
  if (found && found->exponent == table->exponent)
    return lowerTablePower(*found);
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
    if (isa<arith::MulFOp>(op) && !products.contains(result))
      products[result] = {mapping.lookup(op.getOperand(0)),
                          mapping.lookup(op.getOperand(1))};
  }
  return mapping.lookup(region.front().getTerminator()->getOperand(0));
}

Value tile::applyFunction(KernelBuilder &k, Region &region, ValueRange args,
                          ValueRange params, std::optional<PowerTable> table) {
  return FunctionLowering(k, region, table).apply(args, params);
}
