//===- CopyFactor.h - Factors whose sums are neighbours ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Elements of a factor that varies over an axis inside of its own are apart in
// memory. In a copy those of a sum are neighbours. Whether that is worth it,
// the caller says.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_COPYFACTOR_H
#define KRON_DIALECT_KRON_TRANSFORMS_COPYFACTOR_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Lets `fused`, of one mode product, use a copy of its factor that is
/// contracted along the innermost dimension. On memrefs, rows of that start at
/// multiples of `alignedBytes`.
void copyFactorAlongK(RewriterBase &rewriter, FusedOp fused,
                      int64_t alignedBytes);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_TRANSFORMS_COPYFACTOR_H
