//===- Stage.cpp - One mode product between two arrays ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/Stage.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// One axis of the loop nest, with its stride in every array.
struct LoopAxis {
  /// The axes of the stage that were merged into this one.
  unsigned first, last;
  Int size;
  Int source, destination, addend, factor;
};

/// The axes around the contracted one, without those of size 1 and with
/// neighbours merged where all arrays allow it.
struct LoopNest {
  SmallVector<LoopAxis> outer;
  SmallVector<LoopAxis> inner;
  /// For the grouped mapping, the size of the innermost axis, which has been
  /// merged into the one before it; else 1.
  int64_t group = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loop nest
//===----------------------------------------------------------------------===//

/// Whether walking `outer` is walking on in `inner` for a stride of both.
static bool isContinued(Int outerStride, Int innerStride, Int innerSize) {
  return outerStride.isConstant() && innerStride.isConstant() &&
         innerSize.isConstant() &&
         outerStride.getConstant() ==
             innerStride.getConstant() * innerSize.getConstant();
}

static bool canMerge(const LoopAxis &outer, const LoopAxis &inner) {
  return outer.size.isConstant() && inner.size.isConstant() &&
         isContinued(outer.source, inner.source, inner.size) &&
         isContinued(outer.destination, inner.destination, inner.size) &&
         isContinued(outer.addend, inner.addend, inner.size) &&
         isContinued(outer.factor, inner.factor, inner.size);
}

static void appendAxis(SmallVectorImpl<LoopAxis> &axes, const LoopAxis &axis) {
  if (axis.size.is(1))
    return;
  if (axes.empty() || !canMerge(axes.back(), axis)) {
    axes.push_back(axis);
    return;
  }
  LoopAxis merged = axis;
  merged.first = axes.back().first;
  merged.size = axes.back().size.getConstant() * axis.size.getConstant();
  axes.back() = merged;
}

static Int getStride(const SmallVector<Int> &strides, unsigned axis) {
  return strides.empty() ? Int(0) : strides[axis];
}

/// Whether lanes can run over the positions of `axis` in groups of `group`.
static bool isGroup(const Stage &stage, int64_t group) {
  int64_t maxLanes = stage.vectorBits / 8 / stage.elementBytes;
  return group == maxLanes || 2 * group <= maxLanes;
}

/// Merges a short innermost axis that the factor depends on with one that it
/// does not depend on, if lanes can run over both.
static void mergeGroup(const Stage &stage, LoopNest &nest) {
  if (nest.inner.size() < 2)
    return;
  LoopAxis outer = nest.inner[nest.inner.size() - 2];
  const LoopAxis &inner = nest.inner.back();
  if (!inner.factor.is(1) || !outer.factor.is(0) || !inner.source.is(1) ||
      !inner.destination.is(1) || !inner.size.isConstant() ||
      !outer.size.isConstant() || !isGroup(stage, inner.size.getConstant()) ||
      !isContinued(outer.source, inner.source, inner.size) ||
      !isContinued(outer.destination, inner.destination, inner.size) ||
      !isContinued(outer.addend, inner.addend, inner.size))
    return;
  nest.group = inner.size.getConstant();
  outer.last = inner.last;
  outer.size = outer.size.getConstant() * nest.group;
  outer.source = outer.destination = 1;
  outer.addend = inner.addend;
  nest.inner.pop_back();
  nest.inner.back() = outer;
}

static LoopNest getLoopNest(const Stage &stage) {
  LoopNest nest;
  for (unsigned axis = 0; axis < stage.sizes.size(); ++axis) {
    if (axis == stage.axis)
      continue;
    LoopAxis loop{axis,
                  axis,
                  stage.sizes[axis],
                  stage.source.strides[axis],
                  stage.destination.strides[axis],
                  getStride(stage.addend.strides, axis),
                  getStride(stage.factor.strides, axis)};
    appendAxis(axis < stage.axis ? nest.outer : nest.inner, loop);
  }
  mergeGroup(stage, nest);
  return nest;
}

int64_t kron::chooseLanes(int64_t elements, int64_t vectorBits,
                          int64_t elementBytes) {
  int64_t maxLanes = vectorBits / 8 / elementBytes;
  int64_t minLanes = std::max<int64_t>(16 / elementBytes, 1);
  if (elements >= maxLanes)
    return maxLanes;
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(elements), minLanes, maxLanes);
}

