//===- AmxStage.h - Mode products in matrix tiles ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A step whose factor is bf16 becomes products of matrix tiles (AmxTile.h):
//
//   rows     the contracted axis is innermost: rows of X are rows of A, as they
//            lie if they are bf16; the factor is B
//   columns  the innermost axis is not contracted: it is the columns of B, to
//            which rows of X are interleaved in pairs; the factor is A
//
// Between factors values are f32; here they are taken as sums of two bf16,
// which keeps 16 bits.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_AMXSTAGE_H
#define KRON_LIB_CODEGEN_CPU_AMXSTAGE_H

#include "TileCopy.h"
#include "kron/CodeGen/CPU/Stage.h"

namespace mlir::kron {

enum class AmxMapping { None, Rows, Columns };

/// How `stage` becomes products of tiles; None if it does not, or if it is too
/// small to gain from it. Does not ask whether the processor has tiles.
AmxMapping getAmxMapping(const Stage &stage);

/// Whether `copy` takes f32 from an array that is contiguous along one axis to
/// bf16 that are contiguous along a short axis inside of it, which lies outside
/// there; and the code for it.
bool canInterleave(const TileCopy &copy);
void emitInterleaving(Emitter &emitter, const TileCopy &copy);

/// Builds the loops and products of a step; the base of its factor points into
/// the packed factor. `isExact`: all values of the source are bf16, whatever
/// type holds them.
void emitAmxStage(Emitter &emitter, const Stage &stage,
                  const PackedFactor &packed, bool isExact);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_AMXSTAGE_H
