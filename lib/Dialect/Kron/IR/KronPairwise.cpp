//===- KronPairwise.cpp - Functions of all pairs of rows --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The arrays of kron.pairwise and its family, their axes, and what follows from
// these: effects, shapes and sizes that must be equal.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "KronAssembly.h"
#include "KronShapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

#include "kron/Dialect/Kron/IR/KronPairwiseEnums.cpp.inc"
#include "kron/Dialect/Kron/IR/KronPairwiseInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "kron/Dialect/Kron/IR/KronPairwiseOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

unsigned kron::detail::getPairRowsDim(Operation *op, unsigned side) {
  auto pair = cast<PairOpInterface>(op);
  bool isTransposed =
      (side == 0 ? pair.getTransLhs() : pair.getTransRhs()) != Transpose::N;
  return getRank(side == 0 ? pair.getLhs() : pair.getRhs()) -
         (isTransposed ? 1 : 2);
}

unsigned kron::detail::getPairReducedDim(Operation *op, unsigned side) {
  auto pair = cast<PairOpInterface>(op);
  unsigned rank = getRank(side == 0 ? pair.getLhs() : pair.getRhs());
  return 2 * rank - 3 - getPairRowsDim(op, side);
}

std::optional<unsigned> PairArray::getDim(PairAxis axis) const {
  for (auto [index, held] : llvm::enumerate(core))
    if (held == axis)
      return getBatchRank() + index;
  return std::nullopt;
}

int64_t PairArray::getBatchRank() const {
  return getRank(value) - static_cast<int64_t>(core.size());
}

/// A matrix of `rows` and `columns`, or stored the other way round.
static PairArray getMatrix(StringRef name, Value value, PairAxis rows,
                           PairAxis columns,
                           Transpose transpose = Transpose::N) {
  if (transpose != Transpose::N)
    std::swap(rows, columns);
  return {name.str(), value, {rows, columns}};
}

SmallVector<PairArray> kron::getPairArrays(PairOpInterface op) {
  SmallVector<PairArray> arrays = {
      getMatrix("the left operand", op.getLhs(), PairAxis::M, PairAxis::K,
                op.getTransLhs()),
      getMatrix("the right operand", op.getRhs(), PairAxis::N, PairAxis::K,
                op.getTransRhs())};
  PairArray init =
      getMatrix("the outs", op.getInit(), PairAxis::M, PairAxis::N);
  init.isInit = true;
  if (auto apply = dyn_cast<PairwiseApplyOp>(op.getOperation())) {
    arrays.push_back(getMatrix("the values", apply.getValues(), PairAxis::N,
                               PairAxis::C, apply.getTransValues()));
    init.core[1] = PairAxis::C;
  }
  arrays.push_back(init);
  for (auto [index, param] : llvm::enumerate(op.getParams()))
    if (isa<ShapedType>(param.getType()))
      arrays.push_back({"parameter " + std::to_string(index + 1), param, {}});
  return arrays;
}

//===----------------------------------------------------------------------===//
// Effects and shapes
//===----------------------------------------------------------------------===//

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

static void addEffects(DestinationStyleOpInterface op, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

static LogicalResult addShapes(OpBuilder &builder, PairOpInterface op,
                               ReifiedRankedShapedTypeDims &shapes) {
  if (op->getNumResults())
    shapes.push_back(
        tensor::getMixedSizes(builder, op->getLoc(), op.getInit()));
  return success();
}

void PairwiseOp::getEffects(Effects &effects) { addEffects(*this, effects); }

LogicalResult
PairwiseOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  return addShapes(builder, *this, shapes);
}

void PairwiseApplyOp::getEffects(Effects &effects) {
  addEffects(*this, effects);
}

LogicalResult
PairwiseApplyOp::reifyResultShapes(OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &shapes) {
  return addShapes(builder, *this, shapes);
}

void kron::getEqualDims(PairOpInterface op, SmallVectorImpl<DimPair> &pairs) {
  SmallVector<PairArray> arrays = getPairArrays(op);
  for (PairAxis axis : {PairAxis::M, PairAxis::N, PairAxis::K, PairAxis::C}) {
    const PairArray *first = nullptr;
    for (const PairArray &array : arrays) {
      std::optional<unsigned> dim = array.getDim(axis);
      if (!dim)
        continue;
      if (first)
        addEqualDims(pairs, first->value, *first->getDim(axis), array.value,
                     *dim);
      else
        first = &array;
    }
  }
  Value init = op.getInit();
  for (const PairArray &array : arrays)
    for (int64_t dim = 0, rank = array.getBatchRank(); dim < rank; ++dim)
      if (!array.isInit && getDimSize(array.value, dim) != 1)
        addEqualDims(pairs, array.value, dim, init,
                     getRank(init) - 2 - rank + dim);
}
