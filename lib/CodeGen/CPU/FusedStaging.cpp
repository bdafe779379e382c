//===- FusedStaging.cpp - Non-temporal stores from a copy -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Non-temporal stores take whole cache lines. Rows of 125 or 216 elements
// end within a line, but where they follow each other in memory a tile of
// enough rows does not: its result is left in the scratch first, and goes from
// there line by line while the next tile is computed. Nor do several blocks of
// a Kronecker-sparse factor, side by side: what they leave in a row goes from
// the scratch as soon as the tile is computed.
//
//===----------------------------------------------------------------------===//

#include "FusedBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

bool FusedCodeBuilder::canHaveStagedResults(
    SmallVectorImpl<Value> &strides) const {
  int64_t elementBytes = outer.getElementBytes();
  if (!choices.staging || plan.tiledAxis < 0 || !plan.views.empty() ||
      plan.blockAxis >= 0 || movesInnermost ||
      isConverted(arrays.init.element) || sections.back().sliceAxis >= 0)
    return false;
  // Tiles that start at multiples of a stride start lines where it is whole
  // lines, which may be known when the kernel runs.
  auto startsLines = [&](int axis) {
    Int stride = arrays.init.strides[axis];
    if (arrays.sizes[axis].is(1))
      return true;
    if (stride.isConstant())
      return stride.getConstant() * elementBytes % kLineBytes == 0;
    strides.push_back(stride.getValue());
    return true;
  };
  int64_t elements = 1;
  for (int axis = plan.roles.size() - 1; axis >= plan.tiledAxis; --axis) {
    bool isTiled = axis == plan.tiledAxis;
    if (!isTiled && plan.roles[axis] != AxisRole::Whole)
      return false;
    int64_t size =
        isTiled ? tileSize : plan.getWholeSize(axis, plan.groups.size());
    if (size != 1 && !arrays.init.strides[axis].is(elements))
      return false;
    if (isTiled && size == 1 && !startsLines(axis))
      return false;
    elements *= size;
  }
  // A tile that takes all of an axis outside is one piece of memory only if it
  // takes all of the tiled one, too.
  bool hasAllColumns =
      plan.isTiledInnermost() && arrays.sizes[plan.tiledAxis].is(tileSize);
  int axis = plan.tiledAxis - 1;
  for (; hasAllColumns && axis >= 0 && plan.roles[axis] == AxisRole::Whole;
       --axis) {
    int64_t size = plan.getWholeSize(axis, plan.groups.size());
    if (size != 1 && !arrays.init.strides[axis].is(elements))
      return false;
    elements *= size;
  }
  for (; axis >= 0; --axis)
    if (plan.roles[axis] == AxisRole::Whole || !startsLines(axis))
      return false;
  return elements * elementBytes % kLineBytes == 0;
}

int64_t FusedCodeBuilder::getResultBytes() const {
  Type stored = arrays.init.element;
  return isConverted(stored) ? stored.getIntOrFloatBitWidth() / 8
                             : outer.getElementBytes();
}

bool FusedCodeBuilder::canHaveStagedSegments(
    SmallVectorImpl<Value> &strides) const {
  if (plan.blockAxis < 0 || plan.isTiledInnermost() || movesInnermost ||
      copiesOut)
    return false;
  for (int axis = 0; axis < plan.blockAxis; ++axis) {
    Int stride = arrays.init.strides[axis];
    if (arrays.sizes[axis].is(1))
      continue;
    if (!stride.isConstant())
      strides.push_back(stride.getValue());
    else if (stride.getConstant() * getResultBytes() % kLineBytes)
      return false;
  }
  return true;
}

/// Copies `count` elements from one cache line on to another, with non-temporal
/// stores but for a part of a line at the end.
static void emitStreamingCopy(Emitter &emitter, Value from, Value to, Int count,
                              int64_t lanes) {
  constexpr int64_t kUnroll = 4;
  auto copy = [&](Int first, int64_t vectors, Value mask) {
    for (int64_t vector = 0; vector < vectors; ++vector) {
      Int offset = emitter.add(first, vector * lanes);
      Value value =
          emitter.loadVector(emitter.getVectorType(lanes),
                             emitter.offsetPointer(from, offset), mask);
      emitter.storeVector(value, emitter.offsetPointer(to, offset), mask,
                          nullptr, /*streams=*/!mask);
    }
  };
  auto getFull = [&](int64_t step) {
    return emitter.mul(emitter.floorDiv(count, step), step);
  };
  Int blocks = getFull(kUnroll * lanes), full = getFull(lanes);
  emitter.forLoop(0, blocks, kUnroll * lanes,
                  [&](Int first) { copy(first, kUnroll, nullptr); });
  emitter.forLoop(blocks, full, lanes,
                  [&](Int first) { copy(first, 1, nullptr); });
  emitter.forLoop(full, count, lanes, [&](Int first) {
    copy(first, 1, emitter.firstLanes(lanes, emitter.sub(count, first)));
  });
}

