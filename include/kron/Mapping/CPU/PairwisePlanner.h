//===- PairwisePlanner.h - How pairs are mapped to a CPU --------*- C++ -*-===//
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
/// has already stay, and others fit them. A remark says what was chosen.
void planForCPU(PairOpInterface op, const CPUPlannerOptions &options);

} // namespace mlir::kron

#endif // KRON_MAPPING_CPU_PAIRWISEPLANNER_H
