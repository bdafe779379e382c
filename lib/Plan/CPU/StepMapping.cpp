//===- StepMapping.cpp - What the lanes of a step run over ------*- C++ -*-===//
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
static bool isRepeatedGroup(const StepLayout &step, int64_t size) {
  int64_t maxLanes = getMaxLanes(step);
  if (llvm::isPowerOf2_64(size))
    return size < maxLanes;
  int64_t perVector = size ? maxLanes / size : 0;
  if (step.elementParts != 1 || perVector < 2)
    return false;
  int64_t vectors = llvm::divideCeil(step.sizeN, perVector);
  return 1 + vectors < step.sizeN;
}

/// Size of the innermost axis if the fibre mapping can take it into the lanes
/// (1 without one), else 0.
static int64_t getFibreGroup(const StepLayout &step, const LoopNest &nest) {
  Int resultStride = step.destination.strides[step.axis];
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
  int64_t maxLanes = step.vectorBits / 8 / step.elementBytes;
  // A group that fills the register is the inner mapping, unless every lane has
  // a factor of its own: then panels of that factor save more than the larger
  // choice of lanes. Such a factor is worth lanes that stay empty, too.
  if (step.choices->lanes == kLanesInside)
    return 0;
  bool varies = !axis.factor.is(0);
  bool fits = varies ? isGroup(step, size) : isRepeatedGroup(step, size);
  if (size == maxLanes && varies)
    return size;
  return fits && resultStride.is(size) ? size : 0;
}

std::pair<int64_t, int64_t> kron::getFibreLanes(const StepLayout &step,
                                                int64_t group) {
  int64_t lanes =
      kron::chooseLanes(step.sizeN * group, step.vectorBits, step.elementBytes);
  return {lanes, lanes / group};
}

int64_t kron::getNumFibres(const StepLayout &step, const LoopNest &nest) {
  // A power of two, so that loads can repeat one element of each, unless
  // shuffles do.
  int64_t fibres = getMaxLanes(step) / step.sizeN;
  if (!keepsFibres(step))
    fibres = llvm::bit_floor<uint64_t>(fibres);
  if (step.elementParts != 1 || step.sizeK != step.sizeN || fibres < 2 ||
      !nest.inner.empty() || nest.outer.empty() ||
      !step.source.strides[step.axis].is(1))
    return 1;
  const LoopAxis &axis = nest.outer.back();
  bool isDense = axis.source.is(step.sizeK) &&
                 axis.destination.is(step.sizeN) &&
                 (!step.adds || axis.addend.is(step.sizeN));
  bool isShort = axis.size.isConstant() && axis.size.getConstant() < fibres;
  return axis.factor.is(0) && isDense && !isShort ? fibres : 1;
}

bool kron::keepsFibres(const StepLayout &step) {
  return step.sizeK <= kMostKeptElements ||
         (step.given->keptFibres > 0 && hasHalfFibres(step));
}

bool kron::hasHalfFibres(const StepLayout &step) {
  return step.sizeK > kMostKeptElements && step.vectorBits == 512 &&
         2 * step.sizeK == getMaxLanes(step);
}

int64_t kron::getScratchElements(const StepLayout &step) {
  LoopNest nest = getLoopNest(step);
  bool interleaves = getMapping(step, nest) == StepMapping::Fibre &&
                     getNumFibres(step, nest) > 1 && !keepsFibres(step);
  return interleaves ? kMaxTileRows * getMaxLanes(step) : 0;
}

static bool isAddendContiguous(const StepLayout &step, const LoopNest &nest,
                               int64_t group) {
  if (!step.adds)
    return true;
  if (group)
    return ((group > 1 && group == getMaxLanes(step)) ||
            getStride(step.addend.strides, step.axis).is(group)) &&
           (group == 1 || nest.inner.back().addend.is(1));
  return nest.inner.back().addend.is(1);
}

bool kron::canTakeLanesOverK(const StepLayout &step, const LoopNest &nest,
                             int64_t group) {
  const StepFactor &factor = step.factor;
  if (group > 1 && !nest.inner.back().factor.is(1))
    return false;
  if (step.elementParts != 1 || step.hasPairs ||
      2 * group > getMaxLanes(step) ||
      !step.source.strides[step.axis].is(group) || !factor.strideK.is(group) ||
      !factor.resultStride.isConstant())
    return false;
  // A period of vectors, or a vector, is filled by each row of the factor, or
  // by several that follow each other.
  int64_t lanes = getMaxLanes(step), extent = step.sizeK * group;
  if (!llvm::isPowerOf2_64(group))
    return group % 2 && step.sizeK >= lanes;
  return extent >= lanes || (step.sizeK > 1 && lanes % extent == 0 &&
                             factor.resultStride.is(extent));
}

