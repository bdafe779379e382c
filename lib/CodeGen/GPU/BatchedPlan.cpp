//===- BatchedPlan.cpp - Steps and tiles of the batched kernel --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BatchedPlan.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

/// Planes of more elements do not fit a thread's registers.
static int64_t getLargestPlane(int64_t chunk) { return chunk == 4 ? 64 : 36; }
/// Bytes of items that a tile takes if nothing else decides, with planes in
/// registers, and at most, without.
static constexpr int64_t kPlaneTileBytes = 8 * 1024;
static constexpr int64_t kLargestFibreTileBytes = 40 * 1024;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

int64_t ItemLayout::getInside(unsigned axis) const {
  return axis + 1 == sizes.size() ? 1 : sizes.back();
}

static ItemLayout getLayout(ArrayRef<int64_t> sizes, int64_t chunk) {
  ItemLayout layout;
  layout.sizes.assign(sizes.begin(), sizes.end());
  size_t inPlane = std::min<size_t>(sizes.size(), 2);
  for (auto [axis, size] : llvm::enumerate(sizes))
    (axis + inPlane < sizes.size() ? layout.numPlanes : layout.planeSize) *=
        size;
  layout.pitch = layout.planeSize;
  if (inPlane == 2 && layout.pitch % (2 * chunk) == 0)
    layout.pitch += chunk;
  return layout;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether products `index` and the next one are on the two innermost axes and
/// small enough for planes in registers all the way.
static bool isPlanePair(const BatchedPlan &plan, unsigned index,
                        ArrayRef<int64_t> sizes) {
  if (index + 1 >= plan.factors.size() || sizes.size() < 2)
    return false;
  const ProblemFactor &first = plan.factors[index];
  const ProblemFactor &second = plan.factors[index + 1];
  int64_t last = plan.firstAxis + sizes.size() - 1;
  if (first.axis + second.axis != 2 * last - 1 ||
      std::abs(first.axis - second.axis) != 1)
    return false;
  int64_t largest = getLargestPlane(plan.chunk);
  return first.sizeK * second.sizeK <= largest &&
         first.sizeN * second.sizeK <= largest &&
         first.sizeN * second.sizeN <= largest;
}

static void addSteps(BatchedPlan &plan, SmallVector<int64_t> sizes) {
  for (unsigned index = 0; index < plan.factors.size();) {
    BatchedStep step;
    unsigned count = isPlanePair(plan, index, sizes) ? 2 : 1;
    step.source = getLayout(sizes, plan.chunk);
    for (unsigned number = 0; number < count; ++number, ++index) {
      step.products.push_back(index);
      const ProblemFactor &factor = plan.factors[index];
      sizes[factor.axis - plan.firstAxis] = factor.sizeN;
    }
    step.destination = getLayout(sizes, plan.chunk);
    plan.steps.push_back(std::move(step));
  }
  int64_t changes = llvm::count_if(plan.steps, [](const BatchedStep &step) {
    return !(step.source == step.destination);
  });
  plan.numWorkBuffers = std::min<int64_t>(changes, 2);
}

//===----------------------------------------------------------------------===//
// Fibres
//===----------------------------------------------------------------------===//

int64_t kron::getCommonWidth(int64_t limit, ArrayRef<int64_t> numbers) {
  int64_t width = limit;
  while (llvm::any_of(numbers, [&](int64_t n) { return n % width != 0; }))
    width /= 2;
  return width;
}

/// `axis` counts the item's axes.
static FibreWalk getWalk(const ItemLayout &layout, unsigned axis,
                         int64_t chunk) {
  FibreWalk walk;
  int64_t rank = layout.sizes.size(), size = layout.sizes[axis];
  int64_t inside = 1;
  for (int64_t inner = axis + 1; inner < rank; ++inner)
    inside *= layout.sizes[inner];
  if (inside == 1) {
    walk.width = getCommonWidth(chunk, {size, layout.pitch});
    return walk;
  }
  bool isInPlane = int64_t(axis) + 2 >= rank;
  walk.stride = isInPlane ? inside : inside / layout.planeSize * layout.pitch;
  walk.width = getCommonWidth(
      chunk, {isInPlane ? inside : layout.planeSize, layout.pitch});
  return walk;
}

FibreWalk BatchedPlan::getSourceWalk(const BatchedStep &step) const {
  return getWalk(step.source, factors[step.products.front()].axis - firstAxis,
                 chunk);
}

FibreWalk BatchedPlan::getDestinationWalk(const BatchedStep &step) const {
  return getWalk(step.destination,
                 factors[step.products.front()].axis - firstAxis, chunk);
}

int64_t BatchedPlan::getFibresPerUnit(const BatchedStep &step) const {
  FibreWalk from = getSourceWalk(step), to = getDestinationWalk(step);
  return from.stride == 1 ? 1 : std::min(from.width, to.width);
}

int64_t BatchedPlan::getNumUnits(const BatchedStep &step) const {
  return itemsPerTile * step.source.getElements() /
         factors[step.products.front()].sizeK / getFibresPerUnit(step);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t BatchedPlan::getStageElements() const {
  return llvm::alignTo((itemsPerTile + slackItems) * getInput().getItemPitch(),
                       chunk);
}

int64_t BatchedPlan::getWorkElements() const {
  int64_t elements = 0;
  for (const BatchedStep &step : steps)
    elements = std::max(elements, step.destination.getItemPitch());
  return llvm::alignTo((itemsPerTile + slackItems) * elements, chunk);
}

int64_t BatchedPlan::getFactorElements() const {
  int64_t elements = 0;
  for (unsigned index = 0; index < factors.size(); ++index)
    elements += factors[index].sizeK * getFactorPitch(index);
  return elements;
}

int64_t BatchedPlan::getSharedElements() const {
  return stages * getStageElements() + numWorkBuffers * getWorkElements() +
         getFactorElements();
}

/// Threads of a tile with planes: one per plane, since planes take the most
/// registers.
static int64_t getPlaneThreads(const BatchedPlan &plan) {
  int64_t planes = 1;
  for (const BatchedStep &step : plan.steps)
    if (step.isPlane())
      planes = std::max(planes, step.source.numPlanes * plan.itemsPerTile);
  return std::clamp<int64_t>(llvm::alignTo(planes, 32), 32, 256);
}

/// Registers of a thread: what it holds of its planes or fibres and of results,
/// and what addresses take.
static int64_t getRegisters(const BatchedPlan &plan) {
  int64_t words = 4 / plan.chunk;
  if (plan.hasPlanes())
    return words == 2 ? 168 : 128;
  int64_t held = 0;
  for (const BatchedStep &step : plan.steps) {
    int64_t fibres = plan.getUnitsTogether(step) * plan.getFibresPerUnit(step);
    held = std::max(held, fibres * (plan.factors[step.products.front()].sizeK +
                                    plan.chunk));
  }
  return llvm::alignTo(words * held + 32, 8);
}

/// CTAs per SM that registers and shared memory allow.
static int64_t getFittingCtas(const BatchedPlan &plan,
                              const GPUMachine &machine) {
  int64_t bytes = plan.getSharedElements() * 16 / plan.chunk;
  int64_t fitting =
      machine.sharedBytesPerSM / (bytes + machine.reservedSharedBytesPerCTA);
  int64_t byThreads =
      machine.registersPerSM / (plan.threads * getRegisters(plan));
  return std::min({fitting, byThreads, machine.maxCTAsPerSM});
}

/// What fibre steps take per item, in issue slots of an SM: multiply-adds,
/// loads of the factor, which all fibres of a thread share, and the fibres.
static double getFibreCost(const BatchedPlan &plan) {
  int64_t words = 4 / plan.chunk;
  double cost = 0;
  for (const BatchedStep &step : plan.steps) {
    const ProblemFactor &factor = plan.factors[step.products.front()];
    int64_t perUnit = plan.getFibresPerUnit(step);
    int64_t together = plan.getUnitsTogether(step);
    int64_t rounds = llvm::divideCeil(plan.getNumUnits(step), plan.threads);
    int64_t fibres = rounds * perUnit;
    double ofFibre = words * (factor.sizeK * factor.sizeN +
                              4.0 * (factor.sizeK + factor.sizeN));
    double ofFactor =
        9.0 * factor.sizeK * llvm::divideCeil(factor.sizeN, plan.chunk);
    cost += fibres * ofFibre + llvm::divideCeil(rounds, together) * ofFactor;
  }
  return cost * plan.threads / plan.itemsPerTile;
}

/// Items behind the tile that the last fibres of its threads belong to.
static int64_t getSlackItems(const BatchedPlan &plan) {
  int64_t items = 0;
  for (const BatchedStep &step : plan.steps) {
    int64_t count = plan.getNumUnits(step);
    int64_t excess = llvm::alignTo(count, plan.threads) - count;
    items = std::max<int64_t>(
        items, llvm::divideCeil(excess * plan.itemsPerTile, count));
  }
  return items;
}

/// Chooses threads, fibres per thread and items per tile of a plan without
/// planes, of those that `given` leaves open: items in multiples of `unit`.
static void chooseFibres(BatchedPlan &plan, GPUPlanAttr given,
                         const GPUMachine &machine, int64_t unit) {
  int64_t itemBytes = plan.getInput().getItemPitch() * 16 / plan.chunk;
  int64_t most = std::max(unit, kLargestFibreTileBytes / itemBytes);
  std::optional<BatchedPlan> best;
  double bestCost = 0;
  auto consider = [&](BatchedPlan candidate) {
    candidate.slackItems = 0;
    candidate.slackItems = getSlackItems(candidate);
    int64_t ctas = getFittingCtas(candidate, machine);
    if (ctas < 1)
      return;
    int64_t resident = ctas * candidate.threads;
    // Few threads hide little latency.
    double cost = getFibreCost(candidate) * (1.0 + 100.0 / resident);
    if (!best || cost < bestCost) {
      best = candidate;
      bestCost = cost;
    }
  };
  bool hasTile = given && given.getTile(),
       hasThreads = given && given.getThreads();
  for (int64_t items = hasTile ? plan.itemsPerTile : unit;
       items <= (hasTile ? plan.itemsPerTile : most); items += unit)
    for (int64_t threads = hasThreads ? plan.threads : 32;
         threads <= (hasThreads ? plan.threads : 256); threads += 32)
      for (int64_t fibres = 1; fibres <= 8; ++fibres) {
        BatchedPlan candidate = plan;
        candidate.itemsPerTile = items;
        candidate.threads = threads;
        candidate.fibres = fibres;
        if (getRegisters(candidate) <= 168)
          consider(candidate);
      }
  if (best)
    plan = *best;
}

static void chooseTile(BatchedPlan &plan, FusedOp fused,
                       const GPUMachine &machine, int64_t bytes) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  int64_t itemElements =
      std::max(plan.getInput().getElements(), plan.getOutput().getElements());
  // Whole tiles begin at multiples of 16 bytes, in and out.
  auto getUnit = [&](const ItemLayout &layout) {
    return plan.chunk / std::gcd(plan.chunk, layout.getElements());
  };
  int64_t unit = std::max(getUnit(plan.getInput()), getUnit(plan.getOutput()));
  int64_t items = std::max<int64_t>(kPlaneTileBytes / bytes / itemElements, 1);
  plan.itemsPerTile = llvm::alignTo(items, unit);
  if (given && given.getTile())
    plan.itemsPerTile = llvm::alignTo(given.getTile(), unit);
  if (given && given.getStages())
    plan.stages = given.getStages();
  plan.threads = getPlaneThreads(plan);
  if (given && given.getThreads())
    plan.threads = given.getThreads();
  if (!plan.hasPlanes())
    chooseFibres(plan, given, machine, unit);
  plan.ctasPerSM = std::max<int64_t>(getFittingCtas(plan, machine), 1);
  if (given && given.getCtasPerSm())
    plan.ctasPerSM = given.getCtasPerSm();
}

std::optional<BatchedPlan> kron::getBatchedPlan(FusedOp fused,
                                                const GPUMachine &machine) {
  BatchedPlan plan;
  int64_t bytes =
      kron::getElementType(fused.getInit()).getIntOrFloatBitWidth() / 8;
  plan.chunk = 16 / bytes;
  for (ModeProductOp product : fused.getModeProducts())
    plan.factors.push_back(describeFactor(product));
  plan.firstAxis = std::numeric_limits<unsigned>::max();
  for (const ProblemFactor &factor : plan.factors)
    plan.firstAxis = std::min<unsigned>(plan.firstAxis, factor.axis);

  ArrayRef<int64_t> shape =
      cast<ShapedType>(fused.getInit().getType()).getShape();
  SmallVector<int64_t> sizes(shape.drop_front(plan.firstAxis));
  for (const ProblemFactor &factor : llvm::reverse(plan.factors))
    sizes[factor.axis - plan.firstAxis] = factor.sizeK;
  addSteps(plan, sizes);
  chooseTile(plan, fused, machine, bytes);
  if (plan.getSharedElements() * bytes > machine.getSharedBytes(plan.ctasPerSM))
    return std::nullopt;
  return plan;
}
