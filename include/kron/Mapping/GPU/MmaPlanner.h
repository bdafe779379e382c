//===- MmaPlanner.h - Choice of tiles of an mma kernel ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_MMAPLANNER_H
#define KRON_MAPPING_GPU_MMAPLANNER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// The complete plan of an mma kernel for `fused`, or why there is none: it
/// takes real floating-point types and factors of static shape that vary on no
/// axis, if a tile fits in shared memory. Fields of the plan that `fused`
/// carries are constraints.
std::variant<SmallVector<GPUPlanAttr>, std::string>
planMma(FusedOp fused, const GPUMachine &machine);

/// Seconds that the warps of `plan`, one of mma, are at work on the blocks of
/// their tiles, one after the other; 0 where sizes are not known.
double getMmaBlockSeconds(FusedOp fused, GPUPlanAttr plan,
                          const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_MMAPLANNER_H
