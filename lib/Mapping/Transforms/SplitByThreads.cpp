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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether a kron.epilogue takes the result of `fused`.
static bool hasEpilogueBehind(FusedOp fused) {
  Value result =
      fused->getNumResults() ? fused->getResult(0) : Value(fused.getInit());
  return llvm::any_of(result.getUsers(), llvm::IsaPred<EpilogueOp>);
}

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
  FusedOp split;
  auto branches = scf::IfOp::create(
      rewriter, loc, areEnough,
      [&](OpBuilder &builder, Location loc) {
        split = cast<FusedOp>(builder.clone(*fused));
        scf::YieldOp::create(builder, loc, split->getResults());
      },
      [&](OpBuilder &builder, Location loc) {
        Operation *whole = builder.clone(*fused);
        scf::YieldOp::create(builder, loc, whole->getResults());
      });
  rewriter.replaceOp(fused, branches.getResults());
  splitFusedOp(rewriter, split, *plan);
}
