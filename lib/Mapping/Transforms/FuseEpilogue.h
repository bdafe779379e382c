//===- FuseEpilogue.h - Epilogues into fused regions ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_FUSEEPILOGUE_H
#define KRON_LIB_MAPPING_TRANSFORMS_FUSEEPILOGUE_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Why `fused`, which is `bare` with a kron.epilogue at its end, should not
/// take the place of both, or nothing.
using EpilogueFilter =
    llvm::function_ref<std::optional<std::string>(FusedOp bare, FusedOp fused)>;

/// Moves every kron.epilogue in `root` that alone uses the result of a
/// kron.fused to the end of its region, unless `getReason` says why not, which
/// becomes a remark.
void fuseEpilogues(RewriterBase &rewriter, Operation *root,
                   EpilogueFilter getReason);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_FUSEEPILOGUE_H
