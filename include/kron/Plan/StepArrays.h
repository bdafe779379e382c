//===- StepArrays.h - Arrays as a step sees them ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where the elements of a step's arrays lie, known or not. Plans look at what
// is known; there is no pointer before code is built.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_STEPARRAYS_H
#define KRON_PLAN_STEPARRAYS_H

#include "kron/Plan/Arrays.h"
#include "kron/Plan/Int.h"

namespace mlir::kron {

/// An array as a step sees it: a pointer and one stride per axis, in elements,
/// and how these lie in memory (null: as the emitter computes with them).
struct StepArray {
  Value base;
  SmallVector<Int> strides;
  Type element = nullptr;
};

/// The factor of a step: element (p, q) at `base + p*strideK + q*resultStride`,
/// plus `strides[k]` times the position on axis k for those axes it varies on.
struct StepFactor {
  Value base;
  Int strideK;
  Int resultStride;
  SmallVector<Int> strides;
  /// How elements lie in memory, as for a StepArray.
  Type element = nullptr;
};

/// A factor of one mode product, with its strides over the op's axes.
struct FactorArray {
  StepFactor array;
  /// Positions per axis of the op that it varies over; 1 elsewhere.
  SmallVector<int64_t> sizes;
};

/// `array` as its type describes it. Axis k is `permutation[k]` of it if that
/// is not empty.
StepArray describeArray(Value array, ArrayRef<int64_t> permutation = {});

/// `array`, the factor of `product`, by the axes of `fused`, which that is
/// inside of.
FactorArray arrangeFactor(FusedOp fused, ModeProductOp product,
                          const StepArray &array);

/// Gives axes that the input of `fused` is stretched along, in the order of the
/// op, the stride 0.
void stretchInput(FusedOp fused, StepArray &input);

} // namespace mlir::kron

#endif // KRON_PLAN_STEPARRAYS_H
