//===- ShuffleChain.h - Recognise the steps of a chain ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What --kron-raise-shuffles looks at: reshapes, transposes and contractions of
// one array, in general tensor and linalg operations. This file answers only
// questions about single operations; AxisTracker follows the axes through them.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_SHUFFLECHAIN_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_SHUFFLECHAIN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::kron {

/// One operation of a chain and the operand through which the array flows.
struct ChainStep {
  Operation *op;
  OpOperand *data;

  Value getResult() const { return op->getResult(0); }
};

/// A factor as a contraction reads it: dimension `d` of `value` runs over loop
/// `loops[d]`.
struct FactorAccess {
  Value value;
  SmallVector<unsigned> loops;
  /// Transposes between `value` and the contraction that nothing else uses.
  unsigned numTransposes = 0;
};

/// True for tensor.expand_shape, tensor.collapse_shape and tensor.reshape.
bool isReshape(Operation *op);

/// True if `op` is a structured operation that only permutes the axes of its
/// input: linalg.transpose, linalg.copy or a generic one that does the same.
bool isPermutingCopy(Operation *op);

/// True if `op` computes a sum of products of two tensors of one kron element
/// type, from zero: nothing else is added, cast or applied.
bool isContraction(Operation *op);

/// The operands of `op` that may be the array of a chain: none unless `op` can
/// be a step of one, both inputs of a contraction.
SmallVector<OpOperand *, 2> getDataOperands(Operation *op);

/// The position of the result of `copy` that each axis of its input goes to.
SmallVector<unsigned> getCopiedPositions(linalg::LinalgOp copy);

/// The loops that the dimensions of `operand` run over.
SmallVector<unsigned> getLoops(linalg::LinalgOp op, OpOperand *operand);

/// The input of the contraction `step.op` that is not the array. Transposes and
/// broadcasts that it comes from are seen through.
FactorAccess getFactor(const ChainStep &step);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_SHUFFLECHAIN_H
