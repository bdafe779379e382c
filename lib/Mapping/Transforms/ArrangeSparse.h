//===- ArrangeSparse.h - kron.ksmm as a GPU wants it ----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_ARRANGESPARSE_H
#define KRON_LIB_MAPPING_TRANSFORMS_ARRANGESPARSE_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUSplits.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Whether `arrangeForGPU` makes something else of `op`, which is on tensors of
/// known shapes: planners do not see that.
bool isArranged(KsmmOp op, const GPUSplits &splits);

/// Lets `op` use a copy of its weights in another order where that is faster on
/// a GPU, or makes it loops over dense products: the operation that is left, in
/// them. Two of an unknown number of rows, of which a run takes one.
SmallVector<KsmmOp> arrangeForGPU(IRRewriter &rewriter, KsmmOp op,
                                  const GPUSplits &splits);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_ARRANGESPARSE_H
