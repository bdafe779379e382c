//===- ForeignPlans.cpp - Plans for another target --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ForeignPlans.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

static bool isForCPU(Attribute plan) {
  auto plans = dyn_cast<RegionPlansAttr>(plan);
  return plans ? plans.isForCPU() : isa<CPUPlanAttr, PairwisePlanAttr>(plan);
}

void kron::dropForeignPlans(Operation *root, StringRef target) {
  root->walk([&](Operation *op) {
    Attribute plan = op->getInherentAttr(kPlanAttrName).value_or(Attribute());
    if (!isa_and_present<CPUPlanAttr, PairwisePlanAttr, GPUPlanAttr,
                         DispatchAttr, RegionPlansAttr>(plan) ||
        isForCPU(plan) == (target == "cpu"))
      return;
    remark::missed(op->getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
        << "the plan is for another target than " + target.str() +
               ": it is not used";
    op->setInherentAttr(StringAttr::get(op->getContext(), kPlanAttrName),
                        nullptr);
  });
}
