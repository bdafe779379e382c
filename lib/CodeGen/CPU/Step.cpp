//===- Step.cpp - One mode product between two arrays -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "StepEmitter.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

void StepEmitter::usePacked(const PackedFactor &packed) {
  factor.strideK = packed.strideK;
  factor.resultStride = packed.resultStride;
  factor.element = nullptr;
  factorElement = nullptr;
  hasPanels = packed.panelLanes != 0;
  for (auto *axes : {&nest.outer, &nest.inner})
    for (LoopAxis &axis : *axes)
      axis.factor = packed.strides[axis.last];
  if (nest.isSplit)
    nest.outer.back().factor = packed.splitStride;
  if (mapping == StepMapping::Varying)
    nest.inner.back().factor = 1;
}

void StepEmitter::emitBlocks(Int size, int64_t block,
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

void StepEmitter::emitVectorBlocks(
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

TileResult StepEmitter::startResult(const Bases &bases) const {
  TileResult result;
  result.base = bases.destination;
  result.addend = bases.addend;
  result.element = step.destination.element;
  result.addendElement = step.addend.element;
  return result;
}

RegisterTile StepEmitter::startTile(const Bases &bases) const {
  RegisterTile tile;
  tile.sizeK = step.sizeK;
  tile.hasPairs = step.hasPairs;
  tile.scale = step.scale;
  tile.streams = step.streams;
  tile.prefetch = step.prefetch;
  tile.result = startResult(bases);
  return tile;
}

TileResult StepEmitter::getResultRows(const Bases &bases, Int q,
                                      Int vectorStride,
                                      Int addendVectorStride) {
  TileResult result = startResult(bases);
  result.rowStride = step.destination.strides[step.axis];
  result.vectorStride = vectorStride;
  result.base = emitter.offsetPointer(
      bases.destination, emitter.mul(q, result.rowStride), result.element);
  if (!bases.addend)
    return result;
  result.addendRowStride = step.addend.strides[step.axis];
  result.addendVectorStride = addendVectorStride;
  result.addend = emitter.offsetPointer(bases.addend,
                                        emitter.mul(q, result.addendRowStride),
                                        result.addendElement);
  return result;
}

std::optional<LoopAxis> StepEmitter::takeSharedAxis() {
  int best = findSharedAxis(nest);
  if (best < 0)
    return std::nullopt;
  LoopAxis axis = nest.outer[best];
  nest.outer.erase(nest.outer.begin() + best);
  return axis;
}

int64_t StepEmitter::getTurnsOfLine(int64_t elements) const {
  if (!step.choices->factorAhead || elements < 1)
    return 1;
  return std::max<int64_t>(
      kLineBytes / (elements * getFactorElementBytes(step)), 1);
}

void StepEmitter::emitFactorPrefetch(Value pointer, int64_t position,
                                     int64_t elements) {
  int64_t bytes = getFactorElementBytes(step);
  if (step.choices->factorAhead &&
      position * bytes % kLineBytes < elements * bytes)
    emitter.prefetch(emitter.offsetPointer(pointer, step.choices->factorAhead,
                                           factor.element));
}

void StepEmitter::storeResult(const Bases &at, Value value, Int offset,
                              Int addendOffset, Value mask) {
  auto type = cast<VectorType>(value.getType());
  Type addend = step.addend.element, stored = step.destination.element;
  value = emitScaledSum(emitter, step.scale, value, [&] {
    return emitter.loadVector(
        type, emitter.offsetPointer(at.addend, addendOffset, addend), mask,
        addend);
  });
  Value pointer = emitter.offsetPointer(at.destination, offset, stored);
  emitter.storeVector(value, pointer, mask, stored);
}

void StepEmitter::emit() {
  Bases bases{step.source.base, step.destination.base, step.addend.base,
              factor.base};
  switch (mapping) {
  case StepMapping::Inner: {
    LoopAxis lanes = nest.inner.pop_back_val();
    SmallVector<LoopAxis> axes(nest.outer);
    llvm::append_range(axes, nest.inner);
    if (takesRemainderGroups(lanes)) {
      emitRemainderGroups(lanes, bases);
      lanes.size = llvm::alignDown(lanes.size.getConstant(), getMaxLanes(step));
    }
    if (lanes.size.is(0))
      return;
    std::optional<LoopAxis> along;
    if (step.choices->along)
      along = axes.pop_back_val();
    return emitLoops(axes, bases, [&](const Bases &at) {
      emitInner(lanes, along ? &*along : nullptr, at);
    });
  }
  case StepMapping::Varying: {
    LoopAxis lanes = nest.inner.pop_back_val();
    std::optional<LoopAxis> shared = takeSharedAxis();
    SmallVector<LoopAxis> axes(nest.outer);
    llvm::append_range(axes, nest.inner);
    return emitLoops(axes, bases, [&](const Bases &at) {
      emitVarying(lanes, shared ? &*shared : nullptr, at);
    });
  }
  case StepMapping::Fibre: {
    if (int64_t fibres = getNumFibres(step, nest); fibres > 1) {
      LoopAxis rows = nest.outer.pop_back_val();
      return emitLoops(nest.outer, bases,
                       [&](const Bases &at) { emitFibres(rows, fibres, at); });
    }
    bool hasSegments = takesFibreSegments(step, nest);
    std::optional<LoopAxis> rows = takeSharedAxis(), split;
    if (hasSegments)
      split = nest.outer.pop_back_val();
    return emitLoops(nest.outer, bases, [&](const Bases &at) {
      emitFibre(rows ? &*rows : nullptr, split ? &*split : nullptr, at);
    });
  }
  case StepMapping::Repeat: {
    int64_t repeats = nest.inner.pop_back_val().size.getConstant();
    LoopAxis lanes = nest.inner.pop_back_val();
    SmallVector<LoopAxis> axes(nest.outer);
    llvm::append_range(axes, nest.inner);
    return emitLoops(axes, bases,
                     [&](const Bases &at) { emitRepeat(lanes, repeats, at); });
  }
  case StepMapping::K: {
    std::optional<LoopAxis> rows = takeSharedAxis();
    return emitLoops(nest.outer, bases, [&](const Bases &at) {
      emitK(rows ? &*rows : nullptr, at);
    });
  }
  case StepMapping::Unsupported:
    llvm_unreachable("the caller copies what has no mapping");
  }
}

bool kron::canStream(const StepLayout &step, SmallVectorImpl<Value> &strides) {
  LoopNest nest = getLoopNest(step);
  StepMapping mapping = getMapping(step, nest);
  if (mapping == StepMapping::Unsupported || mapping == StepMapping::K ||
      mapping == StepMapping::Repeat)
    return false;
  // What lanes run over, in elements, if that is known.
  std::optional<int64_t> size;
  int64_t lanes, group = 1;
  if (mapping == StepMapping::Fibre) {
    group = getGroupSize(nest);
    size = step.sizeN * group;
    lanes = getFibreLanes(step, group).first;
    if (int64_t fibres = getNumFibres(step, nest); fibres > 1) {
      Int count = nest.outer.pop_back_val().size;
      size = count.isConstant() ? *size * count.getConstant() : 1;
      lanes = step.sizeN * fibres;
      if (!llvm::isPowerOf2_64(lanes))
        return false;
    }
  } else {
    group = nest.group;
    if (nest.inner.back().size.isConstant())
      size = nest.inner.back().size.getConstant();
    lanes = chooseLanes(size.value_or(INT64_MAX), step.vectorBits,
                        step.elementBytes);
  }
  // A cache line is filled by two stores, or one.
  Type stored = step.destination.element;
  int64_t bytes = stored && step.elementParts == 1 ? getElementBytes(stored)
                                                   : step.elementBytes;
  if (lanes * bytes < kLineBytes / 2 || lanes % group ||
      (size && *size % lanes))
    return false;
  auto fits = [&](Int stride) {
    if (!stride.isConstant())
      strides.push_back(stride.getValue());
    return !stride.isConstant() || stride.getConstant() % lanes == 0;
  };
  if (!nest.inner.empty())
    nest.inner.pop_back();
  if (mapping != StepMapping::Fibre &&
      !fits(step.destination.strides[step.axis]))
    return false;
  return llvm::all_of(
      llvm::concat<LoopAxis>(nest.outer, nest.inner),
      [&](const LoopAxis &axis) { return fits(axis.destination); });
}

static StringRef getName(StepMapping mapping) {
  switch (mapping) {
  case StepMapping::Inner:
    return "inner";
  case StepMapping::Varying:
    return "varying";
  case StepMapping::Fibre:
    return "fibre";
  case StepMapping::K:
    return "k";
  case StepMapping::Repeat:
    return "repeat";
  case StepMapping::Unsupported:
    return "unsupported";
  }
  llvm_unreachable("unknown mapping");
}

void kron::emitStep(Emitter &emitter, const Step &step,
                    const PackedFactor *packed) {
  remark::analysis(emitter.loc,
                   remark::RemarkOpts::name("Step").category("kron-emit"))
      << remark::metric("Mapping", getName(getStepMapping(step)))
      << remark::metric("Packed", packed != nullptr)
      << remark::metric("FactorPanels", step.choices->hasPanels)
      << remark::metric("InputPanels", step.choices->copiesRows)
      << remark::metric("AlongAxis", step.choices->along != 0)
      << remark::metric("PackedBroadcasts", step.choices->packsFactor)
      << remark::metric("Remainder", !step.choices->remainder.empty())
      << remark::metric("SharingRows", step.choices->sharingRows > 1)
      << remark::metric("Segments", step.choices->segment != 0)
      << remark::metric("PackedSegments", step.choices->packedK != 0)
      << remark::metric("ReadsPairs", step.choices->readsPairs)
      << remark::metric("LanesInside", step.choices->lanes == kLanesInside);
  StepEmitter(emitter, step, packed).emit();
}
