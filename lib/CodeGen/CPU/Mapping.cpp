//===- Mapping.cpp - What the lanes of a step run over ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"
#include "llvm/Support/MathExtras.h"

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
static bool isRepeatedGroup(const Stage &stage, int64_t size) {
  int64_t maxLanes = getMaxLanes(stage);
  if (llvm::isPowerOf2_64(size))
    return size < maxLanes;
  int64_t perVector = size ? maxLanes / size : 0;
  if (stage.elementParts != 1 || perVector < 2)
    return false;
  int64_t vectors = llvm::divideCeil(stage.sizeN, perVector);
  return 1 + vectors < stage.sizeN;
}

static bool isKContiguous(const Stage &stage, const LoopNest &nest,
                          int64_t group);

/// Whether packing the factor, an element per lane, takes longer than lanes
/// that stay empty: for few rows that are all it is multiplied with.
static bool isPackedForSkinnyM(const Stage &stage, const LoopNest &nest) {
  return stage.isFactorUsedOnce && hasSkinnyM(nest);
}

/// Size of the innermost axis if the fibre mapping can take it into the lanes
/// (1 without one), else 0.
static int64_t getFibreGroup(const Stage &stage, const LoopNest &nest) {
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
  bool varies = !axis.factor.is(0);
  bool fits = varies ? isGroup(stage, size) : isRepeatedGroup(stage, size);
  if (size == maxLanes && varies)
    return hasSkinnyM(nest) ? 0 : size;
  if (!varies && isPackedForSkinnyM(stage, nest) &&
      !isKContiguous(stage, nest, size))
    return 0;
  return fits && resultStride.is(size) ? size : 0;
}

std::pair<int64_t, int64_t> kron::getFibreLanes(const Stage &stage,
                                                int64_t group) {
  int64_t lanes = kron::chooseLanes(stage.sizeN * group, stage.vectorBits,
                                    stage.elementBytes);
  return {lanes, lanes / group};
}

int64_t kron::getNumFibres(const Stage &stage, const LoopNest &nest) {
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
                 (!stage.scale.beta || axis.addend.is(stage.sizeN));
  bool isShort = axis.size.isConstant() && axis.size.getConstant() < fibres;
  return axis.factor.is(0) && isDense && !isShort ? fibres : 1;
}

bool kron::keepsFibres(const Stage &stage) {
  bool keepsHalves = stage.given->keptFibres > 0;
  return stage.sizeK <= kMostKeptElements ||
         (keepsHalves && stage.vectorBits == 512 &&
          2 * stage.sizeK == getMaxLanes(stage));
}

int64_t kron::getScratchElements(const Stage &stage) {
  LoopNest nest = getLoopNest(stage);
  bool interleaves = getMapping(stage, nest) == StageMapping::Fibre &&
                     getNumFibres(stage, nest) > 1 && !keepsFibres(stage);
  return interleaves ? kMaxTileRows * getMaxLanes(stage) : 0;
}

static bool isAddendContiguous(const Stage &stage, const LoopNest &nest,
                               int64_t group) {
  if (!stage.scale.beta)
    return true;
  if (group)
    return ((group > 1 && group == getMaxLanes(stage)) ||
            getStride(stage.addend.strides, stage.axis).is(group)) &&
           (group == 1 || nest.inner.back().addend.is(1));
  return nest.inner.back().addend.is(1);
}

/// Whether the k mapping is there and better than packing the factor: X and
/// a factor that does not lie as the fibre mapping needs it are contiguous
/// along p.
static bool isKContiguous(const Stage &stage, const LoopNest &nest,
                          int64_t group) {
  const StageFactor &factor = stage.factor;
  if (group > 1 && !nest.inner.back().factor.is(1))
    return false;
  if (stage.elementParts != 1 || stage.hasPairs || !hasSkinnyM(nest) ||
      2 * group > getMaxLanes(stage) ||
      !stage.source.strides[stage.axis].is(group) ||
      !factor.strideK.is(group) || !factor.resultStride.isConstant())
    return false;
  int64_t lanes = getMaxLanes(stage), extent = stage.sizeK * group;
  // A period of vectors, or a vector, is filled by each row of the factor, or
  // by several that follow each other. What the results then take is worth it
  // for fewer rows.
  constexpr int64_t kShortPeriod = 5, kSkinnierM = kSkinnyM / 2;
  if (!llvm::isPowerOf2_64(group))
    return group % 2 && stage.sizeK >= lanes &&
           (group <= kShortPeriod || hasSkinnyM(nest, kSkinnierM));
  return extent >= lanes ||
         (stage.sizeK > 1 && lanes % extent == 0 &&
          factor.resultStride.is(extent) && hasSkinnyM(nest, kSkinnierM));
}

