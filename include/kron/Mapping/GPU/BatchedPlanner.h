//===- BatchedPlanner.h - Choice of tiles of the batched kernel -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_BATCHEDPLANNER_H
#define KRON_MAPPING_GPU_BATCHEDPLANNER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// Complete plans of batched kernels for `fused`, or why there are none: one
/// for arrays that are packed, and one for any. Fields of the plan that `fused`
/// carries are constraints; `packed = 0` leaves out the first one.
std::variant<SmallVector<GPUPlanAttr>, std::string>
planBatched(FusedOp fused, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_BATCHEDPLANNER_H
