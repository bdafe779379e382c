//===- RegisterTiles.cpp - Rows and vectors of register tiles ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "RegisterTiles.h"
#include <limits>

using namespace mlir;
using namespace mlir::kron;

/// Issue slots of loading what takes `bytes` and is loaded again and again,
/// while as many others go by: half of the first-level cache keeps all of it,
/// and more of it is gone each time until it takes all of that cache.
static double getLoadSlots(int64_t bytes, int64_t l1Bytes,
                           double farLoadSlots) {
  double gone =
      l1Bytes ? std::clamp(2 * double(bytes) / l1Bytes - 1, 0.0, 1.0) : 1;
  return 1 + gone * (farLoadSlots - 1);
}

namespace {
/// What blocks of registers cost.
struct BlockCosts {
  /// 2 for complex numbers, which take each part of A.
  int64_t parts;
  /// Multiply-adds that hide each other's latency.
  int64_t inFlight;
  /// Bytes of the first-level cache, and those that a vector side by side takes
  /// of it for all of a sum, of which every block of rows loads it anew.
  int64_t l1Bytes;
  int64_t vectorBytes;
  /// Issue slots of a load of what has left that cache.
  double farLoadSlots;
  /// Issue slots of each step of p that a row takes to load its operand, and
  /// for its results.
  double rowLoadSlots;
  double rowSlots;

  /// Issue slots of one step of p, a multiply-add or a load each: FMAs, loads,
  /// or the FMA latency, whichever is most. Where rows take slots, far loads
  /// compete with their stores for lines.
  double getBlockCost(int64_t rows, int64_t vectors) const {
    double loads =
        vectors * getLoadSlots(vectors * vectorBytes, l1Bytes, farLoadSlots);
    double stores = rowSlots ? rowSlots * rows + loads - vectors : 0;
    return std::max({double(parts * rows * vectors),
                     parts * rows * rowLoadSlots + loads, double(inFlight)}) +
           1 + stores;
  }
  double getCoverCost(int64_t total, int64_t vectorTotal, int64_t rows,
                      int64_t vectors) const;
};
} // namespace

/// Cost of covering `total` x `vectorTotal` with blocks of `rows` x `vectors`.
double BlockCosts::getCoverCost(int64_t total, int64_t vectorTotal,
                                int64_t rows, int64_t vectors) const {
  int64_t fullRows = total / rows, remainingRows = total % rows;
  int64_t fullVectors = vectorTotal / vectors,
          remainingVectors = vectorTotal % vectors;
  double cost = fullRows * fullVectors * getBlockCost(rows, vectors);
  if (remainingRows)
    cost += fullVectors * getBlockCost(remainingRows, vectors);
  if (remainingVectors)
    cost += fullRows * getBlockCost(rows, remainingVectors);
  if (remainingRows && remainingVectors)
    cost += getBlockCost(remainingRows, remainingVectors);
  // Every further kind of block is code of its own: worth it only for a clear
  // win.
  int64_t kinds = (remainingRows ? 2 : 1) * (remainingVectors ? 2 : 1);
  return cost * (kCPURates.costOfOneKind + kinds);
}

/// Whether a mask stays in a register beside the accumulators, the rows'
/// operand and a vector of the other. Of more rows than vectors only the mask
/// is loaded anew, of fewer accumulators are, too.
static bool holdsMask(int64_t rows, int64_t vectors, int64_t vectorBits) {
  // AVX-512 has other registers for masks.
  return vectorBits == 512 || rows >= vectors ||
         rows * vectors + rows + 2 <= kFewRegisters;
}

TileShape kron::chooseTileShape(int64_t rows, int64_t vectors,
                                const TileChoice &choice, int64_t parts,
                                int64_t inputVectors) {
  int64_t maxAccumulators = getMaxAccumulators(choice.vectorBits) / parts;
  // "Many" is a number that all small block sizes divide.
  constexpr int64_t kMany = 5040;
  int64_t rowTotal = rows < 0 ? kMany : std::min(rows, kMany);
  int64_t vectorTotal = vectors < 0 ? kMany : std::min(vectors, kMany);
  auto [fixedRows, fixedVectors] = choice.fixed;
  int64_t mostVectors = std::min(vectorTotal, kMaxTileRows);
  if (choice.mostVectors && !fixedVectors)
    mostVectors = std::min(mostVectors, choice.mostVectors);

  BlockCosts costs{parts,
                   choice.fmasInFlight,
                   choice.l1Bytes,
                   inputVectors * choice.vectorBits / 8,
                   choice.farLoadSlots,
                   choice.rowLoadSlots,
                   choice.rowSlots};
  if (choice.rowSlots)
    costs.inFlight += kCPURates.delayedFmas;
  TileShape best{fixedRows ? std::min(fixedRows, rowTotal) : 1,
                 fixedVectors ? std::min(fixedVectors, vectorTotal) : 1};
  double bestCost = std::numeric_limits<double>::max();
  for (int64_t r = 1; r <= std::min(rowTotal, kMaxTileRows); ++r) {
    if (fixedRows && r != std::min(fixedRows, rowTotal))
      continue;
    for (int64_t s = 1; s <= mostVectors; ++s) {
      if (fixedVectors && s != std::min(fixedVectors, vectorTotal))
        continue;
      bool fixed = fixedRows && fixedVectors;
      bool isLost = choice.isMasked && s == vectorTotal &&
                    !holdsMask(r, s, choice.vectorBits);
      if ((r * s > maxAccumulators || isLost) && !fixed)
        continue;
      double cost = costs.getCoverCost(rowTotal, vectorTotal, r, s);
      if (cost < bestCost || (inputVectors && cost == bestCost)) {
        bestCost = cost;
        best = {r, s};
      }
    }
  }
  return best;
}

