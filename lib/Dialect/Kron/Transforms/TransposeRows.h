//===- TransposeRows.h - Sparse factors with the batch last instead -------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_TRANSPOSEROWS_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_TRANSPOSEROWS_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Whether `op`, with the batch first, reads and writes so many single elements
/// that it is faster on transposed copies of X and Y.
bool isFasterTransposed(KsmmOp op);

/// Replaces `op`, on memrefs, by a loop over blocks of rows, which are
/// transposed, multiplied with the batch last, and transposed again: the
/// operation in it, and one for rows that fill no block, if there are any.
SmallVector<KsmmOp> transposeRows(IRRewriter &rewriter, KsmmOp op);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_TRANSPOSEROWS_H
