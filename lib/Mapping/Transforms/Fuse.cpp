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
// Building the kron.fused
//===----------------------------------------------------------------------===//

/// Z of `op` where it is an operand of its own and read, else null.
static Value getReadAddend(ModeProductOp op) {
  if (kron::getBeta(op).isZero() || op.getAddend() == op.getInit())
    return nullptr;
  return op.getAddend();
}

/// The size of axis `axis` behind mode product `index` of `chain`, from the
/// block arguments `factors` and `init` of the kron.fused: it is what a later
/// factor contracts, or it stays to the end. In a regrouped chain only the rows
/// have an unknown size, which stays.
static Value getAxisSize(OpBuilder &builder, Location loc,
                         ArrayRef<ModeProductOp> chain, unsigned index,
                         int64_t axis, ValueRange factors, Value init) {
  for (unsigned next = index + 1; next < chain.size() && !isRegrouped(chain);
       ++next) {
    ModeProductOp later = chain[next];
    if (static_cast<int64_t>(later.getAxis()) == axis)
      return tensor::DimOp::create(builder, loc, factors[next],
                                   later.getContractedFactorDim());
  }
  return tensor::DimOp::create(builder, loc, init, axis);
}

static Value createIntermediate(OpBuilder &builder,
                                ArrayRef<ModeProductOp> chain, unsigned index,
                                ValueRange factors, Value init) {
  ModeProductOp op = chain[index];
  auto type = cast<RankedTensorType>(op.getInit().getType());
  // The result of a named operation, which is in memory no more.
  if (isRegrouped(chain))
    type = type.clone(getAccumulatorType(type.getElementType()));
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(
          getAxisSize(builder, op.getLoc(), chain, index, axis, factors, init));
  return tensor::EmptyOp::create(builder, op.getLoc(), type, sizes);
}

/// `reshape` on `value`, which may have another element type; `init` has its
/// rows.
static Value emitReshape(OpBuilder &builder, Operation *reshape, Value value,
                         Value init) {
  Location loc = reshape->getLoc();
  auto type = cast<RankedTensorType>(reshape->getResult(0).getType())
                  .clone(getElementTypeOrSelf(value.getType()));
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape))
    return tensor::CollapseShapeOp::create(builder, loc, type, value,
                                           collapse.getReassociationIndices());
  auto expand = cast<tensor::ExpandShapeOp>(reshape);
  SmallVector<OpFoldResult> sizes;
  int64_t initRank = cast<ShapedType>(init.getType()).getRank();
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(builder.getIndexAttr(size));
      continue;
    }
    // Rows are the first or the last axis of both.
    int64_t rows = axis == 0 ? 0 : initRank - 1;
    sizes.push_back(
        tensor::DimOp::create(builder, loc, init, rows).getResult());
  }
  return tensor::ExpandShapeOp::create(builder, loc, type, value,
                                       expand.getReassociationIndices(), sizes);
}

/// The region of the kron.fused: `chain` on the block arguments `args`, which
/// are the input, the factors, the addend if there is one, and the destination.
static Value buildRegion(OpBuilder &builder, ArrayRef<ModeProductOp> chain,
                         bool hasAddend, ValueRange args) {
  ValueRange factors = args.slice(1, chain.size());
  Value value = args.front();
  for (unsigned index = 0; index < chain.size(); ++index) {
    ModeProductOp op = chain[index];
    bool isLast = index + 1 == chain.size();
    if (index)
      for (Operation *reshape : getInputReshapes(op))
        value = emitReshape(builder, reshape, value, args.back());
    Value init = isLast ? args.back()
                        : createIntermediate(builder, chain, index, factors,
                                             args.back());
    Value addend = isLast && hasAddend ? args[args.size() - 2] : Value();
    // Defaults that are written out say nothing: only the last one keeps them.
    auto product = ModeProductOp::create(
        builder, op.getLoc(), TypeRange(init.getType()), value, factors[index],
        isLast ? op.getAlpha() : Value(), isLast ? op.getBeta() : Value(),
        addend, init, static_cast<uint64_t>(op.getAxis()), op.getFactorDims(),
        op.getConjInput(), op.getConjFactor(),
        isLast ? op.getStaticAlphaAttr() : TypedAttr(),
        isLast ? op.getStaticBetaAttr() : TypedAttr(), op.getPrecision(),
        /*plan=*/nullptr);
    value = product.getResult(0);
  }
  return value;
}

/// The transpose that makes the input of a chain and nothing else, or null.
static linalg::TransposeOp getInputTranspose(ModeProductOp first) {
  auto transpose = first.getInput().getDefiningOp<linalg::TransposeOp>();
  return transpose && transpose->hasOneUse() ? transpose : nullptr;
}

