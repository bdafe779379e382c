//===- Arrays.h - What types say of the arrays of an operation --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_ARRAYS_H
#define KRON_PLAN_ARRAYS_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// How elements of type `element` lie in memory: complex numbers as vectors of
/// two, others as they are.
Type getStorageType(Type element);
/// Bytes of an element, complex ones included.
int64_t getElementBytes(Type element);

/// Input, factors and destination of `op`.
SmallVector<Value> getArrays(ScaledOpInterface op);

/// Whether types say that an array has no elements: then there is nothing to
/// plan, and plans may divide by sizes.
bool hasEmptyArray(ScaledOpInterface op);
bool hasEmptyArray(FusedOp fused);

/// Why no code generator takes `op`, if shapes that all of them need to know
/// are dynamic: of factors, or of what a gradient writes.
std::optional<std::string> getDynamicShapeReason(ScaledOpInterface op);

/// Strides of `array` in elements, kDynamic where they are not known. Those of
/// a tensor are those of the row-major buffer that it will be. Axis k is
/// `permutation[k]` of the array if that is not empty.
SmallVector<int64_t> getKnownStrides(Value array,
                                     ArrayRef<int64_t> permutation = {});

} // namespace mlir::kron

#endif // KRON_PLAN_ARRAYS_H
