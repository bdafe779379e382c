//===- AmxPacking.h - Operands of matrix tiles in memory --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// How rows of A and pairs of rows of B lie where they are packed for matrix
// tiles: a step packs its X so, and its factor before all loops.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_AMXPACKING_H
#define KRON_LIB_CODEGEN_CPU_AMXPACKING_H

#include "AmxTile.h"
#include "kron/CodeGen/CPU/Step.h"

namespace mlir::kron {

/// Tiles of A, or of B, that lie at `base` as they are packed.
AmxOperand getPackedOperand(const StepLayout &step, Value base, bool isA);

/// The arrangement of the factor in tiles, in elements of bf16, for a factor
/// that varies over `factorSizes[k]` positions of axis k.
PackedFactor getAmxFactor(const StepLayout &step,
                          ArrayRef<int64_t> factorSizes);

/// Builds the loops that fill `base` from the whole factor of `step`.
void emitAmxPacking(Emitter &emitter, const StepLayout &step,
                    ArrayRef<int64_t> factorSizes, const PackedFactor &packed,
                    Value base);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_AMXPACKING_H
