//===- SimtDirect.h - Launches that load data directly ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_SIMTDIRECT_H
#define KRON_LIB_MAPPING_GPU_SIMTDIRECT_H

#include "kron/Mapping/GPU/CostModel.h"
#include "kron/Plan/GPU/SimtPlan.h"

namespace mlir::kron {

/// The time of `launch`, which loads the data of `fused`, one product,
/// directly, by CTAs of `threads` threads.
KernelTime estimateDirectLaunch(FusedOp fused, const SimtLaunch &launch,
                                int64_t threads, const GPUMachine &machine);

/// The plan of one such launch that is estimated to be the fastest, and the
/// seconds that count for it; nothing of a factor that does not vary, or of
/// sizes that a launch knows alone. `threads` and `ctasPerSM`: of a CTA and an
/// SM, 0: any.
std::optional<std::pair<SimtPlan, double>>
planDirectLaunch(FusedOp fused, const SimtChain &chain, int64_t threads,
                 int64_t ctasPerSM, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_SIMTDIRECT_H
