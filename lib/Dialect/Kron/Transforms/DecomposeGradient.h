//===- DecomposeGradient.h - kron.ksmm_grad to mode products ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_DECOMPOSEGRADIENT_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_DECOMPOSEGRADIENT_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Replaces `op`, whose result has a static shape: by loops over blocks of the
/// batch, with one kron.fused in each, or, for a GPU, by linalg operations that
/// sum up pieces of the batch.
void decomposeGradient(IRRewriter &rewriter, KsmmGradOp op, bool onGPU);

/// `sum` (of the accumulation type; times alpha if `scalesSum`), if there is
/// one, plus beta * Z in `init`, a view of the destination of `op`. Returns the
/// result.
Value emitGradientStore(IRRewriter &rewriter, ScaledOpInterface op, Value sum,
                        bool scalesSum, Value init);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_DECOMPOSEGRADIENT_H
