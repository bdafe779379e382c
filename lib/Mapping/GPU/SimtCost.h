//===- SimtCost.h - Times of general kernels --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_SIMTCOST_H
#define KRON_LIB_MAPPING_GPU_SIMTCOST_H

#include "SimtAccess.h"
#include "kron/Mapping/GPU/CostModel.h"
#include "kron/Plan/GPU/SimtPlan.h"

namespace mlir::kron {

inline constexpr double kLanes = 32;
/// Warp instructions that an SM issues per clock.
inline constexpr double kIssued = 4;

/// Where a launch reads its data, and where its results go.
struct SimtArrays {
  AccessArray input, output;
};

/// Those of the launch of products [first, end) of `fused`: what lies between
/// launches is row-major, and of accumulators.
SimtArrays describeSimtArrays(FusedOp fused, const SimtChain &chain,
                              unsigned first, unsigned end);

/// Chooses fibres and results of each step of `launch`, whose tile and CTAs per
/// SM are known, for CTAs of `threads` threads, and returns the time that the
/// launch is estimated to take then; nothing if registers do not suffice.
std::optional<double> chooseSimtBlocks(const SimtArrays &arrays,
                                       SimtLaunch &launch, Type element,
                                       int64_t threads,
                                       const GPUMachine &machine);

/// The time of `launch`, whose data go through shared memory.
KernelTime estimateSharedLaunch(const SimtArrays &arrays,
                                const SimtLaunch &launch, Type element,
                                int64_t threads, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_SIMTCOST_H
