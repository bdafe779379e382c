//===- PairSymmetry.cpp - Functions that are the same in both orders ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
/// What a value becomes where the two elements change places.
enum class Parity { Unknown, Same, Negated };
} // namespace

/// Of `op` on the two elements themselves.
static Parity getParityOfPair(Operation &op) {
  if (isa<arith::SubFOp>(op))
    return Parity::Negated;
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp>(op)
             ? Parity::Same
             : Parity::Unknown;
}

static Parity multiply(Parity lhs, Parity rhs) {
  return lhs == rhs ? Parity::Same : Parity::Negated;
}

/// Of `op` on values of known parities, at least one of which is negated.
static Parity getParity(Operation &op, ArrayRef<Parity> operands) {
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    return multiply(operands[0], operands[1]);
  if (isa<math::FmaOp>(op)) {
    Parity product = multiply(operands[0], operands[1]);
    return product == operands[2] ? product : Parity::Unknown;
  }
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return llvm::all_equal(operands) ? Parity::Negated : Parity::Unknown;
  if (isa<math::AbsFOp, math::CosOp, math::CoshOp>(op))
    return Parity::Same;
  return isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp, math::SinOp,
             math::TanOp, math::TanhOp, math::SinhOp, math::AtanOp, math::ErfOp,
             math::CbrtOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(op)
             ? Parity::Negated
             : Parity::Unknown;
}

/// Whether what `region` yields is the same for two elements in both orders.
static bool isSymmetric(Region &region) {
  Block &block = region.front();
  llvm::SmallDenseMap<Value, Parity> parities;
  for (BlockArgument param : block.getArguments().drop_front(2))
    parities[param] = Parity::Same;
  Value lhs = block.getArgument(0), rhs = block.getArgument(1);
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() != 1)
      return false;
    SmallVector<Parity> operands = llvm::map_to_vector(
        op.getOperands(), [&](Value value) { return parities.lookup(value); });
    Parity parity = Parity::Unknown;
    if (op.getNumOperands() == 2 && llvm::is_contained(op.getOperands(), lhs) &&
        llvm::is_contained(op.getOperands(), rhs))
      parity = getParityOfPair(op);
    else if (!llvm::is_contained(operands, Parity::Unknown))
      parity = llvm::is_contained(operands, Parity::Negated)
                   ? getParity(op, operands)
                   : Parity::Same;
    parities[op.getResult(0)] = parity;
  }
  auto yield = cast<PairwiseYieldOp>(block.getTerminator());
  return parities.lookup(yield.getValue()) == Parity::Same;
}

bool kron::isSymmetricMatrix(PairOpInterface op) {
  return isa<PairwiseOp>(op.getOperation()) && op.getLhs() == op.getRhs() &&
         op.getTransLhs() == op.getTransRhs() &&
         (op.getInner() || isSymmetric(op.getInnerBody()));
}
