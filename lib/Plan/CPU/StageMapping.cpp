//===- StageMapping.cpp - What the lanes of a step run over -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/LoopNest.h"

using namespace mlir;
using namespace mlir::kron;

int64_t kron::chooseLanes(int64_t elements, int64_t vectorBits,
                          int64_t elementBytes) {
  int64_t maxLanes = vectorBits / 8 / elementBytes;
  int64_t minLanes = std::max<int64_t>(16 / elementBytes, 1);
  if (elements >= maxLanes)
    return maxLanes;
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(elements), minLanes, maxLanes);
}

/// Whether groups of `size` elements that are repeated fill vectors of several
/// q: a power of two is repeated by the load, other sizes take a shuffle, which
/// several vectors have to share.
static bool isRepeatedGroup(const StageLayout &stage, int64_t size) {
  int64_t maxLanes = getMaxLanes(stage);
  if (llvm::isPowerOf2_64(size))
    return size < maxLanes;
  int64_t perVector = size ? maxLanes / size : 0;
  if (stage.elementParts != 1 || perVector < 2)
    return false;
  int64_t vectors = llvm::divideCeil(stage.sizeN, perVector);
  return 1 + vectors < stage.sizeN;
}

/// Size of the innermost axis if the fibre mapping can take it into the lanes
/// (1 without one), else 0.
static int64_t getFibreGroup(const StageLayout &stage, const LoopNest &nest) {
  Int resultStride = stage.destination.strides[stage.axis];
  if (nest.inner.empty())
    return resultStride.is(1) ? 1 : 0;
  const LoopAxis &axis = nest.inner.back();
  // Lanes that are groups already: the factor is the same for all of them.
  if (nest.group != 1)
    return 0;
  if (nest.inner.size() != 1 || !axis.size.isConstant() || !axis.source.is(1) ||
      !axis.destination.is(1))
    return 0;
  int64_t size = axis.size.getConstant();
  int64_t maxLanes = stage.vectorBits / 8 / stage.elementBytes;
  // A group that fills the register is the inner mapping, unless every lane has
  // a factor of its own: then panels of that factor save more than the larger
  // choice of lanes. Such a factor is worth lanes that stay empty, too.
  if (stage.step->lanes == kLanesInside)
    return 0;
  bool varies = !axis.factor.is(0);
  bool fits = varies ? isGroup(stage, size) : isRepeatedGroup(stage, size);
  if (size == maxLanes && varies)
    return size;
  return fits && resultStride.is(size) ? size : 0;
}

std::pair<int64_t, int64_t> kron::getFibreLanes(const StageLayout &stage,
                                                int64_t group) {
  int64_t lanes = kron::chooseLanes(stage.sizeN * group, stage.vectorBits,
                                    stage.elementBytes);
  return {lanes, lanes / group};
}

int64_t kron::getNumFibres(const StageLayout &stage, const LoopNest &nest) {
  // A power of two, so that loads can repeat one element of each, unless
  // shuffles do.
  int64_t fibres = getMaxLanes(stage) / stage.sizeN;
  if (!keepsFibres(stage))
    fibres = llvm::bit_floor<uint64_t>(fibres);
  if (stage.elementParts != 1 || stage.sizeK != stage.sizeN || fibres < 2 ||
      !nest.inner.empty() || nest.outer.empty() ||
      !stage.source.strides[stage.axis].is(1))
    return 1;
  const LoopAxis &axis = nest.outer.back();
  bool isDense = axis.source.is(stage.sizeK) &&
                 axis.destination.is(stage.sizeN) &&
                 (!stage.adds || axis.addend.is(stage.sizeN));
  bool isShort = axis.size.isConstant() && axis.size.getConstant() < fibres;
  return axis.factor.is(0) && isDense && !isShort ? fibres : 1;
}

bool kron::keepsFibres(const StageLayout &stage) {
  bool keepsHalves = stage.given->keptFibres > 0;
  return stage.sizeK <= kMostKeptElements ||
         (keepsHalves && stage.vectorBits == 512 &&
          2 * stage.sizeK == getMaxLanes(stage));
}

