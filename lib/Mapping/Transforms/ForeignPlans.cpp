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

void kron::dropForeignPlans(Operation *root, StringRef target) {
  root->walk([&](Operation *op) {
    Attribute plan = op->getInherentAttr(kPlanAttrName).value_or(Attribute());
    if (!isa_and_present<CPUPlanAttr, PairwisePlanAttr, GPUPlanAttr,
                         DispatchAttr>(plan) ||
        isa<CPUPlanAttr, PairwisePlanAttr>(plan) == (target == "cpu"))
      return;
    remark::missed(op->getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
        << "the plan is for another target than " + target.str() +
               ": it is not used";
    op->setInherentAttr(StringAttr::get(op->getContext(), kPlanAttrName),
                        nullptr);
  });
}
