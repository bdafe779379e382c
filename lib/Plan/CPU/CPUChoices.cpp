//===- CPUChoices.cpp - What a plan says of a kron.fused --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/CPUChoices.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"

using namespace mlir;
using namespace mlir::kron;

CPUChoices kron::readCPUChoices(CPUPlanAttr plan) {
  CPUChoices choices;
  PlanReader reader(kCPURegion, plan.getFields());
  CPUChoices::visitFields(reader, choices);
  if (auto steps = plan.getFields().getAs<ArrayAttr>("steps"))
    for (Attribute step : steps) {
      PlanReader partReader(kCPUStep, cast<DictionaryAttr>(step));
      CPUStepChoices::visitFields(partReader, choices.steps.emplace_back());
    }
  return choices;
}

CPUPlanAttr kron::writeCPUPlan(MLIRContext *context, CPUChoices choices) {
  SmallVector<DictionaryAttr> steps;
  for (CPUStepChoices &step : choices.steps) {
    PlanWriter writer(context, kCPUStep);
    CPUStepChoices::visitFields(writer, step);
    steps.push_back(writer.getFields());
  }
  PlanWriter writer(context, kCPURegion);
  CPUChoices::visitFields(writer, choices);
  writer("steps", ArrayRef(steps));
  return CPUPlanAttr::get(context, writer.getFields());
}