int64_t kron::getPanelVectors(const StepLayout &step) {
  return step.vectorBits == 512 ? kCPURates.panelVectors
                                : kCPURates.panelVectors / 2;
}

/// Rows of a register tile of a panel; `total`: rows in all, -1 if not known.
static int64_t choosePanelRows(const StepLayout &step, int64_t group,
                               int64_t total, const StepBudget &budget) {
  int64_t rows = kCPURates.panelRows / step.elementParts;
  // Rows of X that the whole register is loaded from go through the same sets
  // of the first-level cache as the panel.
  int64_t ways =
      llvm::divideCeil(step.sizeK * step.vectorBits / 8, budget.getWayBytes());
  if (group == getMaxLanes(step) &&
      (rows + getPanelVectors(step)) * ways > budget.l1Ways)
    rows = std::min(rows, kCPURates.fewPanelRows);
  return total < 0 ? rows : std::min(rows, total);
}

double kron::getBroadcastSlots(const StepLayout &step,
                               const TileChoice &choice) {
  double share = 1;
  const StepFactor &factor = step.factor;
  if (step.choices->packsFactor)
    share = double(step.elementBytes) / kLineBytes;
  else if (factor.strideK.isConstant() && factor.resultStride.isConstant())
    share = std::min(1.0, double(step.elementBytes) / kLineBytes *
                              std::min(factor.strideK.getConstant(),
                                       factor.resultStride.getConstant()));
  auto bytes =
      static_cast<int64_t>(step.sizeN * step.sizeK * share * kLineBytes);
  double slots = getLoadSlots(bytes, choice.l1Bytes, choice.farLoadSlots);
  return 1 + share * (slots - 1);
}

/// Issue slots of each step of p that a register tile takes for a row of
/// results of a single factor in memory: none if these are so few that a
/// processor follows all of them, or if the input of wide blocks leaves the
/// first-level cache, since more blocks of rows would read it anew.
static double getRowSlots(const StepLayout &step, const TileChoice &choice) {
  int64_t wideBytes = step.sizeK * getPanelVectors(step) * step.vectorBits / 8;
  bool isLost = step.given->steps.size() == 1 && step.destination.element &&
                step.sizeN > kCPURates.linesInFlight &&
                wideBytes <= choice.l1Bytes / 2;
  return isLost ? kCPURates.resultRowSlots / step.sizeK : 0;
}

TileShape kron::chooseInnerShape(const StepLayout &step, const LoopNest &nest,
                                 Int size, const TileChoice &choice,
                                 const StepBudget &budget) {
  bool isKnown = size.isConstant();
  int64_t lanes = chooseLanes(isKnown ? size.getConstant() : INT64_MAX,
                              step.vectorBits, step.elementBytes);
  int64_t used = lanes / nest.group * nest.group;
  TileChoice own = choice;
  own.rowSlots = getRowSlots(step, choice);
  // Wider blocks would leave much of a size that is not known to single
  // vectors, and those that are wider than a tile all of it.
  int64_t vectorTotal = getPanelVectors(step);
  if (own.rowSlots && step.mostInner &&
      step.mostInner % (2 * vectorTotal * used) == 0)
    vectorTotal *= 2;
  if (step.mostInner)
    vectorTotal =
        std::min(vectorTotal, std::max<int64_t>(step.mostInner / used, 1));
  if (isKnown)
    vectorTotal = llvm::divideCeil(size.getConstant(), used);
  // In place it has all q, so that it has read all of X before it stores, if
  // registers have room for them.
  int64_t most = getMaxAccumulators(step.vectorBits) / step.elementParts;
  bool holdsAll = !choice.isFixed() && step.sizeN <= most;
  if (step.isInPlace && holdsAll)
    return {step.sizeN, std::clamp<int64_t>(most / step.sizeN, 1,
                                            std::max<int64_t>(vectorTotal, 1))};
  // Every group is a vector of its own, of which no other is loaded twice.
  if (nest.group == getMaxLanes(step) && step.elementParts == 1)
    return {std::min(step.sizeN, choosePanelRows(step, 1, -1, budget)),
            std::min(vectorTotal, getPanelVectors(step))};
  return chooseTileShape(step.sizeN, vectorTotal, own, step.elementParts,
                         /*inputVectors=*/step.sizeK);
}