int64_t kron::getScratchElements(const StageLayout &stage) {
  LoopNest nest = getLoopNest(stage);
  bool interleaves = getMapping(stage, nest) == StageMapping::Fibre &&
                     getNumFibres(stage, nest) > 1 && !keepsFibres(stage);
  return interleaves ? kMaxTileRows * getMaxLanes(stage) : 0;
}

static bool isAddendContiguous(const StageLayout &stage, const LoopNest &nest,
                               int64_t group) {
  if (!stage.adds)
    return true;
  if (group)
    return ((group > 1 && group == getMaxLanes(stage)) ||
            getStride(stage.addend.strides, stage.axis).is(group)) &&
           (group == 1 || nest.inner.back().addend.is(1));
  return nest.inner.back().addend.is(1);
}

bool kron::canTakeLanesOverK(const StageLayout &stage, const LoopNest &nest,
                             int64_t group) {
  const StageFactor &factor = stage.factor;
  if (group > 1 && !nest.inner.back().factor.is(1))
    return false;
  int rows = findSharedAxis(nest);
  if (stage.elementParts != 1 || stage.hasPairs ||
      (rows >= 0 && !nest.outer[rows].size.isConstant()) ||
      2 * group > getMaxLanes(stage) ||
      !stage.source.strides[stage.axis].is(group) ||
      !factor.strideK.is(group) || !factor.resultStride.isConstant())
    return false;
  // A period of vectors, or a vector, is filled by each row of the factor, or
  // by several that follow each other.
  int64_t lanes = getMaxLanes(stage), extent = stage.sizeK * group;
  if (!llvm::isPowerOf2_64(group))
    return group % 2 && stage.sizeK >= lanes;
  return extent >= lanes || (stage.sizeK > 1 && lanes % extent == 0 &&
                             factor.resultStride.is(extent));
}

bool kron::canRepeat(const StageLayout &stage, const LoopNest &nest) {
  if (nest.inner.size() < 2 || nest.group != 1 || stage.elementParts != 1 ||
      stage.hasPairs)
    return false;
  const LoopAxis &rows = nest.inner.back();
  const LoopAxis &lanes = nest.inner[nest.inner.size() - 2];
  if (!rows.size.isConstant() || !lanes.size.isConstant() ||
      !rows.factor.is(0) || !lanes.factor.is(1) || !rows.source.is(1) ||
      !rows.destination.is(1) ||
      !isContinued(lanes.source, rows.source, rows.size) ||
      !isContinued(lanes.destination, rows.destination, rows.size))
    return false;
  return !stage.adds || (rows.addend.is(1) &&
                         isContinued(lanes.addend, rows.addend, rows.size));
}

StageMapping kron::getMapping(const StageLayout &stage, const LoopNest &nest) {
  int64_t group = getFibreGroup(stage, nest);
  if (group) {
    if (!isAddendContiguous(stage, nest, group))
      return StageMapping::Unsupported;
    return stage.step->lanes == kLanesOverK &&
                   canTakeLanesOverK(stage, nest, group)
               ? StageMapping::K
               : StageMapping::Fibre;
  }
  if (nest.inner.empty())
    return StageMapping::Unsupported;
  const LoopAxis &lanes = nest.inner.back();
  if (!lanes.source.is(1) || !lanes.destination.is(1) ||
      !isAddendContiguous(stage, nest, 0))
    return StageMapping::Unsupported;
  if (stage.step->lanes == kLanesOverRows && canRepeat(stage, nest))
    return StageMapping::Repeat;
  return lanes.factor.is(0) ? StageMapping::Inner : StageMapping::Varying;
}

StageMapping kron::getStageMapping(const StageLayout &stage) {
  return getMapping(stage, getLoopNest(stage));
}

bool kron::canHavePanels(const StageLayout &stage, const LoopNest &nest,
                         int64_t vectors) {
  if (getMapping(stage, nest) != StageMapping::Fibre || vectors < 1 ||
      getNumFibres(stage, nest) > 1)
    return false;
  int64_t group = getGroupSize(nest);
  auto [lanes, perVector] = getFibreLanes(stage, group);
  int64_t columns = llvm::divideCeil(stage.sizeN, perVector) * lanes;
  return columns >= vectors * getMaxLanes(stage);
}

