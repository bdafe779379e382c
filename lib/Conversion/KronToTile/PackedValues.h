//===- PackedValues.h - Values as matrix instructions take them -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_KRONTOTILE_PACKEDVALUES_H
#define KRON_LIB_CONVERSION_KRONTOTILE_PACKEDVALUES_H

#include "kron/CodeGen/Emitter.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Plan/GPU/PairwisePlan.h"

namespace mlir::kron {

/// Packs `values`, an array of N x C behind the batch, for `tile.for_pairs` as
/// `plan` says, in front of its kernel: rows of eight of N. What has to be
/// released is added to `workspace`.
PairArray packValues(Emitter &host, PairwiseApplyOp op, const PairArray &values,
                     const PairwisePlan &plan,
                     SmallVectorImpl<Value> &workspace);

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_PACKEDVALUES_H
