//===- FusionPlan.cpp - Which factors one fused region applies ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A plan is a way to cut a list of the contracted axes: the shortest path over
// its O(N^2) segments, each as long as the cost model says its fused region
// takes. Two lists are tried: of neighbours, whose tiles are cut from long
// segments of memory, and of those that shrink the array most.
//
//===----------------------------------------------------------------------===//

#include "FusionPlan.h"
#include "kron/Mapping/GPU/CublasPlanner.h"
#include "kron/Mapping/GPU/WgmmaPlanner.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace mlir::kron;

bool FusionChain::isReorderable() const {
  llvm::SmallBitVector contracted(inputShape.size());
  for (const ProblemFactor &factor : factors)
    contracted.set(factor.axis);
  for (const ProblemFactor &factor : factors)
    for (int64_t axis : factor.varyingAxes)
      if (contracted[axis])
        return false;
  for (auto [axis, size] : llvm::enumerate(inputShape))
    if (!contracted[axis] && size == 1 && outputShape[axis] != 1)
      return false;
  return true;
}

FusionChain kron::describeFusionChain(FusedOp fused) {
  FusionChain chain;
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  chain.element = kron::getElementType(fused.getInit());
  chain.precision = products.front().getPrecision();
  for (ModeProductOp product : products)
    chain.factors.push_back(describeFactor(product));
  auto shapeOf = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  };
  chain.inputShape = llvm::to_vector(shapeOf(fused.getBody().getArgument(0)));
  chain.outputShape = llvm::to_vector(shapeOf(fused.getInit()));
  if (auto permutation = fused.getInputPermutation())
    chain.inputPermutation.assign(permutation->begin(), permutation->end());
  return chain;
}

//===----------------------------------------------------------------------===//
// Fused regions
//===----------------------------------------------------------------------===//

/// The sizes of all axes before any factor is applied, those of the result
/// where the input leaves them open.
static SmallVector<int64_t> getStartShape(const FusionChain &chain) {
  SmallVector<int64_t> shape(chain.inputShape);
  for (auto [size, outputSize] : llvm::zip_equal(shape, chain.outputShape))
    if (ShapedType::isDynamic(size))
      size = outputSize;
  for (const ProblemFactor &factor : llvm::reverse(chain.factors))
    shape[factor.axis] = factor.sizeK;
  return shape;
}

/// The fused region of the factors numbered `current` after those of
/// `previous`.
static Problem describeProblem(const FusionChain &chain,
                               ArrayRef<SmallVector<unsigned>> previous,
                               ArrayRef<unsigned> current) {
  SmallVector<int64_t> shape = getStartShape(chain);
  for (ArrayRef<unsigned> group : previous)
    for (unsigned index : group)
      shape[chain.factors[index].axis] = chain.factors[index].sizeN;
  SmallVector<ProblemFactor> factors;
  for (unsigned index : current)
    factors.push_back(chain.factors[index]);
  Problem region =
      kron::describeProblem(chain.element, chain.precision, shape, factors,
                            /*readsAddend=*/false);
  if (previous.empty())
    describeInput(region, chain.inputPermutation, shape);
  return region;
}

Problem kron::describeProblem(const FusionChain &chain, const FusionPlan &plan,
                              unsigned index) {
  return ::describeProblem(chain, ArrayRef(plan.regions).take_front(index),
                           plan.regions[index]);
}

/// Elements of a row of a tile of `mma`, which has room for the larger one of K
/// and N along each axis.
static int64_t getRoom(const Problem &region) {
  llvm::SmallMapVector<int64_t, int64_t, 8> sizes;
  for (const ProblemFactor &factor : region.factors) {
    int64_t &size = sizes[factor.axis];
    size = std::max({size, factor.sizeK, factor.sizeN});
  }
  int64_t room = 1;
  for (auto [axis, size] : sizes)
    room *= size;
  return room;
}

/// The time of `region` by its best kernel; infinite if its tile footprint does
/// not fit.
static double estimateBestTime(const Problem &region, const GPUMachine &machine,
                               int64_t footprintBudget) {
  double best = std::numeric_limits<double>::infinity();
  int64_t columns = chooseColumns(region, footprintBudget, machine);
  if (!columns && fitsCluster(region, footprintBudget, machine)) {
    KernelTiling tiling =
        chooseTiling(GPUKernel::Mma, region, 1, footprintBudget, machine);
    return estimateRegionSeconds(GPUKernel::Mma, region, tiling, machine);
  }
  if (!columns)
    return best;
  if (std::optional<double> seconds = estimateWgmmaRegion(region, machine))
    best = *seconds;
  for (GPUKernel kernel :
       {GPUKernel::Simt, GPUKernel::Ffma, GPUKernel::Mma, GPUKernel::Batched}) {
    if (!isPlausible(kernel, region, machine))
      continue;
    int64_t fitting = columns;
    int64_t columnBytes = getRoom(region) * region.getChipBytes();
    if (kernel == GPUKernel::Mma)
      while (fitting > 1 && fitting * columnBytes > footprintBudget)
        fitting /= 2;
    KernelTiling tiling =
        chooseTiling(kernel, region, fitting, footprintBudget, machine);
    best =
        std::min(best, estimateRegionSeconds(kernel, region, tiling, machine));
  }
  return best;
}

