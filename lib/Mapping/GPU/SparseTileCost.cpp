//===- SparseTileCost.cpp - Time of tiles with narrow accesses ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where rows start at no multiples of 16 bytes, copies of single elements, and
// stores of parts of sectors, keep an SM busy for longer than memory does. What
// that takes depends on how often a factor that is kept is read again, on how
// many warp groups have work, and on whether K steps wait for their data:
// clocks of the SM with the most tiles.
//
//===----------------------------------------------------------------------===//

#include "SparseSearch.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/Resources.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

bool kron::hasNarrowLoads(const SparseCandidate &plan) {
  return plan.loadUnit < plan.getAccess();
}

bool kron::hasNarrowAccesses(const SparseCandidate &plan) {
  return hasNarrowLoads(plan) || mayShareSparseStores(plan);
}

bool kron::isCounted(const SparseCandidate &plan) {
  return plan.element.isF64() || hasNarrowAccesses(plan);
}

//===----------------------------------------------------------------------===//
// K steps
//===----------------------------------------------------------------------===//

/// Clocks of an SM for what a K step copies of a row of the data, or of a
/// result of the factor, and for the chunks that are made of it.
static double getRowClocks(const SparseCandidate &plan, bool isFactor,
                           const GPUMachine &machine) {
  const GPURates &rates = getGPURates(machine);
  double clocks = rates.dense.clocksPerNarrowCopy;
  double elements = double(plan.stepK) * plan.getLanes();
  if (plan.copiesWhole(isFactor)) {
    tile::WholeRow whole = plan.getWholeRow(isFactor);
    // Where rows are neighbours, they share segments.
    double share = double(plan.countWholeRows(isFactor)) /
                   (isFactor ? plan.getResults() : plan.getPackedRows());
    return clocks * whole.segments * whole.pieces * share +
           rates.sparse.clocksPerChunk * elements / plan.getChunk();
  }
  int64_t unit = isFactor ? plan.factorUnit : plan.loadUnit;
  int64_t bytes = unit * (isFactor ? plan.factorBytes : plan.dataBytes);
  // Less than 4 bytes go through registers; what f64 that are neighbours wait
  // for is the second-level cache.
  if (bytes < kLeastAsyncBytes)
    clocks = rates.ragged.clocksPerElement16Bit;
  else if (isFactor ? plan.element.isF64() && plan.hasApartFactor
                    : plan.hasApartData)
    clocks = rates.sparse.clocksPerApartCopy;
  else if (plan.element.isF64() && !(isFactor && plan.turnsFactor))
    clocks = GPUResources(machine).getCacheClocks(
        bytes, rates.sparseEstimate.f64CacheShare);
  return elements / unit * clocks;
}

/// Clocks of an SM for the operands of a tile's K step: each warp loads those
/// of its rows and its results from shared memory.
static double getOperandClocks(const SparseCandidate &plan) {
  double rows = double(plan.getRows()) * plan.resultWarps;
  double results = double(plan.getResults()) * plan.rowWarps;
  return GPUResources::getSharedClocks(
      (rows * plan.dataBytes + results * plan.factorBytes) * plan.getLanes() *
      plan.stepK);
}

/// Clocks of an SM for the products of a tile's K step.
static double getProductClocks(const SparseCandidate &plan,
                               const GPUMachine &machine) {
  const SparseEstimateRates &rates = getGPURates(machine).sparseEstimate;
  F32Products ofF32 = plan.math != MmaMath::SplitTF32 ? F32Products::Single
                      : plan.has16BitResiduals() && !plan.usesWgmma
                          ? F32Products::SplitBF16
                          : F32Products::Split;
  bool sharesOperands = plan.usesWgmma && plan.math == MmaMath::SplitTF32;
  double perClock = GPUResources(machine).getMultiplyAddsPerClock(
      getMatrixMultiplication(plan.elementBytes, ofF32, plan.usesWgmma));
  double products =
      double(plan.getRows()) * plan.getResults() * plan.getLanes() * plan.stepK;
  if (plan.element.isF64())
    return products / perClock +
           rates.f64OperandExposedShare * getOperandClocks(plan);
  return products /
         ((sharesOperands ? rates.splitWarpgroupShare : rates.issueShare) *
          perClock);
}

