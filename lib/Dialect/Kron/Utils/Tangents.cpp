//===- Tangents.cpp - Derivatives of straight-line code ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One rule per operation; kron::isDifferentiable lists those that have one.
//
//===----------------------------------------------------------------------===//

#include "Tangents.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Arithmetic in which null is 0
//===----------------------------------------------------------------------===//

Value Tangents::constant(double number, Value like) {
  return arith::ConstantOp::create(builder, loc,
                                   getScalarAttr(like.getType(), number));
}

Value Tangents::add(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return builder.createOrFold<arith::AddFOp>(loc, lhs, rhs);
}

Value Tangents::mul(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return nullptr;
  return builder.createOrFold<arith::MulFOp>(loc, lhs, rhs);
}

Value Tangents::div(Value lhs, Value rhs) {
  if (!lhs)
    return nullptr;
  return builder.createOrFold<arith::DivFOp>(loc, lhs, rhs);
}

Value Tangents::negate(Value value) {
  if (!value)
    return nullptr;
  return builder.createOrFold<arith::NegFOp>(loc, value);
}

Value Tangents::where(Value condition, Value value) {
  if (!value)
    return nullptr;
  return arith::SelectOp::create(builder, loc, condition, value,
                                 constant(0, value));
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The derivative of `result`, a function of `operand`, by that.
Value Tangents::getTangentOfFunction(Operation &op, Value operand,
                                     Value result) {
  auto number = [&](double value) { return constant(value, operand); };
  auto compare = [&](arith::CmpFPredicate predicate) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, operand, number(0));
  };
  auto isNonzero = [&] { return compare(arith::CmpFPredicate::UNE); };
  auto square = [&](Value value) { return mul(value, value); };
  auto ofSquare = [&](double sign, Value value) {
    return add(number(1), mul(number(sign), square(value)));
  };
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](math::ExpOp) { return result; })
      .Case([&](math::Exp2Op) { return mul(number(M_LN2), result); })
      .Case([&](math::ExpM1Op) { return add(result, number(1)); })
      .Case([&](math::LogOp) { return div(number(1), operand); })
      .Case([&](math::Log2Op) { return div(number(1 / M_LN2), operand); })
      .Case([&](math::Log10Op) { return div(number(1 / M_LN10), operand); })
      .Case([&](math::Log1pOp) {
        return div(number(1), add(number(1), operand));
      })
      .Case([&](math::SqrtOp) {
        return where(isNonzero(), div(number(0.5), result));
      })
      .Case([&](math::RsqrtOp) {
        return where(isNonzero(), div(mul(number(-0.5), result), operand));
      })
      .Case([&](math::CbrtOp) {
        return where(isNonzero(), div(result, mul(number(3), operand)));
      })
      .Case([&](math::SinOp) -> Value {
        return math::CosOp::create(builder, loc, operand);
      })
      .Case([&](math::CosOp) {
        return negate(math::SinOp::create(builder, loc, operand));
      })
      .Case([&](math::TanOp) { return ofSquare(1, result); })
      .Case([&](math::SinhOp) -> Value {
        return math::CoshOp::create(builder, loc, operand);
      })
      .Case([&](math::CoshOp) -> Value {
        return math::SinhOp::create(builder, loc, operand);
      })
      .Case([&](math::TanhOp) { return ofSquare(-1, result); })
      .Case([&](math::AtanOp) { return div(number(1), ofSquare(1, operand)); })
      .Case([&](math::ErfOp) {
        Value power =
            math::ExpOp::create(builder, loc, negate(square(operand)));
        return mul(number(M_2_SQRTPI), power);
      })
      .Case([&](math::AbsFOp) -> Value {
        // NaN where the operand is that.
        Value sign = arith::SelectOp::create(builder, loc, isNonzero(), operand,
                                             number(0));
        sign = arith::SelectOp::create(
            builder, loc, compare(arith::CmpFPredicate::OLT), number(-1), sign);
        return arith::SelectOp::create(
            builder, loc, compare(arith::CmpFPredicate::OGT), number(1), sign);
      })
      .Default([](Operation *) { return Value(); });
}

