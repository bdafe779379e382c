//===- SimtPlanner.h - Choice of launches and tiles of simt -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_SIMTPLANNER_H
#define KRON_MAPPING_GPU_SIMTPLANNER_H

#include "kron/Mapping/GPU/CostModel.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// The complete plan of general kernels for `fused`, or why there is none.
/// Fields of the plan that `fused` carries, whatever kernel that is for, are
/// constraints.
std::variant<SmallVector<GPUPlanAttr>, std::string>
planSimt(FusedOp fused, const GPUMachine &machine);

/// The time of `fused` by `plan`, which is complete; nothing of sizes that a
/// launch knows alone, unless data are loaded directly.
std::optional<KernelTime> estimateSimt(FusedOp fused, GPUPlanAttr plan,
                                       const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_SIMTPLANNER_H
