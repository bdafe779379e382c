//===- Magnitudes.cpp - What the errors of sums are parts of ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A sum may be nearly zero where its terms are not: its error is a part of the
// sum of their magnitudes.
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Magnitudes.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::kron;

/// That of TF32, which has 10 bits of a fraction.
static constexpr double kEpsilonOfTF32 = 0x1p-10;

double kron::getAllowedEpsilon(func::FuncOp function) {
  double epsilon = 0;
  function.walk([&](Operation *op) {
    auto precision = op->getAttrOfType<PrecisionAttr>("precision");
    if (precision && precision.getValue() == Precision::TF32)
      epsilon = kEpsilonOfTF32;
  });
  return epsilon;
}

std::optional<unsigned> kron::takeMagnitudes(func::FuncOp function) {
  PairwiseApplyOp sums;
  bool isAlone = true;
  function.walk([&](Operation *op) {
    if (!isa_and_present<KronDialect>(op->getDialect()) ||
        isa<PairwiseYieldOp>(op))
      return;
    auto apply = dyn_cast<PairwiseApplyOp>(op);
    isAlone &= apply && !sums;
    sums = apply;
  });
  if (!sums || !isAlone || sums.getAccumulation() != PairAccumulation::Sum ||
      !sums.getDirections().empty())
    return std::nullopt;
  auto values = dyn_cast<BlockArgument>(sums.getValues());
  if (!values || values.getOwner() != &function.getBody().front())
    return std::nullopt;
  Region &epilogue = sums.getEpilogue();
  OpBuilder builder(function.getContext());
  Location loc = sums.getLoc();
  if (epilogue.empty()) {
    Type type = getElementType(sums.getInit());
    SmallVector<Type> types(1 + sums.getParams().size(), type);
    Block &block = epilogue.emplaceBlock();
    block.addArguments(types, SmallVector<Location>(types.size(), loc));
    builder.setInsertionPointToEnd(&block);
    PairwiseYieldOp::create(builder, loc, block.getArgument(0));
  }
  Operation *yield = epilogue.front().getTerminator();
  builder.setInsertionPoint(yield);
  yield->setOperand(0,
                    math::AbsFOp::create(builder, loc, yield->getOperand(0)));
  return values.getArgNumber();
}
