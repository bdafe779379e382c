//===- Packing.cpp - Factors rearranged for the kernels ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Rearrange.h"
#include "kron/CodeGen/CPU/Stage.h"
#include "kron/Plan/CPU/LoopNest.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Where rows [q, lanes] of a packed factor come from and go to: those of the q
/// in [firstResult, firstResult + sizeN), padded to `rowStride`.
struct PackedRows {
  Int firstResult;
  int64_t sizeN, rowStride;
  Int laneStride;
};

/// Fills the padding of all rows, and all of a row that has gaps, with zeros:
/// it is loaded and multiplied, if never stored, and must not be denormal.
static void emitPadding(Emitter &emitter, const StageLayout &stage,
                        const PackedFactor &packed, const PackedRows &rows,
                        Value to) {
  int64_t lanes = getMaxLanes(stage);
  int64_t begin = packed.hasGaps() ? 0 : rows.sizeN * packed.resultStride;
  if (begin == rows.rowStride)
    return;
  Value zero = emitter.zero(emitter.getVectorType(lanes));
  emitter.forLoop(0, stage.sizeK, 1, [&](Int p) {
    Value row = emitter.offsetPointer(to, emitter.mul(p, rows.rowStride));
    emitter.forLoop(
        begin / lanes * lanes, rows.rowStride, lanes, [&](Int lane) {
          emitter.storeVector(zero, emitter.offsetPointer(row, lane), nullptr);
        });
  });
}

/// Copies the lanes of (p, q) one by one, or at once if they are contiguous.
static void emitPackedElements(Emitter &emitter, const StageLayout &stage,
                               const PackedFactor &packed,
                               const PackedRows &rows, Value from, Value to) {
  int64_t unit = packed.resultStride;
  Type stored = stage.factor.element;
  emitter.forLoop(0, stage.sizeK, 1, [&](Int p) {
    Value row = emitter.offsetPointer(to, emitter.mul(p, rows.rowStride));
    emitter.forLoop(0, rows.sizeN, 1, [&](Int q) {
      Value source = emitter.offsetPointer(
          from,
          emitter.add(emitter.mul(p, stage.factor.strideK),
                      emitter.mul(emitter.add(rows.firstResult, q),
                                  stage.factor.resultStride)),
          stored);
      Int offset = emitter.mul(q, unit);
      if (packed.hasGaps())
        offset = emitter.add(
            emitter.mul(emitter.floorDiv(q, packed.vectorResults),
                        packed.vectorLanes),
            emitter.mul(emitter.rem(q, packed.vectorResults), unit));
      Value target = emitter.offsetPointer(row, offset);
      if (stage.elementParts == 1 && unit > 1 && rows.laneStride.is(1))
        return emitContiguousCopy(emitter, unit, llvm::PowerOf2Ceil(unit),
                                  source, target, stored);
      emitter.forLoop(0, unit, 1, [&](Int lane) {
        Value element = emitter.loadScalar(
            emitter.offsetPointer(source, emitter.mul(lane, rows.laneStride),
                                  stored),
            stored);
        emitter.storeScalar(element, emitter.offsetPointer(target, lane));
      });
    });
  });
}

/// Fills [p, q, lanes].
static void emitPackedRows(Emitter &emitter, const StageLayout &stage,
                           const PackedFactor &packed, const PackedRows &rows,
                           Value from, Value to) {
  emitPadding(emitter, stage, packed, rows, to);
  const StageFactor &factor = stage.factor;
  int64_t unit = packed.resultStride, lanes = getMaxLanes(stage);
  bool isUnit = stage.elementParts == 1 && (unit == 1 || rows.laneStride.is(1));
  Type stored = factor.element;
  Value start = emitter.offsetPointer(
      from, emitter.mul(rows.firstResult, factor.resultStride), stored);
  if (isUnit && !packed.hasGaps() && factor.resultStride.is(unit))
    return emitter.forLoop(0, stage.sizeK, 1, [&](Int p) {
      emitContiguousCopy(
          emitter, rows.sizeN * unit, lanes,
          emitter.offsetPointer(start, emitter.mul(p, factor.strideK), stored),
          emitter.offsetPointer(to, emitter.mul(p, rows.rowStride)), stored);
    });
  if (isUnit && llvm::isPowerOf2_64(unit) && unit <= lanes &&
      factor.strideK.is(unit) && factor.resultStride.isConstant()) {
    Transposition shape{rows.sizeN, stage.sizeK, unit,
                        factor.resultStride.getConstant(), rows.rowStride};
    return emitTransposition(emitter, shape, lanes, start, to, stored);
  }
  emitPackedElements(emitter, stage, packed, rows, from, to);
}

