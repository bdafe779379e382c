//===- PairCopy.h - Arrays of bf16 in pairs ---------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_PAIRCOPY_H
#define KRON_LIB_CODEGEN_CPU_PAIRCOPY_H

#include "kron/CodeGen/FusedOperands.h"

namespace mlir::kron {

/// A copy of an array of bf16 with `sizes` to words that hold elements 2k and
/// 2k + 1 along `axis` in their lower and upper halves, as `emitPairProduct`
/// takes them. Strides of `to` are in words, of which there are half as many
/// along `axis`; the upper half of the last one is zero where its size is odd.
struct PairCopy {
  SmallVector<Int> sizes;
  unsigned axis = 0;
  StepArray from, to;
  int64_t vectorBits = 512;
};

/// Builds the copy. Words are elements of `emitter`, whatever their type.
void emitPairCopy(Emitter &emitter, const PairCopy &copy);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_PAIRCOPY_H
