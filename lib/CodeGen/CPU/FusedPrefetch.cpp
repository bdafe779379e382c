//===- FusedPrefetch.cpp - Prefetching of the next window -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// While one window is computed the next one is prefetched: its input, and the
// lines that its results will go to.
//
//===----------------------------------------------------------------------===//

#include "FusedBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

/// How far the result of a tile lies behind its input, in bytes, if it is worth
/// having it in the cache before it is stored: a store to a line that is not
/// there waits for it.
Value FusedCodeBuilder::getResultOffset(const FusedPlace &place) {
  bool isElsewhere = copiesOut && !plan.rowsInLanes && !place.arrays.epilogue;
  // The result is prefetched with the input in place of which it is stored.
  // What is stored non-temporally needs nothing there, and arrays so large
  // hardly ever start within a line.
  if (isInPlace() || isElsewhere || plan.transposesInput ||
      !choices.prefetchesResults || isLargeResult)
    return nullptr;
  Type i64 = builder.getI64Type();
  auto getAddress = [&](const StepArray &array) -> Value {
    return LLVM::PtrToIntOp::create(builder, loc, i64, array.base);
  };
  Value result = getAddress(place.destination);
  Value offset =
      arith::SubIOp::create(builder, loc, result, getAddress(place.source));
  if (!streams)
    return offset;
  // Then the same is prefetched twice.
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 64);
  return arith::SelectOp::create(builder, loc, streams, none, offset);
}

/// The axis along which one tile follows another.
static int getFastestAxis(const CPUPlan &plan, const FusedArrays &arrays) {
  for (int axis = plan.roles.size() - 1; axis > plan.tiledAxis; --axis)
    if (plan.roles[axis] == AxisRole::Grid && !arrays.sizes[axis].is(1))
      return axis;
  return plan.tiledAxis;
}

/// Elements of `input` inside of `axis` in a window of `sizes`, if they are
/// contiguous, else 0.
static int64_t countContiguous(const StepArray &input, ArrayRef<int64_t> sizes,
                               int axis) {
  int64_t elements = 1;
  for (int inner = sizes.size() - 1; inner > axis; --inner) {
    if (sizes[inner] != 1 && !input.strides[inner].is(elements))
      return 0;
    elements *= sizes[inner];
  }
  return elements;
}

/// The same of axes outside of `axis`, from axis `end` on.
static int64_t countContiguousOutside(const StepArray &input,
                                      ArrayRef<int64_t> sizes, int axis,
                                      int end) {
  int64_t elements = 1;
  for (int outer = axis - 1; outer >= end; --outer) {
    if (sizes[outer] != 1 && !input.strides[outer].is(elements))
      return 0;
    elements *= sizes[outer];
  }
  return elements;
}

/// Whether all axes are known to be a single tile, which no other follows.
bool FusedCodeBuilder::isOnlyTile() const {
  for (auto [axis, size] : llvm::enumerate(arrays.sizes))
    if (plan.roles[axis] != AxisRole::Whole &&
        !(size.isConstant() &&
          size.getConstant() <= plan.getStep(axis, tileSize)))
      return false;
  return true;
}

/// Rows of columns that have to be prefetched before a window of the second
/// section begins: its slices take them faster than they are prefetched, all
/// before the last slice.
int64_t FusedCodeBuilder::getRowsAhead(const FusedWindow &window) const {
  int64_t elements = countElements(window, 0);
  int64_t sliceElements = countElements(getWindow(sections[0], window), 0);
  double beforeLast = 1 - double(sliceElements) / elements;
  double shareOfSlices = double(countFmas(window, 0, sections[0].end)) /
                         countFmas(window, 0, sections[1].end);
  return static_cast<int64_t>(elements / tileSize *
                              (1 - shareOfSlices * beforeLast));
}

/// `input`, which is that of a tile, `ahead` tiles further on.
StepArray FusedCodeBuilder::getTileAhead(Emitter &emitter, StepArray input,
                                         int64_t ahead) {
  bool hasGrid = false;
  for (auto [role, size] : llvm::zip(plan.roles, arrays.sizes))
    hasGrid |= role == AxisRole::Grid && !size.is(1);
  SmallVector<std::pair<unsigned, Int>> positions{
      {plan.tiledAxis, ahead * tileSize}};
  if (hasGrid) {
    input = tiles.arrays->input;
    positions =
        getTileStart(emitter, *tiles.arrays, emitter.add(tiles.number, ahead));
  }
  for (auto [axis, start] : positions)
    input.base = emitter.offsetPointer(
        input.base, emitter.mul(start, input.strides[axis]), input.element);
  return input;
}

