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
#include "kron/Plan/GPU/MmaPlan.h"
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
/// their tiles, one after the other.
double getMmaBlockSeconds(const MmaPlan &plan, const GPUMachine &machine);

/// Whether estimateMmaTiles knows what tiles of `plan` take: of f64 and of a
/// known number, that arrive whole.
bool hasMmaEstimate(const MmaPlan &plan);

/// Tiles of `plan` that a CTA takes one after the other, on average.
double getMmaWaves(const MmaPlan &plan, const GPUMachine &machine);

/// What tiles of `plan` take of the SMs: seconds of all of them. Memory is not
/// counted.
double estimateMmaTiles(const MmaPlan &plan, const GPUMachine &machine);

/// `choices`, of f64, with other numbers of rows, warps and CTAs and other
/// places of rows and results where tiles take less time so; fields of `given`,
/// which may be null, stay.
MmaChoices searchMmaTiles(const MmaRegion &region, const MmaChoices &choices,
                          GPUPlanAttr given, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_MMAPLANNER_H
