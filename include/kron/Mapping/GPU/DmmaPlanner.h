//===- DmmaPlanner.h - Plans of the kernel of f64 octets --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_DMMAPLANNER_H
#define KRON_MAPPING_GPU_DMMAPLANNER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// The complete plan of this kernel for `fused`; or why there is none. Its
/// field `alignment` is what arrays must have at launch. Fields of the plan
/// that `fused` carries (getGPUPlanAttr) are constraints.
std::variant<SmallVector<GPUPlanAttr>, std::string>
planDmma(FusedOp fused, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_DMMAPLANNER_H
