//===- SimtDirect.cpp - Launches that load data directly ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where a factor varies along the innermost axis, lanes read what they multiply
// side by side in memory, and neither data nor factor are worth a way through
// shared memory. Fibres of a thread share what it loads of the factor, results
// what it loads of the data. Lanes that share out K make more threads of few
// results, and longer segments of short axes.
//
// Where it does not, and rows of results start within sectors, a thread's
// fibres are neighbours: their results go to memory together from where a
// sector begins, so that only the ends of rows are parts of one.
//
//===----------------------------------------------------------------------===//

#include "SimtDirect.h"
#include "SimtAccess.h"
#include "SimtCost.h"
#include "kron/Dialect/Tile/IR/TileLayout.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Machine/NominalSizes.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/Arrays.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// What the time of vectors counts as: plans whose estimates are nearer to that
/// of another one are as often slower.
static constexpr double kVectorShare = 1.1;

namespace {

/// Data or a factor: strides along the axes of the results, 0 along that of the
/// step, or of the results, and along K.
struct Operand : AccessArray {
  int64_t strideK = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

namespace {

/// Clocks of a step of k of a warp, steps of a turn, turns of a tile, and warps
/// of a CTA that have work.
struct DirectStep {
  double loaded = 0, multiplied = 0, issued = 0;
  double count = 0, turns = 0, warps = 0;
};

/// Clocks of an SM of a load of a warp.
struct DirectLoads {
  double data = 0, factor = 0;
};

class DirectCost {
public:
  DirectCost(FusedOp fused, const GPUMachine &machine);

  KernelTime getTime(const SimtLaunch &launch, int64_t threads,
                     const DirectLoads &loads) const;
  /// The same, or nothing where what is worked out first shows that it takes
  /// no less than `limit`.
  std::optional<KernelTime> getTimeBelow(double limit, const SimtLaunch &launch,
                                         int64_t threads,
                                         const DirectLoads &loads) const;
  double getStoreSeconds(const SimtLaunch &launch) const;
  /// The same for all tiles whose fibres are those of `launch`.
  DirectLoads getLoads(const SimtLaunch &launch) const;
  /// Axes of the results but for that of the step, the innermost one in memory
  /// first.
  ArrayRef<unsigned> getWalk() const { return walk; }
  int64_t getResultBytes() const { return output.bytes; }
  /// Positions by which a row may start behind a multiple of 32 bytes, but for
  /// those of a group of `fibres`.
  int64_t getVectorSlack(int64_t fibres) const {
    return kVectorRowBytes / output.bytes - fibres;
  }
  /// How many of these, of the first ones, are inside of the step's axis.
  size_t countInside(const SimtStep &step) const {
    return llvm::count_if(walk, [&](unsigned axis) {
      return output.strides[axis] < output.strides[step.axis];
    });
  }

private:
  DirectStep getStep(const SimtLaunch &launch, int64_t threads, double fibres,
                     const DirectLoads &loads) const;
  double getTileClocks(const SimtLaunch &launch, const DirectStep &step,
                       double ctas) const;
  double getBusyClocks(const SimtLaunch &launch, const DirectStep &step,
                       double tiles) const;
  SmallVector<AccessSpan> getLanes(const SimtLaunch &launch,
                                   const AccessArray &array,
                                   double &left) const;
  /// Groups of a thread's fibres on the axis that these are on.
  double countGroups(const SimtLaunch &launch) const {
    int64_t extent = launch.extents.back()[*launch.across];
    int64_t fibres = launch.steps.front().fibres;
    return launch.vectorStore
               ? double(countVectors(extent + getVectorSlack(fibres), fibres))
               : double(extent) / double(fibres);
  }
  double getVectorStoreClocks(const SimtLaunch &launch) const;
  double getStoreClocks(const SimtLaunch &launch) const;
  double countTile(const SimtLaunch &launch, const Operand &operand) const;
  double getLoadClocks(const SimtLaunch &launch, const Operand &operand) const;

