//===- RegionQuestions.cpp - What planners say of regions -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "RegionQuestions.h"
#include "CollapseAxes.h"
#include "kron/Mapping/GPU/GPUPlanner.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kWarpLanes = 32;

double kron::getSquareWaste(int64_t size, int64_t elementBytes) {
  int64_t side = elementBytes == 2 ? 2 * kWarpLanes : kWarpLanes;
  return double(llvm::alignTo(size, side)) / size;
}

SmallVector<double> kron::askPlanners(RewriterBase &rewriter, FusedOp fused,
                                      llvm::function_ref<void(FusedOp)> change,
                                      const GPUMachine &machine,
                                      bool allowsCublas) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(fused);
  auto copy = cast<FusedOp>(rewriter.clone(*fused));
  Operation *before = copy->getPrevNode();
  change(copy);
  auto getFirst = [&] {
    return before ? before->getNextNode() : &fused->getBlock()->front();
  };
  SmallVector<FusedOp> regions;
  for (Operation *op = getFirst(); op != fused; op = op->getNextNode())
    if (auto region = dyn_cast<FusedOp>(op))
      regions.push_back(region);
  SmallVector<double> seconds;
  for (FusedOp region : regions) {
    std::optional<KernelTime> time =
        estimateRegionOrCall(collapseAxes(rewriter, region, /*quantizes=*/{}),
                             machine, allowsCublas);
    seconds.push_back(time ? time->total
                           : std::numeric_limits<double>::infinity());
  }
  while (fused->getPrevNode() != before)
    rewriter.eraseOp(fused->getPrevNode());
  return seconds;
}

double kron::askPlanners(RewriterBase &rewriter, FusedOp fused,
                         ArrayRef<unsigned> previous,
                         ArrayRef<unsigned> current, const GPUMachine &machine,
                         bool allowsCublas) {
  FusionPlan plan;
  if (!previous.empty())
    plan.regions.emplace_back(previous);
  unsigned asked = plan.regions.size();
  plan.regions.emplace_back(current);
  SmallVector<unsigned> rest;
  for (unsigned index = 0; index < fused.getModeProducts().size(); ++index)
    if (!llvm::is_contained(previous, index) &&
        !llvm::is_contained(current, index))
      rest.push_back(index);
  if (!rest.empty())
    plan.regions.push_back(rest);
  auto split = [&](FusedOp copy) {
    if (plan.regions.size() > 1)
      splitFusedOp(rewriter, copy, plan);
  };
  return askPlanners(rewriter, fused, split, machine, allowsCublas)[asked];
}

/// Whether planners know how much there is to do, and what it takes: for
/// several factors of IEEE products, which are the general kernel's, they
/// name 1.6 times what these take, and for single ones what calls of cuBLAS
/// do.
static bool haveTimes(const FusionChain &chain) {
  return chain.precision != Precision::Ieee &&
         llvm::none_of(chain.inputShape, ShapedType::isDynamic) &&
         llvm::none_of(chain.outputShape, ShapedType::isDynamic);
}

/// Whether rows, the outermost axis, are the innermost one of the input, whose
/// other axes are in order, and no factor varies.
static bool hasRowsInside(const FusionChain &chain) {
  ArrayRef<int64_t> permutation(chain.inputPermutation);
  if (permutation.empty() ||
      permutation.front() + 1 != int64_t(permutation.size()) ||
      !llvm::is_sorted(permutation.drop_front()))
    return false;
  return llvm::all_of(chain.factors, [](const ProblemFactor &factor) {
    return factor.axis > 0 && factor.varyingAxes.empty();
  });
}

void kron::chooseRowsInside(RewriterBase &rewriter, FusedOp fused,
                            FusionPlan &plan, const GPUMachine &machine,
                            bool allowsCublas) {
  FusionChain chain = describeFusionChain(fused);
  if (plan.regions.size() == 1 || !hasRowsInside(chain) ||
      !isSplittable(fused) || !haveTimes(chain))
    return;
  auto getSeconds = [&](unsigned count) {
    FusionPlan other = plan;
    other.withRowsInside = count;
    auto split = [&](FusedOp copy) {
      copy.removePlanAttr();
      splitFusedOp(rewriter, copy, other);
    };
    return llvm::sum_of(
        askPlanners(rewriter, fused, split, machine, allowsCublas));
  };
  double best = 0, growth = 1;
  for (unsigned count = 1; count < plan.regions.size(); ++count) {
    for (unsigned index : plan.regions[count - 1])
      growth *= double(chain.factors[index].sizeN) / chain.factors[index].sizeK;
    if (growth >= 1)
      continue;
    if (best == 0)
      best = getSeconds(0);
    if (double seconds = getSeconds(count); seconds < best) {
      best = plan.seconds = seconds;
      plan.withRowsInside = count;
    }
  }
}

FusionPlan kron::planRegions(RewriterBase &rewriter, FusedOp fused,
                             const FusionChain &chain,
                             const GPUMachine &machine, int64_t footprintBudget,
                             bool allowsCublas) {
  GPUPlanAttr kernel = getGPUPlanAttr(fused);
  bool isGiven = kernel && kernel.getKernel() != GPUKernel::Auto &&
                 kernel.getKernel() != GPUKernel::Cublas;
  bool calls = allowsCublas && !isGiven;
  auto ask = [&](ArrayRef<unsigned> previous, ArrayRef<unsigned> current) {
    return askPlanners(rewriter, fused, previous, current, machine, calls);
  };
  bool isAsked = !kernel && isSplittable(fused) && haveTimes(chain);
  FusionPlan plan = planFusion(chain, machine, footprintBudget, calls,
                               isAsked ? AskRegion(ask) : AskRegion());
  if (isAsked)
    chooseRowsInside(rewriter, fused, plan, machine, calls);
  return plan;
}
