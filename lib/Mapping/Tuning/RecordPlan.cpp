//===- RecordPlan.cpp - The plan of a tuning record -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Mapping/Tuning/Record.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::kron;

Attribute kron::parseRecordPlan(StringRef text, bool isGPU,
                                MLIRContext *context, std::string &problem) {
  ScopedDiagnosticHandler collect(context, [&](Diagnostic &diagnostic) {
    if (problem.empty())
      problem = diagnostic.str();
    return success();
  });
  Attribute plan = parseAttribute(text, context);
  if (!plan)
    return {};
  auto plans = dyn_cast<RegionPlansAttr>(plan);
  if (plans   ? plans.isForCPU() != isGPU
      : isGPU ? isa<GPUPlanAttr, DispatchAttr>(plan)
              : isa<CPUPlanAttr, PairwisePlanAttr>(plan))
    return plan;
  problem = isGPU ? "expects a #kron.gpu_plan or #kron.dispatch, or a "
                    "#kron.region_plans of them"
                  : "expects a #kron.cpu_plan or #kron.pairwise_plan, or a "
                    "#kron.region_plans of them";
  return {};
}
