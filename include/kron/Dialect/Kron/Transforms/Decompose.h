//===- Decompose.h - Named operations as mode products --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What --kron-decompose turns single operations into, told how: it knows no
// machine. Operations have the shapes that the rewrites need: of all factors,
// or of the gradient.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_DECOMPOSE_H
#define KRON_DIALECT_KRON_TRANSFORMS_DECOMPOSE_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// How a product is decomposed.
struct ProductForm {
  /// Whether multiply-adds of the first factor of bf16 count half.
  bool halvesFirst = false;
  /// Whether arrays of 8 bits stay as they are; else they are widened.
  bool keepsFloat8 = false;
  /// Whether the bias or the residual of a kron.ksmm on memrefs, which is all
  /// that its epilogue has, is the Z of the product.
  bool addsEpilogue = false;
};

/// Replaces `op` by mode products and what belongs to them.
void decomposeProduct(IRRewriter &rewriter, ScaledOpInterface op,
                      const ProductForm &form);

/// Replaces the factors of `op`, a kron.mkm or kron.kmm whose factors are
/// matrices of known real sizes, by fewer ones: `counts` says how many
/// neighbours each is the Kronecker product of.
void groupFactors(IRRewriter &rewriter, ScaledOpInterface op,
                  ArrayRef<unsigned> counts);

/// The same of a copy in front of `op`, on memrefs, and with products that
/// nobody computes: for questions about it.
ScaledOpInterface cloneGroupedOnMemrefs(IRRewriter &rewriter,
                                        ScaledOpInterface op,
                                        ArrayRef<unsigned> counts);

/// Replaces `op` by mode products that apply its other factors and a
/// kron.ksmm_grad over everything but one axis, which is returned. A constant
/// alpha of 0, or an array without elements, needs neither: null.
KsmmGradOp decomposeFactorGradient(IRRewriter &rewriter, FactorGradOp op);

/// Makes what shares its weights part of the batch of `op` where it lies next
/// to it in memory.
void mergeShared(IRRewriter &rewriter, KsmmGradOp op);

/// How the sum over the batch of a kron.ksmm_grad is taken apart.
struct GradientForm {
  /// Not 0: linalg operations sum up so many equal pieces of the batch side by
  /// side, then add these up.
  int64_t pieces = 0;
  /// Otherwise loops over blocks of the batch hold a kron.fused each, of one
  /// slice of the pattern at a time: so many blocks a, and inner positions d.
  int64_t slicedA = 1, slicedD = 1;
  /// Rows of these blocks: as many of each size as there are left, down to 1.
  SmallVector<int64_t, 3> blockRows;
};

/// Replaces `op`.
void decomposeGradient(IRRewriter &rewriter, KsmmGradOp op,
                       const GradientForm &form);

/// How the sum over the batch of a kron.bias_grad is taken apart.
struct BiasGradientForm {
  /// Pieces of the batch that are summed up side by side.
  int64_t pieces = 1;
  /// Whether a piece has every so-many-th position of the batch, the remainder
  /// included; else the batch decides, and the remainder is added at the end.
  bool isStrided = false;
};

/// Replaces `op` by linalg operations.
void decomposeBiasGradient(IRRewriter &rewriter, BiasGradOp op,
                           const BiasGradientForm &form);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_TRANSFORMS_DECOMPOSE_H
