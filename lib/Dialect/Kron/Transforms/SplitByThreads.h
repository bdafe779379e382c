//===- SplitByThreads.h - Trips by the number of threads --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_SPLITBYTHREADS_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_SPLITBYTHREADS_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Gives `pass`, which is one trip on the CPU, a second form of two trips, if
/// its rows are too few for several threads: launches with enough threads take
/// it. Passes with a schedule stay as they are, and those whose result goes to
/// a kron.epilogue that may become a part of them.
void splitByThreads(RewriterBase &rewriter, PassOp pass);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_SPLITBYTHREADS_H
