//===- WgmmaPlanner.h - Choice of tiles of a wgmma kernel -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_WGMMAPLANNER_H
#define KRON_MAPPING_GPU_WGMMAPLANNER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Mapping/GPU/CostModel.h"
#include <optional>
#include <string>
#include <variant>

namespace mlir::kron {

/// The complete plan of a wgmma kernel for `fused`, or why there is none.
/// Fields of the plan that `fused` carries are constraints.
std::variant<SmallVector<GPUPlanAttr>, std::string>
planWgmma(FusedOp fused, const GPUMachine &machine);

/// What the kernel of `fused`, whose problem is `problem`, takes by `plan`,
/// which is complete.
KernelTime estimateWgmmaTime(FusedOp fused, GPUPlanAttr plan,
                             const Problem &problem, const GPUMachine &machine);

/// The seconds that the best wgmma kernel of `region`, which need not be there
/// yet, takes; nothing if there is none.
std::optional<double> estimateWgmmaRegion(const Problem &region,
                                          const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_WGMMAPLANNER_H
