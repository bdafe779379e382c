//===- FusionPlan.cpp - Which factors one fused region applies ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Axes that a fused region applies are neighbours among the contracted ones, so
// a plan is a way to cut their list. The search begins with the shortest path
// over its O(N^2) segments, each as long as the cost model says its fused
// region takes, and goes on to cuts that differ in one place.
//
//===----------------------------------------------------------------------===//

#include "FusionPlan.h"
#include "kron/Mapping/GPU/CublasPlanner.h"
#include "kron/Mapping/GPU/WgmmaPlanner.h"
#include "llvm/ADT/MapVector.h"

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
/// are: the ones before, or, where factors commute, what shrinks the array more
/// than these, and of equals the ones before.
static SmallVector<SmallVector<unsigned>>
getPrevious(const FusionChain &chain, ArrayRef<SmallVector<unsigned>> units,
            size_t begin, size_t end) {
  if (!chain.isReorderable())
    return SmallVector<SmallVector<unsigned>>(units.take_front(begin));
  double growth = getGrowth(chain, flatten(units.slice(begin, end - begin)));
  SmallVector<SmallVector<unsigned>> previous;
  for (auto [number, unit] : llvm::enumerate(units)) {
    double own = getGrowth(chain, unit);
    if (number < begin ? own <= growth : number >= end && own < growth)
      previous.push_back(unit);
  }
  return previous;
}

FusionSearch::FusionSearch(const FusionChain &chain, const GPUMachine &machine,
                           int64_t footprintBudget, bool allowsCublas)
    : chain(chain), machine(machine), footprintBudget(footprintBudget),
      allowsCublas(allowsCublas), units(getUnits(chain)) {}

/// The time of `region` after those of `previous` by the cost model.
double FusionSearch::estimate(ArrayRef<SmallVector<unsigned>> previous,
                              ArrayRef<unsigned> region) const {
  Problem problem = ::describeProblem(chain, previous, region);
  double seconds = estimateBestTime(problem, machine, footprintBudget);
  if (allowsCublas)
    seconds = std::min(seconds, estimateCublasSeconds(problem, machine));
  // A factor that is too large even alone: the code generator has to cut it.
  // More than any fused region that fits can take.
  if (std::isinf(seconds) && llvm::is_contained(units, region))
    seconds = 1e3;
  return seconds;
}

/// The cuts of the shortest path, for which what is applied before a segment is
/// the same whatever is cut elsewhere.
FusionSearch::Cuts FusionSearch::findShortestPath() const {
  // best[end]: the least time for the first `end` units, and where its last
  // fused region begins.
  struct Best {
    double seconds = std::numeric_limits<double>::infinity();
    size_t begin = 0;
  };
  ArrayRef<SmallVector<unsigned>> all(units);
  SmallVector<Best> best(units.size() + 1);
  best[0].seconds = 0;
  for (size_t end = 1; end <= units.size(); ++end) {
    for (size_t begin = 0; begin < end; ++begin) {
      double seconds = estimate(getPrevious(chain, all, begin, end),
                                flatten(all.slice(begin, end - begin)));
      if (best[begin].seconds + seconds < best[end].seconds)
        best[end] = {best[begin].seconds + seconds, begin};
    }
  }
  Cuts cuts(units.size() - 1);
  for (size_t end = units.size(); end > 0; end = best[end].begin)
    if (size_t begin = best[end].begin)
      cuts[begin - 1] = true;
  return cuts;
}

/// The fused regions that `cuts` leave. What shrinks the array goes first, so
/// that what lies in between is small; equals stay as they are.
FusionPlan FusionSearch::makePlan(const Cuts &cuts) const {
  SmallVector<SmallVector<unsigned>> regions;
  SmallVector<std::pair<double, size_t>> order;
  size_t begin = 0;
  for (size_t end = 1; end <= units.size(); ++end) {
    if (end < units.size() && !cuts[end - 1])
      continue;
    regions.push_back(flatten(ArrayRef(units).slice(begin, end - begin)));
    order.push_back({getGrowth(chain, regions.back()), order.size()});
    begin = end;
  }
  if (chain.isReorderable())
    llvm::sort(order);
  FusionPlan plan;
  for (auto [growth, number] : order)
    plan.regions.push_back(std::move(regions[number]));
  return plan;
}

/// The same with the time of each region that was asked for, else by the cost
/// model.
FusionPlan FusionSearch::estimatePlan(const Cuts &cuts) {
  FusionPlan plan = makePlan(cuts);
  ArrayRef<SmallVector<unsigned>> regions(plan.regions);
  for (auto [number, region] : llvm::enumerate(regions)) {
    ArrayRef<SmallVector<unsigned>> previous = regions.take_front(number);
    auto [found, isNew] = times.try_emplace(Key(flatten(previous), region));
    if (isNew)
      found->second.seconds = estimate(previous, region);
    plan.seconds += found->second.seconds;
  }
  return plan;
}

/// Asks for the regions of `plan` whose times are those of the cost model.
void FusionSearch::askFor(FusionPlan &plan, AskRegions ask) {
  ArrayRef<SmallVector<unsigned>> regions(plan.regions);
  SmallVector<Time *> found;
  SmallVector<unsigned> numbers;
  for (auto [number, region] : llvm::enumerate(regions)) {
    found.push_back(&times[Key(flatten(regions.take_front(number)), region)]);
    if (!found.back()->isAsked)
      numbers.push_back(number);
  }
  if (numbers.empty() || !ask)
    return;
  SmallVector<double> seconds = ask(plan, numbers);
  for (auto [number, time] : llvm::zip_equal(numbers, seconds))
    *found[number] = {time, /*isAsked=*/true};
  plan.seconds = 0;
  for (Time *time : found)
    plan.seconds += time->seconds;
}

FusionPlan FusionSearch::findFastest(AskRegions ask) {
  Cuts cuts = findShortestPath();
  FusionPlan best = estimatePlan(cuts);
  askFor(best, ask);
  // A region that is cut otherwise may go earlier or later, on a smaller or a
  // larger array, and so may the others. Whoever is asked mostly names more
  // time than the cost model, so that few plans are asked for.
  while (true) {
    Cuts fastestCuts;
    FusionPlan fastest = best;
    auto consider = [&](const Cuts &changed) {
      FusionPlan plan = estimatePlan(changed);
      if (plan.seconds < fastest.seconds) {
        fastest = std::move(plan);
        fastestCuts = changed;
      }
    };
    for (size_t index = 0; index < cuts.size(); ++index) {
      Cuts changed = cuts;
      changed[index] = !changed[index];
      consider(changed);
      if (index + 1 == cuts.size() || cuts[index] == cuts[index + 1])
        continue;
      changed[index + 1] = !changed[index + 1];
      consider(changed);
    }
    if (fastestCuts.empty())
      return best;
    askFor(fastest, ask);
    if (fastest.seconds < best.seconds) {
      best = std::move(fastest);
      cuts = std::move(fastestCuts);
    }
  }
}
