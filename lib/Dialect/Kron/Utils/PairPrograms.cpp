//===- PairPrograms.cpp - Functions of pairs and derivatives ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Utils/PairPrograms.h"
#include "Tangents.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::kron;

/// At the end of `block`, which no operation holds.
static OpBuilder getBuilder(Block &block, Type type) {
  OpBuilder builder(type.getContext());
  builder.setInsertionPointToEnd(&block);
  return builder;
}

PairProgram PairProgram::getInner(PairOpInterface op) {
  Type type = op.getAccumulatorType();
  Location loc = op->getLoc();
  PairProgram program(type);
  for (unsigned number = 0; number < 2 + op.getParams().size(); ++number)
    program.block->addArgument(type, loc);
  OpBuilder builder = getBuilder(*program.block, type);
  ValueRange args = program.block->getArguments();
  program.results.push_back(
      emitPair(builder, loc, op, args[0], args[1], args.drop_front(2)));
  return program;
}

PairProgram PairProgram::getEpilogue(PairOpInterface op) {
  Type type = op.getAccumulatorType();
  Location loc = op->getLoc();
  PairProgram program(type);
  for (unsigned number = 0; number < 1 + op.getParams().size(); ++number)
    program.block->addArgument(type, loc);
  OpBuilder builder = getBuilder(*program.block, type);
  ValueRange args = program.block->getArguments();
  program.results.push_back(
      emitPairEpilogue(builder, loc, op, args[0], args.drop_front()));
  return program;
}

PairProgram PairProgram::copy() const {
  PairProgram program(type);
  IRMapping mapping;
  for (BlockArgument arg : block->getArguments())
    mapping.map(arg, program.block->addArgument(arg.getType(), arg.getLoc()));
  OpBuilder builder = getBuilder(*program.block, type);
  for (Operation &op : *block)
    builder.clone(op, mapping);
  for (Value result : results)
    program.results.push_back(result ? mapping.lookup(result) : Value());
  return program;
}

PairProgram PairProgram::getAlong() const {
  PairProgram program = copy();
  Tangents tangents(*program.block, type.getContext());
  for (BlockArgument arg : llvm::to_vector(program.block->getArguments()))
    tangents.set(arg, program.block->addArgument(arg.getType(), arg.getLoc()));
  tangents.emit();
  for (Value result : llvm::to_vector(program.results))
    program.results.push_back(result ? tangents.get(result) : Value());
  return program;
}

PairProgram PairProgram::getDerivative(unsigned number) const {
  PairProgram program = copy();
  Tangents tangents(*program.block, type.getContext());
  BlockArgument arg = program.block->getArgument(number);
  OpBuilder builder(type.getContext());
  builder.setInsertionPointToStart(program.block.get());
  tangents.set(arg, arith::ConstantOp::create(builder, arg.getLoc(),
                                              getScalarAttr(type, 1)));
  tangents.emit();
  for (Value &result : program.results)
    result = result ? tangents.get(result) : Value();
  return program;
}

llvm::SetVector<Operation *> PairProgram::getNeeded(unsigned number) const {
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> pending;
  if (results[number])
    pending.push_back(results[number]);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && needed.insert(op))
      llvm::append_range(pending, op->getOperands());
  }
  return needed;
}

bool PairProgram::reads(unsigned number, unsigned arg) const {
  Value value = block->getArgument(arg);
  return results[number] == value ||
         llvm::any_of(getNeeded(number), [&](Operation *op) {
           return llvm::is_contained(op->getOperands(), value);
         });
}

Value PairProgram::emit(OpBuilder &builder, Location loc, unsigned number,
                        ValueRange args) const {
  Type like = args.empty() ? type : args.front().getType();
  if (isZero(number))
    return emitZero(builder, loc, like);
  llvm::SetVector<Operation *> needed = getNeeded(number);
  IRMapping mapping;
  mapping.map(block->getArguments(), args);
  for (Operation &op : *block)
    if (needed.contains(&op))
      cloneWithLanes(builder, op, like, mapping);
  return mapping.lookup(results[number]);
}
