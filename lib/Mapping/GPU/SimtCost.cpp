//===- SimtCost.cpp - Times of general kernels ----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A step of k loads an element of each fibre and of each result, and multiplies
// all of these by each other. More of both take fewer loads, and more
// registers; fewer threads have work, and a tile's end is padded to them. What
// lanes load and store side by side decides how many sectors memory and the
// second-level cache move, and how many of these are filled in parts.
//
//===----------------------------------------------------------------------===//

#include "SimtCost.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/NominalSizes.h"
#include "kron/Mapping/GPU/Resources.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Fibres, and results, up to which all numbers are tried.
static constexpr int64_t kMostTried = 8;
/// Positions of an axis whose size a launch knows alone.
static constexpr double kUnknownSize = 4096;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// A row-major array of accumulators.
static AccessArray getBetween(const SimtChain &chain, unsigned index) {
  ArrayRef<int64_t> shape = chain.shapes[index];
  AccessArray array{SmallVector<int64_t>(shape.size()), chain.elementBytes};
  int64_t stride = 1;
  for (unsigned axis = shape.size(); axis-- > 0;) {
    array.strides[axis] = stride;
    stride *= ShapedType::isDynamic(shape[axis]) ? kNominalRows : shape[axis];
  }
  return array;
}

SimtArrays kron::describeSimtArrays(FusedOp fused, const SimtChain &chain,
                                    unsigned first, unsigned end) {
  SimtArrays arrays;
  arrays.input = first == 0
                     ? getLikelyAccess(fused.getInputs().front(),
                                       fused.getInputPermutation().value_or(
                                           ArrayRef<int64_t>()))
                     : getBetween(chain, first);
  arrays.output = end == chain.products.size()
                      ? getLikelyAccess(fused.getInit(), {})
                      : getBetween(chain, end);
  return arrays;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

namespace {

class SimtCost {
public:
  SimtCost(const SimtArrays &arrays, SimtLaunch &launch, Type element,
           int64_t threads, const GPUMachine &machine);

  bool choose();
  KernelTime getTime() const;

private:
  bool chooseStep(unsigned index, double &clocks);
  double getStepClocks(unsigned index) const;
  bool hasRegisters(const SimtStep &step) const;
  double getLoadClocks() const;
  double getStoreClocks() const;
  double getPartClocks() const;
  double getMemoryClocks() const;
  double getExposed() const {
    return rates.exposed + (1 - rates.exposed) / double(launch.ctasPerSM);
  }
  double countInputSectors() const;

  const SimtArrays &arrays;
  SimtLaunch &launch;
  int64_t threads;
  const GPUMachine &machine;
  GPUResources resources;
  const SimtRates &rates;
  /// Real multiply-adds of a product, and how many an SM does per clock.
  double products = 1, productsPerClock;
};

} // namespace

SimtCost::SimtCost(const SimtArrays &arrays, SimtLaunch &launch, Type element,
                   int64_t threads, const GPUMachine &machine)
    : arrays(arrays), launch(launch), threads(threads), machine(machine),
      resources(machine), rates(getGPURates(machine).simt) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    products = 4;
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

double SimtCost::getStepClocks(unsigned index) const {
  const SimtStep &step = launch.steps[index];
  int64_t groups = llvm::divideCeil(getFibres(launch, index), step.fibres);
  int64_t turns = llvm::divideCeil(groups * step.getParts(), threads);
  double pairs = double(step.fibres) * step.block;
  double factorLoads = step.block;
  if (!step.isShared)
    factorLoads *= step.varies ? rates.variedFactor : rates.globalFactor;
  double multiplied = pairs * products * kLanes / productsPerClock;
  double loaded = GPUResources::getSharedClocks((step.fibres + factorLoads) *
                                                launch.elementBytes * kLanes);
  double issued = (pairs * products + step.fibres + factorLoads) / kIssued;
  double warps = llvm::divideCeil(groups * step.getParts(), int64_t(kLanes));
  double busy = warps * step.sizeK * std::max({multiplied, loaded, issued});
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

/// Of parts of sectors that results of a tile fill: lanes have neighbouring
/// elements of the tile, or fibres of a step that stores directly and then
/// parts of their results.
double SimtCost::getPartClocks() const {
  const AccessArray &output = arrays.output;
  SmallVector<unsigned> walk = getMemoryWalk(output);
  ArrayRef<int64_t> tile = launch.extents.back();
  const SimtStep &step = launch.steps.back();
  double lanes = kLanes, stored = 1, left;
  if (launch.directStore) {
    // Lanes follow the groups of fibres of a part, then those of the next one.
    llvm::erase(walk, step.axis);
    double groups =
        std::ceil(double(getFibres(launch, launch.steps.size() - 1)) /
                  double(step.fibres));
    lanes = groups / std::ceil(groups / kLanes);
  }
  SmallVector<AccessSpan> spans =
      getLaneSpans(walk, llvm::to_vector_of<double>(tile), output, lanes, left);
  if (launch.directStore)
    spans.push_back({std::min<double>(step.getParts(), kLanes / lanes),
                     step.block * output.strides[step.axis]});
  for (const AccessSpan &span : spans)
    stored *= span.extent;
  SmallVector<AccessSpan> all;
  for (auto [extent, stride] : llvm::zip_equal(tile, output.strides))
    all.push_back({double(extent), stride});
  return kron::getPartClocks(double(getTileElements(tile)) / stored *
                                 countParts(spans, output),
                             countParts(all, output), machine);
}

/// Of an SM's share of the memory's rate, of a tile.
double SimtCost::getMemoryClocks() const {
  double bytes = double(getTileElements(launch.extents.front())) *
                     double(arrays.input.bytes) +
                 double(getTileElements(launch.extents.back())) *
                     double(arrays.output.bytes);
  return resources.getMemorySeconds(bytes) / resources.getSMSeconds(1);
}

/// Sectors that the elements of a tile lie in.
double SimtCost::countInputSectors() const {
  SmallVector<AccessSpan> spans;
  for (auto [extent, stride] :
       llvm::zip_equal(launch.extents.front(), arrays.input.strides))
    spans.push_back({double(extent), stride});
  return countSegments(spans, arrays.input.bytes, kSectorBytes);
}

/// Chooses the numbers of a thread that add the least to the `clocks` of a tile
/// so far.
bool SimtCost::chooseStep(unsigned index, double &clocks) {
  SimtStep &step = launch.steps[index];
  int64_t fibres = getFibres(launch, index);
  std::optional<double> least;
  SimtStep best = step;
  int64_t most = step.varies ? 1 : std::min(fibres, kMostTried);
  bool stores = launch.directStore && index + 1 == launch.steps.size();
  double memory = getMemoryClocks(), before = clocks;
  for (int64_t block = std::min(step.sizeN, kMostTried); block > 0; --block)
    for (int64_t together = 1; together <= most; ++together) {
      step.block = block;
      step.fibres = together;
      if (!hasRegisters(step))
        continue;
      double busy = before + getStepClocks(index), all = busy;
      if (stores) {
        all = getOverlapSeconds(busy, memory, getExposed());
        // Parts of sectors only add to that.
        if (!least || all < *least)
          all = getOverlapSeconds(busy, memory + getPartClocks(), getExposed());
      }
      if (least && all >= *least)
        continue;
      least = all;
      best = step;
      clocks = busy;
    }
  step = best;
  return least.has_value();
}

/// Of the elements that come: the SM issues what loads and stores them, and
/// waits for some of a thread at once.
double SimtCost::getLoadClocks() const {
  double elements = getTileElements(launch.extents.front());
  double rounds = std::ceil(elements / double(threads * kSimtCopies));
  return std::max(rates.copyClocks * elements,
                  rounds * rates.loadWait / double(launch.ctasPerSM));
}

/// Of those that go.
double SimtCost::getStoreClocks() const {
  double elements = getTileElements(launch.extents.back());
  return (launch.directStore ? rates.storeClocks : rates.copyClocks) * elements;
}

KernelTime SimtCost::getTime() const {
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
  double clocks = getLoadClocks() + getStoreClocks();
  double multiplied = 0;
  for (unsigned index = 0; index < launch.steps.size(); ++index) {
    const SimtStep &step = launch.steps[index];
    clocks += getStepClocks(index);
    multiplied += double(getFibres(launch, index)) * double(step.sizeK) *
                  double(step.sizeN) * products / productsPerClock;
  }
  double resident = double(machine.numSMs) * launch.ctasPerSM;
  double turns = getWaves(tiles, resident) * launch.ctasPerSM;
  double bytes = positions * (inputs * double(arrays.input.bytes) +
                              results * double(arrays.output.bytes));
  KernelTime time;
  time.floor = machine.getCopySeconds(bytes);
  // Parts of sectors are read, or wait for the rest, before they are written.
  time.memory = resources.getMemorySeconds(bytes) +
                resources.getClockSeconds(tiles * getPartClocks());
  double onChip = std::max(
      resources.getSMSeconds(turns * clocks),
      resources.getCacheSeconds(tiles * countInputSectors() * kSectorBytes,
                                rates.cacheShare));
  time.arithmetic = resources.getClockSeconds(tiles * multiplied);
  time.shared = std::max(onChip - time.arithmetic, 0.0);
  time.total = resources.getLaunchSeconds() +
               getOverlapSeconds(onChip, time.memory, getExposed());
  return time;
}

bool SimtCost::choose() {
  double clocks = getLoadClocks();
  for (unsigned index = 0; index < launch.steps.size(); ++index)
    if (!chooseStep(index, clocks))
      return false;
  return true;
}

std::optional<double> kron::chooseSimtBlocks(const SimtArrays &arrays,
                                             SimtLaunch &launch, Type element,
                                             int64_t threads,
                                             const GPUMachine &machine) {
  SimtCost cost(arrays, launch, element, threads, machine);
  if (!cost.choose())
    return std::nullopt;
  return cost.getTime().total;
}

KernelTime kron::estimateSharedLaunch(const SimtArrays &arrays,
                                      const SimtLaunch &launch, Type element,
                                      int64_t threads,
                                      const GPUMachine &machine) {
  SimtLaunch described = launch;
  return SimtCost(arrays, described, element, threads, machine).getTime();
}
