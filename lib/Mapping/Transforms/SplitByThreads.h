//===- SplitByThreads.h - Fused regions by thread count ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_SPLITBYTHREADS_H
#define KRON_LIB_MAPPING_TRANSFORMS_SPLITBYTHREADS_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Gives `fused`, which is one fused region on the CPU, a second form of two
/// fused regions, if its rows are too few for several threads: launches with
/// enough threads take it. A kron.fused with a plan stays as it is, and so
/// does one whose result goes to a kron.epilogue that may become a part of it.
void splitByThreads(RewriterBase &rewriter, FusedOp fused);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_SPLITBYTHREADS_H
