//===- EmitModeProducts.h - Tracked chain to mode products ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Writes what an AxisTracker has found as views and kron.mode_products.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_EMITMODEPRODUCTS_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_EMITMODEPRODUCTS_H

#include "AxisTracker.h"

namespace mlir::kron {

/// Writes the products of `tracker`, which is home, at the insertion point of
/// `builder`. Returns a value of type `resultType` that equals the result of
/// the last step, which was number `numSteps`.
Value emitModeProducts(OpBuilder &builder, Location loc,
                       const AxisTracker &tracker, size_t numSteps,
                       RankedTensorType resultType);

/// The size of a dimension made of `list`, computed from the source of
/// `tracker`.
Value emitSize(OpBuilder &builder, Location loc, const AxisTracker &tracker,
               ArrayRef<unsigned> list);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_EMITMODEPRODUCTS_H
