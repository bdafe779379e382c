//===- SparseGradPlanner.h - Chooses a gradient's tiles ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_SPARSEGRADPLANNER_H
#define KRON_MAPPING_GPU_SPARSEGRADPLANNER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// The complete plan of the kernels of `gradient`, which hasGradientKernels; or
/// why there is none. Fields of the plan that `gradient` carries
/// (getGPUPlanAttr) are constraints.
std::variant<GPUPlanAttr, std::string>
planSparseGrad(KsmmGradOp gradient, const GPUMachine &machine);

/// Says what the plan of `gradient`, which is complete, is.
void remarkSparseGrad(KsmmGradOp gradient, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_SPARSEGRADPLANNER_H
