//===- Associate.h - Which factors of a chain are multiplied first --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_ASSOCIATE_H
#define KRON_LIB_MAPPING_TRANSFORMS_ASSOCIATE_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Whether values of `type` have a range that products of weights do not leave
/// where those with X stay in it. That of f16 is too narrow: weights of few
/// thousandths are common.
bool hasWideRange(Type type);

/// Multiplies neighbouring factors of chains of kron.ksmm in `root`, on tensors
/// of known shapes, with each other where that and one product with the rows
/// takes less time by the cost model than the rows one factor after the other.
/// If it `allowsCublas`, products may be calls of that. With `given` not 0, so
/// many of them are, whatever that takes, wherever they may be.
void associateChains(IRRewriter &rewriter, Operation *root,
                     const GPUMachine &machine, bool allowsCublas,
                     int64_t given);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_ASSOCIATE_H