/// That of `power` by both; 0 where `base` is 0 and it would be infinite.
Value Tangents::getTangentOfPower(Value base, Value exponent, Value power) {
  Value ofBase, ofExponent;
  Value zero = constant(0, base);
  if (get(base)) {
    Value less =
        builder.createOrFold<arith::SubFOp>(loc, exponent, constant(1, base));
    ofBase = math::PowFOp::create(builder, loc, base, less);
    Value isZero = arith::CmpFOp::create(builder, loc,
                                         arith::CmpFPredicate::OEQ, base, zero);
    Value isNegative = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OLT, less, zero);
    Value isPole = arith::AndIOp::create(builder, loc, isZero, isNegative);
    ofBase = arith::SelectOp::create(builder, loc, isPole, zero, ofBase);
    ofBase = mul(get(base), mul(exponent, ofBase));
  }
  if (get(exponent)) {
    Value isNonzero = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::UNE, base, zero);
    Value logarithm = math::LogOp::create(builder, loc, base);
    ofExponent = mul(get(exponent), where(isNonzero, mul(power, logarithm)));
  }
  return add(ofBase, ofExponent);
}

Value Tangents::getTangentOfExtremum(Operation &op, bool isMaximum) {
  Value lhs = op.getOperand(0), rhs = op.getOperand(1);
  Value ofLhs = get(lhs), ofRhs = get(rhs);
  if (!ofLhs && !ofRhs)
    return nullptr;
  ofLhs = ofLhs ? ofLhs : constant(0, lhs);
  ofRhs = ofRhs ? ofRhs : constant(0, rhs);
  Value mean = mul(constant(0.5, lhs), add(ofLhs, ofRhs));
  auto greater = arith::CmpFPredicate::OGT, less = arith::CmpFPredicate::OLT;
  bool skipsNaN = isa<arith::MaxNumFOp, arith::MinNumFOp>(op);
  auto isTaken = [&](Value value, Value other) -> Value {
    Value isBeyond = arith::CmpFOp::create(
        builder, loc, isMaximum ? greater : less, value, other);
    if (!skipsNaN)
      return isBeyond;
    Value isNaN = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::UNO, other, other);
    return arith::OrIOp::create(builder, loc, isBeyond, isNaN);
  };
  Value result =
      arith::SelectOp::create(builder, loc, isTaken(rhs, lhs), ofRhs, mean);
  return arith::SelectOp::create(builder, loc, isTaken(lhs, rhs), ofLhs,
                                 result);
}

Value Tangents::getTangent(Operation &op) {
  loc = op.getLoc();
  Value result = op.getResult(0);
  if (!isa<FloatType>(result.getType()) ||
      llvm::none_of(op.getOperands(), [&](Value value) { return get(value); }))
    return nullptr;
  auto of = [&](unsigned number) { return get(op.getOperand(number)); };
  auto operand = [&](unsigned number) { return op.getOperand(number); };
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](arith::AddFOp) { return add(of(0), of(1)); })
      .Case([&](arith::SubFOp) { return add(of(0), negate(of(1))); })
      .Case([&](arith::MulFOp) {
        return add(mul(of(0), operand(1)), mul(operand(0), of(1)));
      })
      .Case([&](arith::DivFOp) {
        return div(add(of(0), negate(mul(result, of(1)))), operand(1));
      })
      .Case([&](math::FmaOp) {
        Value product = add(mul(of(0), operand(1)), mul(operand(0), of(1)));
        return add(product, of(2));
      })
      .Case([&](arith::NegFOp) { return negate(of(0)); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](Operation *) {
        return emitConversion(builder, loc, of(0), result.getType());
      })
      .Case([&](arith::SelectOp select) -> Value {
        Value zero = constant(0, result);
        return arith::SelectOp::create(builder, loc, select.getCondition(),
                                       of(1) ? of(1) : zero,
                                       of(2) ? of(2) : zero);
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](Operation *) { return getTangentOfExtremum(op, true); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](Operation *) { return getTangentOfExtremum(op, false); })
      .Case([&](math::PowFOp) {
        return getTangentOfPower(operand(0), operand(1), result);
      })
      .Default([&](Operation *) {
        return mul(of(0), getTangentOfFunction(op, operand(0), result));
      });
}

void Tangents::emit() {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (Value tangent = getTangent(*op))
      tangents[op->getResult(0)] = tangent;
}
