//===- DerivedFields.h - What a plan says without a field -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A constraint is no field of complete plans, but says something about them:
// the threads of a plan that has numbers of warps, say, or the rows of one that
// has extents.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_DERIVEDFIELDS_H
#define KRON_PLAN_GPU_DERIVEDFIELDS_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include <optional>
#include <string>

namespace mlir::kron {

/// What the fields of `plan`, a complete plan for `op`, make of the constraint
/// `name`; nothing if that means nothing to its kernel, or parts of the plan
/// differ in it.
std::optional<int64_t> getDerivedField(Operation *op, GPUPlanAttr plan,
                                       StringRef name);

/// The first field that `given` has and `chosen`, a complete plan for `op`, has
/// otherwise or not at all: fields of `chosen`, and what it makes of
/// constraints. Says which, what is wanted, and what `chosen` has; empty if
/// there is none. `regions` is not compared.
std::string findUnmet(Operation *op, GPUPlanAttr given, GPUPlanAttr chosen);

/// Why `given`, which may be null, is no plan for an operation that is no fused
/// region, of which alone there may be several; empty if it says nothing of it.
std::string getRegionsReason(GPUPlanAttr given);

/// `plan` without constraints, which have served their purpose.
GPUPlanAttr dropConstraints(GPUPlanAttr plan);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_DERIVEDFIELDS_H
