//===- Magnitudes.h - What the errors of sums are parts of ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_MAGNITUDES_H
#define KRON_DRIVER_MAGNITUDES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mlir::kron {

/// The epsilon that results of `function` are exact to on a GPU or a processor,
/// where an operation allows less than its type has and that machine takes it;
/// 0 if none does.
double getAllowedEpsilon(func::FuncOp function, bool isForGPU);

/// If all that `function` computes are sums of a kron.pairwise_apply, makes it
/// compute the sums of the magnitudes of the matrix times what the values are,
/// and returns the number of the argument that these are: that of their
/// magnitudes gives what the errors of the sums are parts of. Else it changes
/// nothing.
std::optional<unsigned> takeMagnitudes(func::FuncOp function);

} // namespace mlir::kron

#endif // KRON_DRIVER_MAGNITUDES_H
