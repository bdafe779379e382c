//===- WgmmaCost.h - Times of wgmma kernels ---------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_WGMMACOST_H
#define KRON_LIB_MAPPING_GPU_WGMMACOST_H

#include "kron/Machine/GPUMachine.h"
#include "kron/Mapping/GPU/CostModel.h"
#include "kron/Plan/GPU/Problem.h"
#include "kron/Plan/GPU/WgmmaPlan.h"

namespace mlir::kron {

/// What a launch of `plan`, whose tiles have been worked out, is estimated to
/// take.
KernelTime estimateWgmmaTime(const WgmmaPlan &plan, const Problem &problem,
                             const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_WGMMACOST_H
