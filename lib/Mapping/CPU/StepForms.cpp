//===- StepForms.cpp - Forms of one step ------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "StepForms.h"
#include "kron/Machine/CPURates.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// Whether the k mapping, which `step` can have, is better than packing the
/// factor: what its results take is worth it for few rows.
static bool isWorthLanesOverK(const StepLayout &step, const LoopNest &nest) {
  int64_t group = getGroupSize(nest);
  bool isSkinnier = hasSkinnyM(nest, kCPURates.skinnierM);
  if (!llvm::isPowerOf2_64(group))
    return group <= kCPURates.shortPeriod || isSkinnier;
  return step.sizeK * group >= getMaxLanes(step) || isSkinnier;
}

/// Whether lanes over p, which `step` can have, are better for any number of
/// rows: results are so few that they leave lanes over q empty. Multiply-adds
/// of each row then go along p, in one vector after the other for each q, whose
/// lanes are added up, in place of one for each p. Wide vectors count twice:
/// processors split them, or take as much longer to add them up.
static bool isWorthSummingLanes(const StepLayout &step, const LoopNest &nest) {
  int64_t group = getGroupSize(nest), lanes = getMaxLanes(step);
  if (step.mayPair || !llvm::isPowerOf2_64(group) || step.sizeN * group > lanes)
    return false;
  int64_t vectors = llvm::divideCeil(step.sizeK * group, lanes);
  if (step.vectorBits == 512)
    vectors *= 2;
  return step.sizeN * (vectors + kCPURates.laneSumSlots) < step.sizeK;
}

/// Whether the repeat mapping, which `step` can have, is better than packing or
/// copying the factor: a copy that no cache holds takes longer than the
/// shuffles that repeat its elements for as many columns as a vector has.
static bool isWorthRepeating(const StepLayout &step, const LoopNest &nest,
                             bool isCopyLarge) {
  int64_t most = isCopyLarge ? getMaxLanes(step) : kCPURates.skinnyM;
  return nest.inner.back().size.getConstant() <= most &&
         nest.inner[nest.inner.size() - 2].size.getConstant() >=
             kCPURates.leastRepeatedLanes;
}

/// Whether lanes that are groups of the innermost axis are worth it for few
/// rows: a factor that every lane has its own of, or that no other rows use,
/// would be packed for that, an element per lane.
static bool isPackedForSkinnyM(const StepLayout &step, const LoopNest &nest) {
  if (nest.isSplit)
    return true;
  if (nest.inner.size() != 1 || nest.group != 1 ||
      !nest.inner.back().size.isConstant())
    return false;
  const LoopAxis &axis = nest.inner.back();
  return axis.factor.is(0) ? step.isFactorUsedOnce
                           : axis.size.is(getMaxLanes(step));
}

/// Whether lanes over a short innermost axis alone, as the factor lies, are
/// better than groups of it for several q, which fill the lanes of a factor
/// that is packed for that: of few uses packing takes longer than what empty
/// lanes do, and a processor that splits wide vectors (`isSplit`) has narrow
/// ones twice as fast.
static bool isWorthLeavingGroups(const StepLayout &step, const LoopNest &nest,
                                 int64_t uses, bool isSplit) {
  int64_t group = getGroupSize(nest);
  bool isGroup = getMapping(step, nest) == StepMapping::Fibre && group > 1 &&
                 2 * group <= getMaxLanes(step);
  if (!isGroup || !nest.inner.back().factor.is(1) || step.elementParts != 1 ||
      step.mayPair || convertsFactor(step) || step.isSourceBuffer)
    return false;
  auto [lanes, perVector] = getFibreLanes(step, group);
  double turns = isSplit && lanes == getMaxLanes(step) ? 2 : 1;
  double vectors = llvm::divideCeil(step.sizeN, perVector);
  // One load and store takes a group that is a power of two, and loads repeat
  // it. For others a shuffle serves several vectors.
  double packed = kCPURates.packedGroupSlots, repeated = 0;
  if (!llvm::isPowerOf2_64(group)) {
    packed = kCPURates.movedElementSlots * group;
    repeated =
        kCPURates.shuffleCost * std::ceil(vectors / kCPURates.vectorsOfShuffle);
  }
  // For all q of a row.
  double filled =
      step.sizeK * (turns * (vectors + repeated) +
                    packed * step.sizeN / std::max<int64_t>(uses, 1)) +
      kCPURates.storedPartSlots * vectors;
  double left = step.sizeN * (step.sizeK + kCPURates.storedPartSlots);
  return kCPURates.leftGroupsGain * left < filled;
}

