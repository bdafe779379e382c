//===- SplitSparse.h - kron.ksmm as products side by side -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_SPLITSPARSE_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_SPLITSPARSE_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Rows from which on the products of `op`, with the batch first, are faster
/// side by side, copies included; 0 if they never are.
int64_t getLeastSplitRows(KsmmOp op);

/// Whether elements of rows of the arrays of `op`, on memrefs, are known to be
/// neighbours: copies of others are slow.
bool hasDenseRows(KsmmOp op);

/// Replaces `op`, on memrefs, by such copies of blocks of rows and the product
/// of them: that operation.
KsmmOp splitProducts(RewriterBase &rewriter, KsmmOp op);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_SPLITSPARSE_H
