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
// Where it does not, lanes read the data side by side all the same, along rows
// of results or along K, and the factor is in the first-level cache. Where rows
// of results start within sectors, a thread's fibres may be neighbours: their
// results go to memory together from where a sector begins, so that only the
// ends of rows are parts of one.
//
//===----------------------------------------------------------------------===//

#include "SimtDirect.h"
#include "SimtCost.h"
#include "SimtDirectCost.h"
#include "kron/Machine/GPUTiles.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

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
  std::optional<KernelTime> time =
      cost.getTimeBelow(bestSeconds, launch, threads, loads);
  if (!time || time->total >= bestSeconds)
    return;
  best = launch;
  bestSeconds = time->total;
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
  const SimtTiles &tiles = getGPUTiles(machine).simt;
  DirectSearch search(fused, chain, ctasPerSM, machine);
  for (int64_t tried = tiles.leastThreads; tried <= tiles.mostThreads;
       tried *= 2)
    if (!threads || threads == tried) {
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
