//===- GroupingChoice.h - Which factors are one on a GPU --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_GROUPINGCHOICE_H
#define KRON_LIB_MAPPING_TRANSFORMS_GROUPINGCHOICE_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Replaces neighbouring factors of `op`, a kron.mkm or kron.kmm of known
/// shapes, by their Kronecker products where that takes less time by the cost
/// model, the kernels that compute these included. If it `allowsCublas`,
/// products may be calls of that. With `given` not 0, so many neighbours are
/// one factor, whatever that takes, wherever they may be.
void groupWhereFaster(IRRewriter &rewriter, ScaledOpInterface op,
                      const GPUMachine &machine, bool allowsCublas,
                      int64_t given);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_GROUPINGCHOICE_H
