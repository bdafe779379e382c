//===- DecomposeFactorGradient.h - Gradients by dense factors ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_DECOMPOSEFACTORGRADIENT_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_DECOMPOSEFACTORGRADIENT_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Replaces `op`, which has known shapes, by mode products that apply its other
/// factors and a kron.ksmm_grad over everything but one axis, which is
/// returned. A constant alpha of 0, or an array without elements, needs
/// neither: null.
KsmmGradOp decomposeFactorGradient(IRRewriter &rewriter, FactorGradOp op);

/// Makes what shares its weights part of the batch of `op` where it lies next
/// to it in memory.
void mergeShared(IRRewriter &rewriter, KsmmGradOp op);

/// Replaces `op` by linalg operations that sum up pieces of the batch.
void decomposeBiasGradient(IRRewriter &rewriter, BiasGradOp op, bool onGPU);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_DECOMPOSEFACTORGRADIENT_H
