//===- PairScalars.cpp - Arithmetic of kron.pairwise ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::kron;

TypedAttr kron::getReductionStart(PairOpInterface op) {
  bool isNegative = op.getReduction() == PairReduction::Max && !op.isDistance();
  return getScalarAttr(op.getAccumulatorType(),
                       isNegative ? -std::numeric_limits<double>::infinity()
                                  : 0.0);
}

/// `number` in all lanes of `type`, which may be a scalar.
static Value emitNumber(OpBuilder &builder, Location loc, Type type,
                        TypedAttr number) {
  if (auto vector = dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, number);
  return arith::ConstantOp::create(builder, loc, number);
}

/// `type`, of a scalar, with the lanes of `like`.
static Type getTypeLike(Type type, Type like) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(type)) : type;
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

bool kron::isProductOfRoots(double exponent) {
  constexpr double kMostProducts = 8;
  double doubled = 2 * exponent;
  return exponent <= kMostProducts && doubled == std::floor(doubled);
}

bool kron::takesPowerTable(double exponent) {
  return exponent > 1 && exponent <= kMostWholePower &&
         exponent != std::floor(exponent);
}

uint64_t kron::countFactors(Value value, Value base) {
  if (value == base)
    return 1;
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return 0;
  uint64_t lhs = countFactors(product.getLhs(), base);
  uint64_t rhs = countFactors(product.getRhs(), base);
  return lhs && rhs ? lhs + rhs : 0;
}

std::optional<TablePower> kron::getTablePower(Operation &op) {
  if (op.getNumResults() != 1 || !op.getResult(0).getType().isF32())
    return std::nullopt;
  if (auto power = dyn_cast<math::PowFOp>(op)) {
    APFloat number(0.0);
    if (!power.getLhs().getDefiningOp<math::AbsFOp>() ||
        !matchPattern(power.getRhs(), m_ConstantFloat(&number)))
      return std::nullopt;
    double exponent = number.convertToDouble();
    if (!takesPowerTable(exponent))
      return std::nullopt;
    double whole = std::floor(exponent);
    return TablePower{power.getLhs(), exponent - (whole - 1),
                      static_cast<uint64_t>(whole) - 1};
  }
  auto product = dyn_cast<arith::MulFOp>(op);
  if (!product)
    return std::nullopt;
  for (auto [lhs, rhs] : {std::pair(product.getLhs(), product.getRhs()),
                          std::pair(product.getRhs(), product.getLhs())}) {
    auto root = lhs.getDefiningOp<math::SqrtOp>();
    if (!root || !root.getOperand().getDefiningOp<math::AbsFOp>())
      continue;
    if (uint64_t factors = countFactors(rhs, root.getOperand()))
      return TablePower{root.getOperand(), 1.5, factors - 1};
  }
  return std::nullopt;
}

/// `base`, which is not negative, to the power of `exponent`. Multiples of 1/2
/// are products, by squaring, and one square root.
static Value emitPower(OpBuilder &builder, Location loc, Value base,
                       double exponent) {
  Type type = base.getType();
  if (isProductOfRoots(exponent)) {
    auto halves = static_cast<uint64_t>(2 * exponent);
    Value result;
    if (halves % 2 != 0)
      result = math::SqrtOp::create(builder, loc, base);
    Value square = base;
    for (uint64_t left = halves / 2; left != 0; left /= 2) {
      if (left % 2 != 0)
        result = result ? emitMul(builder, loc, result, square) : square;
      if (left > 1)
        square = emitMul(builder, loc, square, square);
    }
    return result;
  }
  // There is no function of f80.
  Type element = getElementTypeOrSelf(type);
  bool isWide = element.isF80();
  if (isWide)
    base = emitConversion(builder, loc, base, builder.getF64Type());
  Type used = isWide ? builder.getF64Type() : element;
  Value power =
      emitNumber(builder, loc, base.getType(), getScalarAttr(used, exponent));
  Value result = math::PowFOp::create(builder, loc, base, power);
  return isWide ? emitConversion(builder, loc, result, type) : result;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// A copy of `op`, an operation of `math` on f80, computed in f64.
static Operation *cloneNarrowed(OpBuilder &builder, Operation &op,
                                IRMapping &mapping) {
  Location loc = op.getLoc();
  Type narrow = builder.getF64Type();
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    Value value = mapping.lookup(operand);
    operands.push_back(value.getType().isF80()
                           ? emitConversion(builder, loc, value, narrow)
                           : value);
  }
  Operation *copy = op.cloneWithoutRegions();
  builder.insert(copy);
  copy->setOperands(operands);
  for (auto [result, old] : llvm::zip(copy->getResults(), op.getResults())) {
    Value value = result;
    if (old.getType().isF80()) {
      result.setType(narrow);
      value = emitConversion(builder, loc, value, old.getType());
    }
    mapping.map(old, value);
  }
  return copy;
}

