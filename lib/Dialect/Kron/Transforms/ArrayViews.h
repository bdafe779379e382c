//===- ArrayViews.h - Views of tensors and memrefs --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What decomposition does to arrays, the same on tensors and on memrefs.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_ARRAYVIEWS_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_ARRAYVIEWS_H

#include "kron/Dialect/Kron/Transforms/Chain.h"

namespace mlir::kron {

inline bool isOnTensors(Value array) {
  return isa<TensorType>(array.getType());
}

/// `array` with dimensions of the sizes in `shape` where its type leaves them
/// open.
Value castToShape(OpBuilder &builder, Location loc, Value array,
                  ArrayRef<int64_t> shape);

/// `array` with its dimensions split as `view` says, before any permutation. A
/// view of the same memory whatever the strides are.
Value expandView(OpBuilder &builder, Location loc, Value array,
                 const ArrayView &view);

/// The inverse of `expandView`. On memrefs, what is merged has to lie without
/// gaps.
Value collapseView(OpBuilder &builder, Location loc, Value array,
                   const ArrayView &view);

/// Size of dimension `dim` of `array`, at run time.
Value emitDimSize(OpBuilder &builder, Location loc, Value array, int64_t dim);

/// A new array with the shape of `array` and elements of type `element`, to be
/// released by `releaseBuffer`.
Value createBufferLike(OpBuilder &builder, Location loc, Value array,
                       Type element);

/// The same of the size `shape`, on tensors or memrefs; `sizes` has what is
/// dynamic in that.
Value createBuffer(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                   ValueRange sizes, Type element, bool onTensors);

/// Sets every element of `outs` to what `body` makes of the elements of
/// `inputs`, which have its shape, and of its own, the last argument. Returns
/// the result on tensors, `outs` on memrefs.
Value emitElementwise(OpBuilder &builder, Location loc, ValueRange inputs,
                      Value outs,
                      llvm::function_ref<Value(OpBuilder &, ValueRange)> body);

/// Releases a new array on memrefs.
void releaseBuffer(OpBuilder &builder, Location loc, Value array);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_ARRAYVIEWS_H
