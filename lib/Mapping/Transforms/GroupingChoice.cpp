//===- GroupingChoice.cpp - Which factors are one on a GPU ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Tensor cores multiply by a factor of 81 in the time that memory takes, and by
// four factors of 3 no faster. For each number of factors that may be left, the
// grouping of the fewest multiply-adds is compared with the factors as they
// are: by what the planners say of its fused regions, asked with operations
// that are there for the question only.
//
//===----------------------------------------------------------------------===//

#include "GroupingChoice.h"
#include "Associate.h"
#include "PaddingChoice.h"
#include "RegionQuestions.h"
#include "kron/Dialect/Kron/Transforms/Decompose.h"
#include "kron/Dialect/Kron/Transforms/OrderUnitAxes.h"
#include "kron/Machine/GPUSplits.h"
#include "kron/Mapping/GPU/Resources.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::kron;

/// The largest product of factors: wgmma applies several of up to this size.
static constexpr int64_t kMostGrouped = 128;

/// Groupings of as many multiply-adds that are asked about: plans take their
/// time.
static constexpr size_t kMostEqual = 3;

namespace {
/// How many neighbours each factor is the product of.
using Grouping = SmallVector<unsigned>;

/// The ways to group the factors of one operation.
class GroupingChoice {
public:
  GroupingChoice(IRRewriter &rewriter, ScaledOpInterface op,
                 const GPUMachine &machine, bool allowsCublas)
      : rewriter(rewriter), op(op), machine(machine),
        allowsCublas(allowsCublas), resources(machine),
        footprintBudget(getFootprintBudget(machine)) {
    for (Value factor : op.getFactorValues()) {
      ArrayRef<int64_t> shape = cast<ShapedType>(factor.getType()).getShape();
      sizes.push_back(std::max(shape[0], shape[1]));
    }
  }

  /// The grouping that takes the least time, if it is not that of now.
  std::optional<Grouping> choose();
  /// As many neighbours as `count` to a factor.
  std::optional<Grouping> getGiven(unsigned count) const;

private:
  SmallVector<Grouping> getFewestOperations(unsigned count) const;
  double ask(const Grouping &grouping,
             llvm::function_ref<double(FusedOp)> question);
  double getLeastSeconds(const Grouping &grouping);
  double getSeconds(const Grouping &grouping);
  double getProductSeconds(const Grouping &grouping);
  double getLeastSeconds();

  IRRewriter &rewriter;
  ScaledOpInterface op;
  const GPUMachine &machine;
  bool allowsCublas;
  GPUResources resources;
  int64_t footprintBudget;
  /// Of each factor, the larger one of its rows and columns.
  SmallVector<int64_t> sizes;
};
} // namespace

std::optional<Grouping> GroupingChoice::getGiven(unsigned count) const {
  Grouping grouping(sizes.size() / count, count);
  if (unsigned rest = sizes.size() % count)
    grouping.push_back(rest);
  return grouping;
}

/// Groupings into `count` factors with the least sum of their sizes, which
/// multiply-adds go with; none if one is too large.
SmallVector<Grouping>
GroupingChoice::getFewestOperations(unsigned count) const {
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  struct Best {
    int64_t sum = none;
    SmallVector<Grouping> groupings;
  };
  unsigned total = sizes.size();
  // Of the first factors, in so many groups.
  std::vector<std::vector<Best>> best(count + 1, std::vector<Best>(total + 1));
  best[0][0] = {0, {Grouping()}};
  for (unsigned groups = 1; groups <= count; ++groups)
    for (unsigned end = groups; end <= total; ++end) {
      Best &current = best[groups][end];
      int64_t size = 1;
      for (unsigned begin = end; begin-- > groups - 1;) {
        size *= sizes[begin];
        // A single factor may be as large as it is.
        if (size > kMostGrouped && begin + 1 < end)
          break;
        const Best &before = best[groups - 1][begin];
        if (before.sum == none || before.sum + size > current.sum)
          continue;
        if (before.sum + size < current.sum)
          current = {before.sum + size, {}};
        for (Grouping grouping : before.groupings) {
          if (current.groupings.size() == kMostEqual)
            break;
          grouping.push_back(end - begin);
          current.groupings.push_back(grouping);
        }
      }
    }
  return best[count][total].groupings;
}

/// What the kernels take that compute products of factors.
double GroupingChoice::getProductSeconds(const Grouping &grouping) {
  double seconds = 0;
  unsigned begin = 0;
  for (unsigned count : grouping) {
    if (count > 1) {
      double elements = 1;
      for (int64_t size : ArrayRef(sizes).slice(begin, count))
        elements *= double(size * size);
      Type element = kron::getElementType(op.getInitValue());
      seconds += machine.getCopySeconds(
          elements * double(element.getIntOrFloatBitWidth()) / 8);
    }
    begin += count;
  }
  return seconds;
}

/// No grouping takes less: a product of factors, and all in one fused region.
double GroupingChoice::getLeastSeconds() {
  double bytes = 0;
  for (Value array : {op.getInputValue(), op.getInitValue()}) {
    auto type = cast<ShapedType>(array.getType());
    bytes += double(type.getNumElements()) *
             double(type.getElementTypeBitWidth()) / 8;
  }
  return resources.getLaunchSeconds(2) + resources.getMemorySeconds(bytes);
}

