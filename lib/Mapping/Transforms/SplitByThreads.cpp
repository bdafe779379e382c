//===- SplitByThreads.cpp - Fused regions by the number of threads --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The number of threads is known when a kernel is launched, not when it is
// compiled.
//
//===----------------------------------------------------------------------===//

#include "SplitByThreads.h"
#include "FusedRegions.h"
#include "kron/Dialect/Kron/IR/LaunchChoice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

static void explain(FusedOp fused, const FusionPlan &plan) {
  remark::analysis(fused.getLoc(),
                   remark::RemarkOpts::name("Threads").category("kron-fuse"))
      << std::to_string(plan.regions.size()) +
             " fused regions where a launch has " +
             std::to_string(plan.numThreads) +
             " threads or more, which its rows are too few for; else one"
      << remark::metric("Threads", plan.numThreads);
}

void kron::splitByThreads(RewriterBase &rewriter, FusedOp fused) {
  if (fused.getPlanAttr() || hasEpilogueBehind(fused) || !isSplittable(fused))
    return;
  std::optional<FusionPlan> plan = planSharedFusion(fused);
  if (!plan)
    return;
  explain(fused, *plan);
  Location loc = fused.getLoc();
  rewriter.setInsertionPoint(fused);
  Value threads = NumThreadsOp::create(rewriter, loc);
  Value least = arith::ConstantIndexOp::create(rewriter, loc, plan->numThreads);
  Value areEnough = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::sge, threads, least);
  markLaunchChoice(areEnough,
                   LaunchRequirements{{"min_threads", plan->numThreads}});
  splitFusedOp(rewriter, copyToBranches(rewriter, fused, areEnough).first,
               *plan);
}
