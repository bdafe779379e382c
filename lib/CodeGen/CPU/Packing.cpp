//===- Packing.cpp - Factors rearranged for the kernels ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Rearrange.h"
#include "kron/CodeGen/CPU/Step.h"
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
static void emitPadding(Emitter &emitter, const StepLayout &step,
                        const PackedFactor &packed, const PackedRows &rows,
                        Value to) {
  int64_t lanes = getMaxLanes(step);
  int64_t begin = packed.hasGaps() ? 0 : rows.sizeN * packed.resultStride;
  if (begin == rows.rowStride)
    return;
  Value zero = emitter.zero(emitter.getVectorType(lanes));
  emitter.forLoop(0, step.sizeK, 1, [&](Int p) {
    Value row = emitter.offsetPointer(to, emitter.mul(p, rows.rowStride));
    emitter.forLoop(
        begin / lanes * lanes, rows.rowStride, lanes, [&](Int lane) {
          emitter.storeVector(zero, emitter.offsetPointer(row, lane), nullptr);
        });
  });
}

/// Copies the lanes of (p, q) one by one, or at once if they are contiguous.
static void emitPackedElements(Emitter &emitter, const StepLayout &step,
                               const PackedFactor &packed,
                               const PackedRows &rows, Value from, Value to) {
  int64_t unit = packed.resultStride;
  Type stored = step.factor.element;
  emitter.forLoop(0, step.sizeK, 1, [&](Int p) {
    Value row = emitter.offsetPointer(to, emitter.mul(p, rows.rowStride));
    emitter.forLoop(0, rows.sizeN, 1, [&](Int q) {
      Value source = emitter.offsetPointer(
          from,
          emitter.add(emitter.mul(p, step.factor.strideK),
                      emitter.mul(emitter.add(rows.firstResult, q),
                                  step.factor.resultStride)),
          stored);
      Int offset = emitter.mul(q, unit);
      if (packed.hasGaps())
        offset = emitter.add(
            emitter.mul(emitter.floorDiv(q, packed.vectorResults),
                        packed.vectorLanes),
            emitter.mul(emitter.rem(q, packed.vectorResults), unit));
      Value target = emitter.offsetPointer(row, offset);
      if (step.elementParts == 1 && unit > 1 && rows.laneStride.is(1))
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
static void emitPackedRows(Emitter &emitter, const StepLayout &step,
                           const PackedFactor &packed, const PackedRows &rows,
                           Value from, Value to) {
  emitPadding(emitter, step, packed, rows, to);
  const StepFactor &factor = step.factor;
  int64_t unit = packed.resultStride, lanes = getMaxLanes(step);
  bool isUnit = step.elementParts == 1 && (unit == 1 || rows.laneStride.is(1));
  Type stored = factor.element;
  Value start = emitter.offsetPointer(
      from, emitter.mul(rows.firstResult, factor.resultStride), stored);
  if (isUnit && !packed.hasGaps() && factor.resultStride.is(unit))
    return emitter.forLoop(0, step.sizeK, 1, [&](Int p) {
      emitContiguousCopy(
          emitter, rows.sizeN * unit, lanes,
          emitter.offsetPointer(start, emitter.mul(p, factor.strideK), stored),
          emitter.offsetPointer(to, emitter.mul(p, rows.rowStride)), stored);
    });
  if (isUnit && llvm::isPowerOf2_64(unit) && unit <= lanes &&
      factor.strideK.is(unit) && factor.resultStride.isConstant()) {
    Transposition shape{rows.sizeN, step.sizeK, unit,
                        factor.resultStride.getConstant(), rows.rowStride};
    return emitTransposition(emitter, shape, lanes, start, to, stored);
  }
  emitPackedElements(emitter, step, packed, rows, from, to);
}

/// Fills [p, q, group] from the [p, q] before it.
static void emitRepeatedResults(Emitter &emitter, const StepLayout &step,
                                const PackedFactor &packed,
                                const PackedFactor::RemainderGroup &group,
                                Value base) {
  int64_t lanes = getMaxLanes(step), perVector = lanes / group.size;
  int64_t rowElements = getGroupedRowElements(step, group.size);
  SmallVector<int64_t> sources;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sources.push_back(lane / group.size);
  emitter.forLoop(0, step.sizeK, 1, [&](Int p) {
    Value from = emitter.offsetPointer(base, emitter.mul(p, packed.strideK));
    Value to = emitter.offsetPointer(
        base, emitter.add(group.offset, emitter.mul(p, rowElements)));
    forBlocks(emitter, step.sizeN, perVector, [&](Int q, int64_t count) {
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
static void emitRepeatedRemainder(Emitter &emitter, const StepLayout &step,
                                  const PackedFactor &packed, Value base) {
  int64_t lanes = getMaxLanes(step), remainder = step.sizeN % lanes;
  SmallVector<int64_t> sources;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sources.push_back(lane % remainder);
  emitter.forLoop(0, step.sizeK, 1, [&](Int p) {
    Value row = emitter.offsetPointer(
        base,
        emitter.add(step.sizeN - remainder, emitter.mul(p, packed.strideK)));
    Value results =
        emitter.loadVector(emitter.getVectorType(remainder), row, nullptr);
    emitter.storeVector(vector::ShuffleOp::create(emitter.builder, emitter.loc,
                                                  results, results, sources),
                        row, nullptr);
  });
}

/// Fills [q, p, group] for `sizeN` q.
static void emitPackedStreams(Emitter &emitter, const StepLayout &step,
                              int64_t sizeN, int64_t group, Value from,
                              Value to) {
  int64_t lanes = getMaxLanes(step);
  const StepFactor &factor = step.factor;
  Transposition shape{step.sizeK, sizeN, group, factor.strideK,
                      step.sizeK * group};
  if (llvm::isPowerOf2_64(group))
    return emitTransposition(emitter, shape, lanes, from, to, factor.element);
  emitter.forLoop(0, step.sizeK, 1, [&](Int p) {
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
static void emitPackedBroadcasts(Emitter &emitter, const StepLayout &step,
                                 const PackedFactor &packed, unsigned axis,
                                 int64_t size, Value from, Value to) {
  int64_t strideK = step.factor.strideK.getConstant();
  int64_t resultStride = step.factor.resultStride.getConstant();
  bool pInside = packed.strideK == 1;
  int64_t outer = pInside ? step.sizeN : step.sizeK;
  int64_t outerStride = pInside ? resultStride : strideK;
  Transposition shape{pInside ? step.sizeK : step.sizeN, size, 1,
                      std::min(strideK, resultStride), packed.strides[axis]};
  int64_t rowsPerOuter = shape.rows;
  if (outerStride == shape.rows * shape.sourceStride.getConstant()) {
    shape.rows *= outer;
    outer = 1;
  }
  int64_t lanes = getMaxLanes(step);
  Type stored = step.factor.element;
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
  Packer(Emitter &emitter, const StepLayout &step,
         ArrayRef<int64_t> factorSizes, const PackedFactor &packed)
      : emitter(emitter), step(step), factorSizes(factorSizes), packed(packed),
        nest(getLoopNest(step)) {
    if (getMapping(step, nest) == StepMapping::Inner)
      broadcasts = getBroadcastPacking(step, nest);
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
  const StepLayout &step;
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
         getStride(step.factor.strides, axis).is(step.sizeN * nest.group) &&
         packed.strides[axis] == step.sizeN * packed.resultStride;
}

/// The q, and those of the axis that continues them.
int64_t Packer::countStreams() const {
  int64_t streams = step.sizeN;
  for (unsigned axis = 0; axis < factorSizes.size(); ++axis)
    if (axis != step.axis && isContinuedByResults(axis))
      streams *= factorSizes[axis];
  return streams;
}

void Packer::emitLoops(unsigned axis, Value from, Value to) {
  bool hasPlanes = broadcasts == BroadcastPacking::Planes;
  int contiguousAxis = hasPlanes ? getContiguousAxis(step) : -1;
  if (axis < factorSizes.size()) {
    bool skipped = axis == step.axis || (lanes && lanes->contains(axis)) ||
                   static_cast<int>(axis) == contiguousAxis ||
                   isContinuedByResults(axis);
    return emitter.forLoop(
        0, skipped ? 1 : factorSizes[axis], 1, [&](Int position) {
          Int source =
              emitter.mul(position, getStride(step.factor.strides, axis));
          Int target = emitter.mul(position, packed.strides[axis]);
          emitLoops(axis + 1,
                    emitter.offsetPointer(from, source, step.factor.element),
                    emitter.offsetPointer(to, target));
        });
  }
  if (broadcasts == BroadcastPacking::Streams)
    return emitPackedStreams(emitter, step, countStreams(), nest.group, from,
                             to);
  if (hasPlanes)
    return emitPackedBroadcasts(emitter, step, packed, contiguousAxis,
                                factorSizes[contiguousAxis], from, to);
  if (!nest.isSplit)
    return emitBlock(from, to);
  const LoopAxis &split = nest.outer.back();
  emitter.forLoop(0, split.size, 1, [&](Int position) {
    emitBlock(
        emitter.offsetPointer(from, emitter.mul(position, split.factor),
                              step.factor.element),
        emitter.offsetPointer(to, emitter.mul(position, packed.splitStride)));
  });
}

/// Fills the block of one position of all axes.
void Packer::emitBlock(Value from, Value to) {
  Int laneStride = lanes ? lanes->factor : Int(0);
  if (!packed.panelLanes) {
    emitPackedRows(emitter, step, packed,
                   {0, step.sizeN, packed.strideK, laneStride}, from, to);
    for (const PackedFactor::RemainderGroup &group : packed.remainderGroups)
      emitRepeatedResults(emitter, step, packed, group, to);
    if (packed.sharingRows > 1)
      emitRepeatedRemainder(emitter, step, packed, to);
    return;
  }
  int64_t panelResults =
      packed.panelLanes / packed.vectorLanes * packed.vectorResults;
  int64_t fullPanels = step.sizeN / panelResults;
  int64_t remainder = step.sizeN - fullPanels * panelResults;
  auto emitPanel = [&](Int panel, int64_t sizeN) {
    Value start = emitter.offsetPointer(
        to, emitter.mul(panel, packed.panelLanes * step.sizeK));
    emitPackedRows(emitter, step, packed,
                   {emitter.mul(panel, panelResults), sizeN, packed.panelLanes,
                    laneStride},
                   from, start);
  };
  emitter.forLoop(0, fullPanels, 1,
                  [&](Int panel) { emitPanel(panel, panelResults); });
  if (remainder)
    emitPanel(fullPanels, remainder);
}

void kron::emitPacking(Emitter &emitter, const StepLayout &step,
                       ArrayRef<int64_t> factorSizes,
                       const PackedFactor &packed, Value base) {
  Packer(emitter, step, factorSizes, packed)
      .emitLoops(0, step.factor.base, base);
}
