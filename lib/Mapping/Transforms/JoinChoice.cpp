//===- JoinChoice.cpp - Whether axes are joined on a GPU ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Tensor cores multiply as fast by 6 as by 16 columns, and each step of a tile
// takes it through shared memory. Small axes are joined, from the innermost one
// on, to ones of some sizes; the cost model says which of these, if any, pays.
//
//===----------------------------------------------------------------------===//

#include "JoinChoice.h"
#include "PaddingChoice.h"
#include "kron/Dialect/Kron/Transforms/JoinAxes.h"
#include "kron/Machine/GPUSplits.h"
#include "kron/Mapping/GPU/Resources.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

/// Sides of joined factors: of a matrix instruction, and what `wgmma` takes of
/// a factor at most.
static constexpr int64_t kLeastSide = 16, kMostSide = 256;

/// Rows and columns of the factor of `axis`; 0 if none contracts it, or
/// several.
static std::pair<int64_t, int64_t> getSides(const FusionChain &chain,
                                            int64_t axis) {
  std::pair<int64_t, int64_t> sides;
  for (const ProblemFactor &factor : chain.factors) {
    if (factor.axis != axis)
      continue;
    if (sides.first != 0)
      return {0, 0};
    sides = {factor.sizeK, factor.sizeN};
  }
  return sides;
}

/// Neighbours that make factors of up to `mostSide` rows and columns, as many
/// as there can be from the innermost axis on, outermost first.
static SmallVector<JoinedAxes>
groupAxes(FusedOp fused, const FusionChain &chain, int64_t mostSide) {
  SmallVector<JoinedAxes> joined;
  for (int64_t last = chain.inputShape.size(); last-- > 1;) {
    auto [sizeK, sizeN] = getSides(chain, last);
    JoinedAxes axes{last, 1};
    for (; axes.first > 0; --axes.first, ++axes.count) {
      auto [nextK, nextN] = getSides(chain, axes.first - 1);
      sizeK *= nextK;
      sizeN *= nextN;
      if (sizeK == 0 || std::max(sizeK, sizeN) > mostSide ||
          !canJoinAxes(fused, {axes.first - 1, axes.count + 1}))
        break;
    }
    if (axes.count > 1)
      joined.insert(joined.begin(), axes);
    last = axes.first;
  }
  return joined;
}

/// `chain` with a factor for each of `joined`.
static FusionChain joinChain(const FusionChain &chain,
                             ArrayRef<JoinedAxes> joined) {
  FusionChain result = chain;
  // The innermost ones first: others keep their numbers.
  for (JoinedAxes axes : llvm::reverse(joined)) {
    auto isJoined = [&](int64_t axis) {
      return axis > axes.first && axis < axes.first + axes.count;
    };
    auto *into = llvm::find_if(result.factors, [&](const ProblemFactor &own) {
      return own.axis == axes.first || isJoined(own.axis);
    });
    for (auto &factor : llvm::make_range(std::next(into), result.factors.end()))
      if (factor.axis == axes.first || isJoined(factor.axis)) {
        into->sizeK *= factor.sizeK;
        into->sizeN *= factor.sizeN;
        factor.sizeK = 0;
      }
    into->axis = axes.first;
    llvm::erase_if(result.factors, [](const ProblemFactor &factor) {
      return factor.sizeK == 0;
    });
    for (ProblemFactor &factor : result.factors)
      if (factor.axis > axes.first)
        factor.axis -= axes.count - 1;
    for (SmallVector<int64_t> *shape :
         {&result.inputShape, &result.outputShape}) {
      auto *first = shape->begin() + axes.first;
      for (int64_t number = 1; number < axes.count; ++number)
        *first *= first[number];
      shape->erase(first + 1, first + axes.count);
    }
    SmallVector<int64_t> &permutation = result.inputPermutation;
    if (permutation.empty())
      continue;
    int64_t dim = permutation[axes.first];
    permutation.erase(permutation.begin() + axes.first + 1,
                      permutation.begin() + axes.first + axes.count);
    for (int64_t &each : permutation)
      if (each > dim)
        each -= axes.count - 1;
  }
  return result;
}

