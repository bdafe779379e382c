//===- GradientForms.h - How sums over the batch are cut ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_GRADIENTFORMS_H
#define KRON_LIB_MAPPING_TRANSFORMS_GRADIENTFORMS_H

#include "kron/Dialect/Kron/Transforms/Decompose.h"
#include "kron/Machine/GPUSplits.h"

namespace mlir::kron {

/// Blocks of the batch that stay in the cache of a CPU, one slice of shared
/// weights after the other.
GradientForm chooseCPUGradient(KsmmGradOp op);

/// Pieces of the batch that keep a GPU busy: it has a thread for each element
/// of D and piece.
GradientForm chooseGPUGradient(KsmmGradOp op, const BatchSplits &splits);

/// Pieces where there are too few features for all threads of a CPU.
BiasGradientForm chooseCPUBiasGradient(BiasGradOp op);

/// Pieces of every so-many-th position, always, for a GPU.
BiasGradientForm chooseGPUBiasGradient(BiasGradOp op,
                                       const BatchSplits &splits);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_GRADIENTFORMS_H
