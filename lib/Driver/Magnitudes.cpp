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

/// `function` and what it calls, in turn.
static SmallVector<func::FuncOp> getCalled(func::FuncOp function) {
  SmallVector<func::FuncOp> functions{function};
  for (size_t number = 0; number < functions.size(); ++number)
    functions[number].walk([&](func::CallOp call) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (callee && !llvm::is_contained(functions, callee))
        functions.push_back(callee);
    });
  return functions;
}

double kron::getAllowedEpsilon(func::FuncOp function, bool isForGPU) {
  double epsilon = 0;
  // Processors multiply in f32, whatever an operation allows.
  if (!isForGPU)
    return epsilon;
  for (func::FuncOp called : getCalled(function))
    called.walk([&](Operation *op) {
      auto precision = op->getAttrOfType<PrecisionAttr>("precision");
      if (precision && precision.getValue() == Precision::TF32 &&
          getElementType(op->getOperand(0)).isF32())
        epsilon = kEpsilonOfTF32;
    });
  return epsilon;
}

/// Whether `op` computes no elements: it is a number, an array, a view of one,
/// or the end.
static bool isNeutral(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "arith")
    return llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  return isa<func::FuncOp, func::ReturnOp>(op) || dialect == "memref" ||
         dialect == "tensor";
}

std::optional<unsigned> kron::takeMagnitudes(func::FuncOp function) {
  PairwiseApplyOp sums;
  bool isAlone = true;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto apply = dyn_cast<PairwiseApplyOp>(op);
    isAlone &= isNeutral(op) || (apply && !sums);
    if (!apply)
      return WalkResult::advance();
    sums = apply;
    return WalkResult::skip();
  });
  if (!sums || !isAlone || sums.getAccumulation() != PairAccumulation::Sum ||
      !sums.getDirections().empty())
    return std::nullopt;
  auto values = dyn_cast<BlockArgument>(sums.getValues());
  if (!values || !values.hasOneUse() ||
      values.getOwner() != &function.getBody().front())
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
