//===- RegionQuestions.h - What planners say of regions ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Planners want operations. Those that are made here are there for the question
// only.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_REGIONQUESTIONS_H
#define KRON_LIB_MAPPING_TRANSFORMS_REGIONQUESTIONS_H

#include "FusionPlan.h"

namespace mlir::kron {

/// Seconds of each kron.fused that `change` makes of a copy of `fused`, in
/// order: what the planners say, infinite where no kernel takes it.
SmallVector<double> askPlanners(RewriterBase &rewriter, FusedOp fused,
                                llvm::function_ref<void(FusedOp)> change,
                                const GPUMachine &machine, bool allowsCublas);

/// Seconds of the fused region of `fused` with the factors numbered `current`,
/// behind those numbered `previous`.
double askPlanners(RewriterBase &rewriter, FusedOp fused,
                   ArrayRef<unsigned> previous, ArrayRef<unsigned> current,
                   const GPUMachine &machine, bool allowsCublas);

/// The fused regions of `fused`, which is `chain`, that take the least time, as
/// `planFusion` finds them: planners are asked unless a plan is given.
FusionPlan planRegions(RewriterBase &rewriter, FusedOp fused,
                       const FusionChain &chain, const GPUMachine &machine,
                       int64_t footprintBudget, bool allowsCublas);

/// Chooses how many of the fused regions of `plan` leave rows innermost, as
/// they are in the transposed input of `fused`: what shrinks an array first
/// leaves less to transpose. What plan `fused` has says nothing of that.
void chooseRowsInside(RewriterBase &rewriter, FusedOp fused, FusionPlan &plan,
                      const GPUMachine &machine, bool allowsCublas);

/// Elements of the squares that a transposing copy takes for each element of an
/// array which is `size` long along one of their sides.
double getSquareWaste(int64_t size, int64_t elementBytes);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_REGIONQUESTIONS_H
