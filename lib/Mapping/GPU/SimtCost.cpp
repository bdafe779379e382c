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
#include "kron/Machine/NominalSizes.h"
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
  for (ModeProductOp product :
       ArrayRef(chain.products).slice(first, end - first)) {
    AccessArray factor =
        getLikelyAccess(fused.getOperandOf(product.getFactor()), {});
    factor.strides = {factor.strides[product.getResultingFactorDim()]};
    arrays.factors.push_back(factor);
  }
  return arrays;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Positions of a tile of `extents` in `array`.
static SmallVector<AccessSpan> getSpans(ArrayRef<int64_t> extents,
                                        const AccessArray &array) {
  SmallVector<AccessSpan> spans;
  for (auto [extent, stride] : llvm::zip_equal(extents, array.strides))
    spans.push_back({double(extent), stride});
  return spans;
}

SimtProducts::SimtProducts(Type element, const GPUMachine &machine) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    number = 4;
  }
  perClock = getGPURates(machine).simt.issueShare *
             GPUResources(machine).getMultiplyAddsPerClock(
                 getScalarMultiplication(element, machine));
}

SimtCost::SimtCost(const SimtArrays &arrays, const SimtLaunch &launch,
                   Type element, const GPUMachine &machine)
    : machine(machine), resources(machine), rates(getGPURates(machine).simt),
      products(element, machine), output(arrays.output),
      factors(arrays.factors), walk(getMemoryWalk(arrays.output)),
      extents(llvm::to_vector_of<double>(launch.extents.back())),
      loaded(double(getTileElements(launch.extents.front()))),
      stored(double(getTileElements(launch.extents.back()))) {
  for (unsigned index = 0; index < launch.steps.size(); ++index)
    fibres.push_back(getFibres(launch, index));
  inputSectors = countSegments(getSpans(launch.extents.front(), arrays.input),
                               arrays.input.bytes, kSectorBytes);
  edgeParts = countParts(getSpans(launch.extents.back(), output), output);
  memoryClocks =
      resources.getMemorySeconds(loaded * double(arrays.input.bytes) +
                                 stored * double(output.bytes)) /
      resources.getSMSeconds(1);
  double positions = 1, inputs = 1, results = 1;
  tiles = 1;
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
  bytes = positions * (inputs * double(arrays.input.bytes) +
                       results * double(output.bytes));
}

double SimtCost::getExposed(const SimtLaunch &launch) const {
  return rates.exposed + (1 - rates.exposed) / double(launch.ctasPerSM);
}

/// Registers that a thread needs to hold what it multiplies: sums, and the
/// operands of this and the next step of k.
static int64_t countRegisters(const SimtStep &step, int64_t elementBytes,
                              const SimtRates &rates) {
  int64_t words = llvm::divideCeil(elementBytes, 4);
  int64_t values = step.fibres * step.block + 2 * (step.fibres + step.block);
  return values * words + step.fibres * rates.fibreRegisters +
         rates.baseRegisters;
}

/// Of a warp's loads of a step of k of a factor in global memory: lanes of
/// different parts of the results read lines of their own where those are far
/// apart.
double SimtCost::getFactorClocks(const SimtLaunch &launch,
                                 unsigned index) const {
  const SimtStep &step = launch.steps[index];
  double groups = std::ceil(double(fibres[index]) / double(step.fibres));
  double lanes = groups / std::ceil(groups / kLanes);
  AccessSpan parts{std::min<double>(step.getParts(), kLanes / lanes),
                   step.block * factors[index].strides.front()};
  return double(step.block) *
         kron::getLoadClocks({parts}, factors[index].bytes, machine);
}

