//===- Int.h - Numbers that are known or not --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_INT_H
#define KRON_PLAN_INT_H

#include "mlir/IR/Value.h"

namespace mlir::kron {

/// An integer that is known now or computed at run time, in 64 or 32 bits.
class Int {
public:
  Int(int64_t constant = 0) : constant(constant) {}
  Int(Value value) : value(value) {}

  /// One that is computed at run time by code which is not there yet: plans are
  /// made before that, and ask what is known.
  static Int open() {
    Int number;
    number.isOpen = true;
    return number;
  }

  bool isConstant() const { return !value && !isOpen; }
  bool is(int64_t number) const { return isConstant() && constant == number; }
  /// The number; only if `isConstant`.
  int64_t getConstant() const {
    assert(isConstant() && "expects a constant");
    return constant;
  }
  /// The value; null if `isConstant`.
  Value getValue() const { return value; }

  bool operator==(const Int &other) const {
    return isConstant() ? other.is(constant) : value && value == other.value;
  }
  bool operator!=(const Int &other) const { return !(*this == other); }

private:
  int64_t constant = 0;
  Value value;
  bool isOpen = false;
};

} // namespace mlir::kron

#endif // KRON_PLAN_INT_H
