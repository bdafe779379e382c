//===- GivenFields.h - Which field of a plan is impossible ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A planner that is given fields says why nothing goes with them: that a tile
// does not fit, say. Which of the fields makes it so large, and what it could
// be instead, is found by planning again without them.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_GIVENFIELDS_H
#define KRON_MAPPING_GPU_GIVENFIELDS_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// What a planner says: plans, or why there are none.
using PlansOrReason = std::variant<SmallVector<GPUPlanAttr>, std::string>;

/// `reason`, for which `plan` found none for `op`, with the fields of the plan
/// that `op` carries that have to be otherwise: each that is enough alone, and
/// what it could be; or all of them together. `plan` reads the attribute.
std::string nameGivenFields(Operation *op, std::string reason,
                            llvm::function_ref<PlansOrReason()> plan);

/// What of `given` is in none of `plans` for `op`, of which one is chosen at
/// launch: of those for the kernel that `given` names, or else of all, each has
/// to have what is not about launches. Empty if there is nothing.
std::string findUnmet(Operation *op, GPUPlanAttr given,
                      ArrayRef<GPUPlanAttr> plans);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_GIVENFIELDS_H
