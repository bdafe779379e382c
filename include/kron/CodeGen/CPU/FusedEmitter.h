//===- FusedEmitter.h - CPU code of one kron.fused --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_CPU_FUSEDEMITTER_H
#define KRON_CODEGEN_CPU_FUSEDEMITTER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::kron {

/// Name of the LLVM function attribute that marks emitted kernels: loops,
/// unrolling and vectors are explicit there, so little is left for LLVM's
/// optimizer to do.
inline constexpr llvm::StringLiteral kKernelFunctionAttr = "kron-kernel";

/// Bytes of workspace that the code of a fused region asks the runtime for.
struct WorkspaceBytes {
  int64_t shared = 0;
  int64_t perThread = 0;
};

/// Makes the workspace that `function` says it needs at least `bytes`, the most
/// that one of its operations takes.
void raiseWorkspace(func::FuncOp function, const WorkspaceBytes &bytes);

/// Builds, before `fused` (on memrefs, with a `plan`), the code that
/// computes it: a private function in `symbols` that takes a range of tiles
/// through all factors, and a call that spreads the tiles over the threads. The
/// caller erases `fused`.
WorkspaceBytes emitFusedOp(OpBuilder &builder, SymbolTable &symbols,
                           FusedOp fused);

} // namespace mlir::kron

#endif // KRON_CODEGEN_CPU_FUSEDEMITTER_H
