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
#include "llvm/ADT/TypeSwitch.h"

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

/// Adds the directions of `op` that are arrays; `operands` are A and B.
static void addDirections(PairOpInterface op, ArrayRef<PairArray> operands,
                          SmallVectorImpl<PairArray> &arrays) {
  for (auto [index, direction] : llvm::enumerate(op.getDirections())) {
    if (!isa<ShapedType>(direction.getType()))
      continue;
    if (index < 2)
      arrays.push_back({"the direction of " + operands[index].name, direction,
                        operands[index].core});
    else
      arrays.push_back(
          {"the direction of parameter " + std::to_string(index - 1),
           direction,
           {}});
  }
}

static void addGradient(PairwiseGradOp op, SmallVectorImpl<PairArray> &arrays) {
  if (Value grad = op.getGrad())
    arrays.push_back(getMatrix("the gradient", grad, PairAxis::M, PairAxis::N,
                               op.getTransGrad()));
  if (Value factor = op.getLhsFactor())
    arrays.push_back(getMatrix("the left factor", factor, PairAxis::M,
                               PairAxis::C, op.getTransLhsFactor()));
  if (Value factor = op.getRhsFactor())
    arrays.push_back(getMatrix("the right factor", factor, PairAxis::N,
                               PairAxis::C, op.getTransRhsFactor()));
}

SmallVector<PairArray> kron::getPairArrays(PairOpInterface op) {
  SmallVector<PairArray> arrays = {
      getMatrix("the left operand", op.getLhs(), PairAxis::M, PairAxis::K,
                op.getTransLhs()),
      getMatrix("the right operand", op.getRhs(), PairAxis::N, PairAxis::K,
                op.getTransRhs())};
  SmallVector<PairArray> operands = arrays;
  PairArray init =
      getMatrix("the outs", op.getInit(), PairAxis::M, PairAxis::N);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](PairwiseApplyOp apply) {
        arrays.push_back(getMatrix("the values", apply.getValues(), PairAxis::N,
                                   PairAxis::C, apply.getTransValues()));
        init.core[1] = PairAxis::C;
      })
      .Case([&](PairwiseGradOp grad) {
        addGradient(grad, arrays);
        init.core = grad.getBy() == PairOperand::Param
                        ? SmallVector<PairAxis, 2>()
                        : operands[grad.getBy() == PairOperand::Rhs].core;
      });
  addDirections(op, operands, arrays);
  init.isInit = true;
  arrays.push_back(init);
  for (auto [index, param] : llvm::enumerate(op.getParams()))
    if (isa<ShapedType>(param.getType()))
      arrays.push_back({"parameter " + std::to_string(index + 1), param, {}});
  return arrays;
}

int64_t kron::getLargestBatchRank(ArrayRef<PairArray> arrays) {
  int64_t rank = 0;
  for (const PairArray &array : arrays)
    rank = std::max(rank, array.getBatchRank());
  return rank;
}

/// The size of `array` along the innermost axis of the batch; 1 if it has none.
static int64_t getOutputSize(const PairArray &array) {
  auto type = dyn_cast<ShapedType>(array.value.getType());
  int64_t rank = array.getBatchRank();
  return type && rank > 0 ? type.getDimSize(rank - 1) : 1;
}

bool kron::hasOutputs(PairwiseGradOp op) {
  PairAxis columns = op.getBy() == PairOperand::Rhs ? PairAxis::M : PairAxis::N;
  if (!op.getRhsFactor() || op.getBy() == PairOperand::Param)
    return false;
  for (const PairArray &array : getPairArrays(op)) {
    bool isFactor = array.getDim(PairAxis::C) && array.getDim(columns);
    if (isFactor && cast<ShapedType>(array.value.getType())
                            .getDimSize(*array.getDim(PairAxis::C)) != 1)
      return false;
    if ((getOutputSize(array) != 1) != (isFactor || array.isInit))
      return false;
  }
  return true;
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

void PairwiseTangentOp::getEffects(Effects &effects) {
  addEffects(*this, effects);
}

LogicalResult
PairwiseTangentOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  return addShapes(builder, *this, shapes);
}

void PairwiseGradOp::getEffects(Effects &effects) {
  addEffects(*this, effects);
}

LogicalResult
PairwiseGradOp::reifyResultShapes(OpBuilder &builder,
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
  // Of the batch, counted from the right: the first that does not stretch.
  SmallVector<std::optional<std::pair<Value, unsigned>>> batch(
      std::max<int64_t>(0, getLargestBatchRank(arrays)));
  auto visit = [&](const PairArray &array) {
    for (int64_t dim = 0, rank = array.getBatchRank(); dim < rank; ++dim) {
      if (getDimSize(array.value, dim) == 1)
        continue;
      auto &first = batch[rank - 1 - dim];
      if (first)
        addEqualDims(pairs, array.value, dim, first->first, first->second);
      else
        first.emplace(array.value, dim);
    }
  };
  // The destination first: all are compared with it, if it does not stretch.
  for (bool isInit : {true, false})
    for (const PairArray &array : arrays)
      if (array.isInit == isInit)
        visit(array);
}
