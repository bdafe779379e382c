//===- PaddingChoice.cpp - Whether arrays are padded on a GPU -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where rows start anywhere, every fused region of a chain moves single
// elements in and out. Padded copies are read and written once, in whole lines,
// and more elements are multiplied then.
//
//===----------------------------------------------------------------------===//

#include "PaddingChoice.h"
#include "FactorCopyChoice.h"
#include "RegionQuestions.h"
#include "kron/Dialect/Kron/Transforms/PadInnermost.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUSplits.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/Arrays.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of an access, of which rows of padded copies are multiples.
static constexpr int64_t kAccessBytes = 16;

static int64_t getAccessElements(Type element) {
  return kAccessBytes / getElementBytes(element);
}

namespace {
/// A chain on padded copies.
struct PaddedChain {
  FusionChain chain;
  InnermostPadding padding;
};
} // namespace

/// The axis along which neighbours lie: the last one that has any; -1 if none
/// has.
static int64_t getInnermostAxis(const FusionChain &chain) {
  for (int64_t axis = chain.inputShape.size(); axis-- > 0;)
    if (chain.inputShape[axis] != 1 || chain.outputShape[axis] != 1)
      return axis;
  return -1;
}

/// `chain` with whole accesses along `axis`, those of the result only if it
/// `padsResult`, and in order; nothing if several factors contract that axis,
/// or one varies over it.
static std::optional<FusionChain> padChain(const FusionChain &chain,
                                           int64_t axis, int64_t unit,
                                           bool padsResult) {
  FusionChain padded = chain;
  padded.inputPermutation.clear();
  int64_t &input = padded.inputShape[axis], &output = padded.outputShape[axis];
  int64_t contracting = 0;
  for (ProblemFactor &factor : padded.factors) {
    if (llvm::is_contained(factor.varyingAxes, axis))
      return std::nullopt;
    if (factor.axis != axis)
      continue;
    ++contracting;
    factor.sizeK = llvm::alignTo(factor.sizeK, unit);
    if (padsResult)
      factor.sizeN = llvm::alignTo(factor.sizeN, unit);
  }
  if (contracting > 1 || (contracting == 0 && (input != output || !padsResult)))
    return std::nullopt;
  input = llvm::alignTo(input, unit);
  if (padsResult)
    output = llvm::alignTo(output, unit);
  // As `padInnermost` has them.
  auto *contracted =
      llvm::find_if(padded.factors, [&](const ProblemFactor &factor) {
        return factor.axis == axis;
      });
  if (contracted != padded.factors.end())
    std::rotate(padded.factors.begin(), contracted, std::next(contracted));
  return padded;
}

static double getElements(ArrayRef<int64_t> shape) {
  double elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

/// How many neighbours the input has in memory along axes that come in order
/// and are not the one that is padded.
static int64_t countFirst(const FusionChain &chain, int64_t padded) {
  SmallVector<int64_t> axes = invertPermutationVector(chain.inputPermutation);
  while (axes.size() > 1 && chain.inputShape[axes.back()] == 1)
    axes.pop_back();
  int64_t axis = axes.pop_back_val(), size = chain.inputShape[axis];
  while (!axes.empty() && axes.back() == axis - 1 && axes.back() != padded &&
         axis != padded) {
    axis = axes.pop_back_val();
    size *= chain.inputShape[axis];
  }
  return size;
}

/// Seconds of the copies between the arrays of `chain` and those of `padded`,
/// which differ along `axis`.
static double getCopySeconds(const FusionChain &chain,
                             const FusionChain &padded, int64_t axis,
                             const GPUMachine &machine) {
  GPUResources resources(machine);
  int64_t bytes = getElementBytes(chain.element);
  double share = getGPURates(machine).dense.copyShare, seconds = 0;
  auto addCopy = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> copied) {
    seconds += resources.getLaunchSeconds() +
               resources.getMemorySeconds(
                   (getElements(shape) + getElements(copied)) * bytes, share);
  };
  if (!chain.inputPermutation.empty()) {
    const RowSplits rows = getGPUSplits(machine).rows;
    double waste = getSquareWaste(countFirst(chain, axis), bytes) *
                   getSquareWaste(chain.inputShape[axis], bytes);
    seconds += resources.getLaunchSeconds() +
               getElements(chain.inputShape) * waste * 1e-6 /
                   (bytes == 2 ? rows.transposed16Bit : rows.transposedF32);
  } else if (chain.inputShape != padded.inputShape) {
    addCopy(chain.inputShape, padded.inputShape);
  }
  if (chain.outputShape != padded.outputShape)
    addCopy(chain.outputShape, padded.outputShape);
  seconds += resources.getLaunchSeconds() *
             llvm::count_if(padded.factors, [&](const ProblemFactor &factor) {
               return factor.axis == axis;
             });
  return seconds;
}

