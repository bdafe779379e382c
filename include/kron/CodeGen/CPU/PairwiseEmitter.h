//===- PairwiseEmitter.h - CPU code of functions of pairs -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_CPU_PAIRWISEEMITTER_H
#define KRON_CODEGEN_CPU_PAIRWISEEMITTER_H

#include "kron/CodeGen/CPU/FusedEmitter.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"

namespace mlir::kron {

/// Builds, before `op` (on memrefs, with a complete `plan`), the code that
/// computes it: a private function in `symbols` that computes a range of blocks
/// of the result, and a call that spreads the blocks over the threads. The
/// caller erases `op`.
WorkspaceBytes emitPairwiseOp(OpBuilder &builder, SymbolTable &symbols,
                              PairOpInterface op);

} // namespace mlir::kron

#endif // KRON_CODEGEN_CPU_PAIRWISEEMITTER_H
