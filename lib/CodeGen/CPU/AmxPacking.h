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
#include "kron/CodeGen/CPU/Stage.h"

namespace mlir::kron {

constexpr int64_t kHalfBytes = 2;

/// Bytes from one row to the next: rows that lie `rowBytes` apart, unless these
/// meet in few sets of the cache.
int64_t avoidAlias(int64_t rowBytes);

/// Size K of `stage` in whole tiles.
int64_t getPaddedK(const Stage &stage);

/// Bytes of all of k for one row (A), and for the columns of a tile (B).
int64_t getRowBytes(const Stage &stage);
int64_t getPanelBytes(const Stage &stage);

/// Tiles of A, or of B, that lie at `base` as they are packed.
AmxOperand getPackedOperand(const Stage &stage, Value base, bool isA);

/// The arrangement of the factor in tiles, in elements of bf16, for a factor
/// that varies over `factorSizes[k]` positions of axis k.
PackedFactor getAmxFactor(const Stage &stage, ArrayRef<int64_t> factorSizes);

/// Builds the loops that fill `base` from the whole factor of `stage`.
void emitAmxPacking(Emitter &emitter, const Stage &stage,
                    ArrayRef<int64_t> factorSizes, const PackedFactor &packed,
                    Value base);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_AMXPACKING_H