static bool isReshape(Operation *op) {
  return isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                         memref::ExpandShapeOp, memref::CollapseShapeOp>(op);
}

/// Whether an epilogue is applied to `array`, reshaped or not, or rows of 8
/// bits are made of it.
static bool isTakenOn(Value array) {
  return llvm::any_of(array.getUsers(), [](Operation *user) {
    return isa<EpilogueOp, QuantizeOp>(user) ||
           (isReshape(user) && isTakenOn(user->getResult(0)));
  });
}

/// The same of the result of `fused`: its kernel does that, too, if it writes
/// there.
static bool isFollowed(FusedOp fused) {
  if (fused->getNumResults() != 0)
    return isTakenOn(fused->getResult(0));
  Value array = fused.getInit();
  while (isReshape(array.getDefiningOp()))
    array = array.getDefiningOp()->getOperand(0);
  return isTakenOn(array);
}

/// The chain of `fused` on padded copies, of its input alone unless it
/// `padsResult`, or why there is none.
static std::variant<PaddedChain, std::string>
describePadded(FusedOp fused, const FusionChain &chain, bool padsResult) {
  if (!canPadInnermost(fused))
    return "shapes are not known, elements are complex, or more than products "
           "is "
           "computed";
  int64_t axis = getInnermostAxis(chain);
  int64_t unit = getAccessElements(chain.element);
  if (axis < 0 || unit < 2 ||
      (chain.inputShape[axis] % unit == 0 &&
       chain.outputShape[axis] % unit == 0))
    return "rows start at multiples of 16 bytes";
  std::optional<FusionChain> padded = padChain(chain, axis, unit, padsResult);
  if (!padded)
    return "a factor varies over the innermost axis, or several contract it";
  InnermostPadding padding{axis, padded->inputShape[axis],
                           padded->outputShape[axis]};
  return PaddedChain{*padded, padding};
}

/// Seconds of `fused`, on padded copies if there is a `padding`, but for these
/// copies: what the planners say of its regions.
static double askPlanners(RewriterBase &rewriter, FusedOp fused,
                          const InnermostPadding *padding,
                          const GPUMachine &machine, int64_t footprintBudget,
                          bool allowsCublas) {
  auto getSeconds = [&](bool copiesFactor) {
    double copySeconds = 0;
    auto split = [&](FusedOp asked) {
      if (padding)
        asked = padInnermost(rewriter, asked, *padding);
      FusionPlan plan = planFusion(describeFusionChain(asked), machine,
                                   footprintBudget, allowsCublas);
      if (plan.regions.size() > 1 && isSplittable(asked)) {
        splitFusedOp(rewriter, asked, plan);
      } else if (copiesFactor) {
        copySeconds = getFactorCopySeconds(asked, machine);
        copyFactor(rewriter, asked);
      }
    };
    double seconds = llvm::sum_of(askPlanners(rewriter, fused, split, machine,
                                              allowsCublas && !copiesFactor));
    return seconds + copySeconds;
  };
  double seconds = getSeconds(/*copiesFactor=*/false);
  return mayCopyFactor(fused)
             ? std::min(seconds, getSeconds(/*copiesFactor=*/true))
             : seconds;
}