TileShape kron::chooseVaryingShape(const StepLayout &step, const LoopNest &nest,
                                   const TileChoice &choice) {
  // All vectors of the factor go by for each block of rows of the input.
  int64_t vectorBytes = choice.vectorBits / 8;
  TileChoice own = choice;
  own.rowLoadSlots = getLoadSlots(step.sizeN * step.sizeK * vectorBytes,
                                  choice.l1Bytes, choice.farLoadSlots);
  // All tiles but the last have so many rows.
  int64_t rows = getSharedSize(nest);
  if (rows < 0 && step.usualRows)
    rows = step.usualRows;
  // Vectors are of one row each, in input and results.
  if (!step.isSourceBuffer || step.destination.element)
    own.mostVectors = kCPURates.mostFibreRows;
  return chooseTileShape(step.sizeN, rows, own, step.elementParts,
                         /*inputVectors=*/step.sizeK);
}

/// At most `most` rows, in blocks of about the same size if there are `total`
/// (-1: many).
static int64_t limitRows(int64_t rows, int64_t most, int64_t total) {
  if (rows <= most)
    return rows;
  return total < 0 ? most
                   : llvm::divideCeil(total, llvm::divideCeil(total, most));
}

/// The largest divisor of `total` up to `rows`, if it is not much less; else
/// `rows`.
static int64_t getDividingRows(int64_t rows, int64_t total) {
  for (int64_t divisor = rows; 2 * divisor >= rows; --divisor)
    if (total % divisor == 0)
      return divisor;
  return rows;
}

TileShape kron::chooseFibreShape(const StepLayout &step, const LoopNest &nest,
                                 bool segmented, const TileChoice &choice,
                                 const StepBudget &budget) {
  int64_t group = getGroupSize(nest);
  int64_t rowTotal = getSharedSize(nest);
  int64_t used = getFibreLanes(step, group).second * group;
  int64_t vectorTotal = llvm::divideCeil(group * step.sizeN, used);
  // All q at once: X is read where it lies, and only once.
  int64_t rowsOfAll = std::min(getMaxAccumulators(step.vectorBits) /
                                   step.elementParts / vectorTotal,
                               kCPURates.mostRowsOfAll);
  if (segmented && !choice.isFixed() && rowsOfAll >= kCPURates.leastRowsOfAll)
    return {rowsOfAll, vectorTotal};
  if (step.choices->hasPanels && !choice.isFixed())
    return {choosePanelRows(step, group, rowTotal, budget),
            getPanelVectors(step)};
  TileChoice own = choice;
  own.isMasked = group * step.sizeN % used;
  TileShape shape =
      chooseTileShape(rowTotal, vectorTotal, own, step.elementParts);
  // What is left behind blocks of a number that is not known are single rows,
  // which may be a few, but not as many as a quarter.
  bool isOpen = rowTotal < 0 && step.usualRows && !choice.isFixed();
  if (isOpen && 4 * (step.usualRows % shape.rows) >= step.usualRows) {
    shape =
        chooseTileShape(step.usualRows, vectorTotal, choice, step.elementParts);
    shape.rows = getDividingRows(shape.rows, step.usualRows);
  }
  // Groups that a shuffle repeats are used for several vectors. It takes a
  // register less, which says how they are repeated.
  if (!llvm::isPowerOf2_64(group) && step.vectorBits == 512 &&
      !choice.isFixed()) {
    shape.vectors = std::min(vectorTotal, kCPURates.vectorsOfShuffle);
    shape.rows = limitRows(rowTotal < 0 ? kCPURates.mostShuffled : rowTotal,
                           kCPURates.mostShuffled / shape.vectors, rowTotal);
    if (isOpen && shape.rows > step.usualRows)
      shape.rows = step.usualRows;
  }
  // Each row of an array in memory is a stream that the processor has to
  // follow.
  if (!step.isSourceBuffer && !choice.isFixed() &&
      shape.rows > kCPURates.mostFibreRows)
    shape.rows = isOpen
                     ? getDividingRows(kCPURates.mostFibreRows, step.usualRows)
                     : limitRows(shape.rows, kCPURates.mostFibreRows, rowTotal);
  return shape;
}

TileShape kron::chooseFibresShape(const StepLayout &step, const LoopNest &nest,
                                  const TileChoice &choice) {
  const LoopAxis &axis = nest.outer.back();
  int64_t fibres = getNumFibres(step, nest), used = step.sizeN * fibres;
  int64_t rows = axis.size.isConstant()
                     ? llvm::divideCeil(axis.size.getConstant(), fibres)
                     : -1;
  TileShape shape = chooseTileShape(rows, /*vectors=*/1, choice);
  // Beside the factor, which stays in registers, and what is kept of X.
  bool keeps = keepsFibres(step);
  if (step.vectorBits < 512)
    shape.rows = std::min<int64_t>(shape.rows, keeps ? 4 : 8);
  else if (keeps)
    shape.rows =
        std::min<int64_t>(shape.rows, step.sizeK > kMostKeptElements ? 4 : 8);
  else if (used < chooseLanes(used, step.vectorBits, step.elementBytes))
    shape.rows = limitRows(shape.rows, 16, rows);
  return shape;
}
