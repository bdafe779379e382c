//===- SparseRewrites.h - kron.ksmm in other forms ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a kron.ksmm can become before it is decomposed: copies of its weights,
// loops over its products, blocks of rows in another order. Whether that is
// worth it, and with which sizes, the caller says.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_SPARSEREWRITES_H
#define KRON_DIALECT_KRON_TRANSFORMS_SPARSEREWRITES_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

//===----------------------------------------------------------------------===//
// What holds for an operation
//===----------------------------------------------------------------------===//

/// Whether nothing but a factor alpha, which is not 0, is applied to the
/// products of `op`: no bias, no epilogue.
bool isBareProduct(KsmmOp op);

/// Whether elements of rows of the arrays of `op`, on memrefs, are known to be
/// neighbours: copies of others are slow.
bool hasDenseRows(KsmmOp op);

//===----------------------------------------------------------------------===//
// Factors multiplied with each other, on tensors (MultiplyOut.cpp)
//===----------------------------------------------------------------------===//

/// (a, b, c, d) of a factor.
using SparsePattern = SmallVector<int64_t, 4>;

/// The pattern of the product of `factors`, the first of which is applied
/// first.
SparsePattern getProductPattern(ArrayRef<SparsePattern> factors);

/// Whether every column of a group of that pattern contributes to every row:
/// its weights have no zeros that a NaN of X would spread over.
bool isProductFull(ArrayRef<SparsePattern> factors);

/// A copy of `op`, which does nothing but multiply, on other arrays.
KsmmOp cloneBare(OpBuilder &builder, KsmmOp op, Value input, Value weights,
                 Value init);

/// Replaces `chain`, of known shapes and weights used as N, by the last one on
/// the input of the first, with the product of all weights. All but the last do
/// nothing but multiply.
KsmmOp multiplyOut(IRRewriter &rewriter, ArrayRef<KsmmOp> chain);

//===----------------------------------------------------------------------===//
// From tensors to memrefs (SparseMemRefs.cpp)
//===----------------------------------------------------------------------===//

/// Whether the arrays of `op`, on tensors, are known. A plan may say of it
/// that it is one fused region with others.
bool canUseMemRefs(KsmmOp op);

/// Replaces `op`, on tensors, by one on the memrefs that these will be.
KsmmOp moveToMemRefs(IRRewriter &rewriter, KsmmOp op);

/// Gives the matrices of `op`, which are memrefs, the sizes that its pattern
/// and each other say that they have: views of their parts name these.
void castToKnownShapes(IRRewriter &rewriter, KsmmOp op);

//===----------------------------------------------------------------------===//
// Copies of weights, and loops (SliceSparse.cpp): but for the first and the
// last, on memrefs with the batch last
//===----------------------------------------------------------------------===//

/// Lets `op` use a copy of its weights [a, c, b, d] as [a, b, c, d].
void transposeWeights(IRRewriter &rewriter, KsmmOp op);

/// Lets `op` use a copy of its weights [a, b, c, d], or [a, c, b, d] that are
/// used as T, which lies in memory as [a, d, b, c] with rows that start at
/// multiples of `alignedBytes`.
void copyWeightsByProducts(IRRewriter &rewriter, KsmmOp op,
                           int64_t alignedBytes);

/// Replaces `op` by a loop over its groups, whose body is one of them: the new
/// operation.
KsmmOp sliceGroups(IRRewriter &rewriter, KsmmOp op);

/// Replaces `op` by a loop over t, whose body has the products of all groups
/// that belong to it: the new operation.
KsmmOp sliceByT(IRRewriter &rewriter, KsmmOp op);

/// Replaces `op`, of one group, by loops over t and over blocks of `sizeN`,
/// whose bodies are the dense product of a slice: the new operation.
KsmmOp sliceProducts(IRRewriter &rewriter, KsmmOp op, int64_t sizeN);

/// Two copies of `op`, on memrefs, of which a run takes the first one for
/// `leastRows` and more, if they are a multiple of `rowUnit`.
std::pair<KsmmOp, KsmmOp> branchByRows(IRRewriter &rewriter, KsmmOp op,
                                       int64_t leastRows, int64_t rowUnit);

//===----------------------------------------------------------------------===//
// Copies of rows, with the batch first
//===----------------------------------------------------------------------===//

/// Replaces `op`, on memrefs, by copies of blocks of `blockRows` rows whose
/// products lie side by side, and the product of them: that operation.
KsmmOp splitProducts(IRRewriter &rewriter, KsmmOp op, int64_t blockRows);

/// Replaces `op`, on memrefs of a known number of rows, by a loop over blocks
/// of `blockRows` of them, which are transposed, multiplied with the batch
/// last, and transposed again: the operation in it, and one for rows that fill
/// no block, if there are any.
SmallVector<KsmmOp> transposeRows(IRRewriter &rewriter, KsmmOp op,
                                  int64_t blockRows);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_TRANSFORMS_SPARSEREWRITES_H
