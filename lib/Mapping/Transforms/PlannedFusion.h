//===- PlannedFusion.h - Fused regions by their planners --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_PLANNEDFUSION_H
#define KRON_LIB_MAPPING_TRANSFORMS_PLANNEDFUSION_H

#include "FusionPlan.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// What `ask` says of a copy of `fused`, which it may replace: all that stands
/// in front of `fused` then is erased.
double askPlanners(RewriterBase &rewriter, FusedOp fused,
                   llvm::function_ref<double(FusedOp)> ask);

/// The fused regions with which `fused` takes the least time, with tile
/// footprints of up to `footprintBudget` bytes, and of one factor by cuBLAS if
/// it `allowsCublas`. The planners are not asked where there is no choice,
/// unless it `needsSeconds` of theirs.
FusionPlan planFusion(RewriterBase &rewriter, FusedOp fused,
                      const GPUMachine &machine, int64_t footprintBudget,
                      bool allowsCublas, bool needsSeconds = false);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_PLANNEDFUSION_H
