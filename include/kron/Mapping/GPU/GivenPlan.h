//===- GivenPlan.h - What is given of a plan --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_GIVENPLAN_H
#define KRON_MAPPING_GPU_GIVENPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// What is given of a plan, which may be nothing; a planner chooses the rest.
class GivenPlan {
public:
  GivenPlan(GPUPlanAttr plan = {}) : plan(plan) {}

  /// Null if nothing is given.
  operator GPUPlanAttr() const { return plan; }
  explicit operator bool() const { return bool(plan); }

  bool has(StringRef name) const { return plan && plan.has(name); }
  /// The value of field `name`, or `chosen` if that is not given.
  int64_t get(StringRef name, int64_t chosen = 0) const {
    return has(name) ? plan.get(name) : chosen;
  }
  ArrayRef<int64_t> getList(StringRef name) const {
    return plan ? plan.getList(name) : ArrayRef<int64_t>();
  }

  /// Whether it names `kernel`, and has all of its fields.
  bool names(GPUKernel kernel) const {
    return plan && plan.getKernel() == kernel;
  }
  bool isComplete(GPUKernel kernel) const {
    return names(kernel) && plan.isComplete();
  }
  /// Whether it names another kernel.
  bool namesOther(GPUKernel kernel) const {
    return plan && plan.getKernel() != GPUKernel::Auto && !names(kernel);
  }

private:
  GPUPlanAttr plan;
};

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_GIVENPLAN_H