//===----------------------------------------------------------------------===//
// Mapping
//===----------------------------------------------------------------------===//

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
  bool fits = varies ? isGroup(stage, size)
                     : size < maxLanes && llvm::isPowerOf2_64(size);
  return fits && resultStride.is(size) ? size : 0;
}

/// Lanes of the vectors of a stage with the fibre mapping, and how many q each
/// of them holds; lanes beyond whole groups are not used.
static std::pair<int64_t, int64_t> getFibreLanes(const Stage &stage,
                                                 int64_t group) {
  int64_t lanes = kron::chooseLanes(stage.results * group, stage.vectorBits,
                                    stage.elementBytes);
  return {lanes, lanes / group};
}

static bool isAddendContiguous(const Stage &stage, const LoopNest &nest,
                               int64_t group) {
  if (!stage.scale.beta)
    return true;
  if (group)
    return getStride(stage.addend.strides, stage.axis).is(group) &&
           (group == 1 || nest.inner.back().addend.is(1));
  return nest.inner.back().addend.is(1);
}

static StageMapping getMapping(const Stage &stage, const LoopNest &nest) {
  int64_t group = getFibreGroup(stage, nest);
  if (group)
    return isAddendContiguous(stage, nest, group) ? StageMapping::Fibre
                                                  : StageMapping::Unsupported;
  if (nest.inner.empty())
    return StageMapping::Unsupported;
  const LoopAxis &lanes = nest.inner.back();
  if (!lanes.source.is(1) || !lanes.destination.is(1) ||
      !isAddendContiguous(stage, nest, 0))
    return StageMapping::Unsupported;
  return lanes.factor.is(0) ? StageMapping::Inner : StageMapping::Varying;
}

StageMapping kron::getStageMapping(const Stage &stage) {
  return getMapping(stage, getLoopNest(stage));
}

