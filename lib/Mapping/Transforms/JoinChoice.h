//===- JoinChoice.h - Whether axes are joined on a GPU ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_JOINCHOICE_H
#define KRON_LIB_MAPPING_TRANSFORMS_JOINCHOICE_H

#include "FusionPlan.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Replaces `fused` by one with a factor for several neighbouring axes each, if
/// its plan says so, or says nothing and that takes less time by the cost
/// model. Fails, with an error, if that is not possible though the plan says
/// so. What is there then, whose plan does not say it any more.
FailureOr<FusedOp> joinWhereFaster(RewriterBase &rewriter, FusedOp fused,
                                   const GPUMachine &machine,
                                   int64_t footprintBudget, bool allowsCublas);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_JOINCHOICE_H
