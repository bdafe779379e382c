//===- KronPairwise.h - Functions of all pairs of rows ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// kron.pairwise, of which few files know.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONPAIRWISE_H
#define KRON_DIALECT_KRON_IR_KRONPAIRWISE_H

#include "kron/Dialect/Kron/IR/KronOps.h"

#include "kron/Dialect/Kron/IR/KronPairwiseEnums.h.inc"

#define GET_OP_CLASSES
#include "kron/Dialect/Kron/IR/KronPairwiseOps.h.inc"

namespace mlir::kron {

/// Adds the dimensions of the operands of `op` that must be equal and that
/// types may leave open.
void getEqualDims(PairwiseOp op, SmallVectorImpl<DimPair> &pairs);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_IR_KRONPAIRWISE_H
