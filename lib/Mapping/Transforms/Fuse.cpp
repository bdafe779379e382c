//===- Fuse.cpp - Mode products to fused regions --------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A chain ends where its result is needed outside: at the last mode product, or
// at one that scales or adds (only the last of a kron.fused may). It is
// collected from its last mode product backwards and becomes a kron.fused in
// that one's place, where all operands of the earlier ones are known too.
//
//===----------------------------------------------------------------------===//

#include "ChooseByRows.h"
#include "FactorCopyChoice.h"
#include "ForeignPlans.h"
#include "FuseEpilogue.h"
#include "FusedRegions.h"
#include "PaddingChoice.h"
#include "RegionQuestions.h"
#include "SplitByColumns.h"
#include "SplitByThreads.h"
#include "VerifyOptions.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "kron/Dialect/Kron/Transforms/OrderUnitAxes.h"
#include "kron/Mapping/CPU/Regrouped.h"
#include "kron/Mapping/GPU/ChainPlanner.h"
#include "kron/Mapping/GPU/GPUPlanner.h"
#include "kron/Mapping/Passes.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/Support.h"
#include "kron/Plan/GPU/Support.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONFUSE
#include "kron/Mapping/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// Whether `op` is the bare product: neither scaled nor added to anything.
static bool isBareProduct(ModeProductOp op) {
  return kron::getAlpha(op).isOne() && kron::getBeta(op).isZero();
}

/// The only operation that uses `value`, but for tensor.dim with a constant
/// index; null if there is none.
static OpOperand *getOnlyUse(Value value) {
  OpOperand *only = nullptr;
  for (OpOperand &use : value.getUses()) {
    auto dim = dyn_cast<tensor::DimOp>(use.getOwner());
    if (dim && dim.getConstantIndex())
      continue;
    if (only)
      return nullptr;
    only = &use;
  }
  return only;
}

/// The mode product that alone uses the result of `op`, as its input, reshaped
/// or not, and behind it in the same block, if `op` may be in one kron.fused
/// with it; else null.
static ModeProductOp getNext(ModeProductOp op) {
  if (op->getNumResults() == 0 || !isBareProduct(op))
    return nullptr;
  OpOperand *use = getOnlyUse(op->getResult(0));
  while (use && use->getOwner()->getBlock() == op->getBlock() &&
         isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(use->getOwner()) &&
         use->getOperandNumber() == 0)
    use = getOnlyUse(use->getOwner()->getResult(0));
  if (!use)
    return nullptr;
  auto next = dyn_cast<ModeProductOp>(use->getOwner());
  if (!next || next->getBlock() != op->getBlock() ||
      use != &next.getInputMutable())
    return nullptr;
  // Plans say how one fused region is made.
  if (!getInputReshapes(next).empty() &&
      (op.getPlanAttr() || !getRegroupedRows({op, next})))
    return nullptr;
  return next;
}

/// The mode product whose result, reshaped or not, is the input of `op`.
static ModeProductOp getPrevious(ModeProductOp op) {
  SmallVector<Operation *> reshapes = getInputReshapes(op);
  Value value = reshapes.empty() ? op.getInput() : reshapes[0]->getOperand(0);
  return value.getDefiningOp<ModeProductOp>();
}

