//===- SimtDirectCost.cpp - Times of launches that load directly -*- C++
//-*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SimtDirectCost.h"
#include "SimtDirect.h"
#include "kron/Machine/NominalSizes.h"
#include "kron/Plan/Arrays.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Of what parts of sectors take by way of shared memory, where fibres of a
/// thread lie along the rows of the results: other warps fill the rest later.
static constexpr double kRowPartFactor = 1.5;

DirectCost::DirectCost(FusedOp fused, const GPUMachine &machine)
    : machine(machine), resources(machine), rates(getGPURates(machine).simt),
      direct(getGPURates(machine).direct),
      products(getAccumulatorType(getElementType(fused.getInit())), machine) {
  ModeProductOp product = fused.getModeProducts().front();
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
  bool areNext = !launch.across ||
                 output.strides[*launch.across] > output.strides[step.axis];
  return resources.getClockSeconds(
      (areNext ? direct.nextPartFactor : kRowPartFactor) * results * clocks);
}

/// Sectors that a tile needs.
double DirectCost::countTile(const SimtLaunch &launch,
                             const DirectOperand &operand) const {
  SmallVector<AccessSpan> spans{
      {double(launch.steps.front().sizeK), operand.strideK}};
  for (auto [extent, stride] :
       llvm::zip_equal(launch.extents.front(), operand.strides))
    spans.push_back({double(extent), stride});
  return countSegments(spans, operand.bytes, kSectorBytes);
}

/// Clocks of an SM of a load of a warp, whose lanes may share out K.
double DirectCost::getLoadClocks(const SimtLaunch &launch,
                                 const DirectOperand &operand) const {
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
         step.turns * (waiting + warps * (stored + step.reduced) +
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
  double pairs = double(step.fibres) * double(step.block) * products.number;
  bool converts = data.bytes < launch.elementBytes;
  double lanes = double(launch.lanesK);
  double groups = fibres / double(step.fibres);
  if (launch.vectorStore)
    groups = fibres / double(launch.extents.back()[*launch.across]) *
             countGroups(launch);
  double items = groups * double(step.getParts()) * lanes;
  DirectStep found;
  found.multiplied = pairs * kLanes / products.perClock;
  double loadedData = double(step.fibres);
  // Those of all parts that lie alike, which are a thread's.
  if (launch.vectorStore)
    items /= step.getAlikeParts();
  if (launch.keepsData())
    loadedData /= step.getAlikeParts();
  double loaded = loadedData + double(step.block);
  found.loaded = loadedData * loads.data + double(step.block) * loads.factor;
  found.issued =
      (pairs + loaded * (converts ? 2 : 1)) / (kIssued * direct.issueShare);
  found.turns = std::ceil(items / double(threads));
  if (launch.vectorStore)
    found.turns *= step.getAlikeParts();
  found.warps = std::ceil(std::min(items, double(threads)) / kLanes);
  found.count = std::ceil(double(step.sizeK) / lanes);
  // An SM shuffles a word of each lane of a warp per clock.
  found.reduced = pairs * std::log2(lanes) *
                  double(llvm::divideCeil(launch.elementBytes, 4));
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
  time.arithmetic = resources.getClockSeconds(
      inputs * double(step.sizeN) * products.number / products.perClock);
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
