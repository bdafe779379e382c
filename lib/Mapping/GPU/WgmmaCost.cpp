//===- WgmmaCost.cpp - Times of wgmma kernels -----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Tiles of one array move the same bytes, in longer or shorter segments and
// with more or less of them under way, and multiply as much, with more or fewer
// blocks of 64 rows that are not full and warpgroups that have none.
//
//===----------------------------------------------------------------------===//

#include "WgmmaCost.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/Resources.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

static constexpr double kWarpgroupWarps = 4, kWarpThreads = 32;
/// Results of a row that lanes store together.
static constexpr double kStoredTogether = 16;
/// The same of a tile that lies as a transposed input does.
static constexpr double kStoredOfTurned = 8;

namespace {

class WgmmaCost {
public:
  WgmmaCost(const WgmmaPlan &plan, const Problem &problem,
            const GPUMachine &machine)
      : plan(plan), problem(problem), machine(machine), resources(machine),
        dense(getGPURates(machine).dense), rates(getGPURates(machine).wgmma) {}

  KernelTime getTime() const;

private:
  double getProductClocks(const WgmmaStep &step) const;
  double getBlockClocks(const WgmmaStep &step) const;
  double getTileClocks(double groups) const;
  double getNumTiles() const;
  int64_t getSegment(bool isResult) const;
  double getShareOf(int64_t elements) const;
  int64_t getTogether(bool isResult) const;
  bool loadsVectors() const;
  double getSingleSeconds(double groups) const;
  double getWordClocks() const;
  double getOrderSeconds(double groups) const;
  bool areShifted() const;
  double getPartSectors() const;
  double getLoadSeconds() const;
  double getStoreSeconds() const;

  /// Groups that an SM holds.
  double getGroups() const {
    return double(plan.ctasPerSM) * plan.getNumGroups();
  }
  /// Whether the last step makes room for the next tile, which takes vectors.
  bool refills() const {
    return plan.canRefill() && loadsVectors() &&
           getTogether(/*isResult=*/true) > 1;
  }
  /// Whether a group waits for its next tile with nothing else to do.
  bool waitsForTile() const {
    return plan.buffers == 1 && !refills() && !plan.segments;
  }

  const WgmmaPlan &plan;
  const Problem &problem;
  const GPUMachine &machine;
  GPUResources resources;
  const DenseRates &dense;
  const WgmmaRates &rates;
};

} // namespace

//===----------------------------------------------------------------------===//
// On chip
//===----------------------------------------------------------------------===//

/// Clocks of an SM for the products of a row.
double WgmmaCost::getProductClocks(const WgmmaStep &step) const {
  Multiplication by = getMatrixMultiplication(
      step.kind == WgmmaKind::Half ? 2 : 4,
      step.kind == WgmmaKind::Split ? F32Products::SplitBF16
                                    : F32Products::Single,
      /*usesWarpgroups=*/true);
  return double(step.paddedK) * step.paddedResults /
         (dense.issueShare * resources.getMultiplyAddsPerClock(by));
}

/// Clocks of an SM for a block of rows: products, and each element on its way
/// from shared memory and back.
double WgmmaCost::getBlockClocks(const WgmmaStep &step) const {
  bool isSplit = step.kind == WgmmaKind::Split;
  double products = getProductClocks(step);
  double moved = (rates.elementClocks + (isSplit ? rates.splitClocks : 0)) *
                 (step.sizeK + std::min(step.sizeN, step.paddedResults));
  return kWgmmaRows * (products + moved + rates.rowClocks);
}

