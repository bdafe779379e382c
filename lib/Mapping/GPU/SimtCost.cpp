//===- SimtCost.cpp - Times of general kernels ----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A step of k loads an element of each fibre and of each result, and multiplies
// all of these by each other. More of both take fewer loads, and more
// registers; fewer threads have work, and a tile's end is padded to them.
//
//===----------------------------------------------------------------------===//

#include "SimtCost.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/Resources.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Fibres, and results, up to which all numbers are tried.
static constexpr int64_t kMostTried = 8;
/// Positions of an axis whose size a launch knows alone.
static constexpr double kUnknownSize = 4096;

namespace {

class SimtCost {
public:
  SimtCost(SimtLaunch &launch, Type element, int64_t threads,
           const GPUMachine &machine);

  std::optional<double> choose();

private:
  std::optional<double> chooseStep(unsigned index);
  double getStepClocks(const SimtStep &step, int64_t fibres) const;
  bool hasRegisters(const SimtStep &step) const;
  double getCopyClocks() const;
  double getSeconds(double clocks) const;

  SimtLaunch &launch;
  int64_t threads;
  const GPUMachine &machine;
  GPUResources resources;
  const SimtRates &rates;
  /// Real multiply-adds of a product, and how many an SM does per clock.
  double products = 1, productsPerClock;
  int64_t parts = 1;
};

} // namespace

SimtCost::SimtCost(SimtLaunch &launch, Type element, int64_t threads,
                   const GPUMachine &machine)
    : launch(launch), threads(threads), machine(machine), resources(machine),
      rates(getGPURates(machine).simt) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    products = 4;
    parts = 2;
  }
  productsPerClock =
      rates.issueShare * resources.getMultiplyAddsPerClock(
                             getScalarMultiplication(element, machine));
}

/// Whether the registers of a thread hold what it multiplies: sums, and the
/// operands of this and the next step of k.
bool SimtCost::hasRegisters(const SimtStep &step) const {
  int64_t words = llvm::divideCeil(launch.elementBytes, 4);
  int64_t values = step.fibres * step.block + 2 * (step.fibres + step.block);
  return values * words + step.fibres * rates.fibreRegisters +
             rates.baseRegisters <=
         machine.getRegistersPerThread(threads, launch.ctasPerSM);
}

double SimtCost::getStepClocks(const SimtStep &step, int64_t fibres) const {
  int64_t groups = llvm::divideCeil(fibres, step.fibres);
  int64_t turns = llvm::divideCeil(groups * step.getParts(), threads);
  double pairs = double(step.fibres) * step.block;
  double factorLoads = step.block;
  if (!step.isShared)
    factorLoads *= step.varies ? rates.variedFactor : rates.globalFactor;
  double multiplied = pairs * products * kLanes / productsPerClock;
  double loaded = GPUResources::getSharedClocks((step.fibres + factorLoads) *
                                                launch.elementBytes * kLanes);
  double issued = (pairs * products + step.fibres + factorLoads) / kIssued;
  double warps = threads / kLanes;
  double busy =
      turns * warps * step.sizeK * std::max({multiplied, loaded, issued});
  if (!step.isShared)
    busy = std::max(busy,
                    resources.getCacheClocks(double(step.sizeK) * step.sizeN *
                                                 launch.elementBytes,
                                             rates.cacheShare));
  // A warp multiplies what it has waited for, by one scheduler; other CTAs of
  // the SM work meanwhile.
  double wait = step.isShared ? rates.sharedWait : rates.globalWait;
  double waiting =
      turns * (llvm::divideCeil(step.sizeK, kSimtUnrolled) * wait +
               kIssued * step.sizeK * std::max({multiplied, loaded, issued}));
  return std::max(busy, waiting / launch.ctasPerSM) +
         rates.stepClocks / launch.ctasPerSM;
}

std::optional<double> SimtCost::chooseStep(unsigned index) {
  SimtStep &step = launch.steps[index];
  int64_t fibres = getFibres(launch, index);
  std::optional<double> least;
  SimtStep best = step;
  int64_t most = step.varies ? 1 : std::min(fibres, kMostTried);
  for (int64_t block = std::min(step.sizeN, kMostTried); block > 0; --block)
    for (int64_t together = 1; together <= most; ++together) {
      step.block = block;
      step.fibres = together;
      if (!hasRegisters(step))
        continue;
      double clocks = getStepClocks(step, fibres);
      if (least && clocks >= *least)
        continue;
      least = clocks;
      best = step;
    }
  step = best;
  return least;
}

/// Of the elements that come and go.
double SimtCost::getCopyClocks() const {
  double clocks = rates.copyClocks * getTileElements(launch.extents.front());
  double stored = rates.copyClocks;
  unsigned last = launch.extents.back().size() - 1;
  if (launch.directStore && launch.steps.back().axis == last)
    stored = rates.scatteredClocks * parts;
  else if (launch.directStore)
    stored /= 2;
  return clocks + stored * getTileElements(launch.extents.back());
}

/// Of a launch whose tiles take `clocks` of an SM each.
double SimtCost::getSeconds(double clocks) const {
  double tiles = 1, positions = 1, inputs = 1, results = 1;
  for (auto [axis, size] : llvm::enumerate(launch.after)) {
    bool isKnown = !ShapedType::isDynamic(size);
    int64_t extent = launch.extents.front()[axis];
    double all = isKnown ? size : std::max<double>(kUnknownSize, extent);
    if (launch.contracted[axis]) {
      inputs *= extent;
      results *= launch.extents.back()[axis];
      continue;
    }
    positions *= all;
    tiles *= std::ceil(all / extent);
  }
  double resident = double(machine.numSMs) * launch.ctasPerSM;
  double turns = getWaves(tiles, resident) * launch.ctasPerSM;
  double busy = resources.getSMSeconds(turns * clocks);
  double memory = resources.getMemorySeconds(positions * (inputs + results) *
                                             launch.elementBytes);
  return resources.getLaunchSeconds() +
         getOverlapSeconds(busy, memory, 1.0 / launch.ctasPerSM);
}

std::optional<double> SimtCost::choose() {
  double clocks = getCopyClocks();
  for (unsigned index = 0; index < launch.steps.size(); ++index) {
    std::optional<double> step = chooseStep(index);
    if (!step)
      return std::nullopt;
    clocks += *step;
  }
  return getSeconds(clocks);
}

std::optional<double> kron::chooseSimtBlocks(SimtLaunch &launch, Type element,
                                             int64_t threads,
                                             const GPUMachine &machine) {
  return SimtCost(launch, element, threads, machine).choose();
}
