//===- PairwisePlanner.h - How a kron.pairwise is mapped to a CPU *- C++ -*-==//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_CPU_PAIRWISEPLANNER_H
#define KRON_MAPPING_CPU_PAIRWISEPLANNER_H

#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Mapping/CPU/CPUPlanner.h"

namespace mlir::kron {

/// Completes the plan of `op`, if the code generator takes it: fields that it
/// has already stay. A remark says what was chosen. Fails, with an error, if
/// those fields have no plan.
LogicalResult planForCPU(PairwiseOp op, const CPUPlannerOptions &options);

} // namespace mlir::kron

#endif // KRON_MAPPING_CPU_PAIRWISEPLANNER_H