int64_t kron::chooseStepLanes(const StepLayout &step, int64_t uses,
                              bool isCopyLarge, bool isSplit, bool mayAddUp,
                              CPUStepChoices &chosen) {
  chosen.lanes = kLanesOverK;
  LoopNest nest = getLoopNest(step);
  bool isSkinny = hasSkinnyM(nest, kCPURates.skinnyM);
  // What few rows of each of many tiles use is packed for all of them.
  bool isForFew = isSkinny && uses <= kCPURates.skinnyM;
  if (mayAddUp && getMapping(step, nest) == StepMapping::K &&
      ((isForFew && isWorthLanesOverK(step, nest)) ||
       isWorthSummingLanes(step, nest)))
    return kLanesOverK;
  chosen.lanes = kLanesOverRows;
  nest = getLoopNest(step);
  if (getMapping(step, nest) == StepMapping::Repeat &&
      isWorthRepeating(step, nest, isCopyLarge))
    return kLanesOverRows;
  chosen.lanes = 0;
  nest = getLoopNest(step);
  // Panels of a factor that are used once do not pay for themselves, either,
  // where segments do.
  bool takesSegments = nest.isSplit && step.isFactorUsedOnce &&
                       paysForSegments(step.sizeK, step.sizeN,
                                       /*converts=*/false);
  if (!takesSegments && (!isSkinny || !isPackedForSkinnyM(step, nest)) &&
      !isWorthLeavingGroups(step, nest, uses, isSplit))
    return 0;
  StepMapping mapping = getMapping(step, nest);
  chosen.lanes = kLanesInside;
  return getStepMapping(step) != mapping ? kLanesInside : 0;
}

//===----------------------------------------------------------------------===//
// Matrix tiles
//===----------------------------------------------------------------------===//

bool kron::isWorthMatrixTiles(const StepLayout &step) {
  bool liesInRows = step.factor.strideK.is(1) || step.factor.resultStride.is(1);
  AmxMapping mapping =
      getAmxMapping(step, liesInRows ? kCPURates.fewAmxPositions
                                     : kCPURates.leastAmxPositions);
  Int stride = step.source.strides[step.axis];
  bool isNear = mapping != AmxMapping::Rows ||
                stride.getConstant() <= kCPURates.mostAmxStride;
  return step.sizeK >= kCPURates.leastAmxK &&
         step.sizeN >= kCPURates.leastAmxResults &&
         mapping != AmxMapping::None && isNear;
}

/// Several blocks if the factor comes from beyond the first caches every time.
int64_t kron::chooseAmxChunk(const StepLayout &step, bool isExact,
                             const StepBudget &budget) {
  AmxMapping mapping = getAmxMapping(step);
  LoopNest nest = getLoopNest(step);
  Int positions = takeAmxData(mapping, nest).size;
  int64_t factorBytes = step.sizeK * step.sizeN * kBF16Bytes;
  if (!positions.isConstant() || factorBytes < 2 * budget.l2Bytes)
    return 0;
  int64_t blocks = std::min(
      {positions.getConstant() / kAmxBlockSize,
       budget.cacheBytes / 2 / getAmxBlockBytes(step, mapping, isExact),
       kCPURates.mostAmxBlocks});
  return blocks > 1 ? blocks * kAmxBlockSize : 0;
}

//===----------------------------------------------------------------------===//
// Inner mapping
//===----------------------------------------------------------------------===//

