//===- GradientStore.h - What gradients have in common ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_GRADIENTSTORE_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_GRADIENTSTORE_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// `sum` (of the accumulation type; times alpha if `scalesSum`), if there is
/// one, plus beta * Z in `init`, a view of the destination of `op`. Returns the
/// result.
Value emitGradientStore(IRRewriter &rewriter, ScaledOpInterface op, Value sum,
                        bool scalesSum, Value init);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_GRADIENTSTORE_H
