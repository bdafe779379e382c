//===- ChooseByRows.h - Fused regions that depend on rows -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_CHOOSEBYROWS_H
#define KRON_LIB_MAPPING_TRANSFORMS_CHOOSEBYROWS_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// A chain twice: once for many rows, once for few.
struct ChainsByRows {
  SmallVector<ModeProductOp> many, few;
};

/// Whether axes are regrouped within `chain`, whose number of rows is only
/// known when the code runs.
bool dependsOnRows(ArrayRef<ModeProductOp> chain);

/// Replaces `chain`, for which that is so, and a kron.epilogue that alone uses
/// its result by an scf.if with a copy in each branch: that for many rows runs
/// where there are more than `mostFewRows`. Nothing but the chain itself may
/// use what lies between its mode products.
ChainsByRows chooseByRows(RewriterBase &rewriter, ArrayRef<ModeProductOp> chain,
                          int64_t mostFewRows);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_CHOOSEBYROWS_H
