//===- GradientForms.cpp - How sums over the batch are cut ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "GradientForms.h"
#include "kron/Machine/ThreadRates.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

/// Inner positions d of a slice: all, or equal parts of those that share their
/// weights, of whole cache lines if there are such.
static int64_t chooseInner(KsmmGradOp op) {
  int64_t d = op.getPattern()[3];
  if (!op.sharesInner() || d <= kThreadRates.gradientMostInner)
    return d;
  int64_t best = 0;
  for (int64_t size = kThreadRates.gradientLeastInner;
       size <= kThreadRates.gradientMostInner; ++size) {
    bool isWhole = size % 16 == 0, isBestWhole = best > 0 && best % 16 == 0;
    if (d % size == 0 && isWhole >= isBestWhole)
      best = size;
  }
  return best > 0 ? best : d;
}

GradientForm kron::chooseCPUGradient(KsmmGradOp op) {
  SmallVector<int64_t> pattern(op.getPattern());
  GradientForm form;
  form.slicedA = op.sharesBlocks() ? 1 : pattern[0];
  form.slicedD = chooseInner(op);
  bool isLarge = form.slicedA * pattern[1] * pattern[2] * form.slicedD >
                     kThreadRates.gradientLargeElements &&
                 form.slicedD < kThreadRates.gradientLongNeighbours;
  llvm::append_range(form.blockRows, isLarge
                                         ? kThreadRates.gradientLargeBlockRows
                                         : kThreadRates.gradientBlockRows);
  return form;
}

GradientForm kron::chooseGPUGradient(KsmmGradOp op, const BatchSplits &splits) {
  SmallVector<int64_t> pattern(op.getPattern());
  int64_t threads = pattern[0] * pattern[1] * pattern[2] * pattern[3];
  int64_t batch = getShapedType(op.getInput()).getDimSize(op.getBatchDim());
  if (ShapedType::isDynamic(batch))
    batch = getShapedType(op.getGrad()).getDimSize(op.getBatchDim());
  auto fits = [&](int64_t count) {
    return count <= splits.mostPieces &&
           count * threads <= splits.busyThreads &&
           (ShapedType::isDynamic(batch) || batch / count >= splits.leastRows);
  };
  GradientForm form;
  form.slicedA = pattern[0];
  form.slicedD = pattern[3];
  form.pieces = 1;
  while (fits(2 * form.pieces))
    form.pieces *= 2;
  return form;
}

static int64_t getFeatures(BiasGradOp op) {
  return getShapedType(op.getInit()).getDimSize(0);
}

BiasGradientForm kron::chooseCPUBiasGradient(BiasGradOp op) {
  int64_t batch = getShapedType(op.getInput()).getDimSize(op.getBatchDim());
  bool isSmall =
      !ShapedType::isDynamic(batch) && batch < kThreadRates.biasSmallBatch;
  bool isWhole = op.getBatchDim() == 0 &&
                 (getFeatures(op) >= kThreadRates.biasManyFeatures || isSmall);
  BiasGradientForm form;
  form.pieces = isWhole ? 1 : kThreadRates.biasPieces;
  return form;
}

BiasGradientForm kron::chooseGPUBiasGradient(BiasGradOp op,
                                             const BatchSplits &splits) {
  BiasGradientForm form;
  form.isStrided = true;
  form.pieces = splits.biasLeastPieces;
  while (form.pieces < splits.biasMostPieces &&
         2 * form.pieces * getFeatures(op) <= splits.biasBusyThreads)
    form.pieces *= 2;
  return form;
}
