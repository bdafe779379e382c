//===- PairPrograms.h - Functions of pairs and derivatives ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Derivatives of functions of pairs are derivatives of straight-line code: the
// functions `inner` and `epilogue`, keywords and regions alike, as operations
// of arith and math in a block of their own, which are differentiated one by
// one (forward mode) and then copied to where they are needed.
//
// Where a function has no derivative, at 0, the derivative is taken to be
// finite: that of |x| is 0 (sgn(0) = 0), and so are those of square roots and
// powers that would be infinite. Of equal values, a maximum has the mean
// derivative.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_UTILS_PAIRPROGRAMS_H
#define KRON_DIALECT_KRON_UTILS_PAIRPROGRAMS_H

#include "kron/Dialect/Kron/IR/KronPairwise.h"

namespace mlir::kron {

/// Scalars, or vectors, computed of others by straight-line code.
class PairProgram {
public:
  /// `inner` of a, b and the hyper-parameters.
  static PairProgram getInner(PairOpInterface op);
  /// `epilogue` of a reduced value and the hyper-parameters.
  static PairProgram getEpilogue(PairOpInterface op);

  /// This program, followed by its derivatives along a direction, of which
  /// there is an argument for each behind the arguments.
  PairProgram getAlong() const;
  /// The derivatives of all results by argument `number`.
  PairProgram getDerivative(unsigned number) const;

  /// Whether result `number` is the constant 0.
  bool isZero(unsigned number) const { return !results[number]; }
  /// Whether result `number` depends on argument `arg`.
  bool reads(unsigned number, unsigned arg) const;

  /// Result `number` for `args`, at `builder`; a 0 if it is that.
  Value emit(OpBuilder &builder, Location loc, unsigned number,
             ValueRange args) const;

private:
  explicit PairProgram(Type type) : type(type) {}
  PairProgram copy() const;
  /// Operations that result `number` needs.
  llvm::SetVector<Operation *> getNeeded(unsigned number) const;

  Type type;
  std::unique_ptr<Block> block = std::make_unique<Block>();
  /// Null: 0.
  SmallVector<Value> results;
};

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_UTILS_PAIRPROGRAMS_H
