//===- Steps.h - The form of each step --------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_CPU_STEPS_H
#define KRON_LIB_MAPPING_CPU_STEPS_H

#include "StepBudget.h"

namespace mlir::kron {

/// Chooses what `choices`, those of `fused`, leave open of its steps: what
/// lanes run over, register tiles, what is packed, copied and taken in blocks;
/// and whether tiles are copied for that. Fields that `given` (may be null) has
/// stay.
void chooseSteps(FusedOp fused, CPUPlanAttr given,
                 const CPUPlannerOptions &options, CPUChoices &choices);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_CPU_STEPS_H