  const GPUMachine &machine;
  GPUResources resources;
  const SimtRates &rates;
  const DirectRates &direct;
  Operand data, factor;
  AccessArray output;
  SmallVector<unsigned> walk;
  /// Real multiply-adds of a product, and how many an SM does per clock.
  double products = 1, productsPerClock;
};

} // namespace

DirectCost::DirectCost(FusedOp fused, const GPUMachine &machine)
    : machine(machine), resources(machine), rates(getGPURates(machine).simt),
      direct(getGPURates(machine).direct) {
  ModeProductOp product = fused.getModeProducts().front();
  Type element = getAccumulatorType(getElementType(fused.getInit()));
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    products = 4;
  }
  productsPerClock =
      rates.issueShare * resources.getMultiplyAddsPerClock(
                             getScalarMultiplication(element, machine));
  data = {getLikelyAccess(
      fused.getInputs().front(),
      fused.getInputPermutation().value_or(ArrayRef<int64_t>()))};
  std::swap(data.strideK, data.strides[product.getAxis()]);
  data.strides[product.getAxis()] = 0;
  Value weights = fused.getOperandOf(product.getFactor());
  AccessArray ofWeights = getLikelyAccess(weights, {});
  factor.bytes = ofWeights.bytes;
  factor.strides.assign(data.strides.size(), 0);
  for (auto [dim, axis] : llvm::enumerate(product.getFactorDims())) {
    bool isOne = cast<ShapedType>(weights.getType()).getDimSize(dim) == 1;
    if (int64_t(dim) == int64_t(product.getContractedFactorDim()))
      factor.strideK = ofWeights.strides[dim];
    else if (int64_t(dim) == int64_t(product.getResultingFactorDim()))
      factor.strides[product.getAxis()] = ofWeights.strides[dim];
    else if (axis >= 0 && !isOne)
      factor.strides[axis] = ofWeights.strides[dim];
  }
  output = getLikelyAccess(fused.getInit(), {});
  walk = getMemoryWalk(output);
  llvm::erase(walk, product.getAxis());
}

/// Positions of what lanes of a warp that share no K have of `operand`; how
/// many lanes are `left` for parts of the results.
SmallVector<AccessSpan> DirectCost::getLanes(const SimtLaunch &launch,
                                             const AccessArray &array,
                                             double &left) const {
  SmallVector<double> extents =
      llvm::to_vector_of<double>(launch.extents.front());
  AccessArray groups = array;
  if (launch.across)
    extents[*launch.across] = countGroups(launch);
  if (launch.vectorStore)
    groups.strides[*launch.across] *= launch.steps.front().fibres;
  return getLaneSpans(walk, extents, groups, kLanes / double(launch.lanesK),
                      left);
}

/// Parts of sectors of each result that threads store together: the ends of a
/// tile's rows.
double DirectCost::getVectorStoreClocks(const SimtLaunch &launch) const {
  unsigned inner = *launch.across;
  int64_t size = launch.after[inner], extent = launch.extents.back()[inner];
  int64_t row = std::min(size, extent);
  bool areWhole = row * output.bytes % kSectorBytes == 0, hasRest = false;
  for (auto [axis, stride] : llvm::enumerate(output.strides)) {
    areWhole &= axis == inner || stride * output.bytes % kSectorBytes == 0;
    // The same CTA stores the next row, which begins where this one ends.
    hasRest |= extent >= size && stride == size && axis != inner &&
               launch.extents.back()[axis] > 1;
  }
  double ends = areWhole ? 0 : 2 / double(row);
  return getPartClocks(ends, hasRest ? 0 : ends, machine);
}

/// Seconds that parts of sectors take of memory, of which lanes that store one
/// result each fill some together.
double DirectCost::getStoreSeconds(const SimtLaunch &launch) const {
  const SimtStep &step = launch.steps.front();
  double left, lanes = 1, results = 1;
  for (int64_t size : launch.after)
    results *= double(ShapedType::isDynamic(size) ? kNominalRows : size);
  if (launch.vectorStore)
    return resources.getClockSeconds(results * getVectorStoreClocks(launch));
  SmallVector<AccessSpan> spans = getLanes(launch, output, left);
  spans.push_back({std::min(double(step.getParts()), std::max(left, 1.0)),
                   step.block * output.strides[step.axis]});
  for (const AccessSpan &span : spans)
    lanes *= span.extent;
  SmallVector<AccessSpan> tile;
  for (auto [extent, stride] :
       llvm::zip_equal(launch.extents.back(), output.strides))
    tile.push_back({double(extent), stride});
  double clocks = getPartClocks(
      countParts(spans, output) / lanes,
      countParts(tile, output) / double(getTileElements(launch.extents.back())),
      machine);
  return resources.getClockSeconds(results * clocks);
}

/// Sectors that a tile needs.
double DirectCost::countTile(const SimtLaunch &launch,
                             const Operand &operand) const {
  SmallVector<AccessSpan> spans{
      {double(launch.steps.front().sizeK), operand.strideK}};
  for (auto [extent, stride] :
       llvm::zip_equal(launch.extents.front(), operand.strides))
    spans.push_back({double(extent), stride});
  return countSegments(spans, operand.bytes, kSectorBytes);
}

/// Clocks of an SM of a load of a warp, whose lanes may share out K.
double DirectCost::getLoadClocks(const SimtLaunch &launch,
                                 const Operand &operand) const {
  double left;
  SmallVector<AccessSpan> spans = getLanes(launch, operand, left);
  spans.push_back({double(launch.lanesK), operand.strideK});
  return kron::getLoadClocks(spans, operand.bytes, machine);
}

/// Clocks of an SM of a result of all fibres of a warp's threads.
double DirectCost::getStoreClocks(const SimtLaunch &launch) const {
  double fibres = double(launch.steps.front().fibres);
  if (!launch.vectorStore)
    return direct.storeClocks * fibres;
  return std::max(
      direct.storeClocks,
      resources.getCacheClocks(kLanes * fibres * double(output.bytes),
                               rates.cacheShare));
}

/// Of an SM that works on `ctas` tiles at once: warps load some steps of k,
/// wait for them, and multiply. The more warps, the better one's loads hide
/// another one's products.
double DirectCost::getTileClocks(const SimtLaunch &launch,
                                 const DirectStep &step, double ctas) const {
  const SimtStep &product = launch.steps.front();
  double warps = step.warps * ctas;
  double hidden = direct.overlap * std::min(1.0, warps / direct.overlapWarps);
  auto [less, more] =
      std::minmax(step.loaded, std::max(step.multiplied, step.issued));
  double stored = double(product.block) * getStoreClocks(launch);
  double blocks = std::ceil(step.count / double(getDirectUnrolled(launch)));
  double waiting = blocks * direct.wait;
  // Data are there once, and the factor is in the first-level cache.
  if (launch.keepsData())
    waiting = rates.sharedWait + direct.wait / product.getAlikeParts();
  return direct.startClocks +
         step.turns * (waiting + warps * stored +
                       warps * step.count * (more + less * (1 - hidden)));
}

/// Of the SM with the most tiles: those that all hold at once, and what is left
/// over.
double DirectCost::getBusyClocks(const SimtLaunch &launch,
                                 const DirectStep &step, double tiles) const {
  double sms = double(machine.numSMs), ctas = double(launch.ctasPerSM);
  double full = std::floor(tiles / (sms * ctas));
  double left = std::ceil((tiles - full * sms * ctas) / sms);
  double clocks = full * getTileClocks(launch, step, ctas);
  return left > 0 ? clocks + getTileClocks(launch, step, left) : clocks;
}

/// A step of k of a warp, and how many of them its turns in a tile have.
DirectStep DirectCost::getStep(const SimtLaunch &launch, int64_t threads,
                               double fibres, const DirectLoads &loads) const {
  const SimtStep &step = launch.steps.front();
  double pairs = double(step.fibres) * double(step.block) * products;
  bool converts = data.bytes < launch.elementBytes;
  double lanes = double(launch.lanesK);
  double groups = fibres / double(step.fibres);
  if (launch.vectorStore)
    groups = fibres / double(launch.extents.back()[*launch.across]) *
             countGroups(launch);
  double items = groups * double(step.getParts()) * lanes;
  DirectStep found;
  found.multiplied = pairs * kLanes / productsPerClock;
  double loadedData = double(step.fibres);
  // Those of all parts that lie alike, which are a thread's.
  if (launch.vectorStore)
    items /= step.getAlikeParts();
  if (launch.keepsData())
    loadedData /= step.getAlikeParts();
  double loaded = loadedData + double(step.block);
  found.loaded = loadedData * loads.data + double(step.block) * loads.factor;
  found.issued = (pairs + loaded * (converts ? 2 : 1)) / kIssued;
  found.turns = std::ceil(items / double(threads));
  if (launch.vectorStore)
    found.turns *= step.getAlikeParts();
  found.warps = std::ceil(std::min(items, double(threads)) / kLanes);
  found.count = std::ceil(double(step.sizeK) / lanes);
  return found;
}

DirectLoads DirectCost::getLoads(const SimtLaunch &launch) const {
  return {getLoadClocks(launch, data), getLoadClocks(launch, factor)};
}

KernelTime DirectCost::getTime(const SimtLaunch &launch, int64_t threads,
                               const DirectLoads &loads) const {
  return *getTimeBelow(std::numeric_limits<double>::infinity(), launch, threads,
                       loads);
}

std::optional<KernelTime>
DirectCost::getTimeBelow(double limit, const SimtLaunch &launch,
                         int64_t threads, const DirectLoads &loads) const {
  const SimtStep &step = launch.steps.front();
  double tiles = 1, inputs = double(step.sizeK), results = 1, weights = inputs;
  double fibres = 1;
  for (auto [axis, size] : llvm::enumerate(launch.after)) {
    double all = double(ShapedType::isDynamic(size) ? kNominalRows : size);
    double extent = double(launch.extents.front()[axis]);
    tiles *= std::ceil(all / extent);
    results *= all;
    if (axis != step.axis) {
      inputs *= all;
      fibres *= extent;
    }
    if (factor.strides[axis])
      weights *= all;
  }
  double bytes = inputs * double(data.bytes) + results * double(output.bytes);
  DirectStep found = getStep(launch, threads, fibres, loads);
  KernelTime time;
  time.memory =
      resources.getMemorySeconds(bytes + weights * double(factor.bytes));
  double onChip = resources.getSMSeconds(getBusyClocks(launch, found, tiles));
  // Data of vectors are waited for once, and then stores for nobody.
  double exposed = launch.vectorStore ? rates.exposed : direct.exposed;
  // What follows only adds to both.
  auto getTotal = [&] {
    return resources.getLaunchSeconds() +
           getOverlapSeconds(onChip, time.memory, exposed);
  };
  if (getTotal() >= limit)
    return std::nullopt;
  time.memory += getStoreSeconds(launch);
  if (getTotal() >= limit)
    return std::nullopt;
  // What threads of the same turn share, the first-level cache brings once;
  // what all turns of vectors do, too, where it has room beside other CTAs'.
  double ofData = countTile(launch, data), ofFactor = countTile(launch, factor);
  bool staysCached = launch.vectorStore && (ofData + ofFactor) * kSectorBytes *
                                                   double(launch.ctasPerSM) <=
                                               double(machine.sharedBytesPerSM);
  double cached = tiles * kSectorBytes *
                  (ofFactor + (staysCached ? 1 : found.turns) * ofData);
  onChip =
      std::max(onChip, resources.getCacheSeconds(cached, rates.cacheShare));
  time.floor = machine.getCopySeconds(bytes);
  time.arithmetic = resources.getClockSeconds(inputs * double(step.sizeN) *
                                              products / productsPerClock);
  time.shared = std::max(onChip - time.arithmetic, 0.0);
  time.total = getTotal();
  return time;
}

KernelTime kron::estimateDirectLaunch(FusedOp fused, const SimtLaunch &launch,
                                      int64_t threads,
                                      const GPUMachine &machine) {
  DirectCost cost(fused, machine);
  return cost.getTime(launch, threads, cost.getLoads(launch));
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// `size` in equal parts of up to `most`.
static int64_t getEqualParts(int64_t size, int64_t most) {
  return llvm::divideCeil(size,
                          llvm::divideCeil(size, std::max<int64_t>(most, 1)));
}

namespace {

class DirectSearch {
public:
  DirectSearch(FusedOp fused, const SimtChain &chain, int64_t ctasPerSM,
               const GPUMachine &machine)
      : machine(machine), tiles(getGPUTiles(machine).simt),
        cost(fused, machine), wantedCTAs(ctasPerSM),
        described(describeSimtLaunch(chain, 0, 1, tiles.factorBytes)) {
    described.directLoad = described.directStore = true;
    described.across = findAcross(described, described.after);
  }

  /// With fibres of a thread apart from each other, and as neighbours.
  void tryThreads(int64_t threads);
  void tryVectors(int64_t threads);

  std::optional<SimtLaunch> best;
  /// What counts for it when plans are compared.
  double bestSeconds = std::numeric_limits<double>::infinity();
  int64_t bestThreads = 0;

private:
  void tryTile(int64_t threads, int64_t lanesK, int64_t fibres, int64_t groups,
               size_t axes, int64_t room);
  void tryResults(SimtLaunch launch, int64_t threads, ArrayRef<int64_t> extents,
                  int64_t positions);
  void tryNeighbours(int64_t threads, int64_t fibres, int64_t room);
  void take(const SimtLaunch &launch, int64_t threads,
            const DirectLoads &loads);
  bool chooseResident(SimtLaunch &launch, int64_t threads) const;

  const GPUMachine &machine;
  const SimtTiles &tiles;
  DirectCost cost;
  int64_t wantedCTAs;
  SimtLaunch described;
  /// Extents, with one result, and fibres of the tiles that were tried with the
  /// threads, lanes that share out K and fibres of a thread at hand.
  SmallVector<std::pair<SmallVector<int64_t>, int64_t>> tried;
};

} // namespace

/// As many CTAs as there are registers for; whether there are any.
bool DirectSearch::chooseResident(SimtLaunch &launch, int64_t threads) const {
  const SimtStep &step = launch.steps.front();
  int64_t words = llvm::divideCeil(launch.elementBytes, 4);
  int64_t operands = step.fibres + step.block;
  // Sums, what is loaded, and where from.
  int64_t loaded = operands * getDirectUnrolled(launch);
  if (launch.keepsData())
    loaded = step.fibres * step.sizeK + step.block;
  int64_t registers = getGPURates(machine).simt.baseRegisters + 2 * operands +
                      words * (step.fibres * step.block + loaded);
  int64_t most =
      std::min(machine.maxThreadsPerSM / threads, machine.maxCTAsPerSM);
  for (int64_t ctas = wantedCTAs ? wantedCTAs : most; ctas > 0; --ctas) {
    launch.ctasPerSM = ctas;
    if (registers <= machine.getRegistersPerThread(threads, ctas))
      return true;
    if (wantedCTAs)
      break;
  }
  return false;
}

/// Tiles of `positions` fibres, or groups of them, with the results that occupy
/// all threads.
void DirectSearch::tryResults(SimtLaunch launch, int64_t threads,
                              ArrayRef<int64_t> extents, int64_t positions) {
  SimtStep &step = launch.steps.front();
  std::optional<DirectLoads> loads;
  for (int64_t block = 1; block <= std::min(step.sizeN, kSimtUnrolled);
       ++block) {
    int64_t parts = getEqualParts(llvm::divideCeil(step.sizeN, block),
                                  threads / (positions * launch.lanesK));
    SmallVector<int64_t> tile(extents);
    tile[step.axis] = std::min(parts * block, step.sizeN);
    if (launch.extents.empty() || launch.extents.front() != tile)
      setSimtTile(launch, tile);
    step.block = block;
    bool isAlong = step.fibres == 1 || launch.across == described.across;
    if (!isAlong || !chooseResident(launch, threads))
      continue;
    if (!loads)
      loads = cost.getLoads(launch);
    take(launch, threads, *loads);
  }
}

/// Takes `launch` if it is better than all before.
void DirectSearch::take(const SimtLaunch &launch, int64_t threads,
                        const DirectLoads &loads) {
  double share = launch.vectorStore ? kVectorShare : 1;
  std::optional<KernelTime> time =
      cost.getTimeBelow(bestSeconds / share, launch, threads, loads);
  if (!time || time->total * share >= bestSeconds)
    return;
  best = launch;
  bestSeconds = time->total * share;
  bestThreads = threads;
}

/// Tiles of fibres in the order of memory. With `groups`, a thread's `fibres`
/// are so many groups on their axis; else as many as fit `room` threads. Lanes
/// follow the first `axes`, then the results of a fibre.
void DirectSearch::tryTile(int64_t threads, int64_t lanesK, int64_t fibres,
                           int64_t groups, size_t axes, int64_t room) {
  SimtLaunch launch = described;
  launch.lanesK = lanesK;
  launch.steps.front().fibres = fibres;
  SmallVector<int64_t> extents(launch.after.size(), 1);
  int64_t left = room / lanesK, positions = 1;
  auto take = [&](unsigned axis, int64_t most, int64_t unit) {
    int64_t count =
        getEqualParts(llvm::divideCeil(launch.after[axis], unit), most);
    extents[axis] = count * unit;
    positions *= count;
    left /= count;
  };
  if (groups && described.across)
    take(*described.across, groups, fibres);
  if (groups > 1)
    left = room / lanesK;
  for (auto [number, axis] : llvm::enumerate(cost.getWalk())) {
    bool isAcross = described.across == axis;
    if (left > 0 && number < axes && !(isAcross && groups))
      take(axis, left, isAcross ? fibres : 1);
    else if (isAcross && !groups)
      take(axis, 1, fibres);
  }
  if (llvm::is_contained(tried, std::pair(extents, positions)))
    return;
  tried.emplace_back(extents, positions);
  tryResults(launch, threads, extents, positions);
}

void DirectSearch::tryThreads(int64_t threads) {
  int64_t rows = described.across ? described.after[*described.across] : 1;
  int64_t mostLanes = std::min<int64_t>(
      kLanes, llvm::bit_floor(uint64_t(described.steps.front().sizeK)));
  size_t all = cost.getWalk().size();
  size_t inside = cost.countInside(described.steps.front());
  for (int64_t lanesK = 1; lanesK <= mostLanes; lanesK *= 2)
    for (int64_t fibres = 1; fibres <= std::min(rows, kSimtUnrolled);
         ++fibres) {
      tried.clear();
      for (int64_t groups : {0, 1, 2, 4})
        for (int64_t room : {int64_t(kLanes), threads}) {
          tryTile(threads, lanesK, fibres, groups, all, room);
          if (inside < all)
            tryTile(threads, lanesK, fibres, groups, inside, room);
        }
    }
}

/// Tiles of rows of as many groups of `fibres` neighbours as fit `room`
/// threads, and of results in one turn of all threads or in several, which load
/// the same data.
void DirectSearch::tryNeighbours(int64_t threads, int64_t fibres,
                                 int64_t room) {
  SimtLaunch launch = described;
  launch.vectorStore = true;
  SimtStep &step = launch.steps.front();
  step.fibres = fibres;
  unsigned inner = *launch.vectorAxis;
  int64_t bytes = cost.getResultBytes();
  SmallVector<int64_t> extents(launch.after.size(), 1);
  int64_t count = getEqualParts(llvm::divideCeil(launch.after[inner], fibres),
                                room - kVectorRowBytes / (fibres * bytes));
  int64_t positions =
      countVectors(count * fibres + cost.getVectorSlack(fibres), fibres);
  extents[inner] = count * fibres;
  for (unsigned axis : cost.getWalk())
    if (int64_t left = room / positions; axis != inner && left > 1) {
      extents[axis] = getEqualParts(launch.after[axis], left);
      positions *= extents[axis];
    }
  for (int64_t block = 1; block <= std::min(step.sizeN, kSimtUnrolled); ++block)
    for (int64_t turns : {1, 4, 16}) {
      int64_t alike = launch.alikeStep;
      int64_t blocks =
          getEqualParts(llvm::divideCeil(step.sizeN, alike * block),
                        turns * threads / (positions * alike));
      SmallVector<int64_t> tile(extents);
      tile[step.axis] = std::min(blocks * alike * block, step.sizeN);
      setSimtTile(launch, tile);
      step.block = std::min(block, step.tileResults);
      if (chooseResident(launch, threads))
        take(launch, threads, cost.getLoads(launch));
    }
}

void DirectSearch::tryVectors(int64_t threads) {
  if (!described.vectorAxis)
    return;
  for (int64_t fibres = 2; fibres * cost.getResultBytes() <= kVectorBytes;
       fibres *= 2)
    for (int64_t room : {int64_t(kLanes), threads})
      tryNeighbours(threads, fibres, room);
}

std::optional<std::pair<SimtPlan, double>>
kron::planDirectLaunch(FusedOp fused, const SimtChain &chain, int64_t threads,
                       int64_t ctasPerSM, const GPUMachine &machine) {
  bool isOpen = llvm::is_contained(chain.shapes.back(), ShapedType::kDynamic);
  if (chain.products.size() != 1 || isOpen)
    return std::nullopt;
  bool varies =
      describeSimtLaunch(chain, 0, 1, /*factorBytes=*/0).steps.front().varies;
  const SimtTiles &tiles = getGPUTiles(machine).simt;
  DirectSearch search(fused, chain, ctasPerSM, machine);
  for (int64_t tried = tiles.leastThreads; tried <= tiles.mostThreads;
       tried *= 2)
    if (!threads || threads == tried) {
      if (varies)
        search.tryThreads(tried);
      search.tryVectors(tried);
    }
  if (!search.best)
    return std::nullopt;
  SimtPlan plan;
  plan.threads = search.bestThreads;
  plan.launches.push_back(*search.best);
  return std::pair(plan, search.bestSeconds);
}