/// Whether lanes can run over a short innermost axis of a few rows together
/// with the one outside of it, which the factor depends on and is contiguous
/// along.
static bool isRepeated(const Stage &stage, const LoopNest &nest) {
  constexpr int64_t kMinLanes = 4;
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
  if (stage.scale.beta && (!rows.addend.is(1) ||
                           !isContinued(lanes.addend, rows.addend, rows.size)))
    return false;
  return rows.size.getConstant() <= kSkinnyM &&
         lanes.size.getConstant() >= kMinLanes;
}

StageMapping kron::getMapping(const Stage &stage, const LoopNest &nest) {
  int64_t group = getFibreGroup(stage, nest);
  if (group) {
    if (!isAddendContiguous(stage, nest, group))
      return StageMapping::Unsupported;
    return isKContiguous(stage, nest, group) ? StageMapping::K
                                             : StageMapping::Fibre;
  }
  if (nest.inner.empty())
    return StageMapping::Unsupported;
  const LoopAxis &lanes = nest.inner.back();
  if (!lanes.source.is(1) || !lanes.destination.is(1) ||
      !isAddendContiguous(stage, nest, 0))
    return StageMapping::Unsupported;
  if (isRepeated(stage, nest))
    return StageMapping::Repeat;
  return lanes.factor.is(0) ? StageMapping::Inner : StageMapping::Varying;
}

StageMapping kron::getStageMapping(const Stage &stage) {
  return getMapping(stage, getLoopNest(stage));
}

int64_t kron::getPanelRows(const Stage &stage, int64_t group, int64_t total) {
  constexpr int64_t kRows = 6;
  const CPUBudget &budget = stage.budget;
  int64_t rows = kRows / stage.elementParts;
  // Rows of X that the whole register is loaded from go through the same sets
  // of the first-level cache as the panel.
  int64_t vectors = stage.vectorBits == 512 ? 4 : 2;
  int64_t ways = llvm::divideCeil(stage.sizeK * stage.vectorBits / 8,
                                  budget.getWayBytes());
  if (group == getMaxLanes(stage) && (rows + vectors) * ways > budget.l1Ways)
    rows = std::min<int64_t>(rows, 4);
  return total < 0 ? rows : std::min(rows, total);
}
int64_t kron::getPanelVectors(const Stage &stage) {
  return stage.vectorBits == 512 ? 4 : 2;
}

int64_t kron::getPanelLanes(const Stage &stage, const LoopNest &nest) {
  int64_t group = nest.inner.empty() ? 1 : nest.inner.back().size.getConstant();
  auto [lanes, perVector] = getFibreLanes(stage, group);
  int64_t columns = llvm::divideCeil(stage.sizeN, perVector) * lanes;
  int64_t panel =
      getPanelVectors(stage) * stage.vectorBits / 8 / stage.elementBytes;
  bool isFixed = stage.step->rows || stage.step->vectors;
  // Such a factor is gone from the first-level cache when the next block of
  // rows comes.
  bool isLarge =
      stage.sizeK * columns * stage.elementBytes > stage.budget.l1Bytes;
  return isLarge && !isFixed && columns >= panel ? panel : 0;
}

int kron::getContiguousAxis(const Stage &stage) {
  for (unsigned axis = 0; axis < stage.sizes.size(); ++axis)
    if (axis != stage.axis && getStride(stage.factor.strides, axis).is(1))
      return axis;
  return -1;
}