/// Takes the sizes of the result of `op`, and of what it is reshaped to, from
/// its destination.
static void replaceSizes(IRRewriter &rewriter, ModeProductOp op) {
  SmallVector<Value> values{op->getResult(0)};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (Operation *user : llvm::to_vector(value.getUsers())) {
      if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user))
        values.push_back(user->getResult(0));
      auto dim = dyn_cast<tensor::DimOp>(user);
      if (!dim)
        continue;
      rewriter.setInsertionPoint(dim);
      auto type = cast<ShapedType>(value.getType());
      auto initType = cast<ShapedType>(op.getInit().getType());
      int64_t axis = *dim.getConstantIndex();
      if (!type.isDynamicDim(axis)) {
        rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(
            dim, type.getDimSize(axis));
        continue;
      }
      // Of a reshaped array these are the rows: the first or the last axis.
      if (type.getRank() != initType.getRank() && axis > 0)
        axis = initType.getRank() - 1;
      rewriter.replaceOpWithNewOp<tensor::DimOp>(dim, op.getInit(), axis);
    }
  }
}

static void fuse(IRRewriter &rewriter, ArrayRef<ModeProductOp> chain) {
  ModeProductOp first = chain.front(), last = chain.back();
  Value input = first.getInput();
  SmallVector<int64_t> permutation;
  linalg::TransposeOp transpose = getInputTranspose(first);
  if (transpose) {
    input = transpose.getInput();
    permutation = llvm::to_vector(transpose.getPermutation());
  }
  SmallVector<Value> inputs{input};
  Attribute plan;
  for (ModeProductOp op : chain) {
    inputs.push_back(op.getFactor());
    if (op.getPlanAttr())
      plan = op.getPlanAttr();
  }
  Value addend = getReadAddend(last);
  if (addend)
    inputs.push_back(addend);

  rewriter.setInsertionPoint(last);
  FusedOp fused = createFusedOp(
      rewriter, last.getLoc(), inputs, last.getInit(), permutation, plan,
      [&](OpBuilder &builder, ValueRange args) {
        return buildRegion(builder, chain, addend != nullptr, args);
      });
  SmallVector<SmallVector<Operation *>> reshapes;
  for (ModeProductOp op : chain)
    reshapes.push_back(getInputReshapes(op));
  for (ModeProductOp op : chain.drop_back())
    replaceSizes(rewriter, op);
  rewriter.replaceOp(last, fused.getResults());
  for (unsigned index = chain.size() - 1; index-- > 0;) {
    for (Operation *reshape : llvm::reverse(reshapes[index + 1]))
      rewriter.eraseOp(reshape);
    ModeProductOp op = chain[index];
    Operation *init = op.getInit().getDefiningOp();
    rewriter.eraseOp(op);
    if (init && isOpTriviallyDead(init))
      rewriter.eraseOp(init);
  }
  if (transpose)
    rewriter.eraseOp(transpose);
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
            fuse(rewriter, region);
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
    if (mostApart == 0)
      return fuse(rewriter, region);
    for (ModeProductOp op : region.drop_back())
      replaceSizes(rewriter, op);
    ModeProductOp last = region.back();
    remark::analysis(last.getLoc(),
                     remark::RemarkOpts::name("Rows").category("kron-fuse"))
        << "several fused regions where there are at most " +
               std::to_string(mostApart) + " rows, else one"
        << remark::metric("Rows", mostApart);
    ChainsByRows chains = chooseByRows(rewriter, region, mostApart);
    fuse(rewriter, chains.many);
    ArrayRef<ModeProductOp> rest(chains.few);
    while (!rest.empty()) {
      size_t end = 1;
      while (end < rest.size() && getInputReshapes(rest[end]).empty())
        ++end;
      fuse(rewriter, rest.take_front(end));
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

  /// The end of the factors from `begin` on between which axes are not
  /// regrouped.
  static size_t getGroupEnd(ArrayRef<ModeProductOp> chain, size_t begin) {
    size_t end = begin + 1;
    while (end < chain.size() && getInputReshapes(chain[end]).empty())
      ++end;
    return end;
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
    size_t begin = 0;
    for (size_t index = 1; index <= chain.size(); ++index) {
      if (index < chain.size()) {
        if (getInputReshapes(chain[index]).empty())
          continue;
        size_t end = getGroupEnd(chain, index);
        std::optional<std::string> reason =
            getRegroupedReason(chain.slice(begin, end - begin));
        if (!reason && isBetterWithNext(chain, begin, index, end))
          reason = "one fused region with the next factor saves more";
        if (!reason)
          continue;
        message += "; factor " + std::to_string(index + 1) + ": " + *reason;
      }
      regions.push_back(chain.slice(begin, index - begin));
      begin = index;
    }
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
