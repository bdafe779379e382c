//===- OrderUnitAxes.h - Permutations that move nothing ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The transpose of a matrix of one row has the same elements in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_ORDERUNITAXES_H
#define KRON_DIALECT_KRON_TRANSFORMS_ORDERUNITAXES_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Lets `fused` read a view of its input without a permutation, if that moves
/// only axes of one position, and shape and strides of the input are known.
void orderUnitAxes(RewriterBase &rewriter, FusedOp fused);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_TRANSFORMS_ORDERUNITAXES_H