/// Lets the steps that follow prefetch the input of the next window. It is
/// taken to be dense where strides are not known: prefetching something else
/// does no harm.
void FusedCodeBuilder::startPrefetch(Emitter &emitter, const Section &section,
                                     const StepArray &input,
                                     const FusedWindow &window,
                                     bool isNextTile) {
  prefetch = {};
  // The first step's loads prefetch what they are to find, or go along memory
  // for so long that the processor sees where it goes on.
  const CPUStepChoices &first = choices.steps.front();
  if (choices.prefetch < 0 || first.isSourceFar || first.along)
    return;
  bool isSliced = section.sliceAxis >= 0;
  int axis = isSliced ? section.sliceAxis : getFastestAxis(plan, arrays);
  if (!isSliced && (plan.tiledAxis < 0 || isOnlyTile()))
    return;
  SmallVector<int64_t> sizes = getBufferSizes(window, 0);
  int64_t elements = countElements(window, 0);
  int64_t elementBytes = isConverted(input.element)
                             ? input.element.getIntOrFloatBitWidth() / 8
                             : emitter.getElementBytes();
  int64_t bytes = elements * elementBytes;
  bool hasSegments = plan.tiledAxis >= 0 && input.strides[plan.tiledAxis].is(1);
  StepArray next = input;
  Int distance = emitter.mul(window.most[axis], input.strides[axis]);
  int64_t ahead = choices.windowsAhead;
  if (isNextTile) {
    next = getTileAhead(emitter, input, 1);
    distance = 0;
  } else if (choices.spreadsPrefetch) {
    const StepGroup &first = plan.groups.front();
    distance =
        emitter.mul(getRowsAhead(window),
                    input.strides[first.axis + first.products.size() - 1]);
  } else if (hasSegments && !isSliced) {
    next = getTileAhead(emitter, input, ahead);
    distance = 0;
  } else if (hasSegments) {
    distance = emitter.mul(ahead, distance);
  }
  if (hasSegments) {
    // Segments along the tiled axis, one per position of the others.
    const StepGroup &first = plan.groups.front();
    prefetch.segmentBytes = tileSize * elementBytes;
    unsigned last = first.axis + first.products.size() - 1;
    prefetch.stride = emitter.mul(input.strides[last], elementBytes);
    // Results lie like the input if their segments do.
    if (arrays.init.strides[last] != input.strides[last])
      resultOffset = nullptr;
    prefetch.position = prefetchPosition;
    LLVM::StoreOp::create(
        builder, loc, arith::ConstantIntOp::create(builder, loc, 0, 64),
        prefetchPosition);
  } else if (plan.isTiledInnermost()) {
    // Segments of what becomes a column each. If there is only one tile, the
    // processor sees by itself where each of these goes on.
    Int columns = arrays.sizes[plan.tiledAxis];
    if (columns.isConstant() && columns.getConstant() <= tileSize)
      return;
    int64_t segment = countContiguousOutside(input, sizes, plan.tiledAxis,
                                             isSliced ? axis : 0);
    // Register tiles prefetch whole segments, with half of their lines.
    if (!segment ||
        2 * segment * elementBytes > choices.prefetchLines * kLineBytes)
      return;
    prefetch.segmentBytes = segment * elementBytes;
    prefetch.stride = emitter.mul(input.strides[plan.tiledAxis], elementBytes);
    resultOffset = nullptr;
  } else {
    // Blocks that a tile takes together lie side by side in its rows.
    bool hasBlocks = !isSliced && axis == plan.blockAxis;
    int64_t segment = countContiguous(input, sizes, axis - hasBlocks);
    if (!segment)
      return;
    if (!isSliced && axis > plan.tiledAxis) {
      // Segments within the rows of a tile.
      Int rowStride = input.strides[plan.tiledAxis];
      prefetch.segmentBytes = segment * elementBytes;
      prefetch.stride = emitter.mul(rowStride, elementBytes);
      if (arrays.init.strides[axis] != input.strides[axis] ||
          arrays.init.strides[plan.tiledAxis] != rowStride)
        resultOffset = nullptr;
    }
  }
  unsigned end = isSliced ? section.end : plan.groups.size();
  prefetch.slot = prefetchSlot;
  prefetch.mostLines = choices.prefetchLines;
  prefetch.isSpread = vectorBits == 512;
  prefetch.resultOffset = resultOffset;
  prefetch.bytesPerFma = double(bytes) / countFmas(window, 0, end);
  LLVM::StoreOp::create(
      builder, loc, emitter.offsetPointer(next.base, distance, input.element),
      prefetchSlot);
}