double SimtCost::getStepClocks(const SimtLaunch &launch, unsigned index,
                               int64_t threads) const {
  const SimtStep &step = launch.steps[index];
  int64_t groups = llvm::divideCeil(fibres[index], step.fibres);
  int64_t turns = llvm::divideCeil(groups * step.getParts(), threads);
  double pairs = double(step.fibres) * step.block;
  double factorLoads = step.block;
  if (!step.isShared)
    factorLoads *= step.varies ? rates.variedFactor : rates.globalFactor;
  double multiplied = pairs * products.number * kLanes / products.perClock;
  double loaded = GPUResources::getSharedClocks((step.fibres + factorLoads) *
                                                launch.elementBytes * kLanes);
  if (!step.isShared && !step.varies)
    loaded = std::max(loaded,
                      GPUResources::getSharedClocks(
                          double(step.fibres) * launch.elementBytes * kLanes) +
                          getFactorClocks(launch, index));
  double issued =
      (pairs * products.number + step.fibres + factorLoads) / kIssued;
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

double SimtCost::workOutPartClocks(const SimtLaunch &launch) const {
  SmallVector<unsigned> order = walk;
  const SimtStep &step = launch.steps.back();
  double lanes = kLanes, together = 1, left;
  bool startsAnywhere = false;
  if (launch.directStore) {
    // Lanes follow the groups of fibres of a part, then those of the next one.
    llvm::erase(order, step.axis);
    double groups = std::ceil(double(fibres.back()) / double(step.fibres));
    lanes = groups / std::ceil(groups / kLanes);
    startsAnywhere =
        startAnywhere(groups, step.fibres, step.getParts(), output);
  }
  SmallVector<AccessSpan> spans =
      getLaneSpans(order, extents, output, lanes, left);
  if (launch.directStore)
    spans.push_back({std::min<double>(step.getParts(), kLanes / lanes),
                     step.block * output.strides[step.axis]});
  for (const AccessSpan &span : spans)
    together *= span.extent;
  return kron::getPartClocks(stored / together *
                                 countParts(spans, output, startsAnywhere),
                             edgeParts, machine);
}

/// Of parts of sectors that results of a tile fill: lanes have neighbouring
/// elements of the tile, or fibres of a step that stores directly and then
/// parts of their results.
double SimtCost::getPartClocks(const SimtLaunch &launch) const {
  const SimtStep &step = launch.steps.back();
  std::pair<int64_t, int64_t> key(0, 0);
  if (launch.directStore)
    key = {step.fibres, step.block};
  auto [found, isNew] = partClocks.try_emplace(key, 0.0);
  if (isNew)
    found->second = workOutPartClocks(launch);
  return found->second;
}

/// Chooses the numbers of a thread that add the least to the `clocks` of a tile
/// so far.
bool SimtCost::chooseStep(SimtLaunch &launch, unsigned index, int64_t threads,
                          double &clocks) const {
  SimtStep &step = launch.steps[index];
  std::optional<double> least;
  SimtStep best = step;
  int64_t most = step.varies ? 1 : std::min(fibres[index], kMostTried);
  int64_t registers = machine.getRegistersPerThread(threads, launch.ctasPerSM);
  bool stores = launch.directStore && index + 1 == launch.steps.size();
  double exposed = getExposed(launch), before = clocks;
  for (int64_t block = std::min(step.sizeN, kMostTried); block > 0; --block)
    for (int64_t together = 1; together <= most; ++together) {
      step.block = block;
      step.fibres = together;
      if (countRegisters(step, launch.elementBytes, rates) > registers)
        continue;
      double busy = before + getStepClocks(launch, index, threads), all = busy;
      if (stores) {
        all = getOverlapSeconds(busy, memoryClocks, exposed);
        // Parts of sectors only add to that.
        if (!least || all < *least)
          all = getOverlapSeconds(busy, memoryClocks + getPartClocks(launch),
                                  exposed);
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
double SimtCost::getLoadClocks(const SimtLaunch &launch,
                               int64_t threads) const {
  double rounds = std::ceil(loaded / double(threads * kSimtCopies));
  return std::max(rates.copyClocks * loaded,
                  rounds * rates.loadWait / double(launch.ctasPerSM));
}

/// Of those and the ones that go.
double SimtCost::getMoveClocks(const SimtLaunch &launch,
                               int64_t threads) const {
  return getLoadClocks(launch, threads) +
         (launch.directStore ? rates.storeClocks : rates.copyClocks) * stored;
}

/// On the chip: with `clocks` of a tile.
double SimtCost::getChipSeconds(const SimtLaunch &launch, double clocks) const {
  double resident = double(machine.numSMs) * launch.ctasPerSM;
  double turns = getWaves(tiles, resident) * launch.ctasPerSM;
  return std::max(resources.getSMSeconds(turns * clocks),
                  resources.getCacheSeconds(tiles * inputSectors * kSectorBytes,
                                            rates.cacheShare));
}

/// Of a launch that takes `chip` on the chip and `memory` of the memory.
double SimtCost::getTotal(const SimtLaunch &launch, double chip,
                          double memory) const {
  return resources.getLaunchSeconds() +
         getOverlapSeconds(chip, memory, getExposed(launch));
}

KernelTime SimtCost::getTime(const SimtLaunch &launch, int64_t threads) const {
  double clocks = getMoveClocks(launch, threads), multiplied = 0;
  for (unsigned index = 0; index < launch.steps.size(); ++index) {
    const SimtStep &step = launch.steps[index];
    clocks += getStepClocks(launch, index, threads);
    multiplied += double(fibres[index]) * double(step.sizeK) *
                  double(step.sizeN) * products.number / products.perClock;
  }
  KernelTime time;
  time.floor = machine.getCopySeconds(bytes);
  // Parts of sectors are read, or wait for the rest, before they are written.
  time.memory = resources.getMemorySeconds(bytes) +
                resources.getClockSeconds(tiles * getPartClocks(launch));
  double chip = getChipSeconds(launch, clocks);
  time.arithmetic = resources.getClockSeconds(tiles * multiplied);
  time.shared = std::max(chip - time.arithmetic, 0.0);
  time.total = getTotal(launch, chip, time.memory);
  return time;
}

std::optional<double> SimtCost::choose(SimtLaunch &launch, int64_t threads,
                                       double limit) const {
  // Steps and parts of sectors only add to that.
  if (getTotal(launch, getChipSeconds(launch, getMoveClocks(launch, threads)),
               resources.getMemorySeconds(bytes)) >= limit)
    return std::nullopt;
  double clocks = getLoadClocks(launch, threads);
  for (unsigned index = 0; index < launch.steps.size(); ++index)
    if (!chooseStep(launch, index, threads, clocks))
      return std::nullopt;
  return getTime(launch, threads).total;
}

KernelTime kron::estimateSharedLaunch(const SimtArrays &arrays,
                                      const SimtLaunch &launch, Type element,
                                      int64_t threads,
                                      const GPUMachine &machine) {
  return SimtCost(arrays, launch, element, machine).getTime(launch, threads);
}
