//===- ChooseByRows.cpp - Fused regions that depend on rows ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Whether factors are one fused region depends on how many rows there are.
// Where only the run shows that, both are compiled. What follows the chain goes
// into both branches, where it can become part of the last fused region.
//
//===----------------------------------------------------------------------===//

#include "ChooseByRows.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/IR/LaunchChoice.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::kron;

bool kron::dependsOnRows(ArrayRef<ModeProductOp> chain) {
  if (!isRegrouped(chain))
    return false;
  std::optional<unsigned> rows = getRegroupedRows(chain);
  ModeProductOp last = chain.back();
  return rows && cast<ShapedType>(last.getInit().getType()).isDynamicDim(*rows);
}

/// The epilogue that alone uses the result of `last`, in the same block; null
/// if there is none.
static EpilogueOp getEpilogue(ModeProductOp last) {
  Value result = last->getResult(0);
  if (result.use_empty())
    return nullptr;
  auto epilogue = dyn_cast<EpilogueOp>(*result.getUsers().begin());
  // Its destination may be that result, too.
  bool isAlone = llvm::all_of(
      result.getUsers(), [&](Operation *user) { return user == epilogue; });
  return epilogue && isAlone && epilogue->getBlock() == last->getBlock() &&
                 epilogue.getInput() == result
             ? epilogue
             : nullptr;
}

/// The tensor.empty and its reshapes that make `init`, in order; nothing if
/// that is another array.
static SmallVector<Operation *> getOpsOfInit(Value init) {
  SmallVector<Operation *> ops;
  Operation *op = init.getDefiningOp();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    ops.push_back(op);
    op = op->getOperand(0).getDefiningOp();
  }
  if (!isa_and_nonnull<tensor::EmptyOp>(op))
    return {};
  ops.push_back(op);
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// A copy of `op`, which makes a tensor that has no unknown size but `rows`.
static Operation *cloneShaping(OpBuilder &builder, Operation *op, Value rows,
                               IRMapping &mapping) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    for (Value size : expand.getOutputShape())
      mapping.map(size, rows);
  return builder.clone(*op, mapping);
}

/// A copy of `op` and, if that is memory of its own, its destination.
static Operation *cloneWithInit(OpBuilder &builder, Operation *op, Value rows,
                                IRMapping &mapping) {
  Value init = cast<DestinationStyleOpInterface>(op).getDpsInits().front();
  if (!mapping.contains(init))
    for (Operation *shaping : getOpsOfInit(init))
      cloneShaping(builder, shaping, rows, mapping);
  return builder.clone(*op, mapping);
}

/// Copies `chain` and `epilogue`, if there is one, and yields their result.
static SmallVector<ModeProductOp> buildBranch(OpBuilder &builder, Location loc,
                                              ArrayRef<ModeProductOp> chain,
                                              EpilogueOp epilogue, Value rows) {
  IRMapping mapping;
  SmallVector<ModeProductOp> copies;
  // A transpose can become part of a fused region if nothing else uses it.
  ModeProductOp first = chain.front();
  if (auto transpose = first.getInput().getDefiningOp<linalg::TransposeOp>())
    cloneWithInit(builder, transpose, rows, mapping);
  for (ModeProductOp product : chain) {
    if (!copies.empty())
      for (Operation *reshape : getInputReshapes(product))
        cloneShaping(builder, reshape, rows, mapping);
    copies.push_back(
        cast<ModeProductOp>(cloneWithInit(builder, product, rows, mapping)));
  }
  Value result = copies.back()->getResult(0);
  if (epilogue)
    result = cloneWithInit(builder, epilogue, rows, mapping)->getResult(0);
  scf::YieldOp::create(builder, loc, result);
  return copies;
}

/// Erases `op` and, if nothing needs it now, the memory that it wrote.
static void eraseWithInit(RewriterBase &rewriter, Operation *op) {
  SmallVector<Operation *> ops =
      getOpsOfInit(cast<DestinationStyleOpInterface>(op).getDpsInits().front());
  rewriter.eraseOp(op);
  for (Operation *shaping : llvm::reverse(ops)) {
    // Sizes that only the chain has used. Others of the chain may write to the
    // same memory: each is erased in its turn.
    for (Operation *user : llvm::make_early_inc_range(shaping->getUsers()))
      if (isa<tensor::DimOp>(user) && user->use_empty())
        rewriter.eraseOp(user);
    if (isOpTriviallyDead(shaping))
      rewriter.eraseOp(shaping);
  }
}

static void eraseChain(RewriterBase &rewriter, ArrayRef<ModeProductOp> chain) {
  ModeProductOp first = chain.front();
  auto transpose = first.getInput().getDefiningOp<linalg::TransposeOp>();
  for (ModeProductOp product : llvm::reverse(chain)) {
    SmallVector<Operation *> reshapes;
    if (product != first)
      reshapes = getInputReshapes(product);
    eraseWithInit(rewriter, product);
    for (Operation *reshape : llvm::reverse(reshapes))
      rewriter.eraseOp(reshape);
  }
  if (transpose && transpose->use_empty())
    rewriter.eraseOp(transpose);
}

ChainsByRows kron::chooseByRows(RewriterBase &rewriter,
                                ArrayRef<ModeProductOp> chain,
                                int64_t mostFewRows) {
  ModeProductOp last = chain.back();
  EpilogueOp epilogue = getEpilogue(last);
  Operation *end = epilogue ? epilogue.getOperation() : last.getOperation();
  Location loc = last.getLoc();
  rewriter.setInsertionPoint(end);
  Value rows = tensor::DimOp::create(rewriter, loc, last.getInit(),
                                     *getRegroupedRows(chain));
  Value most = arith::ConstantIndexOp::create(rewriter, loc, mostFewRows);
  Value isMany = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sgt,
                                       rows, most);
  markLaunchChoice(isMany, LaunchRequirements{{"min_rows", mostFewRows + 1}});
  ChainsByRows copies;
  auto branches = scf::IfOp::create(
      rewriter, loc, isMany,
      [&](OpBuilder &builder, Location loc) {
        copies.many = buildBranch(builder, loc, chain, epilogue, rows);
      },
      [&](OpBuilder &builder, Location loc) {
        copies.few = buildBranch(builder, loc, chain, epilogue, rows);
      });
  rewriter.replaceAllUsesWith(end->getResult(0), branches.getResult(0));
  if (epilogue)
    eraseWithInit(rewriter, epilogue);
  eraseChain(rewriter, chain);
  return copies;
}
