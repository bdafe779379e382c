//===- Stage.cpp - One mode product between two arrays ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"
#include "StageEmitter.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

void StageEmitter::usePacked(const PackedFactor &packed) {
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
  if (mapping == StageMapping::Varying)
    nest.inner.back().factor = 1;
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
  tile.sizeK = stage.sizeK;
  tile.hasPairs = stage.hasPairs;
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
  int best = findSharedAxis(nest);
  if (best < 0)
    return std::nullopt;
  LoopAxis axis = nest.outer[best];
  nest.outer.erase(nest.outer.begin() + best);
  return axis;
}

void StageEmitter::storeResult(const Bases &at, Value value, Int offset,
                               Int addendOffset, Value mask) {
  auto type = cast<VectorType>(value.getType());
  Type addend = stage.addend.element, stored = stage.destination.element;
  value = emitScaledSum(emitter, stage.scale, value, [&] {
    return emitter.loadVector(
        type, emitter.offsetPointer(at.addend, addendOffset, addend), mask,
        addend);
  });
  Value pointer = emitter.offsetPointer(at.destination, offset, stored);
  constexpr int64_t kRoundedLanes = 16;
  if (stage.mayPair && stored && stored.isBF16() &&
      type.getNumElements() == kRoundedLanes) {
    Emitter halves(emitter.builder, emitter.loc, emitter.builder.getI16Type());
    return halves.storeVector(emitToBF16(emitter, value), pointer, mask);
  }
  emitter.storeVector(value, pointer, mask, stored);
}

void StageEmitter::emit() {
  Bases bases{stage.source.base, stage.destination.base, stage.addend.base,
              factor.base};
  switch (mapping) {
  case StageMapping::Inner: {
    LoopAxis lanes = nest.inner.pop_back_val();
    SmallVector<LoopAxis> axes(nest.outer);
    llvm::append_range(axes, nest.inner);
    if (takesRemainderGroups(lanes)) {
      emitRemainderGroups(lanes, bases);
      lanes.size =
          llvm::alignDown(lanes.size.getConstant(), getMaxLanes(stage));
    }
    if (lanes.size.is(0))
      return;
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
    if (int64_t fibres = getNumFibres(stage, nest); fibres > 1) {
      LoopAxis rows = nest.outer.pop_back_val();
      return emitLoops(nest.outer, bases,
                       [&](const Bases &at) { emitFibres(rows, fibres, at); });
    }
    bool hasSegments = takesFibreSegments(stage, nest);
    std::optional<LoopAxis> rows = takeSharedAxis(), split;
    if (hasSegments)
      split = nest.outer.pop_back_val();
    return emitLoops(nest.outer, bases, [&](const Bases &at) {
      emitFibre(rows ? &*rows : nullptr, split ? &*split : nullptr, at);
    });
  }
  case StageMapping::Repeat: {
    int64_t repeats = nest.inner.pop_back_val().size.getConstant();
    LoopAxis lanes = nest.inner.pop_back_val();
    SmallVector<LoopAxis> axes(nest.outer);
    llvm::append_range(axes, nest.inner);
    return emitLoops(axes, bases,
                     [&](const Bases &at) { emitRepeat(lanes, repeats, at); });
  }
  case StageMapping::K: {
    std::optional<LoopAxis> rows = takeSharedAxis();
    return emitLoops(nest.outer, bases, [&](const Bases &at) {
      emitK(rows ? &*rows : nullptr, at);
    });
  }
  case StageMapping::Unsupported:
    llvm_unreachable("the caller copies what has no mapping");
  }
}

bool kron::canStream(const StageLayout &stage,
                     SmallVectorImpl<Value> &strides) {
  LoopNest nest = getLoopNest(stage);
  StageMapping mapping = getMapping(stage, nest);
  if (mapping == StageMapping::Unsupported || mapping == StageMapping::K ||
      mapping == StageMapping::Repeat)
    return false;
  // What lanes run over, in elements, if that is known.
  std::optional<int64_t> size;
  int64_t lanes, group = 1;
  if (mapping == StageMapping::Fibre) {
    group = getGroupSize(nest);
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
  // A cache line is filled by two stores, or one.
  if (lanes * stage.elementBytes < kLineBytes / 2 || lanes % group ||
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

static StringRef getName(StageMapping mapping) {
  switch (mapping) {
  case StageMapping::Inner:
    return "inner";
  case StageMapping::Varying:
    return "varying";
  case StageMapping::Fibre:
    return "fibre";
  case StageMapping::K:
    return "k";
  case StageMapping::Repeat:
    return "repeat";
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
      << remark::metric("Packed", packed != nullptr)
      << remark::metric("FactorPanels", stage.step->hasPanels)
      << remark::metric("InputPanels", stage.step->copiesRows)
      << remark::metric("PackedBroadcasts", stage.step->packsFactor)
      << remark::metric("Remainder", !stage.step->remainder.empty())
      << remark::metric("SharingRows", stage.step->sharingRows > 1)
      << remark::metric("Segments", stage.step->segment != 0)
      << remark::metric("ReadsPairs", stage.step->readsPairs)
      << remark::metric("LanesInside", stage.step->lanes == kLanesInside);
  StageEmitter(emitter, stage, packed).emit();
}