/// The answer to `question` about `op` with its factors in `grouping`, as one
/// fused region.
double GroupingChoice::ask(const Grouping &grouping,
                           llvm::function_ref<double(FusedOp)> question) {
  Operation *before = op->getPrevNode();
  decomposeProduct(rewriter, cloneGroupedOnMemrefs(rewriter, op, grouping),
                   ProductForm());
  FusedOp fused;
  for (Operation *prev = op; !fused;) {
    prev = prev->getPrevNode();
    fused = dyn_cast<FusedOp>(prev);
  }
  orderUnitAxes(rewriter, fused);
  double answer = question(fused);
  while (op->getPrevNode() != before)
    rewriter.eraseOp(op->getPrevNode());
  return getProductSeconds(grouping) + answer;
}

/// What the cost model says without planners.
double GroupingChoice::getLeastSeconds(const Grouping &grouping) {
  return ask(grouping, [&](FusedOp fused) {
    return planFusion(describeFusionChain(fused), machine, footprintBudget,
                      allowsCublas)
        .seconds;
  });
}

/// What planners say of the fused regions that --kron-fuse would make, and of
/// those on padded copies.
double GroupingChoice::getSeconds(const Grouping &grouping) {
  return ask(grouping, [&](FusedOp fused) {
    FusionPlan plan = planRegions(rewriter, fused, describeFusionChain(fused),
                                  machine, footprintBudget, allowsCublas);
    auto split = [&](FusedOp copy) {
      if (plan.regions.size() > 1)
        splitFusedOp(rewriter, copy, plan);
    };
    double seconds = llvm::sum_of(
        askPlanners(rewriter, fused, split, machine, allowsCublas));
    std::optional<double> padded =
        estimatePadded(rewriter, fused, machine, footprintBudget, allowsCublas);
    return padded ? std::min(seconds, *padded) : seconds;
  });
}

std::optional<Grouping> GroupingChoice::choose() {
  // Matrix instructions multiply no more than twice as fast as others.
  if (kron::getElementType(op.getInitValue()).isF64())
    return std::nullopt;
  double now = getSeconds(Grouping(sizes.size(), 1));
  double best = now / getGPUSplits(machine).rows.groupedGainFactor;
  if (getLeastSeconds() >= best)
    return std::nullopt;
  std::vector<std::pair<double, Grouping>> groupings;
  for (unsigned count = 1; count < sizes.size(); ++count)
    for (const Grouping &grouping : getFewestOperations(count))
      groupings.push_back({getLeastSeconds(grouping), grouping});
  llvm::sort(groupings);
  std::optional<Grouping> chosen;
  for (const auto &[least, grouping] : groupings) {
    // Planners find little that is faster than the cost model says.
    if (least >= best)
      break;
    double seconds = getSeconds(grouping);
    if (seconds < best) {
      best = seconds;
      chosen = grouping;
    }
  }
  if (chosen) {
    auto microseconds = [](double seconds) {
      return llvm::formatv("{0:f1} us", seconds * 1e6).str();
    };
    remark::passed(op.getLoc(), remark::RemarkOpts::name("Grouped").category(
                                    "kron-decompose"))
        << std::to_string(sizes.size()) + " factors are multiplied to " +
               std::to_string(chosen->size()) + ": " + microseconds(best) +
               " instead of " + microseconds(now)
        << remark::metric("Factors", chosen->size());
  }
  return chosen;
}

/// Whether factors of `op` may be multiplied with each other: there are several
/// matrices of known sizes, of a type whose range products of factors do not
/// leave where those with X stay in it, and nobody has said how to apply them.
template <typename OpTy> static bool isGroupable(OpTy op) {
  auto isKnown = [](Value array) {
    auto type = cast<ShapedType>(array.getType());
    return type.hasStaticShape() && type.getNumElements() > 0;
  };
  auto isGroupableFactor = [&](Value factor) {
    // Those that are 1 are dropped.
    return isKnown(factor) && !isIdentityFactor(factor) &&
           cast<ShapedType>(factor.getType()).getRank() == 2;
  };
  return op.getFactors().size() > 1 && !op.getPlanAttr() &&
         !kron::getAlpha(op).isZero() && op.getPrecision() != Precision::Ieee &&
         hasWideRange(kron::getElementType(op.getInit())) &&
         isKnown(op.getInput()) && isKnown(op.getInit()) &&
         llvm::all_of(op.getFactors(), isGroupableFactor);
}

static bool isGroupable(ScaledOpInterface op) {
  if (auto product = dyn_cast<MkmOp>(op.getOperation()))
    return isGroupable(product);
  auto product = dyn_cast<KmmOp>(op.getOperation());
  return product && isGroupable(product);
}

void kron::groupWhereFaster(IRRewriter &rewriter, ScaledOpInterface op,
                            const GPUMachine &machine, bool allowsCublas,
                            int64_t given) {
  if (!isGroupable(op))
    return;
  GroupingChoice choice(rewriter, op, machine, allowsCublas);
  std::optional<Grouping> grouping =
      given ? choice.getGiven(given) : choice.choose();
  if (grouping)
    groupFactors(rewriter, op, *grouping);
}
