//===- PlannedFusion.cpp - Fused regions by their planners ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The cost model knows a fused region by its sizes; planners know the tiles of
// its kernel. They take long to answer, so that only regions of cuts that would
// be the fastest are asked for.
//
//===----------------------------------------------------------------------===//

#include "PlannedFusion.h"
#include "kron/Mapping/GPU/GPUPlanner.h"

using namespace mlir;
using namespace mlir::kron;

double kron::askPlanners(RewriterBase &rewriter, FusedOp fused,
                         llvm::function_ref<double(FusedOp)> ask) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(fused);
  Operation *before = fused->getPrevNode();
  double seconds = ask(cast<FusedOp>(rewriter.clone(*fused)));
  while (fused->getPrevNode() != before)
    rewriter.eraseOp(fused->getPrevNode());
  return seconds;
}

/// Whether planners know what `fused` and its parts take.
static bool hasKnownTimes(FusedOp fused) {
  auto isStatic = [](Value array) {
    return cast<ShapedType>(array.getType()).hasStaticShape();
  };
  return !fused.getPlanAttr() && isSplittable(fused) &&
         llvm::all_of(fused->getOperands(), [&](Value operand) {
           return !isa<ShapedType>(operand.getType()) || isStatic(operand);
         });
}

/// Seconds of the regions of `plan` for `fused` that have these `numbers`.
static SmallVector<double> askForRegions(RewriterBase &rewriter, FusedOp fused,
                                         const FusionPlan &plan,
                                         ArrayRef<unsigned> numbers,
                                         const GPUMachine &machine,
                                         bool allowsCublas) {
  SmallVector<double> seconds;
  askPlanners(rewriter, fused, [&](FusedOp asked) {
    Operation *before = asked->getPrevNode();
    if (plan.regions.size() > 1)
      splitFusedOp(rewriter, asked, plan);
    Operation *op =
        before ? before->getNextNode() : &fused->getBlock()->front();
    for (unsigned number = 0; op != fused; op = op->getNextNode()) {
      auto region = dyn_cast<FusedOp>(op);
      if (!region || !llvm::is_contained(numbers, number++))
        continue;
      std::optional<KernelTime> time =
          estimateRegionOrCall(region, machine, allowsCublas);
      seconds.push_back(time ? time->total
                             : std::numeric_limits<double>::infinity());
    }
    return 0.0;
  });
  return seconds;
}

FusionPlan kron::planFusion(RewriterBase &rewriter, FusedOp fused,
                            const GPUMachine &machine, int64_t footprintBudget,
                            bool allowsCublas, bool needsSeconds) {
  FusionChain chain = describeFusionChain(fused);
  FusionSearch search(chain, machine, footprintBudget, allowsCublas);
  if (!hasKnownTimes(fused) || !(search.hasChoice() || needsSeconds))
    return search.findFastest();
  return search.findFastest([&](const FusionPlan &plan,
                                ArrayRef<unsigned> numbers) {
    return askForRegions(rewriter, fused, plan, numbers, machine, allowsCublas);
  });
}
