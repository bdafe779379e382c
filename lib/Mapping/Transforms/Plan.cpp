//===- Plan.cpp - How operations are mapped to the machine ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thin MLIR pass over Mapping: it only annotates.
//
//===----------------------------------------------------------------------===//

#include "CPUOptions.h"
#include "ForeignPlans.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Mapping/CPU/CPUPlanner.h"
#include "kron/Mapping/CPU/PairwisePlanner.h"
#include "kron/Mapping/GPU/GPUPlanner.h"
#include "kron/Mapping/GPU/PairwisePlanner.h"
#include "kron/Mapping/Passes.h"
#include "kron/Plan/GPU/QuantizePlan.h"
#include "kron/Plan/GPU/SparseGradPlan.h"
#include "kron/Plan/GPU/Support.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONPLAN
#include "kron/Mapping/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {

struct KronPlanPass : WithCPUOptions<kron::impl::KronPlanBase<KronPlanPass>> {
  using WithCPUOptions::WithCPUOptions;

  void runOnOperation() override {
    if (target != "cpu" && target != "cuda") {
      getOperation()->emitError("expects target to be cpu or cuda, but got ")
          << target.getValue();
      return signalPassFailure();
    }
    dropForeignPlans(getOperation(), target);
    if (target == "cuda")
      return planForGPU();
    if (failed(verifyCPUOptions()))
      return signalPassFailure();
    planForCPU();
  }

  static LogicalResult verifyOnePlan(FusedOp fused) {
    Attribute plan = fused.getPlanAttr();
    if (!isa_and_present<RegionPlansAttr>(plan))
      return success();
    return fused.emitOpError("expects the plan of one fused region, as "
                             "--kron-fuse gives it to each, but got ")
           << plan;
  }

  void planForGPU() {
    FailureOr<GPUMachine> machine = getGPUMachine(getOperation(), chip);
    if (failed(machine))
      return signalPassFailure();
    SmallVector<QuantizeOp> quantizes;
    getOperation()->walk([&](QuantizeOp op) { quantizes.push_back(op); });
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (auto fused = dyn_cast<FusedOp>(op)) {
        if (failed(verifyOnePlan(fused)))
          return WalkResult::interrupt();
        return WalkResult(kron::planForGPU(fused, quantizes, *machine, cublas));
      }
      if (auto pairwise = dyn_cast<PairOpInterface>(op))
        return WalkResult(kron::planForGPU(pairwise, *machine));
      auto gradient = dyn_cast<KsmmGradOp>(op);
      if (gradient && hasGradientKernels(gradient))
        return WalkResult(kron::planForGPU(gradient, *machine));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    // Those that the only kernel of another operation computes have none.
    llvm::SmallPtrSet<Operation *, 4> shared;
    getOperation()->walk([&](FusedOp fused) {
      if (SmallVector<GPUPlanAttr> plans = getGPUPlans(fused);
          plans.size() == 1 && plans.front().get("quantize"))
        if (QuantizeOp quantize = findQuantize(fused, quantizes))
          shared.insert(quantize);
    });
    for (QuantizeOp quantize : quantizes)
      if (!shared.contains(quantize) &&
          failed(kron::planForGPU(quantize, *machine)))
        return signalPassFailure();
  }

  void planForCPU() {
    CPUPlannerOptions options = getCPUOptions();
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (auto fused = dyn_cast<FusedOp>(op); fused && !pairwiseOnly) {
        if (failed(verifyOnePlan(fused)))
          return WalkResult::interrupt();
        return WalkResult(kron::planForCPU(fused, options));
      }
      if (auto pairwise = dyn_cast<PairOpInterface>(op))
        kron::planForCPU(pairwise, options);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