/// Clocks of the K steps and stores of one tile of each warp group of an SM,
/// `ctas` of whose CTAs have one.
static double getTileClocks(const SparseCandidate &plan, int64_t ctas,
                            const GPUMachine &machine) {
  const GPURates &rates = getGPURates(machine);
  double copies =
      plan.getPackedRows() * getRowClocks(plan, /*isFactor=*/false, machine);
  if (!plan.keepsFactor)
    copies +=
        plan.getResults() * getRowClocks(plan, /*isFactor=*/true, machine);
  double products = getProductClocks(plan, machine);
  double groups = plan.warpGroups * ctas;
  // Nothing hides the copies of an SM's only group, unless they are few.
  bool hidesCopies = groups > 1 || (plan.usesWgmma && !hasNarrowLoads(plan));
  double busy =
      hidesCopies ? groups * std::max(copies, products) : copies + products;
  // The long instructions of f64 hide copies, but not a step's barrier and the
  // first operands behind it, half of which other warp groups hide.
  if (plan.element.isF64())
    busy = groups * std::max(copies, products) +
           rates.sparseEstimate.f64StepClocks * (groups + 1) / 2;
  double clocks = machine.clockMHz * 1e6;
  double latency = rates.sparseWgmma.copySeconds * clocks;
  // The copies of a single stage start when its products have ended.
  double waiting =
      plan.stages > 1 ? latency / (plan.stages - 1) : busy + latency;
  double stored = std::min(plan.getResults(), plan.sizeN);
  double perStore = getSparseStoreBytes(plan, machine) /
                    machine.copyBytesPerSecond * clocks * machine.numSMs;
  double stores = groups * plan.getRows() * stored * plan.getLanes() * perStore;
  return plan.stepsK * std::max(busy, waiting) + stores;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// How CTAs share out tiles whose factor is kept: segments of some blocks of
/// rows, as the kernel works them out.
struct Segments {
  Segments(const SparseCandidate &plan, const GPUMachine &machine);

  int64_t count, length;
};
} // namespace

Segments::Segments(const SparseCandidate &plan, const GPUMachine &machine) {
  int64_t tiles = getSparseTiles(plan), parts = plan.getTilesPerRows();
  int64_t blocks = tiles / parts;
  int64_t grid = std::min(tiles, machine.numSMs * plan.ctasPerSM);
  int64_t rounds = 1;
  if (plan.keptTiles)
    rounds = llvm::divideCeil(llvm::divideCeil(tiles, grid), plan.keptTiles);
  auto getLength = [&](int64_t rounds) {
    return int64_t(
        llvm::divideCeil(blocks, std::max<int64_t>(grid * rounds / parts, 1)));
  };
  length = getLength(rounds);
  int64_t shorter = getLength(rounds + 1);
  if (shorter * (rounds + 1) + 1 < length * rounds)
    length = shorter;
  count = llvm::divideCeil(blocks, length) * parts;
}

/// Clocks of the SM with the most tiles.
static double getBusyClocks(const SparseCandidate &plan,
                            const GPUMachine &machine) {
  int64_t resident = machine.numSMs * plan.ctasPerSM;
  // Of few tiles, an SM has no more than its share.
  auto countBusy = [&](int64_t count) {
    return std::min<int64_t>(plan.ctasPerSM,
                             llvm::divideCeil(count, machine.numSMs));
  };
  if (!plan.keepsFactor) {
    int64_t tiles = getSparseTiles(plan);
    return llvm::divideCeil(tiles, resident) *
           getTileClocks(plan, countBusy(tiles), machine);
  }
  Segments segments(plan, machine);
  int64_t busy = countBusy(segments.count);
  double tile = getTileClocks(plan, busy, machine);
  // Products wait until the factor is there, and its last copies have arrived.
  double kept =
      busy * plan.stepsK * plan.getResults() *
          getRowClocks(plan, /*isFactor=*/true, machine) +
      getGPURates(machine).sparseWgmma.copySeconds * machine.clockMHz * 1e6;
  return llvm::divideCeil(segments.count, resident) *
         (kept + llvm::divideCeil(segments.length, plan.warpGroups) * tile);
}

