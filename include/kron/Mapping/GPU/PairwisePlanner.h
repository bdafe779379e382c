//===- PairwisePlanner.h - How pairs are mapped to a GPU --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_PAIRWISEPLANNER_H
#define KRON_MAPPING_GPU_PAIRWISEPLANNER_H

#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

/// Completes the plan of `op`, if it has a kernel: fields that it has already
/// stay. A remark says what was chosen; an error, why there is no such plan.
LogicalResult planForGPU(PairOpInterface op, const GPUMachine &machine);
LogicalResult planGradForGPU(PairwiseGradOp op, const GPUMachine &machine);

/// Says by which plan a kernel takes so many seconds, and what for.
void remarkPairs(Operation *op, GPUPlanAttr plan, StringRef bound,
                 double seconds);

/// Gives `op` its plans, of which one is chosen at launch if there are several.
void setPlans(Operation *op, ArrayRef<GPUPlanAttr> plans);

/// Instructions that `inner` of `op`, with its reduction, and its epilogue
/// take.
double countInner(PairOpInterface op, const GPUMachine &machine);
double countEpilogue(PairOpInterface op, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_PAIRWISEPLANNER_H