/// Whether `count` elements, `stride` apart, lie in so few sets of the
/// first-level cache, or in more than `pages` pages, that they do not stay
/// there.
static bool isFarApart(const StepLayout &step, Int stride, int64_t count,
                       const StepBudget &budget, int64_t pages = 0) {
  // The sets of that cache span a page.
  int64_t pageShare = budget.getWayBytes() / 2;
  if (!stride.isConstant())
    return true;
  int64_t bytes = stride.getConstant() * step.elementBytes;
  int64_t lines = llvm::divideCeil(bytes, kLineBytes);
  int64_t sets = budget.l1Sets / std::gcd(lines, budget.l1Sets);
  return (bytes >= pageShare && count > pages) || count > budget.l1Ways * sets;
}

/// Whether elements `stride` apart lie in the same sets of a cache.
static bool sharesSets(const StepLayout &step, Int stride) {
  return !stride.isConstant() ||
         stride.getConstant() * step.elementBytes % kCPURates.aliasBytes == 0;
}

bool kron::isWorthPacking(const StepLayout &step, const LoopNest &nest,
                          const StepBudget &budget) {
  // Elements far apart would take a cache line each, for every block of lanes
  // anew.
  const StepFactor &factor = step.factor;
  Int size = nest.inner.back().size;
  bool isUsedOften =
      !size.isConstant() ||
      size.getConstant() >= kCPURates.leastBroadcastVectors * getMaxLanes(step);
  switch (getPossiblePacking(step, nest)) {
  case BroadcastPacking::None:
    return false;
  case BroadcastPacking::Streams:
    return isUsedOften && step.sizeK >= kCPURates.leastPackedSize &&
           step.sizeN >= kCPURates.leastPackedSize &&
           isFarApart(step, factor.strideK, step.sizeK, budget);
  case BroadcastPacking::Planes:
    return isUsedOften && std::min(factor.strideK.getConstant(),
                                   factor.resultStride.getConstant()) *
                                  step.elementBytes >=
                              kCPURates.apartBytes;
  }
  llvm_unreachable("covered switch");
}

SmallVector<int64_t> kron::chooseRemainder(const StepLayout &step,
                                           const LoopNest &nest,
                                           const TileChoice &choice,
                                           const StepBudget &budget) {
  // Fewer multiply-adds do not pay for loops of their own, and factors that
  // leave the first-level cache are slower than lanes that stay empty.
  SmallVector<int64_t> groups = getRemainderGroups(step, nest);
  if (step.sizeK < kCPURates.leastGroupedK || groups.empty())
    return {};
  // Slots of two a cycle: multiply-adds, and stores, of which whole vectors and
  // masked ones take a cycle, parts of them that an instruction takes out while
  // it stores half of that.
  int64_t lanes = getMaxLanes(step);
  int64_t size = nest.inner.back().size.getConstant();
  int64_t perVector = step.sizeN * (step.sizeK + 2), grouped = 0;
  int64_t elements = 0;
  SmallVector<int64_t> remainder;
  for (int64_t group : groups) {
    int64_t rowElements = getGroupedRowElements(step, group);
    bool isWhole = group * step.elementBytes >= kCPURates.wholeStoreBytes;
    elements += rowElements * step.sizeK;
    grouped +=
        rowElements / lanes * step.sizeK + step.sizeN * (isWhole ? 1 : 2);
    TileShape shape =
        chooseTileShape(getSharedSize(nest),
                        llvm::divideCeil(step.sizeN * group, lanes), choice);
    remainder.append({group, shape.rows, shape.vectors});
  }
  // All rows go by anew for each group.
  int64_t turns = groups.size() + (size >= lanes);
  if (turns > kCPURates.mostGroupedTurns ||
      elements * step.elementBytes > budget.l1Bytes / 2)
    return {};
  // Code of their own has to pay.
  int64_t full = size / lanes * perVector;
  bool isWorthIt = kCPURates.groupedSlotsOf * (full + grouped) <=
                   kCPURates.groupedSlots * (full + perVector);
  return isWorthIt ? remainder : SmallVector<int64_t>();
}