bool kron::canRepeat(const StepLayout &step, const LoopNest &nest) {
  if (nest.inner.size() < 2 || nest.group != 1 || step.elementParts != 1 ||
      step.hasPairs)
    return false;
  const LoopAxis &rows = nest.inner.back();
  const LoopAxis &lanes = nest.inner[nest.inner.size() - 2];
  if (!rows.size.isConstant() || !lanes.size.isConstant() ||
      !rows.factor.is(0) || !lanes.factor.is(1) || !rows.source.is(1) ||
      !rows.destination.is(1) ||
      !isContinued(lanes.source, rows.source, rows.size) ||
      !isContinued(lanes.destination, rows.destination, rows.size))
    return false;
  return !step.adds || (rows.addend.is(1) &&
                        isContinued(lanes.addend, rows.addend, rows.size));
}

StepMapping kron::getMapping(const StepLayout &step, const LoopNest &nest) {
  int64_t group = getFibreGroup(step, nest);
  if (group) {
    if (!isAddendContiguous(step, nest, group))
      return StepMapping::Unsupported;
    return step.choices->lanes == kLanesOverK &&
                   canTakeLanesOverK(step, nest, group)
               ? StepMapping::K
               : StepMapping::Fibre;
  }
  if (nest.inner.empty())
    return StepMapping::Unsupported;
  const LoopAxis &lanes = nest.inner.back();
  if (!lanes.source.is(1) || !lanes.destination.is(1) ||
      !isAddendContiguous(step, nest, 0))
    return StepMapping::Unsupported;
  if (step.choices->lanes == kLanesOverRows && canRepeat(step, nest))
    return StepMapping::Repeat;
  return lanes.factor.is(0) ? StepMapping::Inner : StepMapping::Varying;
}

StepMapping kron::getStepMapping(const StepLayout &step) {
  return getMapping(step, getLoopNest(step));
}

bool kron::canHavePanels(const StepLayout &step, const LoopNest &nest,
                         int64_t vectors) {
  if (getMapping(step, nest) != StepMapping::Fibre || vectors < 1 ||
      getNumFibres(step, nest) > 1)
    return false;
  int64_t group = getGroupSize(nest);
  auto [lanes, perVector] = getFibreLanes(step, group);
  int64_t columns = llvm::divideCeil(step.sizeN, perVector) * lanes;
  return columns >= vectors * getMaxLanes(step);
}

bool kron::takesFibreSegments(const StepLayout &step, const LoopNest &nest) {
  return nest.isSplit && findSharedAxis(nest) >= 0 &&
         !step.choices->hasPanels && !step.isSourceBuffer;
}

int64_t kron::getPanelLanes(const StepLayout &step, const LoopNest &nest) {
  return step.choices->hasPanels &&
                 canHavePanels(step, nest, step.choices->vectors)
             ? step.choices->vectors * getMaxLanes(step)
             : 0;
}

int kron::getContiguousAxis(const StepLayout &step) {
  for (unsigned axis = 0; axis < step.sizes.size(); ++axis)
    if (axis != step.axis && getStride(step.factor.strides, axis).is(1))
      return axis;
  return -1;
}

const LoopAxis *kron::findAlongAxis(const StepLayout &step,
                                    const LoopNest &nest) {
  if (getMapping(step, nest) != StepMapping::Inner || nest.inner.size() < 2)
    return nullptr;
  const LoopAxis &axis = nest.inner[nest.inner.size() - 2];
  return axis.factor.is(0) ? nullptr : &axis;
}

BroadcastPacking kron::getPossiblePacking(const StepLayout &step,
                                          const LoopNest &nest) {
  const StepFactor &factor = step.factor;
  if (step.elementParts != 1)
    return BroadcastPacking::None;
  if (factor.resultStride.is(nest.group))
    return BroadcastPacking::Streams;
  bool isKnown =
      factor.strideK.isConstant() && factor.resultStride.isConstant();
  return nest.group == 1 && isKnown && getContiguousAxis(step) >= 0
             ? BroadcastPacking::Planes
             : BroadcastPacking::None;
}

BroadcastPacking kron::getBroadcastPacking(const StepLayout &step,
                                           const LoopNest &nest) {
  return step.choices->packsFactor ? getPossiblePacking(step, nest)
                                   : BroadcastPacking::None;
}

/// Whether `array` holds values as they are computed.
static bool isComputed(const StepLayout &step, const StepArray &array) {
  return !array.element ||
         array.element.getIntOrFloatBitWidth() == 8 * step.elementBytes;
}

static bool variesFactor(const StepLayout &step) {
  return llvm::any_of(step.factor.strides,
                      [](Int stride) { return !stride.is(0); });
}