bool kron::takesFibreSegments(const StageLayout &stage, const LoopNest &nest) {
  return nest.isSplit && findSharedAxis(nest) >= 0 && !stage.step->hasPanels &&
         !stage.isSourceBuffer;
}

int64_t kron::getPanelLanes(const StageLayout &stage, const LoopNest &nest) {
  return stage.step->hasPanels &&
                 canHavePanels(stage, nest, stage.step->vectors)
             ? stage.step->vectors * getMaxLanes(stage)
             : 0;
}

int kron::getContiguousAxis(const StageLayout &stage) {
  for (unsigned axis = 0; axis < stage.sizes.size(); ++axis)
    if (axis != stage.axis && getStride(stage.factor.strides, axis).is(1))
      return axis;
  return -1;
}

BroadcastPacking kron::getPossiblePacking(const StageLayout &stage,
                                          const LoopNest &nest) {
  const StageFactor &factor = stage.factor;
  if (stage.elementParts != 1)
    return BroadcastPacking::None;
  if (factor.resultStride.is(nest.group))
    return BroadcastPacking::Streams;
  bool isKnown =
      factor.strideK.isConstant() && factor.resultStride.isConstant();
  return nest.group == 1 && isKnown && getContiguousAxis(stage) >= 0
             ? BroadcastPacking::Planes
             : BroadcastPacking::None;
}

BroadcastPacking kron::getBroadcastPacking(const StageLayout &stage,
                                           const LoopNest &nest) {
  return stage.step->packsFactor ? getPossiblePacking(stage, nest)
                                 : BroadcastPacking::None;
}

/// Whether `array` holds values as they are computed.
static bool isComputed(const StageLayout &stage, const StageArray &array) {
  return !array.element ||
         array.element.getIntOrFloatBitWidth() == 8 * stage.elementBytes;
}

static bool variesFactor(const StageLayout &stage) {
  return llvm::any_of(stage.factor.strides,
                      [](Int stride) { return !stride.is(0); });
}

int64_t kron::getSharingRows(const StageLayout &stage, const LoopNest &nest) {
  int64_t lanes = getMaxLanes(stage);
  int64_t vectors = stage.sizeN / lanes, rest = stage.sizeN % lanes;
  if (getMapping(stage, nest) != StageMapping::Fibre || !nest.inner.empty() ||
      findSharedAxis(nest) < 0 || variesFactor(stage) ||
      stage.vectorBits != 512 || stage.elementParts != 1 || stage.hasPairs ||
      stage.adds || !isComputed(stage, stage.destination) ||
      getPanelLanes(stage, nest) || !vectors || !rest ||
      !llvm::isPowerOf2_64(rest))
    return 1;
  // What they have to themselves and what they share has to fit the registers.
  int64_t sharing = lanes / rest;
  bool fits = vectors * sharing + 1 <= getMaxAccumulators(stage.vectorBits);
  return fits ? sharing : 1;
}

SmallVector<int64_t> kron::getRemainderGroups(const StageLayout &stage,
                                              const LoopNest &nest) {
  if (getMapping(stage, nest) != StageMapping::Inner || stage.isInPlace ||
      !nest.inner.back().size.isConstant() || variesFactor(stage) ||
      stage.vectorBits != 512 || stage.elementParts != 1 || stage.hasPairs ||
      stage.adds || !isComputed(stage, stage.source) ||
      !isComputed(stage, stage.destination) ||
      getBroadcastPacking(stage, nest) != BroadcastPacking::None)
    return {};
  int64_t lanes = getMaxLanes(stage);
  int64_t rest = nest.inner.back().size.getConstant() % lanes;
  SmallVector<int64_t> groups;
  for (int64_t group = lanes / 2; group; group /= 2)
    if (rest & group)
      groups.push_back(group);
  return groups;
}

SmallVector<RemainderTile> kron::getRemainderTiles(const CPUStepChoices &step) {
  SmallVector<RemainderTile> tiles;
  for (size_t at = 0; at + 2 < step.remainder.size(); at += 3)
    tiles.push_back(
        {step.remainder[at], step.remainder[at + 1], step.remainder[at + 2]});
  return tiles;
}