namespace {
/// A padding, and the seconds that it takes, copies included.
struct FasterPadding {
  InnermostPadding padding;
  double seconds;
};
} // namespace

/// The padding with which `fused` takes less time than as it lies, if there is
/// any: of all arrays, or of the input alone.
static std::optional<FasterPadding>
findFasterPadding(RewriterBase &rewriter, FusedOp fused,
                  const FusionChain &chain, const GPUMachine &machine,
                  int64_t footprintBudget, bool allowsCublas) {
  auto getSeconds = [&](const InnermostPadding *padding) {
    return askPlanners(rewriter, fused, padding, machine, footprintBudget,
                       allowsCublas);
  };
  double gain = getGPUSplits(machine).rows.paddedGainFactor;
  double best = getSeconds(nullptr) / gain;
  std::optional<FasterPadding> faster;
  for (bool padsResult : {true, false}) {
    auto described = describePadded(fused, chain, padsResult);
    auto *padded = std::get_if<PaddedChain>(&described);
    if (!padded)
      continue;
    // What has no copy, and what was asked with all arrays.
    int64_t axis = padded->padding.axis;
    bool copiesInput = padded->padding.input != chain.inputShape[axis] ||
                       !chain.inputPermutation.empty();
    bool isAligned =
        chain.outputShape[axis] % getAccessElements(chain.element) == 0;
    if (!padsResult && (!copiesInput || isAligned))
      continue;
    double seconds =
        getCopySeconds(chain, padded->chain, padded->padding.axis, machine);
    // Plans take their time.
    if (seconds < best)
      seconds += getSeconds(&padded->padding);
    if (seconds < best) {
      best = seconds;
      faster = FasterPadding{padded->padding, seconds};
    }
  }
  return faster;
}

std::optional<double> kron::estimatePadded(RewriterBase &rewriter,
                                           FusedOp fused,
                                           const GPUMachine &machine,
                                           int64_t footprintBudget,
                                           bool allowsCublas) {
  FusionChain chain = describeFusionChain(fused);
  auto padded = describePadded(fused, chain, /*padsResult=*/true);
  if (std::holds_alternative<std::string>(padded))
    return std::nullopt;
  if (std::optional<FasterPadding> faster = findFasterPadding(
          rewriter, fused, chain, machine, footprintBudget, allowsCublas))
    return faster->seconds;
  return std::nullopt;
}

FailureOr<FusedOp> kron::padWhereFaster(RewriterBase &rewriter, FusedOp fused,
                                        const GPUMachine &machine,
                                        int64_t footprintBudget,
                                        bool allowsCublas) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  bool isSaid = given && given.has("padded");
  if (given && !isSaid)
    return fused;
  if (isSaid) {
    GPUPlanAttr rest = given.without("padded");
    if (rest.getFields().empty())
      fused.removePlanAttr();
    else
      fused.setPlanAttr(rest);
    if (!given.get("padded"))
      return fused;
  }
  FusionChain chain = describeFusionChain(fused);
  auto padded = describePadded(fused, chain, /*padsResult=*/true);
  if (auto *reason = std::get_if<std::string>(&padded)) {
    if (!isSaid)
      return fused;
    return fused.emitOpError("cannot be padded: ") << *reason;
  }
  std::optional<InnermostPadding> padding =
      std::get<PaddedChain>(padded).padding;
  if (!isSaid) {
    std::optional<FasterPadding> faster;
    if (!isFollowed(fused))
      faster = findFasterPadding(rewriter, fused, chain, machine,
                                 footprintBudget, allowsCublas);
    if (!faster)
      return fused;
    padding = faster->padding;
  }
  remark::analysis(fused.getLoc(),
                   remark::RemarkOpts::name("Padded").category("kron-fuse"))
      << "rows of copies start at multiples of 16 bytes"
      << remark::metric("Input", padding->input)
      << remark::metric("Output", padding->output);
  return padInnermost(rewriter, fused, *padding);
}