BroadcastPacking kron::getBroadcastPacking(const Stage &stage,
                                           const LoopNest &nest) {
  // Elements far apart would take a cache line each, for every block of lanes
  // anew.
  constexpr int64_t kMinBytes = 32, kMinVectors = 4, kMinK = 8;
  const StageFactor &factor = stage.factor;
  Int size = nest.inner.back().size;
  bool isUsedOften = !size.isConstant() ||
                     size.getConstant() >= kMinVectors * getMaxLanes(stage);
  if (stage.elementParts != 1 || !isUsedOften)
    return BroadcastPacking::None;
  if (factor.resultStride.is(nest.group) && stage.sizeK >= kMinK &&
      stage.sizeN >= kMinK && isFarApart(stage, factor.strideK, stage.sizeK))
    return BroadcastPacking::Streams;
  bool isApart = factor.strideK.isConstant() &&
                 factor.resultStride.isConstant() &&
                 std::min(factor.strideK.getConstant(),
                          factor.resultStride.getConstant()) *
                         stage.elementBytes >=
                     kMinBytes;
  return nest.group == 1 && isApart && getContiguousAxis(stage) >= 0
             ? BroadcastPacking::Planes
             : BroadcastPacking::None;
}

/// Whether `array` holds values as they are computed.
static bool isComputed(const Stage &stage, const StageArray &array) {
  return !array.element ||
         array.element.getIntOrFloatBitWidth() == 8 * stage.elementBytes;
}

static bool variesFactor(const Stage &stage) {
  return llvm::any_of(stage.factor.strides,
                      [](Int stride) { return !stride.is(0); });
}

int64_t kron::getSharingRows(const Stage &stage, const LoopNest &nest) {
  // Beside more vectors that a row has to itself, one of all rows is little.
  constexpr int64_t kMostVectors = 4, kMinK = 4;
  int64_t lanes = getMaxLanes(stage);
  int64_t vectors = stage.sizeN / lanes, rest = stage.sizeN % lanes;
  bool isFixed = stage.step->rows || stage.step->vectors;
  if (getMapping(stage, nest) != StageMapping::Fibre || !nest.inner.empty() ||
      isFixed || hasSkinnyM(nest) || variesFactor(stage) ||
      stage.vectorBits != 512 || stage.elementParts != 1 || stage.hasPairs ||
      stage.scale.beta || stage.sizeK < kMinK ||
      !isComputed(stage, stage.destination) || getPanelLanes(stage, nest) ||
      !vectors || vectors > kMostVectors || !rest || !llvm::isPowerOf2_64(rest))
    return 1;
  // What they have to themselves and what they share has to fit the registers.
  int64_t sharing = lanes / rest;
  bool fits = vectors * sharing + 1 <= getMaxAccumulators(stage.vectorBits);
  return fits ? sharing : 1;
}

SmallVector<int64_t> kron::getRemainderGroups(const Stage &stage,
                                              const LoopNest &nest) {
  // Fewer multiply-adds do not pay for loops of their own, and factors that
  // leave the first-level cache are slower than lanes that stay empty.
  constexpr int64_t kMinK = 4;
  if (getMapping(stage, nest) != StageMapping::Inner ||
      !nest.inner.back().size.isConstant() || variesFactor(stage) ||
      stage.sizeK < kMinK || stage.vectorBits != 512 ||
      stage.elementParts != 1 || stage.hasPairs || stage.scale.beta ||
      !isComputed(stage, stage.source) ||
      !isComputed(stage, stage.destination) ||
      getBroadcastPacking(stage, nest) != BroadcastPacking::None)
    return {};
  // Slots of two a cycle: multiply-adds, and stores, of which whole vectors and
  // masked ones take a cycle, parts of them that an instruction takes out while
  // it stores half of that.
  constexpr int64_t kPartBytes = 8;
  int64_t lanes = getMaxLanes(stage);
  int64_t size = nest.inner.back().size.getConstant(), rest = size % lanes;
  int64_t perVector = stage.sizeN * (stage.sizeK + 2), grouped = 0;
  int64_t elements = 0;
  SmallVector<int64_t> groups;
  for (int64_t group = lanes / 2; group; group /= 2) {
    if (!(rest & group))
      continue;
    groups.push_back(group);
    int64_t rowElements = getGroupedRowElements(stage, group);
    int64_t partSlots = group * stage.elementBytes >= kPartBytes ? 1 : 2;
    elements += rowElements * stage.sizeK;
    grouped += rowElements / lanes * stage.sizeK + stage.sizeN * partSlots;
  }
  // All rows go by anew for each group.
  constexpr int64_t kMostTurns = 2;
  int64_t turns = groups.size() + (size >= lanes);
  if (turns > kMostTurns ||
      elements * stage.elementBytes > stage.budget.l1Bytes / 2)
    return {};
  // Code of their own has to pay.
  constexpr int64_t kWhole = 16, kWorthwhile = 15;
  int64_t full = size / lanes * perVector;
  return kWhole * (full + grouped) <= kWorthwhile * (full + perVector)
             ? groups
             : SmallVector<int64_t>();
}