/// Fills [p, q, group] from the [p, q] before it.
static void emitRepeatedResults(Emitter &emitter, const StageLayout &stage,
                                const PackedFactor &packed,
                                const PackedFactor::RemainderGroup &group,
                                Value base) {
  int64_t lanes = getMaxLanes(stage), perVector = lanes / group.size;
  int64_t rowElements = getGroupedRowElements(stage, group.size);
  SmallVector<int64_t> sources;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sources.push_back(lane / group.size);
  emitter.forLoop(0, stage.sizeK, 1, [&](Int p) {
    Value from = emitter.offsetPointer(base, emitter.mul(p, packed.strideK));
    Value to = emitter.offsetPointer(
        base, emitter.add(group.offset, emitter.mul(p, rowElements)));
    forBlocks(emitter, stage.sizeN, perVector, [&](Int q, int64_t count) {
      Value results = emitter.loadVector(emitter.getVectorType(perVector),
                                         emitter.offsetPointer(from, q),
                                         emitter.firstLanes(perVector, count));
      emitter.storeVector(
          vector::ShuffleOp::create(emitter.builder, emitter.loc, results,
                                    results, sources),
          emitter.offsetPointer(to, emitter.mul(q, group.size)), nullptr);
    });
  });
}

/// Repeats the q of every row that fill no vector, to the end of theirs.
static void emitRepeatedRest(Emitter &emitter, const StageLayout &stage,
                             const PackedFactor &packed, Value base) {
  int64_t lanes = getMaxLanes(stage), rest = stage.sizeN % lanes;
  SmallVector<int64_t> sources;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sources.push_back(lane % rest);
  emitter.forLoop(0, stage.sizeK, 1, [&](Int p) {
    Value row = emitter.offsetPointer(
        base, emitter.add(stage.sizeN - rest, emitter.mul(p, packed.strideK)));
    Value results =
        emitter.loadVector(emitter.getVectorType(rest), row, nullptr);
    emitter.storeVector(vector::ShuffleOp::create(emitter.builder, emitter.loc,
                                                  results, results, sources),
                        row, nullptr);
  });
}

/// Fills [q, p, group] for `sizeN` q.
static void emitPackedStreams(Emitter &emitter, const StageLayout &stage,
                              int64_t sizeN, int64_t group, Value from,
                              Value to) {
  int64_t lanes = getMaxLanes(stage);
  const StageFactor &factor = stage.factor;
  Transposition shape{stage.sizeK, sizeN, group, factor.strideK,
                      stage.sizeK * group};
  if (llvm::isPowerOf2_64(group))
    return emitTransposition(emitter, shape, lanes, from, to, factor.element);
  emitter.forLoop(0, stage.sizeK, 1, [&](Int p) {
    Value source = emitter.offsetPointer(from, emitter.mul(p, factor.strideK),
                                         factor.element);
    Value target = emitter.offsetPointer(to, emitter.mul(p, group));
    emitter.forLoop(0, sizeN, 1, [&](Int q) {
      emitContiguousCopy(
          emitter, group, llvm::PowerOf2Ceil(group),
          emitter.offsetPointer(source, emitter.mul(q, group), factor.element),
          emitter.offsetPointer(target, emitter.mul(q, shape.targetStride)),
          factor.element);
    });
  });
}

/// Fills [lane, q, p] or [lane, p, q] from [q, p, lane] or [p, q, lane], for
/// the lanes of axis `axis`, which the factor is contiguous along.
static void emitPackedBroadcasts(Emitter &emitter, const StageLayout &stage,
                                 const PackedFactor &packed, unsigned axis,
                                 int64_t size, Value from, Value to) {
  int64_t strideK = stage.factor.strideK.getConstant();
  int64_t resultStride = stage.factor.resultStride.getConstant();
  bool pInside = packed.strideK == 1;
  int64_t outer = pInside ? stage.sizeN : stage.sizeK;
  int64_t outerStride = pInside ? resultStride : strideK;
  Transposition shape{pInside ? stage.sizeK : stage.sizeN, size, 1,
                      std::min(strideK, resultStride), packed.strides[axis]};
  int64_t rowsPerOuter = shape.rows;
  if (outerStride == shape.rows * shape.sourceStride.getConstant()) {
    shape.rows *= outer;
    outer = 1;
  }
  int64_t lanes = getMaxLanes(stage);
  Type stored = stage.factor.element;
  bool isDense =
      shape.sourceStride.is(size) && size < lanes && llvm::isPowerOf2_64(size);
  emitter.forLoop(0, outer, 1, [&](Int position) {
    Value source =
        emitter.offsetPointer(from, emitter.mul(position, outerStride), stored);
    Value target =
        emitter.offsetPointer(to, emitter.mul(position, rowsPerOuter));
    if (isDense)
      emitDeinterleaving(emitter, shape, lanes, source, target, stored);
    else
      emitTransposition(emitter, shape, lanes, source, target, stored);
  });
}

