//===- DecomposeSparse.h - kron.ksmm as a GPU wants it ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_DECOMPOSESPARSE_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_DECOMPOSESPARSE_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Whether a GPU's kernel reads X or weights of 8 bits of `op` itself: beside
/// f16 or others of 8 bits, whose values f16 holds.
bool hasKernelOf8(KsmmOp op);

/// Whether nothing but a factor alpha, which is not 0, is applied to the
/// products of `op`: no bias, no epilogue.
bool isBareProduct(KsmmOp op);

/// Whether types and precision of `op` are those of kernels that weights and
/// arrays in another order were measured with.
bool hasPlainTypes(KsmmOp op);

/// Lets `op` use a copy of its weights in another order where that is faster on
/// a GPU, or makes it loops over dense products: the operation that is left, in
/// them. Two of an unknown number of rows, of which a run takes one.
SmallVector<KsmmOp> arrangeForGPU(IRRewriter &rewriter, KsmmOp op);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_DECOMPOSESPARSE_H