/// The same for a tile while `groups` groups of an SM have one each. Where
/// there are fewer blocks than warpgroups, the others of a group are idle, and
/// so are the matrix units if few are left: each multiplies one block after the
/// other. At a group's barriers all are idle, unless there are other groups.
double WgmmaCost::getTileClocks(double groups) const {
  double clocks = 0;
  for (const WgmmaStep &step : plan.steps) {
    auto getTurnBlocks = [&](double together) {
      double warps = groups * together * kWarpgroupWarps;
      return together * std::max(rates.busyWarps / warps, 1.0);
    };
    int64_t turns = step.getBlocks() / plan.groupSize;
    int64_t rest = step.getBlocks() % plan.groupSize;
    double blocks = double(turns) * getTurnBlocks(double(plan.groupSize));
    if (rest > 0)
      blocks += getTurnBlocks(double(rest));
    clocks += blocks * getBlockClocks(step);
  }
  // In front of the first step, and behind each.
  if (plan.groupSize > 1)
    clocks += rates.barrierClocks * double(plan.steps.size() + 1) / groups;
  return clocks;
}

/// Of those that CTAs take, one for each share of a large factor.
double WgmmaCost::getNumTiles() const {
  double open = problem.getPositions(), openTile = 1;
  double tiles = plan.getShares();
  for (const WgmmaAxis &axis : plan.axes) {
    if (axis.step >= 0)
      continue;
    if (ShapedType::isDynamic(axis.after)) {
      openTile *= axis.tile;
      continue;
    }
    tiles *= llvm::divideCeil(axis.after, axis.tile);
    open /= axis.after;
  }
  return tiles * std::max(std::ceil(open / openTile), 1.0);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Elements of a tile, of input or result, that lie one after another from the
/// innermost axis on.
int64_t WgmmaCost::getSegment(bool isResult) const {
  if (isResult && plan.turn == WgmmaTurn::Columns)
    return plan.getResultAxis().tile;
  int64_t elements = 1;
  // Neighbours of the result lie along none of the rows that a tile turns.
  bool skipsRows = isResult && plan.turn == WgmmaTurn::Rows;
  for (const WgmmaAxis &axis :
       llvm::reverse(ArrayRef(plan.axes).drop_back(skipsRows))) {
    bool isContracted = axis.step >= 0;
    elements *= isContracted && isResult ? axis.after : axis.tile;
    if (!isContracted && axis.tile != axis.after)
      break;
  }
  return elements;
}

/// Part of the rate that segments of `elements` reach. Tiles that have no
/// longer ones fill shared memory.
double WgmmaCost::getShareOf(int64_t elements) const {
  return dense.copyShare *
         getSegmentShare(elements * problem.getElementBytes(),
                         {rates.halfLineShare, dense.fullTileSectorShare});
}

double WgmmaCost::getLoadSeconds() const {
  int64_t segment = getSegment(/*isResult=*/false);
  // Neighbours of an input whose axes are permuted lie along another one.
  for (const WgmmaAxis &axis : ArrayRef(plan.axes).drop_back())
    if (axis.isContiguous)
      segment = axis.tile;
  double underWay = getGroups() * (plan.buffers - 1) * plan.landing.getBytes();
  // All of them are on their way while a tile that was put in order is
  // multiplied.
  if (plan.segments)
    underWay = getGroups() * plan.getArrivingBytes();
  // With one buffer, the next tile comes as far as the second-level cache.
  else if (plan.buffers == 1)
    underWay = refills() ? rates.refilledBytes : rates.singleBytes;
  return resources.getMemorySeconds(problem.inputElements *
                                        problem.getElementBytes(),
                                    getShareOf(segment)) *
         getUnderWayFactor(underWay, rates.busyBytes, rates.idleFactor);
}

/// Whether results of a row go to where 16 bytes start, shifted along the lanes
/// that have it.
bool WgmmaCost::areShifted() const {
  bool mayShift = plan.pieces > 1 ||
                  (plan.landing.elementBytes == 2 && plan.steps.size() == 1);
  return mayShift && plan.turn == WgmmaTurn::None &&
         plan.steps.back().innermost && !problem.readsAddend;
}

/// Parts of sectors that stores fill: both ends of what lanes store side by
/// side, where rows do not start where sectors do.
double WgmmaCost::getPartSectors() const {
  double bytes = problem.getElementBytes();
  const WgmmaAxis &axis = plan.getResultAxis();
  auto isWhole = [&](int64_t size) {
    return ShapedType::isDynamic(size) ||
           std::fmod(double(size) * bytes, double(kSectorBytes)) == 0;
  };
  if (plan.turn == WgmmaTurn::Columns ||
      (isWhole(axis.after) && (axis.step >= 0 || isWhole(axis.tile))))
    return 0;
  bool isSingle = getTogether(/*isResult=*/true) == 1;
  // Lanes have two neighbours each, which go one after the other from
  // registers.
  if (plan.turn == WgmmaTurn::Rows && isSingle && plan.pieces > 1)
    return 2 * problem.outputElements / kStoredOfTurned;
  bool goThrough =
      plan.sharedStore || (plan.pieces == 1 && !areShifted() && isSingle);
  double together = goThrough ? kWarpThreads : kStoredTogether;
  together = std::min(together, double(getSegment(/*isResult=*/true)));
  // Lanes that have no neighbours store each of theirs alone.
  if (!goThrough && !areShifted() && isSingle)
    together /= 2;
  return 2 * problem.outputElements / together;
}

double WgmmaCost::getStoreSeconds() const {
  double read = problem.inputElements * problem.getElementBytes();
  double memory =
      resources.getMemorySeconds(problem.getMemoryBytes() - read,
                                 getShareOf(getSegment(/*isResult=*/true)));
  return std::max(memory, resources.getClockSeconds(
                              getPartSectors() /
                              getGPURates(machine).sparse.partSectorsPerClock));
}

/// Elements of input or results that go together, as far as sizes allow it.
int64_t WgmmaCost::getTogether(bool isResult) const {
  const WgmmaAxis &last = isResult ? plan.getResultAxis() : plan.axes.back();
  bool isTurned = isResult && plan.turn != WgmmaTurn::None;
  int64_t bytes = isTurned ? kWgmmaTurnedBytes : kWgmmaVectorBytes;
  int64_t size = isResult ? last.after : last.before;
  if (!isResult && !last.isContiguous)
    return 1;
  int64_t together = bytes / problem.getElementBytes();
  // A lane's four results along the innermost dimension go together or one by
  // one, where these need no way through shared memory.
  bool isWholeOnly = isResult && !isTurned && plan.steps.back().innermost &&
                     (problem.getElementBytes() == 4 || plan.steps.size() == 1);
  if (isWholeOnly)
    together = std::min<int64_t>(together, kWgmmaLaneResults);
  int64_t step = isWholeOnly ? together : 2;
  while ((!ShapedType::isDynamic(size) && size % together != 0) ||
         (last.step < 0 && last.tile % together != 0))
    together /= step;
  return together;
}

bool WgmmaCost::loadsVectors() const {
  return getTogether(/*isResult=*/false) * problem.getElementBytes() ==
         kWgmmaVectorBytes;
}

/// Clocks of an SM for the elements of f32 of whole tiles that are copied by
/// less than 16 bytes, and for results that go one by one through shared
/// memory; and for the ends of what is a segment in memory.
double WgmmaCost::getWordClocks() const {
  double clocks = 0;
  bool isTurned = !plan.axes.back().isContiguous &&
                  llvm::any_of(plan.axes, [](const WgmmaAxis &axis) {
                    return axis.isContiguous;
                  });
  if (isTurned)
    clocks += problem.inputElements * rates.turnedCopyClocks;
  else if (!loadsVectors())
    clocks += problem.inputElements *
              (rates.wordClocks / double(getTogether(/*isResult=*/false)) +
               rates.segmentClocks / double(getSegment(/*isResult=*/false)));
  if (getTogether(/*isResult=*/true) == 1)
    clocks += problem.outputElements *
              (rates.wordClocks +
               rates.segmentClocks / double(getSegment(/*isResult=*/true)));
  return clocks;
}

/// What it takes to move elements that go alone, through registers, or in order
/// through shared memory, while as many groups of an SM as that have a tile.
double WgmmaCost::getOrderSeconds(double groups) const {
  const RaggedRates &ragged = getGPURates(machine).ragged;
  // Few warps hide less of what an element waits for.
  double hidden = std::min(groups * double(plan.groupSize) * kWarpgroupWarps /
                               ragged.dense16BitWarps,
                           1.0);
  if (plan.landing.elementBytes != 2)
    return resources.getClockSeconds(getWordClocks()) / hidden;
  double load = 0, store = 0;
  if (plan.segments)
    load = ragged.clocksPerSpread16Bit;
  else if (!plan.axes.back().isContiguous)
    load = ragged.clocksPerTurnedLoad16Bit;
  else if (getTogether(/*isResult=*/false) == 1)
    load = ragged.clocksPerLoad16Bit;
  bool isSingle = getTogether(/*isResult=*/true) == 1;
  if (plan.sharedStore || (isSingle && plan.steps.size() > 1))
    store = ragged.clocksPerSharedStore16Bit;
  else if (isSingle && !areShifted())
    store = ragged.clocksPerStore16Bit;
  return resources.getClockSeconds(plan.getShares() * problem.inputElements *
                                       load +
                                   problem.outputElements * store) /
         hidden;
}

/// What single elements take where tiles come in pieces: their copies, of each
/// share of a large factor, and results that go from registers to parts of
/// sectors: not those that the lanes of a row shift.
double WgmmaCost::getSingleSeconds(double groups) const {
  if (plan.pieces == 1)
    return getOrderSeconds(groups);
  double clocks = 0;
  // Lanes of a warp copy rows of a piece, which may be shorter.
  int64_t row = plan.axes.back().step < 0 ? plan.axes.back().tile : plan.pieceK;
  if (!loadsVectors())
    clocks += plan.getShares() * problem.inputElements /
              double(getTogether(/*isResult=*/false)) * rates.narrowCopyClocks *
              std::max(kWarpThreads / double(row), 1.0);
  if (getTogether(/*isResult=*/true) == 1 && !areShifted())
    clocks += problem.outputElements * rates.singleStoreClocks;
  return resources.getClockSeconds(clocks);
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

KernelTime WgmmaCost::getTime() const {
  KernelTime time;
  time.floor = machine.getCopySeconds(problem.getMemoryBytes());
  double tiles = getNumTiles();
  double most =
      getMostTiles(tiles, machine.numSMs, machine.numSMs * getGroups());
  double groups = std::min(most, getGroups());
  double busy = resources.getSMSeconds(most * getTileClocks(groups));
  if (waitsForTile())
    busy += resources.getCacheSeconds(problem.inputElements *
                                      problem.getElementBytes()) /
            getGroups();
  // Nothing is hidden of an SM's first tile, or piece of it, on its way in and
  // of its last one on the way out.
  double ends = std::min(machine.numSMs / tiles, 1.0) / plan.pieces;
  // CTAs that share the columns of a factor read the input once each.
  if (plan.getShares() > 1)
    busy = getOverlapSeconds(
        busy,
        resources.getCacheSeconds(plan.getShares() * problem.inputElements *
                                  problem.getElementBytes()),
        rates.exposedShare);
  busy += getSingleSeconds(groups);
  double products = 0;
  for (const WgmmaStep &step : plan.steps)
    products += double(step.getBlocks()) * kWgmmaRows * getProductClocks(step);
  time.memory = getLoadSeconds() + getStoreSeconds();
  time.arithmetic = std::min(resources.getClockSeconds(tiles * products), busy);
  time.shared = busy - time.arithmetic;
  time.total = resources.getLaunchSeconds() +
               getOverlapSeconds(busy, time.memory,
                                 std::min(rates.exposedShare + ends, 1.0));
  return time;
}

KernelTime kron::estimateWgmmaTime(const WgmmaPlan &plan,
                                   const Problem &problem,
                                   const GPUMachine &machine) {
  return WgmmaCost(plan, problem, machine).getTime();
}
