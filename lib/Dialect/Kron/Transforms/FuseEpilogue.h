//===- FuseEpilogue.h - Epilogues into passes -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_FUSEEPILOGUE_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_FUSEEPILOGUE_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Why `pass`, which is `bare` with a kron.epilogue at its end, should not take
/// the place of both, or nothing.
using EpilogueFilter =
    llvm::function_ref<std::optional<std::string>(PassOp bare, PassOp pass)>;

/// Moves every kron.epilogue in `root` that alone uses the result of a pass to
/// the end of that pass, unless `getReason` says why not, which becomes a
/// remark.
void fuseEpilogues(RewriterBase &rewriter, Operation *root,
                   EpilogueFilter getReason);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_FUSEEPILOGUE_H
