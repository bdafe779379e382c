//===- FfmaPlanner.h - Plans of the FFMA kernel -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_FFMAPLANNER_H
#define KRON_MAPPING_GPU_FFMAPLANNER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// The complete plan of this kernel for `fused`; or why there is none. It may
/// have a field `alignment`, which arrays must have at launch. Fields of the
/// plan that `fused` carries (getGPUPlanAttr) are constraints.
std::variant<SmallVector<GPUPlanAttr>, std::string>
planFfma(FusedOp fused, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_FFMAPLANNER_H