/// What to join by the cost model; empty if nothing had better be. Of f64 the
/// estimates err by more than what is gained (docs/notes, 0182).
static SmallVector<JoinedAxes> chooseJoined(FusedOp fused,
                                            const GPUMachine &machine,
                                            int64_t footprintBudget,
                                            bool allowsCublas) {
  if (!getElementType(fused.getInit()).isF32())
    return {};
  FusionChain chain = describeFusionChain(fused);
  auto getSeconds = [&](const FusionChain &chain) {
    return estimateWithPadding(fused, chain, machine, footprintBudget,
                               allowsCublas);
  };
  SmallVector<JoinedAxes> best, last;
  double least = 0;
  for (int64_t side = kLeastSide; side <= kMostSide; side *= 2) {
    SmallVector<JoinedAxes> joined = groupAxes(fused, chain, side);
    auto isSame = [](JoinedAxes lhs, JoinedAxes rhs) {
      return lhs.first == rhs.first && lhs.count == rhs.count;
    };
    if (joined.empty() || llvm::equal(joined, last, isSame))
      continue;
    if (least == 0)
      least = getSeconds(chain) / getGPUSplits(machine).rows.chainGainFactor;
    double seconds =
        getSeconds(joinChain(chain, joined)) +
        GPUResources(machine).getLaunchSeconds() * double(joined.size());
    if (seconds < least) {
      least = seconds;
      best = joined;
    }
    last = std::move(joined);
  }
  return best;
}

/// What the plan of `fused` wants joined: for each of its contracted axes, or
/// several of them together, how many. An error message if that is not
/// possible.
static std::variant<SmallVector<JoinedAxes>, std::string>
readJoined(FusedOp fused, ArrayRef<int64_t> counts) {
  llvm::SmallSetVector<int64_t, 8> axes;
  for (ModeProductOp product : fused.getModeProducts())
    axes.insert(product.getAxis());
  SmallVector<int64_t> sorted = llvm::to_vector(axes.getArrayRef());
  llvm::sort(sorted);
  SmallVector<JoinedAxes> joined;
  size_t next = 0;
  for (int64_t count : counts) {
    if (next + count > sorted.size())
      break;
    JoinedAxes each{sorted[next], count};
    if (count > 1 && !canJoinAxes(fused, each))
      return "axes from " + std::to_string(each.first) + " on are not " +
             std::to_string(count) +
             " neighbours of known size with an f32 or f64 factor each, to "
             "whose products nothing is added";
    if (count > 1)
      joined.push_back(each);
    next += count;
  }
  if (next != sorted.size() || llvm::sum_of(counts) != int64_t(next))
    return "there are " + std::to_string(sorted.size()) + " contracted axes";
  return joined;
}

FailureOr<FusedOp> kron::joinWhereFaster(RewriterBase &rewriter, FusedOp fused,
                                         const GPUMachine &machine,
                                         int64_t footprintBudget,
                                         bool allowsCublas) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  SmallVector<JoinedAxes> joined;
  if (!given) {
    if (!isFollowed(fused))
      joined = chooseJoined(fused, machine, footprintBudget, allowsCublas);
  } else if (given.has("joined")) {
    auto counts = given.getFields().getAs<DenseI64ArrayAttr>("joined");
    auto read = readJoined(fused, counts.asArrayRef());
    if (auto *reason = std::get_if<std::string>(&read))
      return fused.emitOpError("cannot join axes: ") << *reason;
    joined = std::get<SmallVector<JoinedAxes>>(read);
    GPUPlanAttr rest = given.without("joined");
    if (rest.getFields().empty())
      fused.removePlanAttr();
    else
      fused.setPlanAttr(rest);
  }
  if (joined.empty())
    return fused;
  std::string message;
  llvm::raw_string_ostream os(message);
  llvm::interleave(
      joined, os,
      [&](JoinedAxes axes) {
        os << axes.first << " to " << axes.first + axes.count - 1;
      },
      ", ");
  remark::analysis(fused.getLoc(),
                   remark::RemarkOpts::name("Joined").category("kron-fuse"))
      << "axes " + message + " have a factor together"
      << remark::metric("Factors", joined.size());
  return joinAxes(rewriter, fused, joined);
}
