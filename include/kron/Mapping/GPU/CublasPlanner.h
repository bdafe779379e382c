//===- CublasPlanner.h - Dense products by cuBLAS ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_CUBLASPLANNER_H
#define KRON_MAPPING_GPU_CUBLASPLANNER_H

#include "kron/Mapping/GPU/CostModel.h"
#include <variant>

namespace mlir::kron {

/// The plan of a call of cuBLAS for `fused`; why there is none where it takes
/// no such product.
std::variant<GPUPlanAttr, std::string> planCublas(FusedOp fused,
                                                  const GPUMachine &machine);

/// The time of `fused`, which cuBLAS takes.
KernelTime estimateCublasTime(FusedOp fused, const Problem &problem,
                              const GPUMachine &machine);

/// The time of a fused region that is not there yet, whose arrays are
/// row-major; infinite if cuBLAS does not take it.
double estimateCublasSeconds(const Problem &problem, const GPUMachine &machine);

/// The time of `fused` by `kernel` where the cost model says `seconds`, with
/// what single elements and short segments cost it beyond that: what a call has
/// to beat.
double estimateRaggedSeconds(GPUKernel kernel, FusedOp fused,
                             const Problem &problem, double seconds,
                             const GPUMachine &machine);

/// The time of the one product that `fused`, of a factor that varies along
/// axes, would be if the factor were filled up with zeros; infinite if there is
/// no such product.
double estimateDenseSeconds(FusedOp fused, const Problem &problem,
                            const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_CUBLASPLANNER_H