namespace {

/// Walks over the axes that a factor varies on and fills its packed blocks.
class Packer {
public:
  Packer(Emitter &emitter, const StageLayout &stage,
         ArrayRef<int64_t> factorSizes, const PackedFactor &packed)
      : emitter(emitter), stage(stage), factorSizes(factorSizes),
        packed(packed), nest(getLoopNest(stage)) {
    if (getMapping(stage, nest) == StageMapping::Inner)
      broadcasts = getBroadcastPacking(stage, nest);
    if (broadcasts != BroadcastPacking::Planes && !nest.inner.empty() &&
        packed.remainderGroups.empty())
      lanes = &nest.inner.back();
  }

  void emitLoops(unsigned axis, Value from, Value to);

private:
  bool isContinuedByResults(unsigned axis) const;
  int64_t countStreams() const;
  void emitBlock(Value from, Value to);

  Emitter &emitter;
  const StageLayout &stage;
  ArrayRef<int64_t> factorSizes;
  const PackedFactor &packed;
  LoopNest nest;
  const LoopAxis *lanes = nullptr;
  BroadcastPacking broadcasts = BroadcastPacking::None;
};

} // namespace

/// Whether walking over `axis` of a factor packed in streams is walking on in
/// q: then all of a row of memory is read at a time.
bool Packer::isContinuedByResults(unsigned axis) const {
  return broadcasts == BroadcastPacking::Streams && factorSizes[axis] != 1 &&
         getStride(stage.factor.strides, axis).is(stage.sizeN * nest.group) &&
         packed.strides[axis] == stage.sizeN * packed.resultStride;
}

/// The q, and those of the axis that continues them.
int64_t Packer::countStreams() const {
  int64_t streams = stage.sizeN;
  for (unsigned axis = 0; axis < factorSizes.size(); ++axis)
    if (axis != stage.axis && isContinuedByResults(axis))
      streams *= factorSizes[axis];
  return streams;
}

void Packer::emitLoops(unsigned axis, Value from, Value to) {
  bool hasPlanes = broadcasts == BroadcastPacking::Planes;
  int contiguousAxis = hasPlanes ? getContiguousAxis(stage) : -1;
  if (axis < factorSizes.size()) {
    bool skipped = axis == stage.axis || (lanes && lanes->contains(axis)) ||
                   static_cast<int>(axis) == contiguousAxis ||
                   isContinuedByResults(axis);
    return emitter.forLoop(
        0, skipped ? 1 : factorSizes[axis], 1, [&](Int position) {
          Int source =
              emitter.mul(position, getStride(stage.factor.strides, axis));
          Int target = emitter.mul(position, packed.strides[axis]);
          emitLoops(axis + 1,
                    emitter.offsetPointer(from, source, stage.factor.element),
                    emitter.offsetPointer(to, target));
        });
  }
  if (broadcasts == BroadcastPacking::Streams)
    return emitPackedStreams(emitter, stage, countStreams(), nest.group, from,
                             to);
  if (hasPlanes)
    return emitPackedBroadcasts(emitter, stage, packed, contiguousAxis,
                                factorSizes[contiguousAxis], from, to);
  if (!nest.isSplit)
    return emitBlock(from, to);
  const LoopAxis &split = nest.outer.back();
  emitter.forLoop(0, split.size, 1, [&](Int position) {
    emitBlock(
        emitter.offsetPointer(from, emitter.mul(position, split.factor),
                              stage.factor.element),
        emitter.offsetPointer(to, emitter.mul(position, packed.splitStride)));
  });
}

/// Fills the block of one position of all axes.
void Packer::emitBlock(Value from, Value to) {
  Int laneStride = lanes ? lanes->factor : Int(0);
  if (!packed.panelLanes) {
    emitPackedRows(emitter, stage, packed,
                   {0, stage.sizeN, packed.strideK, laneStride}, from, to);
    for (const PackedFactor::RemainderGroup &group : packed.remainderGroups)
      emitRepeatedResults(emitter, stage, packed, group, to);
    if (packed.sharingRows > 1)
      emitRepeatedRest(emitter, stage, packed, to);
    return;
  }
  int64_t panelResults =
      packed.panelLanes / packed.vectorLanes * packed.vectorResults;
  int64_t fullPanels = stage.sizeN / panelResults;
  int64_t rest = stage.sizeN - fullPanels * panelResults;
  auto emitPanel = [&](Int panel, int64_t sizeN) {
    Value start = emitter.offsetPointer(
        to, emitter.mul(panel, packed.panelLanes * stage.sizeK));
    emitPackedRows(emitter, stage, packed,
                   {emitter.mul(panel, panelResults), sizeN, packed.panelLanes,
                    laneStride},
                   from, start);
  };
  emitter.forLoop(0, fullPanels, 1,
                  [&](Int panel) { emitPanel(panel, panelResults); });
  if (rest)
    emitPanel(fullPanels, rest);
}

void kron::emitPacking(Emitter &emitter, const StageLayout &stage,
                       ArrayRef<int64_t> factorSizes,
                       const PackedFactor &packed, Value base) {
  Packer(emitter, stage, factorSizes, packed)
      .emitLoops(0, stage.factor.base, base);
}
