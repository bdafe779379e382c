//===- SplitByThreads.cpp - Trips by the number of threads ----------------===//
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
#include "FuseTrips.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether a kron.epilogue takes the result of `pass`.
static bool hasEpilogueBehind(PassOp pass) {
  Value result =
      pass->getNumResults() ? pass->getResult(0) : Value(pass.getInit());
  return llvm::any_of(result.getUsers(), llvm::IsaPred<EpilogueOp>);
}

static void explain(PassOp pass, const TripPlan &plan) {
  remark::analysis(pass.getLoc(),
                   remark::RemarkOpts::name("Threads").category("kron-fuse"))
      << std::to_string(plan.trips.size()) + " trips where a launch has " +
             std::to_string(plan.numThreads) +
             " threads or more, which its rows are too few for; else one"
      << remark::metric("Threads", plan.numThreads);
}

void kron::splitByThreads(RewriterBase &rewriter, PassOp pass) {
  if (pass.getScheduleAttr() || hasEpilogueBehind(pass) || !isSplittable(pass))
    return;
  std::optional<TripPlan> plan = planSharedTrips(pass);
  if (!plan)
    return;
  explain(pass, *plan);
  Location loc = pass.getLoc();
  rewriter.setInsertionPoint(pass);
  Value threads = NumThreadsOp::create(rewriter, loc);
  Value least = arith::ConstantIndexOp::create(rewriter, loc, plan->numThreads);
  Value areEnough = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::sge, threads, least);
  PassOp split;
  auto branches = scf::IfOp::create(
      rewriter, loc, areEnough,
      [&](OpBuilder &builder, Location loc) {
        split = cast<PassOp>(builder.clone(*pass));
        scf::YieldOp::create(builder, loc, split->getResults());
      },
      [&](OpBuilder &builder, Location loc) {
        Operation *whole = builder.clone(*pass);
        scf::YieldOp::create(builder, loc, whole->getResults());
      });
  rewriter.replaceOp(pass, branches.getResults());
  splitPass(rewriter, split, *plan);
}