bool kron::canStream(const Stage &stage, SmallVectorImpl<Value> &strides) {
  LoopNest nest = getLoopNest(stage);
  StageMapping mapping = getMapping(stage, nest);
  if (mapping == StageMapping::Unsupported)
    return false;
  // What lanes run over, in elements, if that is known.
  std::optional<int64_t> size;
  int64_t lanes, group = 1;
  if (mapping == StageMapping::Fibre) {
    group = nest.inner.empty() ? 1 : nest.inner.back().size.getConstant();
    size = stage.results * group;
    lanes = getFibreLanes(stage, group).first;
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

/// A factor of more bytes is gone from the first-level cache when the next
/// block of rows comes: then panels of its columns are taken in turn, each for
/// so many bytes of rows.
static constexpr int64_t kLargeFactorBytes = 1 << 15;
static constexpr int64_t kRowChunkBytes = 1 << 17;

/// Register tile of a panel: 24 or 12 accumulators, and few loads.
static int64_t getPanelRows(const Stage &stage) {
  return 6 / stage.elementParts;
}
static int64_t getPanelVectors(const Stage &stage) {
  return stage.vectorBits == 512 ? 4 : 2;
}

/// Columns of a panel of the factor of a stage with the fibre mapping; 0 if the
/// factor is small or the schedule fixes another tile.
static int64_t getPanelLanes(const Stage &stage, const LoopNest &nest) {
  int64_t group = nest.inner.empty() ? 1 : nest.inner.back().size.getConstant();
  auto [lanes, perVector] = getFibreLanes(stage, group);
  int64_t columns = llvm::divideCeil(stage.results, perVector) * lanes;
  int64_t panel =
      getPanelVectors(stage) * stage.vectorBits / 8 / stage.elementBytes;
  bool isFixed = stage.schedule && (stage.schedule.getRegisterRows() ||
                                    stage.schedule.getRegisterVectors());
  bool isLarge = stage.depth * columns * stage.elementBytes > kLargeFactorBytes;
  return isLarge && !isFixed && columns >= panel ? panel : 0;
}

bool kron::canConvertSource(const Stage &stage) {
  StageMapping mapping = getStageMapping(stage);
  return mapping == StageMapping::Inner || mapping == StageMapping::Varying;
}

bool kron::canConvertFactor(const Stage &stage) {
  StageMapping mapping = getStageMapping(stage);
  return (mapping == StageMapping::Fibre || mapping == StageMapping::Varying) &&
         !needsPacking(stage);
}

bool kron::needsPacking(const Stage &stage) {
  LoopNest nest = getLoopNest(stage);
  switch (getMapping(stage, nest)) {
  case StageMapping::Inner:
  case StageMapping::Unsupported:
    return false;
  case StageMapping::Varying:
    return !nest.inner.back().factor.is(1);
  case StageMapping::Fibre:
    return !nest.inner.empty() || !stage.factor.resultStride.is(1) ||
           getPanelLanes(stage, nest);
  }
  llvm_unreachable("covered switch");
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// The axis that lanes run over, if it is not only q.
static const LoopAxis *getLaneAxis(const LoopNest &nest) {
  return nest.inner.empty() ? nullptr : &nest.inner.back();
}

/// Whether axis `axis` of the stage belongs to the lanes.
static bool isLaneAxis(const LoopAxis *lanes, unsigned axis) {
  return lanes && axis >= lanes->first && axis <= lanes->last;
}

PackedFactor kron::getPackedFactor(const Stage &stage,
                                   ArrayRef<int64_t> factorSizes) {
  LoopNest nest = getLoopNest(stage);
  const LoopAxis *lanes = getLaneAxis(nest);
  PackedFactor packed;
  packed.resultStride = lanes ? lanes->size.getConstant() : 1;
  packed.depthStride = packed.resultStride * stage.results;
  bool isFibre = getMapping(stage, nest) == StageMapping::Fibre;
  if (isFibre) {
    auto [lanesOfVector, perVector] = getFibreLanes(stage, packed.resultStride);
    packed.vectorLanes = lanesOfVector;
    packed.vectorResults = perVector;
    // Whole cache lines, so that the last vector of a row can be loaded
    // unmasked.
    packed.depthStride =
        llvm::alignTo(packed.getRowElements(stage.results), 16);
  }
  packed.elements = packed.depthStride * stage.depth;
  if (isFibre)
    packed.panelLanes = getPanelLanes(stage, nest);
  if (packed.panelLanes) {
    packed.depthStride = packed.panelLanes;
    packed.elements =
        stage.depth *
        llvm::alignTo(packed.getRowElements(stage.results), packed.panelLanes);
  }
  packed.strides.assign(stage.sizes.size(), 0);
  for (unsigned axis = stage.sizes.size(); axis-- > 0;) {
    if (axis == stage.axis || factorSizes[axis] == 1 || isLaneAxis(lanes, axis))
      continue;
    packed.strides[axis] = packed.elements;
    packed.elements *= factorSizes[axis];
  }
  return packed;
}

/// Fills [p, q, lanes] for the q in [firstResult, firstResult + results), rows
/// padded to `rowStride`.
static void emitPackedRows(Emitter &emitter, const Stage &stage,
                           const PackedFactor &packed, const LoopAxis *lanes,
                           Int firstResult, int64_t results, int64_t rowStride,
                           Value from, Value to) {
  emitter.forLoop(0, stage.depth, 1, [&](Int p) {
    Value row = emitter.offsetPointer(to, emitter.mul(p, rowStride));
    // Padding is loaded and multiplied, if never stored: keep it from being
    // denormal.
    bool hasGaps = packed.hasGaps();
    emitter.forLoop(hasGaps ? 0 : results * packed.resultStride, rowStride, 1,
                    [&](Int lane) {
                      emitter.storeScalar(emitter.zero(emitter.element),
                                          emitter.offsetPointer(row, lane));
                    });
    emitter.forLoop(0, results, 1, [&](Int q) {
      Int fromRow = emitter.add(
          emitter.mul(p, stage.factor.depthStride),
          emitter.mul(emitter.add(firstResult, q), stage.factor.resultStride));
      Int toRow = emitter.mul(q, packed.resultStride);
      if (hasGaps)
        toRow =
            emitter.add(emitter.mul(emitter.floorDiv(q, packed.vectorResults),
                                    packed.vectorLanes),
                        emitter.mul(emitter.rem(q, packed.vectorResults),
                                    packed.resultStride));
      emitter.forLoop(0, packed.resultStride, 1, [&](Int lane) {
        Int offset = emitter.add(
            fromRow, emitter.mul(lane, lanes ? lanes->factor : Int(0)));
        Type stored = stage.factor.element;
        Value element = emitter.loadScalar(
            emitter.offsetPointer(from, offset, stored), stored);
        emitter.storeScalar(
            element, emitter.offsetPointer(row, emitter.add(toRow, lane)));
      });
    });
  });
}

/// Loops over the axes from `axis` on that the factor varies on, then fills one
/// [p, q, lanes] block.
static void emitPackingLoops(Emitter &emitter, const Stage &stage,
                             ArrayRef<int64_t> factorSizes,
                             const PackedFactor &packed, const LoopAxis *lanes,
                             unsigned axis, Value from, Value to) {
  if (axis < factorSizes.size()) {
    bool skipped = axis == stage.axis || isLaneAxis(lanes, axis);
    emitter.forLoop(0, skipped ? 1 : factorSizes[axis], 1, [&](Int position) {
      Int source = emitter.mul(position, getStride(stage.factor.strides, axis));
      Int target = emitter.mul(position, packed.strides[axis]);
      emitPackingLoops(
          emitter, stage, factorSizes, packed, lanes, axis + 1,
          emitter.offsetPointer(from, source, stage.factor.element),
          emitter.offsetPointer(to, target));
    });
    return;
  }
  if (!packed.panelLanes)
    return emitPackedRows(emitter, stage, packed, lanes, 0, stage.results,
                          packed.depthStride, from, to);
  int64_t panelResults =
      packed.panelLanes / packed.vectorLanes * packed.vectorResults;
  int64_t fullPanels = stage.results / panelResults;
  int64_t rest = stage.results - fullPanels * panelResults;
  auto emitPanel = [&](Int panel, int64_t results) {
    Value start = emitter.offsetPointer(
        to, emitter.mul(panel, packed.panelLanes * stage.depth));
    emitPackedRows(emitter, stage, packed, lanes,
                   emitter.mul(panel, panelResults), results, packed.panelLanes,
                   from, start);
  };
  emitter.forLoop(0, fullPanels, 1,
                  [&](Int panel) { emitPanel(panel, panelResults); });
  if (rest)
    emitPanel(fullPanels, rest);
}

void kron::emitPacking(Emitter &emitter, const Stage &stage,
                       ArrayRef<int64_t> factorSizes,
                       const PackedFactor &packed, Value base) {
  LoopNest nest = getLoopNest(stage);
  emitPackingLoops(emitter, stage, factorSizes, packed, getLaneAxis(nest), 0,
                   stage.factor.base, base);
}

//===----------------------------------------------------------------------===//
// Blocks of register tiles
//===----------------------------------------------------------------------===//

namespace {

/// Builds the loops of one stage. The tile's bases move while loops are
/// entered.
class StageEmitter {
public:
  StageEmitter(Emitter &emitter, const Stage &stage, const PackedFactor *packed)
      : emitter(emitter), stage(stage), nest(getLoopNest(stage)),
        mapping(getMapping(stage, nest)), factor(stage.factor) {
    if (packed)
      usePacked(*packed);
  }

  void emit();

private:
  /// Where the current iteration stands in every array.
  struct Bases {
    Value source, destination, addend, factor;
  };

  void usePacked(const PackedFactor &packed);
  Bases advance(const Bases &bases, const LoopAxis &axis, Int position);
  void emitLoops(ArrayRef<LoopAxis> axes, const Bases &bases,
                 function_ref<void(const Bases &)> body);
  /// Calls `body(first, count)` for blocks of `block` over `size`: full ones in
  /// a loop, then what is left, in one block if that is known and else one by
  /// one.
  void emitBlocks(Int size, int64_t block,
                  function_ref<void(Int, int64_t)> body);
  /// The same for vectors of `lanes` lanes, the first `used` of which cover
  /// `size` elements, with the mask of the last vector of the block.
  void emitVectorBlocks(int64_t size, int64_t lanes, int64_t used,
                        int64_t block,
                        function_ref<void(Int, int64_t, Value)> body);
  TileResult startResult(const Bases &bases) const;
  RegisterTile startTile(const Bases &bases) const;
  /// The result of a tile whose rows are q, from `q` on, and whose vectors lie
  /// `vectorStride` (in Z `addendVectorStride`) apart.
  TileResult getResultRows(const Bases &bases, Int q, Int vectorStride,
                           Int addendVectorStride);
  void emitInner(const LoopAxis &lanes, const Bases &bases);
  void emitVarying(const LoopAxis &lanes, const LoopAxis *shared,
                   const Bases &bases);
  void emitFibre(const LoopAxis *rows, const Bases &bases);
  /// Takes an axis on which the factor does not vary out of the nest's outer
  /// loops, to be blocked in registers; none if there is none.
  std::optional<LoopAxis> takeSharedAxis();

  Emitter &emitter;
  const Stage &stage;
  LoopNest nest;
  StageMapping mapping;
  StageFactor factor;
  bool hasPanels = false;
};

} // namespace

void StageEmitter::usePacked(const PackedFactor &packed) {
  factor.depthStride = packed.depthStride;
  factor.resultStride = packed.resultStride;
  factor.element = nullptr;
  hasPanels = packed.panelLanes != 0;
  for (auto *axes : {&nest.outer, &nest.inner})
    for (LoopAxis &axis : *axes)
      axis.factor = packed.strides[axis.last];
  if (mapping == StageMapping::Varying)
    nest.inner.back().factor = 1;
}

StageEmitter::Bases StageEmitter::advance(const Bases &bases,
                                          const LoopAxis &axis, Int position) {
  auto move = [&](Value base, Int stride, Type element) {
    return base ? emitter.offsetPointer(base, emitter.mul(position, stride),
                                        element)
                : base;
  };
  return {move(bases.source, axis.source, stage.source.element),
          move(bases.destination, axis.destination, stage.destination.element),
          move(bases.addend, axis.addend, stage.addend.element),
          move(bases.factor, axis.factor, factor.element)};
}

void StageEmitter::emitLoops(ArrayRef<LoopAxis> axes, const Bases &bases,
                             function_ref<void(const Bases &)> body) {
  if (axes.empty())
    return body(bases);
  emitter.forLoop(0, axes.front().size, 1, [&](Int position) {
    emitLoops(axes.drop_front(), advance(bases, axes.front(), position), body);
  });
}

void StageEmitter::emitBlocks(Int size, int64_t block,
                              function_ref<void(Int, int64_t)> body) {
  if (size.isConstant()) {
    int64_t full = size.getConstant() / block * block;
    emitter.forLoop(0, full, block, [&](Int first) { body(first, block); });
    if (full < size.getConstant())
      body(full, size.getConstant() - full);
    return;
  }
  Int full = emitter.mul(emitter.floorDiv(size, block), block);
  emitter.forLoop(0, full, block, [&](Int first) { body(first, block); });
  if (block > 1)
    emitter.forLoop(full, size, 1, [&](Int first) { body(first, 1); });
}

void StageEmitter::emitVectorBlocks(
    int64_t size, int64_t lanes, int64_t used, int64_t block,
    function_ref<void(Int, int64_t, Value)> body) {
  // A partial vector is the last one of a block outside the loop.
  int64_t total = llvm::divideCeil(size, used);
  int64_t full = (size % used ? total - 1 : total) / block * block;
  Value all = emitter.firstLanes(lanes, used);
  emitter.forLoop(0, full, block, [&](Int first) { body(first, block, all); });
  if (full < total)
    body(full, total - full,
         emitter.firstLanes(lanes, size - (total - 1) * used));
}

TileResult StageEmitter::startResult(const Bases &bases) const {
  TileResult result;
  result.base = bases.destination;
  result.addend = bases.addend;
  result.element = stage.destination.element;
  result.addendElement = stage.addend.element;
  return result;
}

RegisterTile StageEmitter::startTile(const Bases &bases) const {
  RegisterTile tile;
  tile.depth = stage.depth;
  tile.scale = stage.scale;
  tile.streams = stage.streams;
  tile.prefetch = stage.prefetch;
  tile.result = startResult(bases);
  return tile;
}

TileResult StageEmitter::getResultRows(const Bases &bases, Int q,
                                       Int vectorStride,
                                       Int addendVectorStride) {
  TileResult result = startResult(bases);
  result.rowStride = stage.destination.strides[stage.axis];
  result.vectorStride = vectorStride;
  result.base = emitter.offsetPointer(
      bases.destination, emitter.mul(q, result.rowStride), result.element);
  if (!bases.addend)
    return result;
  result.addendRowStride = stage.addend.strides[stage.axis];
  result.addendVectorStride = addendVectorStride;
  result.addend = emitter.offsetPointer(bases.addend,
                                        emitter.mul(q, result.addendRowStride),
                                        result.addendElement);
  return result;
}

std::optional<LoopAxis> StageEmitter::takeSharedAxis() {
  // The innermost such axis has the best locality, but a tiny one would leave
  // the tile small.
  int best = -1;
  for (int index = nest.outer.size() - 1; index >= 0; --index) {
    const LoopAxis &axis = nest.outer[index];
    if (!axis.factor.is(0))
      continue;
    bool large = !axis.size.isConstant() || axis.size.getConstant() >= 6;
    if (best < 0 || (large && nest.outer[best].size.isConstant() &&
                     nest.outer[best].size.getConstant() < 6))
      best = index;
  }
  if (best < 0)
    return std::nullopt;
  LoopAxis axis = nest.outer[best];
  nest.outer.erase(nest.outer.begin() + best);
  return axis;
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

void StageEmitter::emitInner(const LoopAxis &laneAxis, const Bases &bases) {
  int64_t size = laneAxis.size.isConstant() ? laneAxis.size.getConstant() : -1;
  int64_t lanes = chooseLanes(size < 0 ? INT64_MAX : size, stage.vectorBits,
                              emitter.getElementBytes());
  int64_t used = lanes / nest.group * nest.group;
  Value usedLanes = emitter.firstLanes(lanes, used);
  int64_t vectorTotal = size < 0 ? -1 : llvm::divideCeil(size, used);
  TileShape shape =
      chooseTileShape(stage.results, vectorTotal, stage.vectorBits,
                      stage.schedule, stage.elementParts, /*prefersRows=*/true);

  // One column of blocks: `vectors` vectors from lane `first`, all q.
  auto emitColumn = [&](Int first, int64_t vectors, Value mask) {
    Bases column = advance(bases, laneAxis, first);
    emitBlocks(stage.results, shape.rows, [&](Int q, int64_t rows) {
      RegisterTile tile = startTile(column);
      tile.rows = rows;
      tile.vectors = vectors;
      tile.lanes = lanes;
      tile.usedLanes = usedLanes;
      tile.mask = mask;
      tile.a = {nest.group == 1 ? TileOperand::Kind::Scalar
                                : TileOperand::Kind::Group,
                emitter.offsetPointer(column.factor,
                                      emitter.mul(q, factor.resultStride)),
                factor.resultStride,
                factor.depthStride,
                nest.group,
                stage.isFactorConjugate};
      tile.b = {TileOperand::Kind::Vector,
                column.source,
                used,
                stage.source.strides[stage.axis],
                1,
                stage.isSourceConjugate,
                stage.source.element};
      tile.result = getResultRows(column, q, used, used);
      emitRegisterTile(emitter, tile);
    });
  };

  if (size >= 0) {
    return emitVectorBlocks(size, lanes, used, shape.vectors,
                            [&](Int first, int64_t vectors, Value mask) {
                              emitColumn(emitter.mul(first, used), vectors,
                                         mask);
                            });
  }
  int64_t width = shape.vectors * lanes;
  Int full = emitter.mul(emitter.floorDiv(laneAxis.size, width), width);
  emitter.forLoop(0, full, width, [&](Int first) {
    emitColumn(first, shape.vectors, nullptr);
  });
  emitter.forLoop(full, laneAxis.size, lanes, [&](Int first) {
    emitColumn(first, 1,
               emitter.firstLanes(lanes, emitter.sub(laneAxis.size, first)));
  });
}

void StageEmitter::emitVarying(const LoopAxis &laneAxis, const LoopAxis *shared,
                               const Bases &bases) {
  int64_t size = laneAxis.size.getConstant();
  int64_t lanes =
      chooseLanes(size, stage.vectorBits, emitter.getElementBytes());
  int64_t sharedSize = 1;
  if (shared)
    sharedSize = shared->size.isConstant() ? shared->size.getConstant() : -1;
  TileShape shape = chooseTileShape(stage.results, sharedSize, stage.vectorBits,
                                    stage.schedule, stage.elementParts);

  auto emitLanes = [&](Int first, Value mask) {
    Bases column = advance(bases, laneAxis, first);
    emitBlocks(
        shared ? shared->size : Int(1), shape.vectors,
        [&](Int position, int64_t vectors) {
          Bases block = shared ? advance(column, *shared, position) : column;
          emitBlocks(stage.results, shape.rows, [&](Int q, int64_t rows) {
            RegisterTile tile = startTile(block);
            tile.rows = rows;
            tile.vectors = vectors;
            tile.lanes = lanes;
            tile.mask = mask;
            tile.maskAll = true;
            tile.a = {TileOperand::Kind::Vector,
                      emitter.offsetPointer(block.factor,
                                            emitter.mul(q, factor.resultStride),
                                            factor.element),
                      factor.resultStride,
                      factor.depthStride,
                      1,
                      stage.isFactorConjugate,
                      factor.element};
            tile.b = {TileOperand::Kind::Vector,
                      block.source,
                      shared ? shared->source : Int(0),
                      stage.source.strides[stage.axis],
                      1,
                      stage.isSourceConjugate,
                      stage.source.element};
            tile.result =
                getResultRows(block, q, shared ? shared->destination : Int(0),
                              shared ? shared->addend : Int(0));
            emitRegisterTile(emitter, tile);
          });
        });
  };

  int64_t full = size / lanes * lanes;
  emitter.forLoop(0, full, lanes,
                  [&](Int first) { emitLanes(first, nullptr); });
  if (full < size)
    emitLanes(full, emitter.firstLanes(lanes, size - full));
}

void StageEmitter::emitFibre(const LoopAxis *rowAxis, const Bases &bases) {
  int64_t group = nest.inner.empty() ? 1 : nest.inner.back().size.getConstant();
  int64_t size = group * stage.results;
  std::pair<int64_t, int64_t> fibreLanes = getFibreLanes(stage, group);
  int64_t lanes = fibreLanes.first, used = fibreLanes.second * group;
  int64_t vectorTotal = llvm::divideCeil(size, used);
  Value usedLanes = emitter.firstLanes(lanes, used);
  int64_t rowTotal = 1;
  if (rowAxis)
    rowTotal = rowAxis->size.isConstant() ? rowAxis->size.getConstant() : -1;
  TileShape shape = chooseTileShape(rowTotal, vectorTotal, stage.vectorBits,
                                    stage.schedule, stage.elementParts);
  if (hasPanels)
    shape = {rowTotal < 0 ? getPanelRows(stage)
                          : std::min(getPanelRows(stage), rowTotal),
             getPanelVectors(stage)};

  auto emitTile = [&](const Bases &block, int64_t rows, Int first,
                      int64_t vectors, Value mask) {
    Int lane = emitter.mul(first, lanes), element = emitter.mul(first, used);
    RegisterTile tile = startTile(block);
    tile.rows = rows;
    tile.vectors = vectors;
    tile.lanes = lanes;
    tile.usedLanes = usedLanes;
    tile.mask = mask;
    tile.a = {group == 1 ? TileOperand::Kind::Scalar : TileOperand::Kind::Group,
              block.source,
              rowAxis ? rowAxis->source : Int(0),
              stage.source.strides[stage.axis],
              group,
              stage.isSourceConjugate};
    tile.b = {
        TileOperand::Kind::Vector,
        emitter.offsetPointer(block.factor,
                              hasPanels ? emitter.mul(lane, stage.depth) : lane,
                              factor.element),
        lanes,
        factor.depthStride,
        1,
        stage.isFactorConjugate,
        factor.element};
    tile.result.base =
        emitter.offsetPointer(block.destination, element, tile.result.element);
    tile.result.rowStride = rowAxis ? rowAxis->destination : Int(0);
    tile.result.vectorStride = used;
    if (tile.result.addend) {
      tile.result.addend = emitter.offsetPointer(block.addend, element,
                                                 tile.result.addendElement);
      tile.result.addendRowStride = rowAxis ? rowAxis->addend : Int(0);
      tile.result.addendVectorStride = used;
    }
    emitRegisterTile(emitter, tile);
  };
  int64_t bytes = emitter.getElementBytes();
  if (!rowAxis || !hasPanels)
    return emitBlocks(
        rowAxis ? rowAxis->size : Int(1), shape.rows,
        [&](Int row, int64_t rows) {
          Bases block = rowAxis ? advance(bases, *rowAxis, row) : bases;
          emitVectorBlocks(size, lanes, used, shape.vectors,
                           [&](Int first, int64_t vectors, Value mask) {
                             emitTile(block, rows, first, vectors, mask);
                           });
        });
  // A panel stays in the cache while many rows use it.
  int64_t chunk = llvm::alignTo(
      kRowChunkBytes / (stage.depth * group * bytes) + 1, shape.rows);
  emitter.forLoop(0, rowAxis->size, chunk, [&](Int begin) {
    Bases start = advance(bases, *rowAxis, begin);
    Int count = emitter.min(chunk, emitter.sub(rowAxis->size, begin));
    emitVectorBlocks(
        size, lanes, used, shape.vectors,
        [&](Int first, int64_t vectors, Value mask) {
          emitBlocks(count, shape.rows, [&](Int row, int64_t rows) {
            emitTile(advance(start, *rowAxis, row), rows, first, vectors, mask);
          });
        });
  });
}

void StageEmitter::emit() {
  Bases bases{stage.source.base, stage.destination.base, stage.addend.base,
              factor.base};
  switch (mapping) {
  case StageMapping::Inner: {
    LoopAxis lanes = nest.inner.pop_back_val();
    SmallVector<LoopAxis> axes(nest.outer);
    llvm::append_range(axes, nest.inner);
    return emitLoops(axes, bases,
                     [&](const Bases &at) { emitInner(lanes, at); });
  }
  case StageMapping::Varying: {
    LoopAxis lanes = nest.inner.pop_back_val();
    std::optional<LoopAxis> shared = takeSharedAxis();
    SmallVector<LoopAxis> axes(nest.outer);
    llvm::append_range(axes, nest.inner);
    return emitLoops(axes, bases, [&](const Bases &at) {
      emitVarying(lanes, shared ? &*shared : nullptr, at);
    });
  }
  case StageMapping::Fibre: {
    std::optional<LoopAxis> rows = takeSharedAxis();
    return emitLoops(nest.outer, bases, [&](const Bases &at) {
      emitFibre(rows ? &*rows : nullptr, at);
    });
  }
  case StageMapping::Unsupported:
    llvm_unreachable("the caller copies what has no mapping");
  }
}

static StringRef getName(StageMapping mapping) {
  switch (mapping) {
  case StageMapping::Inner:
    return "inner";
  case StageMapping::Varying:
    return "varying";
  case StageMapping::Fibre:
    return "fibre";
  case StageMapping::Unsupported:
    return "unsupported";
  }
  llvm_unreachable("unknown mapping");
}

void kron::emitStage(Emitter &emitter, const Stage &stage,
                     const PackedFactor *packed) {
  remark::analysis(emitter.loc,
                   remark::RemarkOpts::name("Stage").category("kron-emit"))
      << remark::metric("Mapping", getName(getStageMapping(stage)))
      << remark::metric("Packed", packed != nullptr);
  StageEmitter(emitter, stage, packed).emit();
}
