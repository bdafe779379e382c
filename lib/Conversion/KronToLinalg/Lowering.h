//===- Lowering.h - Reference lowering of each operation --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CONVERSION_KRONTOLINALG_LOWERING_H
#define KRON_CONVERSION_KRONTOLINALG_LOWERING_H

#include "ArrayEmitter.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"

namespace mlir::kron {

/// Emits the reference lowering of `op`, a kron operation that computes.
/// Returns the updated destination (what replaces the result of an operation on
/// tensors), or null if there is no lowering.
Value emitReference(ArrayEmitter &emitter, Operation *op);

/// The same for kron.quantize, which has two destinations.
SmallVector<Value> emitQuantize(ArrayEmitter &emitter, QuantizeOp op);

/// The same for functions of pairs, which do not scale.
Value emitPairs(ArrayEmitter &emitter, PairOpInterface op);
Value emitPairwiseApply(ArrayEmitter &emitter, PairwiseApplyOp op);
Value emitPairwiseTangent(ArrayEmitter &emitter, PairwiseTangentOp op);
Value emitPairwiseGrad(ArrayEmitter &emitter, PairwiseGradOp op);

/// An error of `op`'s verifier where sizes that the definitions of its arrays
/// tell, and their types do not, contradict its other sizes.
LogicalResult verifyHiddenSizes(Operation *op);

} // namespace mlir::kron

#endif // KRON_CONVERSION_KRONTOLINALG_LOWERING_H