bool kron::canReadPairs(const StageLayout &stage, int64_t group) {
  Type stored = stage.factor.element;
  return stored && stored.isBF16() && stage.elementBytes == 4 &&
         stage.elementParts == 1 && stage.sizeK * group % 2 == 0;
}

std::optional<SegmentShape> kron::getSegmentShape(const StageLayout &stage,
                                                  Type stored, int64_t size,
                                                  int64_t rows) {
  int64_t lanes = getMaxLanes(stage);
  if (stage.elementParts != 1 || stage.hasPairs || rows < 1 || size < 2 * lanes)
    return std::nullopt;
  SegmentShape shape;
  shape.pairs = stored && stored.isBF16() && stage.elementBytes == 4;
  shape.words = shape.pairs && stage.mayPair && stage.sizeK % 2 == 0;
  int64_t parts = shape.getParts();
  shape.unit = parts * lanes;
  // One row takes as long as reading the factor, of which a few lines at a time
  // are read best; more rows take as long as their multiply-adds.
  int64_t sums = stage.vectorBits == 512 ? 28 : 12, mostRows = sums / 4 + 1;
  shape.rows = llvm::divideCeil(rows, llvm::divideCeil(rows, mostRows));
  // Blocks of the same size leave no rows behind where their number is open.
  for (int64_t even = shape.rows; 4 * even >= 3 * shape.rows; --even)
    if (rows % even == 0) {
      shape.rows = even;
      break;
    }
  bool isBound = rows == 1 || shape.pairs;
  if (isBound)
    shape.vectors = std::clamp<int64_t>(sums / (parts * shape.rows), 1, 2);
  else
    shape.sizeN =
        std::clamp<int64_t>(sums / (shape.rows + 1), 1, kMostSegmentResults);
  shape.sizeN = std::min(shape.sizeN, stage.sizeN);
  return shape;
}

int64_t kron::getSegmentRows(const StageLayout &stage, const LoopNest &nest) {
  int64_t rows = getSharedSize(nest);
  return rows < 0 ? stage.usualRows : rows;
}

int64_t kron::getSegmentK(const StageLayout &stage, const SegmentShape &shape) {
  return shape.words ? stage.sizeK / 2 : stage.sizeK;
}

int64_t kron::getGroupedRowElements(const StageLayout &stage, int64_t group) {
  return llvm::alignTo(stage.sizeN * group, getMaxLanes(stage));
}

bool kron::canWorkInPlace(const StageLayout &stage) {
  return getStageMapping(stage) == StageMapping::Inner &&
         stage.step->rows >= stage.sizeN;
}

bool kron::canConvertSource(const StageLayout &stage) {
  StageMapping mapping = getStageMapping(stage);
  return mapping == StageMapping::Inner || mapping == StageMapping::Varying;
}

bool kron::canConvertFactor(const StageLayout &stage) {
  switch (getStageMapping(stage)) {
  case StageMapping::K:
  case StageMapping::Repeat:
    return true;
  case StageMapping::Fibre:
  case StageMapping::Varying:
    return !needsPacking(stage);
  case StageMapping::Inner:
  case StageMapping::Unsupported:
    return false;
  }
  llvm_unreachable("covered switch");
}

bool kron::needsPacking(const StageLayout &stage) {
  LoopNest nest = getLoopNest(stage);
  switch (getMapping(stage, nest)) {
  case StageMapping::Inner:
    return getBroadcastPacking(stage, nest) != BroadcastPacking::None ||
           !stage.step->remainder.empty();
  case StageMapping::K:
  case StageMapping::Repeat:
  case StageMapping::Unsupported:
    return false;
  case StageMapping::Varying:
    return !nest.inner.back().factor.is(1);
  case StageMapping::Fibre:
    return !nest.inner.empty() || !stage.factor.resultStride.is(1) ||
           (getNumFibres(stage, nest) > 1 && !keepsFibres(stage)) ||
           getPanelLanes(stage, nest) || stage.step->sharingRows > 1;
  }
  llvm_unreachable("covered switch");
}