/// The chain that ends with `last`, in the order of application.
static SmallVector<ModeProductOp> getChainEndingAt(ModeProductOp last) {
  SmallVector<ModeProductOp> chain{last};
  while (ModeProductOp previous = getPrevious(chain.back())) {
    if (getNext(previous) != chain.back())
      break;
    chain.push_back(previous);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

/// Cuts `chain` where one kron.fused cannot take it for the sake of stretched
/// axes.
static SmallVector<ArrayRef<ModeProductOp>>
cutStretched(ArrayRef<ModeProductOp> chain) {
  SmallVector<ArrayRef<ModeProductOp>> parts;
  while (!chain.empty()) {
    parts.push_back(chain.take_front(countForOneFusedOp(chain)));
    chain = chain.drop_front(parts.back().size());
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Whether rows of 8 bits are made of `result`, which a GPU's kernel does
/// itself unless branches lie between.
static bool isQuantized(Value result) {
  return llvm::any_of(result.getUsers(), [](Operation *user) {
    return isa<QuantizeOp>(user) ||
           (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, EpilogueOp>(
                user) &&
            isQuantized(user->getResult(0)));
  });
}

namespace {
struct KronFusePass : kron::impl::KronFuseBase<KronFusePass> {
  using KronFuseBase::KronFuseBase;

  void runOnOperation() override {
    if (failed(verifyVectorBits(getOperation(), vectorBits)) ||
        failed(verifyBytes(getOperation(), l2Bytes, footprintBytes)))
      return signalPassFailure();
    if (target != "cpu" && target != "cuda") {
      getOperation()->emitError("expects target to be cpu or cuda, but got ")
          << target.getValue();
      return signalPassFailure();
    }
    if (target == "cuda") {
      FailureOr<GPUMachine> parsed = getGPUMachine(getOperation(), chip);
      if (failed(parsed))
        return signalPassFailure();
      machine = *parsed;
    }
    dropForeignPlans(getOperation(), target);
    SmallVector<ModeProductOp> ends;
    getOperation()->walk([&](ModeProductOp op) {
      if (!isa<FusedOp>(op->getParentOp()) && !getNext(op))
        ends.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (ModeProductOp last : ends) {
      SmallVector<ModeProductOp> whole = getChainEndingAt(last);
      for (ArrayRef<ModeProductOp> chain : cutStretched(whole)) {
        bool isGiven = hasGivenRegions(chain);
        for (ArrayRef<ModeProductOp> region : cutRegrouped(chain)) {
          if (!isGiven && dependsOnRows(region) &&
              !(target != "cpu" && isQuantized(region.back()->getResult(0))))
            fuseByRows(rewriter, region);
          else
            fuseChain(rewriter, region);
        }
      }
    }
    if (failed(splitRegions(rewriter)))
      signalPassFailure();
  }

  /// The number of rows up to which `region` had better be several.
  int64_t getMostRowsApart(ArrayRef<ModeProductOp> region) {
    if (target == "cpu")
      return getCPUMostRowsApart(region, l2Bytes);
    return getSparseChainMostRowsApart(region, machine);
  }

  /// One fused region for many rows, one per regrouping for few.
  void fuseByRows(IRRewriter &rewriter, ArrayRef<ModeProductOp> region) {
    int64_t mostApart = getMostRowsApart(region);
    if (mostApart == 0) {
      fuseChain(rewriter, region);
      return;
    }
    for (ModeProductOp op : region.drop_back())
      replaceSizes(rewriter, op);
    ModeProductOp last = region.back();
    remark::analysis(last.getLoc(),
                     remark::RemarkOpts::name("Rows").category("kron-fuse"))
        << "several fused regions where there are at most " +
               std::to_string(mostApart) + " rows, else one"
        << remark::metric("Rows", mostApart);
    ChainsByRows chains = chooseByRows(rewriter, region, mostApart);
    fuseChain(rewriter, chains.many);
    ArrayRef<ModeProductOp> rest(chains.few);
    while (!rest.empty()) {
      size_t end = 1;
      while (end < rest.size() && getInputReshapes(rest[end]).empty())
        ++end;
      fuseChain(rewriter, rest.take_front(end));
      rest = rest.drop_front(end);
    }
  }

  /// Why the target does not apply `products`, between which axes are
  /// regrouped, in one fused region.
  std::optional<std::string>
  getRegroupedReason(ArrayRef<ModeProductOp> products) {
    if (target == "cpu")
      return getCPURegroupedReason(products, l2Bytes, matrixTiles);
    return getSparseChainReason(products, machine);
  }

  /// Whether the factors of `chain` from `middle` to `end` had better be one
  /// fused region with those behind them than with those from `begin` on, since
  /// not all of them can be.
  bool isBetterWithNext(ArrayRef<ModeProductOp> chain, size_t begin,
                        size_t middle, size_t end) {
    if (target != "cuda" || end == chain.size())
      return false;
    size_t next = getGroupEnd(chain, end);
    if (!getRegroupedReason(chain.slice(begin, next - begin)))
      return false;
    return estimateSparseChainGain(chain.slice(middle, next - middle),
                                   machine) >
           estimateSparseChainGain(chain.slice(begin, end - begin), machine);
  }

  /// Cuts `chain` where axes are regrouped, into fused regions that take as
  /// many factors as the target applies at once, the first ones first.
  SmallVector<ArrayRef<ModeProductOp>>
  cutRegrouped(ArrayRef<ModeProductOp> chain) {
    SmallVector<ArrayRef<ModeProductOp>> regions;
    if (!isRegrouped(chain))
      return {chain};
    if (takeGivenRegions(chain, regions))
      return regions;
    std::string message;
    regions =
        kron::cutRegrouped(chain, [&](size_t begin, size_t middle, size_t end) {
          std::optional<std::string> reason =
              getRegroupedReason(chain.slice(begin, end - begin));
          if (!reason && isBetterWithNext(chain, begin, middle, end))
            reason = "one fused region with the next factor saves more";
          if (reason)
            message +=
                "; factor " + std::to_string(middle + 1) + ": " + *reason;
          return !reason;
        });
    ModeProductOp last = chain.back();
    remark::analysis(last.getLoc(),
                     remark::RemarkOpts::name("Regions").category("kron-fuse"))
        << std::to_string(chain.size()) + " factors on regrouped axes in " +
               std::to_string(regions.size()) +
               (regions.size() == 1 ? " fused region" : " fused regions") +
               message
        << remark::metric("Regions", regions.size());
    return regions;
  }

  LogicalResult splitRegions(IRRewriter &rewriter) {
    if (target == "cpu")
      return finishForCPU(rewriter);
    int64_t budget = footprintBytes ? footprintBytes.getValue()
                                    : getFootprintBudget(machine);
    SmallVector<FusedOp> passes;
    getOperation()->walk([&](FusedOp fused) { passes.push_back(fused); });
    for (FusedOp fused : passes)
      if (!isRegrouped(fused) &&
          failed(splitRegions(rewriter, fused, machine, budget,
                              cublas && !hasEpilogueBehind(fused))))
        return failure();
    fuseEpilogues(rewriter, getOperation(), [&](FusedOp bare, FusedOp fused) {
      return getEpilogueUnsupportedReason(bare, fused, machine);
    });
    return success();
  }

  LogicalResult finishForCPU(IRRewriter &rewriter) {
    if (failed(splitRegionsForCPU(rewriter)))
      return failure();
    fuseEpilogues(rewriter, getOperation(), [&](FusedOp, FusedOp fused) {
      return getCPUEpilogueReason(fused, vectorBits);
    });
    return success();
  }

  /// `plan` may be null.
  static void setGivenPlan(FusedOp fused, Attribute plan) {
    if (plan)
      fused.setPlanAttr(plan);
    else
      fused.removePlanAttr();
  }

  LogicalResult splitRegionsForCPU(IRRewriter &rewriter) {
    SmallVector<FusedOp> passes;
    getOperation()->walk([&](FusedOp fused) { passes.push_back(fused); });
    for (FusedOp fused : passes) {
      if (isRegrouped(fused) || hasEmptyArray(fused))
        continue;
      Attribute given = fused.getPlanAttr();
      DenseI64ArrayAttr regions = getPlannedRegions(fused);
      // What lies between two fused regions has the type of the result: f16 and
      // bf16 would be rounded there.
      Type element = getElementType(fused.getInit());
      bool rounds = getAccumulatorType(element) != element;
      if (rounds && !regions)
        continue;
      fused = splitByColumns(rewriter, fused, l2Bytes, vectorBits);
      if (!fused)
        continue;
      std::optional<FusionPlan> plan =
          regions ? getGivenRegions(fused, regions)
                  : planCPUFusion(fused, l2Bytes, vectorBits);
      if (!plan)
        return failure();
      bool isOne = plan->regions.size() == 1 || !isSplittable(fused);
      setGivenPlan(fused, isOne ? getRegionPlan(given, 0) : given);
      if (!regions && plan->regions.size() == 1)
        splitByThreads(rewriter, fused);
      if (isOne)
        continue;
      remark::analysis(
          fused.getLoc(),
          remark::RemarkOpts::name("Regions").category("kron-fuse"))
          << (plan->isInPlace
                  ? "a tile does not fit in cache: the last fused region is in "
                    "place"
                  : "a row does not fit in cache, or is too little for all "
                    "threads")
          << remark::metric("Regions", plan->regions.size());
      splitFusedOp(rewriter, fused, *plan);
    }
    return success();
  }

  static LogicalResult splitRegions(IRRewriter &rewriter, FusedOp fused,
                                    const GPUMachine &machine, int64_t budget,
                                    bool allowsCublas) {
    for (ModeProductOp product : fused.getModeProducts())
      if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
        return success();
    if (hasEmptyArray(fused))
      return success();
    orderUnitAxes(rewriter, fused);
    FailureOr<FusedOp> padded =
        padWhereFaster(rewriter, fused, machine, budget, allowsCublas);
    if (failed(padded))
      return failure();
    fused = *padded;
    copyFactorWhereFaster(rewriter, fused, machine, allowsCublas);
    FusionChain chain = describeFusionChain(fused);
    FusionPlan plan;
    if (DenseI64ArrayAttr regions = getPlannedRegions(fused)) {
      std::optional<FusionPlan> given = getGivenRegions(fused, regions);
      if (!given)
        return failure();
      plan = std::move(*given);
      chooseRowsInside(rewriter, fused, plan, machine, allowsCublas);
    } else {
      plan = planRegions(rewriter, fused, chain, machine, budget, allowsCublas);
    }
    explainRegions(fused, chain, plan, budget, machine);
    if (plan.regions.size() > 1 && isSplittable(fused))
      splitFusedOp(rewriter, fused, plan);
    else
      setGivenPlan(fused, getRegionPlan(fused.getPlanAttr(), 0));
    return success();
  }

  /// The GPU, with target=cuda.
  GPUMachine machine;
};
} // namespace
