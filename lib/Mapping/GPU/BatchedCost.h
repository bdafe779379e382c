//===- BatchedCost.h - Times of batched kernels -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_BATCHEDCOST_H
#define KRON_LIB_MAPPING_GPU_BATCHEDCOST_H

#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/BatchedPlan.h"

namespace mlir::kron {

/// Seconds that a launch of `plan`, which is complete and without planes, is
/// estimated to take.
double estimateBatchedSeconds(const BatchedPlan &plan, const Problem &problem,
                              const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_BATCHEDCOST_H