/// The same, also by a call of cuBLAS if it `allowsCublas`.
static double estimateBestSeconds(const Problem &region,
                                  const GPUMachine &machine,
                                  int64_t footprintBudget, bool allowsCublas) {
  double seconds = estimateBestTime(region, machine, footprintBudget);
  return allowsCublas
             ? std::min(seconds, estimateCublasSeconds(region, machine))
             : seconds;
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// What cannot or need not be taken apart: the factors of one axis, the last
/// axis first, where factors commute; else every factor, in their order.
static SmallVector<SmallVector<unsigned>> getUnits(const FusionChain &chain) {
  SmallVector<SmallVector<unsigned>> units;
  if (!chain.isReorderable()) {
    for (unsigned index = 0; index < chain.factors.size(); ++index)
      units.push_back({index});
    return units;
  }
  for (int64_t axis = chain.inputShape.size() - 1; axis >= 0; --axis) {
    SmallVector<unsigned> unit;
    for (auto [index, factor] : llvm::enumerate(chain.factors))
      if (factor.axis == axis)
        unit.push_back(index);
    if (!unit.empty())
      units.push_back(std::move(unit));
  }
  return units;
}

static SmallVector<unsigned> flatten(ArrayRef<SmallVector<unsigned>> units) {
  SmallVector<unsigned> indices;
  for (ArrayRef<unsigned> unit : units)
    indices.append(unit.begin(), unit.end());
  // The order of the chain is the one with the fewest multiply-adds.
  llvm::sort(indices);
  return indices;
}

/// How much larger the factors numbered `region` make an array.
static double getGrowth(const FusionChain &chain, ArrayRef<unsigned> region) {
  double growth = 1;
  for (unsigned index : region)
    growth *= double(chain.factors[index].sizeN) / chain.factors[index].sizeK;
  return growth;
}

/// The units that will have been applied before those from `begin` to `end`
/// are where factors commute: what shrinks the array more than these, and of
/// equals the ones before.
static SmallVector<SmallVector<unsigned>>
getPrevious(const FusionChain &chain, ArrayRef<SmallVector<unsigned>> units,
            size_t begin, size_t end) {
  double growth = getGrowth(chain, flatten(units.slice(begin, end - begin)));
  SmallVector<SmallVector<unsigned>> previous;
  for (auto [number, unit] : llvm::enumerate(units)) {
    double own = getGrowth(chain, unit);
    if (number < begin ? own <= growth : number >= end && own < growth)
      previous.push_back(unit);
  }
  return previous;
}

/// `units` in an order in which those that shrink the array most come first;
/// equals stay as they are.
static SmallVector<SmallVector<unsigned>>
sortByGrowth(const FusionChain &chain, ArrayRef<SmallVector<unsigned>> units) {
  SmallVector<std::pair<double, unsigned>> order;
  for (auto [number, unit] : llvm::enumerate(units))
    order.push_back({getGrowth(chain, unit), number});
  llvm::sort(order);
  SmallVector<SmallVector<unsigned>> sorted;
  for (auto [growth, number] : order)
    sorted.push_back(units[number]);
  return sorted;
}

namespace {
/// The ways to cut a list of the units of a chain into fused regions.
class Cuts {
public:
  /// Of `units` in the order in which they are applied or, if `isFree`, any.
  Cuts(const FusionChain &chain, SmallVector<SmallVector<unsigned>> units,
       bool isFree, const GPUMachine &machine, int64_t footprintBudget,
       bool allowsCublas);

  /// Finds the shortest path.
  void run();
  /// Replaces times by those of `ask` until the shortest path has these alone.
  void ask(AskRegion ask);
  FusionPlan getPlan() const;

private:
  /// The fused region of the units from `begin` to before `end`.
  struct Region {
    SmallVector<unsigned> previous, current;
    double seconds = 0;
    bool isAsked = false;
  };
  Region &getRegion(size_t begin, size_t end) {
    return regions[begin * units.size() + end - 1];
  }

  const FusionChain &chain;
  SmallVector<SmallVector<unsigned>> units;
  bool isFree;
  std::vector<Region> regions;
  /// For the first units: the least time, and where the last fused region
  /// begins.
  struct Best {
    double seconds = std::numeric_limits<double>::infinity();
    size_t begin = 0;
  };
  SmallVector<Best> best;
};
} // namespace

Cuts::Cuts(const FusionChain &chain, SmallVector<SmallVector<unsigned>> list,
           bool isFree, const GPUMachine &machine, int64_t footprintBudget,
           bool allowsCublas)
    : chain(chain), units(std::move(list)), isFree(isFree),
      regions(units.size() * units.size()) {
  ArrayRef<SmallVector<unsigned>> all(units);
  for (size_t end = 1; end <= units.size(); ++end) {
    for (size_t begin = 0; begin < end; ++begin) {
      Region &region = getRegion(begin, end);
      SmallVector<SmallVector<unsigned>> previous(all.take_front(begin));
      if (isFree)
        previous = getPrevious(chain, all, begin, end);
      region.previous = flatten(previous);
      region.current = flatten(all.slice(begin, end - begin));
      Problem problem = ::describeProblem(chain, previous, region.current);
      region.seconds =
          estimateBestSeconds(problem, machine, footprintBudget, allowsCublas);
      // A factor that is too large even alone: the code generator has to cut
      // it. More than any fused region that fits can take.
      if (begin + 1 == end && std::isinf(region.seconds))
        region.seconds = 1e3;
    }
  }
}

void Cuts::run() {
  best.assign(units.size() + 1, Best());
  best[0].seconds = 0;
  for (size_t end = 1; end <= units.size(); ++end)
    for (size_t begin = 0; begin < end; ++begin)
      if (double seconds = best[begin].seconds + getRegion(begin, end).seconds;
          seconds < best[end].seconds)
        best[end] = {seconds, begin};
}

void Cuts::ask(AskRegion ask) {
  if (units.size() == 1)
    return;
  for (size_t end = units.size(); end > 0;) {
    size_t begin = best[end].begin;
    Region &region = getRegion(begin, end);
    if (region.isAsked) {
      end = begin;
      continue;
    }
    region.seconds = ask(region.previous, region.current);
    region.isAsked = true;
    run();
    end = units.size();
  }
}

FusionPlan Cuts::getPlan() const {
  FusionPlan plan;
  plan.seconds = best.back().seconds;
  for (size_t end = units.size(); end > 0; end = best[end].begin) {
    size_t begin = best[end].begin;
    plan.regions.push_back(flatten(ArrayRef(units).slice(begin, end - begin)));
  }
  std::reverse(plan.regions.begin(), plan.regions.end());
  if (!isFree)
    return plan;
  // What lies in between is small then.
  plan.regions = sortByGrowth(chain, plan.regions);
  return plan;
}

FusionPlan kron::planFusion(const FusionChain &chain, const GPUMachine &machine,
                            int64_t footprintBudget, bool allowsCublas,
                            AskRegion ask) {
  using Units = std::vector<unsigned>;
  std::map<std::pair<Units, Units>, double> answers;
  auto askOnce = [&](ArrayRef<unsigned> previous, ArrayRef<unsigned> current) {
    auto [answer, isNew] = answers.try_emplace({previous, current}, 0);
    if (isNew)
      answer->second = ask(previous, current);
    return answer->second;
  };
  bool isReorderable = chain.isReorderable();
  auto cut = [&](SmallVector<SmallVector<unsigned>> units, bool isFree) {
    Cuts cuts(chain, std::move(units), isFree, machine, footprintBudget,
              allowsCublas);
    cuts.run();
    if (ask)
      cuts.ask(askOnce);
    return cuts.getPlan();
  };
  SmallVector<SmallVector<unsigned>> units = getUnits(chain);
  FusionPlan plan = cut(units, isReorderable);
  SmallVector<SmallVector<unsigned>> sorted = sortByGrowth(chain, units);
  if (!isReorderable || sorted == units)
    return plan;
  // What shrinks the array may be worth a fused region of its own, wherever its
  // axes are.
  FusionPlan other = cut(std::move(sorted), /*isFree=*/false);
  // The path took what shrinks the array for applied, also where a fused region
  // does not.
  plan.seconds = 0;
  for (unsigned index = 0; index < plan.regions.size(); ++index) {
    ArrayRef<SmallVector<unsigned>> regions(plan.regions);
    Problem region = describeProblem(chain, plan, index);
    plan.seconds +=
        ask ? askOnce(flatten(regions.take_front(index)), regions[index])
            : estimateBestSeconds(region, machine, footprintBudget,
                                  allowsCublas);
  }
  return other.seconds < plan.seconds ? other : plan;
}
