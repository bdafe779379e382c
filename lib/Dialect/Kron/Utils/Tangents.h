//===- Tangents.h - Derivatives of straight-line code -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_UTILS_TANGENTS_H
#define KRON_LIB_DIALECT_KRON_UTILS_TANGENTS_H

#include "mlir/IR/Builders.h"

namespace mlir::kron {

/// Derivatives of the values of a block by something that its arguments depend
/// on (forward mode). The block holds operations of which isDifferentiable is
/// true, and what is emitted are such operations too.
class Tangents {
public:
  /// No operation needs to hold `block`.
  Tangents(Block &block, MLIRContext *context)
      : block(block), builder(context) {
    builder.setInsertionPointToEnd(&block);
  }

  void set(Value value, Value tangent) { tangents[value] = tangent; }
  /// Null: 0.
  Value get(Value value) const { return tangents.lookup(value); }

  /// Emits the derivatives of all results behind the operations.
  void emit();

private:
  Value getTangent(Operation &op);
  Value getTangentOfFunction(Operation &op, Value operand, Value result);
  Value getTangentOfPower(Value base, Value exponent, Value power);
  Value getTangentOfExtremum(Operation &op, bool isMaximum);

  Value constant(double number, Value like);
  Value add(Value lhs, Value rhs);
  Value mul(Value lhs, Value rhs);
  Value div(Value lhs, Value rhs);
  Value negate(Value value);
  /// `value` where `condition` holds, else 0; null for null.
  Value where(Value condition, Value value);

  Block &block;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  DenseMap<Value, Value> tangents;
};

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_UTILS_TANGENTS_H
