//===- Steps.h - The two steps of the reference lowering --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every operation is a chain of contractions, one per factor, on an N-d array
// in the accumulation type, and one store that scales, applies the epilogue and
// rounds. Both read arrays through `View`, so that transposition, broadcasting
// and missing batch dimensions are only a matter of indexing.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CONVERSION_KRONTOLINALG_STEPS_H
#define KRON_CONVERSION_KRONTOLINALG_STEPS_H

#include "ArrayEmitter.h"
#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// An array and the axis of the common index space that each of its dimensions
/// runs over. In a factor, ModeProductOp::kContracted and kResulting stand for
/// the axis of the contraction. A dimension of static size 1 is stretched.
struct View {
  Value value;
  SmallVector<int64_t> axes;
  bool conjugate = false;

  /// Dimension d runs over axis d.
  static View get(Value value);
};

/// What is done with the result of the contractions:
/// Y = scale * activation(alpha * v + beta * Z + bias) + residual.
struct Epilogue {
  Scale alpha;
  Scale beta;
  /// Z, or null: the destination.
  Value addend;
  Value bias;
  /// Dimensions of the destination that those of the bias run over.
  SmallVector<int64_t> biasAxes;
  Activation activation = Activation::Identity;
  /// Null: 1.
  TypedAttr scale;
  Value residual;
};

/// Contracts axis `axis` of `input`, one of `rank`, with `factor`. The result
/// is a new contiguous array of `accumulator` elements with all axes in order.
View emitContraction(ArrayEmitter &emitter, const View &input,
                     const View &factor, int64_t axis, unsigned rank,
                     Type accumulator);

/// Writes `product` (null where alpha is the constant 0; perhaps the
/// destination itself) through `epilogue` to `destination`, computing in the
/// accumulation type and rounding once. Returns the updated destination.
Value emitStore(ArrayEmitter &emitter, Value product, const Epilogue &epilogue,
                Value destination);

/// alpha, beta and Z of `op`.
Epilogue getScaling(ScaledOpInterface op);

/// The reference lowering of gradients by weights, a factor and the bias.
Value emitGradient(ArrayEmitter &emitter, KsmmGradOp op);
Value emitGradient(ArrayEmitter &emitter, FactorGradOp op);
Value emitGradient(ArrayEmitter &emitter, BiasGradOp op);

inline unsigned getArrayRank(Value array) {
  return cast<ShapedType>(array.getType()).getRank();
}

} // namespace mlir::kron

#endif // KRON_CONVERSION_KRONTOLINALG_STEPS_H
