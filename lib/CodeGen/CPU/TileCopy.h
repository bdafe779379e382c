//===- TileCopy.h - Copies between arrays of any layout ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_TILECOPY_H
#define KRON_LIB_CODEGEN_CPU_TILECOPY_H

#include "kron/CodeGen/CPU/Step.h"

namespace mlir::kron {

/// A copy of an array with `sizes`:
/// `to = scale * activation(alpha * from + beta * addend + bias) + residual`.
struct TileCopy {
  SmallVector<Int> sizes;
  StepArray from, to;
  TileScale scale;
  /// Read if `scale` has a beta.
  StepArray addend;
  int64_t vectorBits = 512;
  /// Bias, activation, scale and residual, of real floats; null: none.
  const FusedEpilogue *epilogue = nullptr;
};

/// Builds the copy: by vectors where both arrays are contiguous along the same
/// axis, in blocks that are transposed in registers where they are along
/// different ones, else element by element.
void emitTileCopy(Emitter &emitter, const TileCopy &copy);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_TILECOPY_H