bool kron::isWorthCopyingRows(const StepLayout &step, const LoopNest &nest,
                              Int size, bool mayPrefetch,
                              const StepBudget &budget) {
  // Rows that lie far apart would not stay in the cache, and vectors of rows
  // that start anywhere lie in two cache lines.
  Int stride = step.source.strides[step.axis];
  auto isUnaligned = [&] {
    return stride.getConstant() * step.elementBytes % kLineBytes != 0;
  };
  int64_t pages = step.isSourceBuffer ? budget.pages : 0;
  bool isBad =
      isFarApart(step, stride, step.sizeK, budget, pages) || isUnaligned();
  int64_t leastBlocks = mayPrefetch && !sharesSets(step, stride)
                            ? kCPURates.leastFarBlocks
                            : kCPURates.leastCopiedBlocks;
  // Rows of a buffer are in the second-level cache, as a large copy would be.
  int64_t most = step.isSourceBuffer && !isUnaligned() ? budget.l2Bytes / 2
                                                       : budget.l2Bytes;
  int64_t elements = size.isConstant() ? size.getConstant() : step.mostInner;
  int64_t lanes = chooseLanes(size.isConstant() ? elements : INT64_MAX,
                              step.vectorBits, step.elementBytes);
  int64_t used = lanes / nest.group * nest.group;
  int64_t vectors =
      llvm::alignTo(llvm::divideCeil(elements, used), step.choices->vectors);
  return isBad && step.sizeK >= kCPURates.leastCopiedK &&
         step.sizeN >= leastBlocks * step.choices->rows &&
         step.sizeK * vectors * lanes * step.elementBytes <= most;
}

int64_t kron::chooseAlong(const StepLayout &step, const LoopNest &nest,
                          bool waitsForLines, const StepBudget &budget,
                          TileShape &along) {
  const LoopAxis *axis = findAlongAxis(step, nest);
  Int inner = nest.inner.back().size;
  int64_t elements = inner.isConstant() ? inner.getConstant() : step.mostInner;
  if (!axis || !axis->size.isConstant() || !axis->factor.is(1) || !elements)
    return 0;
  // For each position of the axis: vectors of X and of results, and lines that
  // an element of the factor shares with its neighbours.
  const CPUStepChoices &chosen = *step.choices;
  int64_t bytes = step.elementBytes, size = axis->size.getConstant();
  int64_t held = budget.cacheBytes / 2 /
                 std::max<int64_t>(step.sizeK * elements * bytes, 1);
  int64_t positions = std::min(held, size);
  if (positions < 2)
    return 0;
  positions = llvm::divideCeil(size, llvm::divideCeil(size, positions));
  double vectors = llvm::divideCeil(elements, getMaxLanes(step));
  double inputs = step.sizeK * vectors * step.sizeN,
         weights = step.sizeK * step.sizeN;
  int64_t lineBytes = step.sizeK * std::min<int64_t>(kLineBytes, size * bytes);
  // Of few accumulators, multiply-adds wait for each other.
  auto getSlots = [&](const TileShape &shape, int64_t q, int64_t inputBytes) {
    double idle = double(budget.fmasInFlight) / (shape.rows * shape.vectors);
    return inputs / shape.rows * budget.getLoadSlots(inputBytes) +
           inputs * std::max(idle - 1, 0.0) +
           weights * budget.getLoadSlots(q * lineBytes);
  };
  auto getAlongSlots = [&](const TileShape &shape) {
    return getSlots(shape, shape.rows,
                    step.sizeK * positions * elements * bytes);
  };
  // Blocks whose lines stay in the first-level cache while the axis goes by.
  TileShape kept{std::clamp<int64_t>(budget.l1Bytes / lineBytes, 1, along.rows),
                 along.vectors};
  kept.rows =
      llvm::divideCeil(step.sizeN, llvm::divideCeil(step.sizeN, kept.rows));
  if (getAlongSlots(kept) < getAlongSlots(along))
    along = kept;
  int64_t blockBytes = step.sizeK * chosen.vectors * step.vectorBits / 8;
  double others = getSlots({chosen.rows, chosen.vectors},
                           chosen.packsFactor ? 0 : step.sizeN, blockBytes);
  // What is converted is copied either way.
  if (chosen.packsFactor)
    others += weights * (chosen.convertsFactor ? kCPURates.movedElementSlots
                                               : kCPURates.packedElementSlots);
  // Of more results in turn than a processor follows, each waits for its line,
  // unless it goes on for a page.
  bool isLost = waitsForLines && step.sizeN > kCPURates.linesInFlight &&
                elements * bytes < kCPURates.aliasBytes &&
                positions * elements * bytes >= kCPURates.aliasBytes;
  if (isLost)
    others += step.sizeN * vectors * kCPURates.lostStoreSlots;
  return getAlongSlots(along) < others ? positions : 0;
}