int64_t kron::getSharingRows(const StepLayout &step, const LoopNest &nest) {
  int64_t lanes = getMaxLanes(step);
  int64_t vectors = step.sizeN / lanes, remainder = step.sizeN % lanes;
  if (getMapping(step, nest) != StepMapping::Fibre || !nest.inner.empty() ||
      findSharedAxis(nest) < 0 || variesFactor(step) ||
      step.vectorBits != 512 || step.elementParts != 1 || step.hasPairs ||
      step.adds || !isComputed(step, step.destination) ||
      getPanelLanes(step, nest) || !vectors || !remainder ||
      !llvm::isPowerOf2_64(remainder))
    return 1;
  // What they have to themselves and what they share has to fit the registers.
  int64_t sharing = lanes / remainder;
  bool fits = vectors * sharing + 1 <= getMaxAccumulators(step.vectorBits);
  return fits ? sharing : 1;
}

SmallVector<int64_t> kron::getRemainderGroups(const StepLayout &step,
                                              const LoopNest &nest) {
  if (getMapping(step, nest) != StepMapping::Inner || step.isInPlace ||
      !nest.inner.back().size.isConstant() || variesFactor(step) ||
      step.vectorBits != 512 || step.elementParts != 1 || step.hasPairs ||
      step.adds || !isComputed(step, step.source) ||
      !isComputed(step, step.destination) ||
      getBroadcastPacking(step, nest) != BroadcastPacking::None)
    return {};
  int64_t lanes = getMaxLanes(step);
  int64_t remainder = nest.inner.back().size.getConstant() % lanes;
  SmallVector<int64_t> groups;
  for (int64_t group = lanes / 2; group; group /= 2)
    if (remainder & group)
      groups.push_back(group);
  return groups;
}

SmallVector<RemainderTile>
kron::getRemainderTiles(const CPUStepChoices &choices) {
  SmallVector<RemainderTile> tiles;
  for (size_t at = 0; at + 2 < choices.remainder.size(); at += 3)
    tiles.push_back({choices.remainder[at], choices.remainder[at + 1],
                     choices.remainder[at + 2]});
  return tiles;
}

bool kron::canReadPairs(const StepLayout &step, const LoopNest &nest) {
  Type stored = step.factor.element;
  int64_t group = getGroupSize(nest);
  // X is taken apart on the stack, which has room for a number of rows that is
  // known.
  return getSharedSize(nest) >= 0 && stored && stored.isBF16() &&
         step.elementBytes == 4 && step.elementParts == 1 &&
         step.sizeK * group % 2 == 0;
}

/// Vectors of t from which on a masked one is little of them.
static constexpr int64_t kMostMaskedVectors = 3;

bool kron::canBeSegments(int64_t size, int64_t lanes) {
  return size > lanes || (2 * size > lanes && size < lanes);
}

std::optional<SegmentShape> kron::getSegmentShape(const StepLayout &step,
                                                  Type stored, int64_t size,
                                                  int64_t rows) {
  int64_t lanes = getMaxLanes(step);
  if (step.elementParts != 1 || step.hasPairs || rows < 1 ||
      !canBeSegments(size, lanes))
    return std::nullopt;
  SegmentShape shape;
  // One row takes as long as reading the factor, of which a few lines at a time
  // are read best; more rows take as long as their multiply-adds. Registers
  // hold X of all rows and a vector of the factor beside the sums.
  bool isWide = step.vectorBits == 512;
  // Of few registers a mask takes one, and half of the sums in its vector.
  // Three rows by four q take fewest loads, but two blocks of four rows fewer
  // turns than three.
  bool isMasked = size % lanes && size < kMostMaskedVectors * lanes;
  bool takesFour = isMasked || rows == 7 || rows == 8;
  int64_t registers = isWide ? 30 : isMasked ? 14 : 15;
  int64_t mostRows = isWide ? 6 : takesFour ? 4 : 3;
  int64_t rowsOfOneBlock = isWide ? 8 : 4;
  bool hasPairs =
      stored && stored.isBF16() && step.elementBytes == 4 && size >= 2 * lanes;
  shape.words = hasPairs && step.mayPair && step.sizeK % 2 == 0;
  shape.pairs = shape.words || (hasPairs && rows <= mostRows);
  int64_t parts = shape.getParts();
  shape.unit = parts * lanes;
  // A few more are one block, for which the factor is read once.
  bool isOneBlock = rows <= rowsOfOneBlock && !shape.pairs;
  shape.rows = isOneBlock
                   ? rows
                   : llvm::divideCeil(rows, llvm::divideCeil(rows, mostRows));
  // Blocks of the same size leave no rows behind where their number is open.
  for (int64_t even = shape.rows; 4 * even >= 3 * shape.rows; --even)
    if (rows % even == 0) {
      shape.rows = even;
      break;
    }
  bool isBound = rows == 1 || shape.pairs;
  if (isBound)
    shape.vectors = std::clamp<int64_t>(registers / (parts * shape.rows), 1, 2);
  else
    shape.sizeN =
        std::clamp<int64_t>(registers / shape.rows - 1, 1, kMostSegmentResults);
  shape.sizeN = std::min(shape.sizeN, step.sizeN);
  return shape;
}

