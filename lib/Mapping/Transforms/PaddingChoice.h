//===- PaddingChoice.h - Whether arrays are padded on a GPU -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_PADDINGCHOICE_H
#define KRON_LIB_MAPPING_TRANSFORMS_PADDINGCHOICE_H

#include "FusionPlan.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Replaces `fused` by what it is on copies with padded rows, if its plan says
/// so, or says nothing and that takes less time by the cost model, copies
/// included. Fails, with an error, if that is not possible though the plan
/// says so. What is there then, whose plan does not say it any more.
FailureOr<FusedOp> padWhereFaster(RewriterBase &rewriter, FusedOp fused,
                                  const GPUMachine &machine,
                                  int64_t footprintBudget, bool allowsCublas);

/// Seconds of `fused`, which has no plan, on copies with padded rows, these
/// included; none unless that takes less time than as it lies.
std::optional<double> estimatePadded(RewriterBase &rewriter, FusedOp fused,
                                     const GPUMachine &machine,
                                     int64_t footprintBudget,
                                     bool allowsCublas);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_PADDINGCHOICE_H