/// Slots for what is copied with non-temporal stores, nothing at first.
void FusedCodeBuilder::startStaging(Emitter &emitter) {
  Type pointer = scratch.getType();
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  auto createSlot = [&](Value value) -> Value {
    Value slot = LLVM::AllocaOp::create(builder, loc, pointer, pointer, one);
    LLVM::StoreOp::create(builder, loc, value, slot);
    return slot;
  };
  Value copy = emitter.offsetPointer(scratch, stagedOffset);
  drain.from = createSlot(copy);
  drain.to = createSlot(copy);
  drain.end = createSlot(copy);
  drain.mostLines = choices.drainLines;
  drain.bytesPerFma = double(stagedElements * emitter.getElementBytes()) /
                      countFmas(getTileWindow(tileSize), 0, plan.groups.size());
  stagedSlot = createSlot(copy);
  nextStagedSlot = createSlot(emitter.offsetPointer(copy, stagedElements));
}

void FusedCodeBuilder::finishStaging(Emitter &emitter) {
  auto load = [&](Value slot) -> Value {
    return LLVM::LoadOp::create(emitter.builder, loc, slot.getType(), slot);
  };
  auto getAddress = [&](Value at) -> Value {
    return LLVM::PtrToIntOp::create(emitter.builder, loc,
                                    emitter.builder.getI64Type(), at);
  };
  Value to = load(drain.to);
  Int bytes = emitter.sub(Int(getAddress(load(drain.end))), getAddress(to));
  emitStreamingCopy(emitter, load(drain.from), to,
                    emitter.floorDiv(bytes, emitter.getElementBytes()),
                    vectorBits / 8 / emitter.getElementBytes());
}

void FusedCodeBuilder::emitStagedSegments(
    Emitter &emitter, const FusedWindow &window, const StepArray &destination,
    function_ref<void(const StepArray &)> build) {
  StepArray staged =
      getBuffer(emitter.offsetPointer(scratch, stagedOffset),
                getBufferSizes(window, plan.groups.size()), plan.groups.size(),
                /*paddedAxis=*/-1);
  staged.element = destination.element;
  build(staged);
  // Vectors of what is computed with, whatever it is that they hold.
  int64_t lanes = vectorBits / 8 / emitter.getElementBytes();
  Int segment = staged.strides[plan.tiledAxis];
  int64_t elements =
      segment.getConstant() * getResultBytes() / emitter.getElementBytes();
  emitter.forLoop(0, *window.extents[plan.tiledAxis], 1, [&](Int row) {
    Value from = emitter.offsetPointer(staged.base, emitter.mul(row, segment),
                                       staged.element);
    Int distance = emitter.mul(row, destination.strides[plan.tiledAxis]);
    Value to =
        emitter.offsetPointer(destination.base, distance, destination.element);
    for (int64_t first = 0; first < elements; first += lanes)
      emitter.storeVector(emitter.loadVector(emitter.getVectorType(lanes),
                                             emitter.offsetPointer(from, first),
                                             nullptr),
                          emitter.offsetPointer(to, first), nullptr, nullptr,
                          /*streams=*/true);
  });
}

void FusedCodeBuilder::emitStaged(Emitter &emitter, const FusedWindow &window,
                                  const StepArray &destination,
                                  function_ref<void(const StepArray &)> build) {
  if (!stagedElements)
    return build(destination);
  auto choice =
      scf::IfOp::create(builder, loc, streams, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  auto load = [&](Value slot) -> Value {
    return LLVM::LoadOp::create(builder, loc, slot.getType(), slot);
  };
  if (hasStagedSegments) {
    emitStagedSegments(emitter, window, destination, build);
    builder.setInsertionPointToStart(choice.elseBlock());
    return build(destination);
  }
  StepArray staged = destination;
  staged.base = load(stagedSlot);
  build(staged);
  finishStaging(emitter);
  Int count =
      emitter.mul(*window.extents[plan.tiledAxis], stagedElements / tileSize);
  Value next = load(nextStagedSlot);
  for (auto [value, slot] :
       {std::pair(staged.base, drain.from),
        std::pair(destination.base, drain.to),
        std::pair(emitter.offsetPointer(destination.base, count), drain.end),
        std::pair(staged.base, nextStagedSlot), std::pair(next, stagedSlot)})
    LLVM::StoreOp::create(builder, loc, value, slot);

  // Then nothing is left to be copied.
  builder.setInsertionPointToStart(choice.elseBlock());
  prefetch.drain = {};
  build(destination);
}
