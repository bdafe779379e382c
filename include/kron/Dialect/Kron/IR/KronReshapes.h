//===- KronReshapes.h - Chains whose axes are regrouped ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The features that one Kronecker-sparse factor writes as [i, j, t] are read by
// the next one as [i', k', t']. Between the two mode products stand a
// tensor.collapse_shape and a tensor.expand_shape, also within a kron.fused.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONRESHAPES_H
#define KRON_DIALECT_KRON_IR_KRONRESHAPES_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// The tensor.collapse_shape and tensor.expand_shape operations that make the
/// input of `product`, in the order in which they are applied.
SmallVector<Operation *> getInputReshapes(ModeProductOp product);

/// Whether axes are regrouped between `products`, each of which is applied to
/// the result of the one before, or between those of `fused`.
bool isRegrouped(ArrayRef<ModeProductOp> products);
bool isRegrouped(FusedOp fused);

/// The axis of rows of `products`, a chain: the first or the last one of each,
/// which none contracts, no factor depends on, and every reshape between them
/// leaves as it is. None if there is no such axis, if mode products have
/// different ranks or if another size is not known.
std::optional<unsigned> getRegroupedRows(ArrayRef<ModeProductOp> products);

/// How many of `products`, each applied to the result of the one before, one
/// kron.fused can take, from the first one on: in it every axis has one size
/// before and one behind the factors that contract it, so that none of its mode
/// products contracts an axis that another one stretches from 1, nor stretches
/// one where axes are regrouped, which gives them other numbers.
size_t countForOneFusedOp(ArrayRef<ModeProductOp> products);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_IR_KRONRESHAPES_H