int64_t kron::getGroupedRowElements(const Stage &stage, int64_t group) {
  return llvm::alignTo(stage.sizeN * group, getMaxLanes(stage));
}

bool kron::canConvertSource(const Stage &stage) {
  StageMapping mapping = getStageMapping(stage);
  return mapping == StageMapping::Inner || mapping == StageMapping::Varying;
}

bool kron::canConvertFactor(const Stage &stage) {
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

bool kron::canStream(const Stage &stage, SmallVectorImpl<Value> &strides) {
  LoopNest nest = getLoopNest(stage);
  StageMapping mapping = getMapping(stage, nest);
  if (mapping == StageMapping::Unsupported || mapping == StageMapping::K ||
      mapping == StageMapping::Repeat)
    return false;
  // What lanes run over, in elements, if that is known.
  std::optional<int64_t> size;
  int64_t lanes, group = 1;
  if (mapping == StageMapping::Fibre) {
    group = nest.inner.empty() ? 1 : nest.inner.back().size.getConstant();
    size = stage.sizeN * group;
    lanes = getFibreLanes(stage, group).first;
    if (int64_t fibres = getNumFibres(stage, nest); fibres > 1) {
      Int count = nest.outer.pop_back_val().size;
      size = count.isConstant() ? *size * count.getConstant() : 1;
      lanes = stage.sizeN * fibres;
      if (!llvm::isPowerOf2_64(lanes))
        return false;
    }
  } else {
    group = nest.group;
    if (nest.inner.back().size.isConstant())
      size = nest.inner.back().size.getConstant();
    lanes = chooseLanes(size.value_or(INT64_MAX), stage.vectorBits,
                        stage.elementBytes);
  }
  // Narrow vectors fill a cache line too slowly.
  if (lanes * stage.elementBytes < 32 || lanes % group ||
      (size && *size % lanes))
    return false;
  auto fits = [&](Int stride) {
    if (!stride.isConstant())
      strides.push_back(stride.getValue());
    return !stride.isConstant() || stride.getConstant() % lanes == 0;
  };
  if (!nest.inner.empty())
    nest.inner.pop_back();
  if (mapping != StageMapping::Fibre &&
      !fits(stage.destination.strides[stage.axis]))
    return false;
  return llvm::all_of(
      llvm::concat<LoopAxis>(nest.outer, nest.inner),
      [&](const LoopAxis &axis) { return fits(axis.destination); });
}

bool kron::needsPacking(const Stage &stage) {
  LoopNest nest = getLoopNest(stage);
  switch (getMapping(stage, nest)) {
  case StageMapping::Inner:
    return getBroadcastPacking(stage, nest) != BroadcastPacking::None ||
           !getRemainderGroups(stage, nest).empty();
  case StageMapping::K:
  case StageMapping::Repeat:
  case StageMapping::Unsupported:
    return false;
  case StageMapping::Varying:
    return !nest.inner.back().factor.is(1);
  case StageMapping::Fibre:
    return !nest.inner.empty() || !stage.factor.resultStride.is(1) ||
           (getNumFibres(stage, nest) > 1 && !keepsFibres(stage)) ||
           getPanelLanes(stage, nest) || getSharingRows(stage, nest) > 1;
  }
  llvm_unreachable("covered switch");
}
