//===- AmxStep.h - Mode products in matrix tiles ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A step whose factor is bf16 becomes products of matrix tiles (AmxTile.h), in
// one of the ways that AmxMapping.h lists.
//
// Between factors values are f32; here they are taken as sums of two bf16,
// which keeps 16 bits.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_AMXSTEP_H
#define KRON_LIB_CODEGEN_CPU_AMXSTEP_H

#include "TileCopy.h"
#include "kron/CodeGen/CPU/Step.h"

namespace mlir::kron {

/// Whether `copy` takes f32 from an array that is contiguous along one axis to
/// bf16 that are contiguous along a short axis inside of it, which lies outside
/// there; and the code for it.
bool canInterleave(const TileCopy &copy);
void emitInterleaving(Emitter &emitter, const TileCopy &copy);

/// Builds the loops and products of a step; the base of its factor points into
/// the packed factor. `isExact`: all values of the source are bf16, whatever
/// type holds them.
void emitAmxStep(Emitter &emitter, const Step &step, const PackedFactor &packed,
                 bool isExact);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_AMXSTEP_H
