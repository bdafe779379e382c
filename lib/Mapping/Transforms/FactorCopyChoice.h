//===- FactorCopyChoice.h - Whether factors are copied on a GPU -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_FACTORCOPYCHOICE_H
#define KRON_LIB_MAPPING_TRANSFORMS_FACTORCOPYCHOICE_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Whether `fused` is one product by a factor, of a type that a copy keeps,
/// elements of whose sums, and of whose positions, share no sectors.
bool mayCopyFactor(FusedOp fused);

/// Lets `fused` use a copy of its factor in which elements of a sum are
/// neighbours.
void copyFactor(RewriterBase &rewriter, FusedOp fused);

/// Seconds of that copy.
double getFactorCopySeconds(FusedOp fused, const GPUMachine &machine);

/// Lets `fused`, which has no plan, use such a copy if it takes less time by
/// the cost model then, copy included.
void copyFactorWhereFaster(RewriterBase &rewriter, FusedOp fused,
                           const GPUMachine &machine, bool allowsCublas);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_FACTORCOPYCHOICE_H