bool kron::isWorthPrefetchingRows(const StepLayout &step, int64_t mostLines) {
  // What shares sets would be gone before it is needed.
  const CPUStepChoices &chosen = *step.choices;
  int64_t lines =
      step.sizeK * chosen.vectors * step.vectorBits / 8 / kLineBytes;
  return !step.isSourceBuffer && !chosen.copiesRows &&
         !sharesSets(step, step.source.strides[step.axis]) &&
         lines * std::min(chosen.rows, step.sizeN) > mostLines * step.sizeN;
}

//===----------------------------------------------------------------------===//
// Fibre mapping
//===----------------------------------------------------------------------===//

bool kron::isWorthPanels(const StepLayout &step, const LoopNest &nest,
                         const StepBudget &budget) {
  auto [lanes, perVector] = getFibreLanes(step, getGroupSize(nest));
  int64_t columns = llvm::divideCeil(step.sizeN, perVector) * lanes;
  // Such a factor is gone from the first-level cache when the next block of
  // rows comes.
  return step.sizeK * columns * step.elementBytes > budget.l1Bytes &&
         canHavePanels(step, nest, getPanelVectors(step));
}

int64_t kron::choosePanelChunk(const StepLayout &step, const LoopNest &nest,
                               const StepBudget &budget) {
  // A panel stays in the cache while many rows use it, unless rows are as large
  // as panels: then a few rows stay there while all panels go by.
  int64_t group = getGroupSize(nest), rows = step.choices->rows;
  if (group == getMaxLanes(step))
    return rows;
  int64_t rowBytes = step.sizeK * group * step.elementBytes;
  int64_t factorBytes = step.sizeK * step.sizeN * step.elementBytes;
  // A factor that does not stay in the second-level cache comes from beyond it
  // for all of these rows, of which the tile has as many as that cache holds.
  if (factorBytes > budget.cacheBytes / 2)
    return llvm::alignTo(std::max<int64_t>(budget.cacheBytes / 2 / rowBytes, 1),
                         rows);
  return llvm::alignTo(budget.l2Bytes / 2 / rowBytes + 1, rows);
}

int64_t kron::chooseFibreSegment(const StepLayout &step, const LoopNest &nest) {
  // Memory takes segments of several lines faster than one line of every row,
  // and their part of the factor stays in the second-level cache.
  int64_t total = nest.outer.back().size.getConstant();
  int64_t most = kCPURates.segmentBytes * 8 / step.vectorBits;
  return llvm::divideCeil(total, llvm::divideCeil(total, most));
}

int64_t kron::chooseSharingRows(const StepLayout &step, const LoopNest &nest) {
  // Beside more vectors that a row has to itself, one of all rows is little.
  int64_t vectors = step.sizeN / getMaxLanes(step);
  bool isWorthIt = !hasSkinnyM(nest, kCPURates.skinnyM) &&
                   step.sizeK >= kCPURates.leastSharedK &&
                   vectors <= kCPURates.mostVectorsBesideShared;
  return isWorthIt ? getSharingRows(step, nest) : 1;
}

//===----------------------------------------------------------------------===//
// K mapping
//===----------------------------------------------------------------------===//

bool kron::isWorthPairs(const StepLayout &step, const LoopNest &nest,
                        const StepBudget &budget) {
  // X has to be small enough to stay in the cache.
  int64_t extent = step.sizeK * getGroupSize(nest);
  int64_t rows = getSharedSize(nest);
  return canReadPairs(step, nest) &&
         rows * extent * step.elementBytes <= budget.l2Bytes / 4;
}