double kron::getWaitSeconds(const SparseCandidate &described,
                            const SparseConstraints &constraints,
                            const GPUMachine &machine) {
  // Pieces of the next tile are under way where the factor streams.
  if (!described.keepsFactor)
    return 0;
  SparseCandidate plan = described;
  finishSparseTile(plan, constraints, machine);
  Segments segments(plan, machine);
  double copy = getGPURates(machine).sparseWgmma.copySeconds;
  double tile = plan.stepsK * copy / (plan.stages - 1);
  return llvm::divideCeil(segments.count, machine.numSMs * plan.ctasPerSM) *
         (copy + llvm::divideCeil(segments.length, plan.warpGroups) * tile);
}

double kron::addFactorLoads(const SparseCandidate &described, double seconds,
                            const SparseConstraints &constraints,
                            const GPUMachine &machine) {
  if (!described.hasApartFactor || !described.keepsFactor)
    return seconds;
  SparseCandidate plan = described;
  finishSparseTile(plan, constraints, machine);
  Segments segments(plan, machine);
  double readings = double(segments.count) / plan.getTilesPerRows();
  double elements = double(plan.getDataFeatures()) * plan.sizeN * readings;
  const SparseRates &rates = getGPURates(machine).sparse;
  GPUResources resources(machine);
  double loads =
      resources.getCacheSeconds(elements * kSectorBytes, rates.cacheShare);
  // Copies have 4 bytes or more; less goes through registers.
  if (plan.factorBytes >= 4)
    loads = std::max(
        loads, resources.getClockSeconds(elements * rates.clocksPerApartCopy));
  // Other CTAs of an SM multiply meanwhile, but for the first segment of all.
  int64_t rounds =
      llvm::divideCeil(segments.count, machine.numSMs * plan.ctasPerSM);
  return std::max(seconds, loads) + std::min(seconds, loads) / rounds;
}

/// Bytes of sectors that contiguous segments of a tile's lanes touch, by the
/// bytes that it needs.
static double getSectorWaste(const SparseCandidate &plan) {
  if (plan.getLaneBlocks() == 1)
    return 1;
  double bytes = plan.getLanes() * plan.dataBytes;
  return (bytes + double(kSectorBytes) - plan.lanesPerChunk * plan.dataBytes) /
         bytes;
}

double kron::getNarrowSeconds(const SparseCandidate &described,
                              const SparseConstraints &constraints,
                              const GPUMachine &machine) {
  SparseCandidate plan = described;
  finishSparseTile(plan, constraints, machine);
  const SparseRates &rates = getGPURates(machine).sparse;
  double blocks = double(getSparseTiles(plan)) / plan.getTilesPerRows();
  double readings = plan.keepsFactor ? double(Segments(plan, machine).count) /
                                           plan.getTilesPerRows()
                                     : blocks;
  double rows = double(plan.nominalRows) * getSparseFreePositions(plan);
  double data = rows * plan.getDataFeatures() * plan.dataBytes;
  double results = rows * plan.getResultFeatures() * plan.elementBytes;
  double factor =
      double(plan.getDataFeatures()) * plan.sizeN * plan.factorBytes;
  double memory = data + results + factor;
  // Of a factor whose K is not innermost a tile takes an element of a sector.
  double factorWaste = double(std::min(plan.factorStride * plan.factorBytes,
                                       int64_t(kSectorBytes))) /
                       plan.factorBytes;
  if (plan.factorStride == 1)
    factorWaste = 1;
  double cached =
      (data * plan.getResultBlocks() + factor * readings * factorWaste) *
          getSectorWaste(plan) +
      results;
  GPUResources resources(machine);
  double moved = resources.getMemorySeconds(memory);
  double busy = resources.getSMSeconds(getBusyClocks(plan, machine));
  if (!plan.element.isF64())
    return std::max(
        {moved, resources.getCacheSeconds(cached, rates.cacheShare), busy});
  // While a warp group stores its results, only others multiply.
  const SparseEstimateRates &ofF64 = getGPURates(machine).sparseEstimate;
  return std::max(
      resources.getCacheSeconds(cached, ofF64.f64CacheShare),
      getOverlapSeconds(moved, busy,
                        ofF64.f64StoreExposedShare /
                            double(plan.ctasPerSM * plan.warpGroups)));
}
