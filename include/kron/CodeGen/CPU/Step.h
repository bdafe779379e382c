//===- Step.h - One mode product between two arrays -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The code of one step: loops around register tiles, in one of the ways that
// StepLayout.h lists.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_CPU_STEP_H
#define KRON_CODEGEN_CPU_STEP_H

#include "kron/CodeGen/CPU/RegisterTile.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/Plan/CPU/StepLayout.h"

namespace mlir::kron {

/// What a step computes, and what it does beside.
struct Step : StepLayout {
  /// Scaling, of the last step of a fused region.
  TileScale scale;
  /// Whether results are stored non-temporally, and what is prefetched
  /// meanwhile.
  bool streams = false;
  PrefetchStream prefetch;
  /// Memory of the thread for `getScratchElements` elements.
  Value scratch;
};

/// Whether results can be stored non-temporally: in whole vectors, at
/// multiples of their size if the destination starts at one and its strides
/// that are not known yet, which are added to `strides`, are multiples of it.
bool canStream(const StepLayout &step, SmallVectorImpl<Value> &strides);

/// Builds the loops that fill `base` from the whole factor of `step`.
void emitPacking(Emitter &emitter, const StepLayout &step,
                 ArrayRef<int64_t> factorSizes, const PackedFactor &packed,
                 Value base);

/// Builds the loops and register tiles of a step. If `packed` is not null, the
/// base of the step's factor points into the packed factor.
void emitStep(Emitter &emitter, const Step &step, const PackedFactor *packed);

} // namespace mlir::kron

#endif // KRON_CODEGEN_CPU_STEP_H