void kron::cloneWithLanes(OpBuilder &builder, Operation &op, Type like,
                          IRMapping &mapping) {
  TypedAttr constant;
  if (matchPattern(&op, m_Constant(&constant))) {
    Type type = getTypeLike(constant.getType(), like);
    mapping.map(op.getResult(0),
                emitNumber(builder, op.getLoc(), type, constant));
    return;
  }
  Operation *copy = builder.clone(op, mapping);
  for (Value result : copy->getResults())
    result.setType(getTypeLike(result.getType(), like));
}

/// What `region` yields for `args`.
static Value emitRegion(OpBuilder &builder, Region &region, ValueRange args) {
  IRMapping mapping;
  mapping.map(region.getArguments(), args);
  Type like = args.front().getType();
  for (Operation &op : region.front().without_terminator()) {
    bool isWide = llvm::any_of(op.getOperandTypes(),
                               [](Type type) { return type.isF80(); });
    if (isWide && op.getName().getDialectNamespace() == "math") {
      cloneNarrowed(builder, op, mapping);
      continue;
    }
    cloneWithLanes(builder, op, like, mapping);
  }
  return mapping.lookup(
      cast<PairwiseYieldOp>(region.front().getTerminator()).getValue());
}

//===----------------------------------------------------------------------===//
// The operation
//===----------------------------------------------------------------------===//

Value kron::emitPair(OpBuilder &builder, Location loc, PairOpInterface op,
                     Value lhs, Value rhs, ValueRange params) {
  if (!op.getInner()) {
    SmallVector<Value> args{lhs, rhs};
    llvm::append_range(args, params);
    return emitRegion(builder, op.getInnerBody(), args);
  }
  if (*op.getInner() == PairFunction::Dot)
    return emitMul(builder, loc, lhs, rhs);
  Value difference = arith::SubFOp::create(builder, loc, lhs, rhs);
  Type type = difference.getType();
  switch (*op.getInner()) {
  case PairFunction::Dot:
    break;
  case PairFunction::AbsDiff:
    return math::AbsFOp::create(builder, loc, difference);
  case PairFunction::SquareDiff:
    return emitMul(builder, loc, difference, difference);
  case PairFunction::PowDiff:
    return emitPower(builder, loc,
                     math::AbsFOp::create(builder, loc, difference),
                     op.getExponentAttr().getValueAsDouble());
  case PairFunction::NotEqual: {
    Type element = getElementTypeOrSelf(type);
    Value one = emitNumber(builder, loc, type, getScalarAttr(element, 1));
    Value zero = emitNumber(builder, loc, type, getScalarAttr(element, 0));
    Value differs = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::ONE, difference, zero);
    Value number = arith::SelectOp::create(builder, loc, differs, one, zero);
    Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                        difference, difference);
    return arith::SelectOp::create(builder, loc, isNaN, difference, number);
  }
  }
  llvm_unreachable("all functions are handled");
}

Value kron::emitReduction(OpBuilder &builder, Location loc, PairOpInterface op,
                          Value reduced, Value value) {
  if (op.getReduction() == PairReduction::Max)
    return arith::MaximumFOp::create(builder, loc, reduced, value);
  return emitAdd(builder, loc, reduced, value);
}

Value kron::emitFiniteOrZero(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType(), element = getElementTypeOrSelf(type);
  Value size = math::AbsFOp::create(builder, loc, value);
  double infinity = std::numeric_limits<double>::infinity();
  Value isFinite = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT, size,
      emitNumber(builder, loc, type, getScalarAttr(element, infinity)));
  return arith::SelectOp::create(
      builder, loc, isFinite, value,
      emitNumber(builder, loc, type, getScalarAttr(element, 0)));
}

Value kron::emitPairEpilogue(OpBuilder &builder, Location loc,
                             PairOpInterface op, Value reduced,
                             ValueRange params) {
  if (op.getEpilogue().empty())
    return reduced;
  SmallVector<Value> args{reduced};
  llvm::append_range(args, params);
  return emitRegion(builder, op.getEpilogue(), args);
}