std::optional<SegmentShape> kron::getStepSegmentShape(const StepLayout &step,
                                                      const LoopNest &nest) {
  Type stored = needsPacking(step) ? Type() : step.factor.element;
  return getSegmentShape(step, stored, nest.inner.back().size.getConstant(),
                         getSegmentRows(step, nest));
}

bool kron::canPackInSegments(const LoopNest &nest, const SegmentShape &shape) {
  return findSharedAxis(nest) >= 0 && !shape.pairs && shape.vectors == 1;
}

int64_t kron::getRepeatResults(const StepLayout &step, int64_t size,
                               int64_t repeats) {
  int64_t lanes = getMaxLanes(step);
  int64_t vectors = llvm::divideCeil(std::min(lanes, size) * repeats, lanes);
  // Registers hold the accumulators, a vector of the factor per q, an X, a
  // shuffled factor and the numbers of lanes for every shuffle.
  int64_t registers = step.vectorBits == 512 ? 32 : 16;
  return std::max<int64_t>(1, (registers - 4 - vectors) / (vectors + 1));
}

int64_t kron::getFactorElementBytes(const StepLayout &step) {
  // Complex numbers are pairs of what they are computed in.
  bool isConverted = step.factor.element && step.elementParts == 1;
  return isConverted ? getElementBytes(step.factor.element) : step.elementBytes;
}

bool kron::readsFactorWhereItLies(const StepLayout &step,
                                  const LoopNest &nest) {
  switch (getMapping(step, nest)) {
  case StepMapping::K:
  case StepMapping::Repeat:
    return true;
  case StepMapping::Varying:
    return step.choices->segment && !step.choices->packedK &&
           !needsPacking(step);
  case StepMapping::Inner:
  case StepMapping::Fibre:
  case StepMapping::Unsupported:
    return false;
  }
  llvm_unreachable("covered switch");
}

int64_t kron::getSegmentRows(const StepLayout &step, const LoopNest &nest) {
  int64_t rows = getSharedSize(nest);
  return rows < 0 ? step.usualRows : rows;
}

int64_t kron::getSegmentK(const StepLayout &step, const SegmentShape &shape) {
  int64_t sizeK = shape.blockK ? shape.blockK : step.sizeK;
  return shape.words ? sizeK / 2 : sizeK;
}

int64_t kron::getSegmentRowElements(const StepLayout &step,
                                    const SegmentShape &shape) {
  return (getSegmentK(step, shape) * shape.segment + 1) * shape.unit;
}

int64_t kron::getGroupedRowElements(const StepLayout &step, int64_t group) {
  return llvm::alignTo(step.sizeN * group, getMaxLanes(step));
}

bool kron::canWorkInPlace(const StepLayout &step) {
  return getStepMapping(step) == StepMapping::Inner &&
         step.choices->rows >= step.sizeN;
}

bool kron::canConvertSource(const StepLayout &step) {
  StepMapping mapping = getStepMapping(step);
  return mapping == StepMapping::Inner || mapping == StepMapping::Varying;
}

bool kron::canConvertFactor(const StepLayout &step) {
  switch (getStepMapping(step)) {
  case StepMapping::K:
  case StepMapping::Repeat:
    return true;
  case StepMapping::Fibre:
  case StepMapping::Varying:
    return !needsPacking(step);
  case StepMapping::Inner:
  case StepMapping::Unsupported:
    return false;
  }
  llvm_unreachable("covered switch");
}

bool kron::needsPacking(const StepLayout &step) {
  LoopNest nest = getLoopNest(step);
  switch (getMapping(step, nest)) {
  case StepMapping::Inner:
    return getBroadcastPacking(step, nest) != BroadcastPacking::None ||
           !step.choices->remainder.empty();
  case StepMapping::K:
  case StepMapping::Repeat:
  case StepMapping::Unsupported:
    return false;
  case StepMapping::Varying:
    return !nest.inner.back().factor.is(1);
  case StepMapping::Fibre:
    return !nest.inner.empty() || !step.factor.resultStride.is(1) ||
           (getNumFibres(step, nest) > 1 && !keepsFibres(step)) ||
           getPanelLanes(step, nest) || step.choices->sharingRows > 1;
  }
  llvm_unreachable("covered switch");
}
