//===- WgmmaLoads.cpp - Tiles of a wgmma kernel on their way ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "WgmmaKernel.h"

using namespace mlir;
using namespace mlir::kron;

/// Copies of a tile that are written out one by one.
static constexpr int64_t kMaxUnrolledCopies = 32;
/// Of a loop, and where code shall be short.
static constexpr int64_t kLoopCopies = 8;
static constexpr int64_t kCompactCopies = 4;

//===----------------------------------------------------------------------===//
// From global to shared memory
//===----------------------------------------------------------------------===//

Value WgmmaKernel::getTileBuffer(Int buffer) {
  Int offset = k.add(k.mul(group, plan.getGroupBytes()),
                     k.mul(buffer, plan.landing.getBytes()));
  return k.shared(k.add(offset, tileOffset));
}

/// Quotient and remainder, keeping constant parts apart where that is possible.
std::pair<WgmmaLinear, WgmmaLinear> WgmmaKernel::split(WgmmaLinear number,
                                                       int64_t divisor) {
  if (number.var.isConstant()) {
    int64_t value = number.var.getConstant() + number.add;
    return {{0, 1, value / divisor}, {0, 1, value % divisor}};
  }
  // The parts do not carry into each other.
  if (number.add % divisor + number.bound <= divisor)
    return {{0, 1, number.add / divisor},
            {number.var, number.bound, number.add % divisor}};
  if (number.add % divisor != 0) {
    number.var = k.add(number.var, number.add);
    number.bound += number.add;
    number.add = 0;
  }
  if (number.bound <= divisor)
    return {{0, 1, number.add / divisor}, {number.var, number.bound, 0}};
  auto [it, isNew] =
      splits.try_emplace({number.var.getValue(), divisor}, Int(), Int());
  if (isNew)
    it->second = {k.floorDiv(number.var, divisor), k.rem(number.var, divisor)};
  auto [quotient, remainder] = it->second;
  return {
      {quotient, (number.bound + divisor - 1) / divisor, number.add / divisor},
      {remainder, divisor, 0}};
}

/// From the innermost axis outwards; the axis of neighbours in the array first.
SmallVector<unsigned>
WgmmaKernel::getCopyOrder(const WgmmaCopy &copy,
                          ArrayRef<int64_t> extents) const {
  SmallVector<unsigned> order;
  auto add = [&](bool neighbours) {
    for (unsigned number = extents.size(); number-- > 0;)
      if ((extents[number] > 1 && copy.lanes == 1 &&
           copy.array->strides[number].is(1)) == neighbours)
        order.push_back(number);
  };
  add(true);
  add(false);
  return order;
}

/// Positions per axis that copies walk over, which are at least `extents`; the
/// innermost axis counts `lanes` elements as one. Element by element, rows take
/// whole warps and rounds whole rows where that costs little.
SmallVector<int64_t>
WgmmaKernel::getCopyExtents(const WgmmaCopy &copy,
                            SmallVector<int64_t> extents) const {
  int64_t threads = plan.groupSize * kWarpgroupThreads;
  if (copy.lanes > 1) {
    extents.back() = llvm::divideCeil(extents.back(), copy.lanes);
    return extents;
  }
  int64_t &first = extents[copy.order.front()];
  if (first > 16)
    first = llvm::alignTo(first, 32);
  int64_t perRound = threads;
  for (unsigned number : copy.order) {
    int64_t &extent = extents[number];
    int64_t padded = llvm::alignTo(extent, perRound);
    if (padded * 6 <= extent * 7)
      extent = padded;
    perRound = perRound % extent == 0 ? perRound / extent : 1;
  }
  return extents;
}

/// Builds `aligned` for arrays whose segments of 16 bytes are aligned, if there
/// `canBe` any, and `other` for others.
void WgmmaKernel::ifAligned(bool canBe, function_ref<void()> aligned,
                            function_ref<void()> other) {
  if (!canBe)
    return other();
  if (!isAligned)
    return aligned();
  k.choose(isAligned, aligned, other);
}

void WgmmaKernel::issueTile(Int tile, Int tiles, Int buffer) {
  k.ifThen(k.less(tile, tiles), [&] {
    WgmmaPosition position = startTile(tile);
    ifAligned(
        arrays.vectorLoads,
        [&] { issueCopies(position, buffer, /*vectors=*/true); },
        [&] { issueCopies(position, buffer, /*vectors=*/false); });
  });
  k.commitCopies();
}

/// Copies of the tile that starts at `position`.
void WgmmaKernel::issueCopies(const WgmmaPosition &position, Int buffer,
                              bool vectors) {
  int64_t elementBytes = plan.landing.elementBytes;
  WgmmaCopy copy;
  copy.array = &input;
  copy.layout = &plan.landing;
  copy.lanes = vectors ? kWgmmaVectorBytes / elementBytes : 1;
  // The first of many tiles need not be fast.
  copy.isCompact = (!vectors && arrays.vectorLoads) || refills();
  copy.global = offsetArray(input, position);
  copy.shared = getTileBuffer(buffer);
  SmallVector<int64_t> extents;
  for (const WgmmaAxis &axis : plan.axes)
    extents.push_back(axis.tile);
  emitCopies(copy, extents, position,
             [&](Value condition, Value from, Value to, Value) {
               k.ifThen(condition, [&] {
                 if (copy.lanes * elementBytes >= 4)
                   k.copyAsync(to, from, copy.lanes * elementBytes);
                 else
                   k.store(k.load(input.element, from, CacheHint::ReadOnly),
                           to);
               });
             });
}

/// Builds the group's copies of a tile that starts at `position`: `action` on
/// every element, or every 16 bytes, that exists, and `endBatch` after those
/// that are built together.
void WgmmaKernel::emitCopies(WgmmaCopy &copy, ArrayRef<int64_t> extents,
                             const WgmmaPosition &position,
                             WgmmaCopyAction action,
                             function_ref<void()> endBatch) {
  copy.order = getCopyOrder(copy, extents);
  copy.extents = getCopyExtents(copy, SmallVector<int64_t>(extents));
  copy.limits.assign(plan.axes.size(), 0);
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    if (axis.stage < 0 && axis.tile > 1 &&
        !(sizes[number].isConstant() &&
          sizes[number].getConstant() % axis.tile == 0))
      copy.limits[number] =
          k.min(k.sub(sizes[number], position[number]), extents[number]);
    else if (copy.lanes == 1 && copy.extents[number] != extents[number])
      copy.limits[number] = extents[number];
  }
  int64_t threads = plan.groupSize * kWarpgroupThreads;
  int64_t copies = 1;
  for (int64_t extent : copy.extents)
    copies *= extent;
  splits.clear();
  // What is rarely used must not be computed before loops and be kept.
  Int thread = threadOfGroup;
  if (copy.isCompact)
    thread = Int(k.inlinePTX({k.builder.getI32Type()}, "mov.b32 $0, $1;",
                             "=r,r", {k.materialize(thread)})
                     .front());
  auto emit = [&](WgmmaLinear index, bool isPartial) {
    Value exists;
    if (isPartial)
      exists = k.less(k.add(index.var, index.add), copies);
    emitCopy(copy, index, exists, action);
  };
  int64_t rounds = llvm::divideCeil(copies, threads);
  // Several at a time, to hide the latency of the addresses.
  int64_t unrolled = copy.isCompact ? kCompactCopies : kLoopCopies;
  if (rounds <= (copy.isCompact ? unrolled : kMaxUnrolledCopies)) {
    for (int64_t round = 0; round < rounds; ++round)
      emit({thread, threads, round * threads}, (round + 1) * threads > copies);
    if (endBatch)
      endBatch();
    return;
  }
  int64_t iterations = llvm::divideCeil(rounds, unrolled);
  k.rolledLoop(0, iterations, 1, [&](Int iteration) {
    Int index = k.add(k.mul(iteration, unrolled * threads), thread);
    for (int64_t round = 0; round < unrolled; ++round)
      emit(
          {index, ((iterations - 1) * unrolled + 1) * threads, round * threads},
          iterations * unrolled * threads > copies);
    if (endBatch)
      endBatch();
  });
}

/// From shared memory to the result, element by element: neighbouring lanes
/// write neighbouring elements, whatever the size of a row.
void WgmmaKernel::storeTile(Value source) {
  int64_t elementBytes = getElementBytes(init.element);
  WgmmaCopy copy;
  copy.array = &init;
  copy.layout = &plan.work;
  copy.addend = beta ? &addend : nullptr;
  copy.isCompact = arrays.vectorStores;
  copy.global = initTile;
  copy.shared = source;
  SmallVector<int64_t> extents;
  for (const WgmmaAxis &axis : plan.axes)
    extents.push_back(axis.stage >= 0 ? axis.after : axis.tile);
  SmallVector<WgmmaSegment> segments;
  auto load = [&](Value condition, Value to, Value from, Value other) {
    WgmmaSegment segment;
    Type f32 = k.builder.getF32Type();
    segment.sums.assign(k.ifElse(
        condition, f32,
        [&]() -> SmallVector<Value> { return {k.load(f32, from)}; },
        [&]() -> SmallVector<Value> { return {k.constant(f32, 0.0)}; }));
    segment.exists = {condition};
    segment.target = to;
    if (other)
      segment.addend =
          k.offsetBytes(addendTile, k.mul(Int(other), elementBytes));
    segments.push_back(segment);
  };
  emitCopies(copy, extents, start, load, [&] {
    storeSegments(segments);
    segments.clear();
  });
}

/// Starts to bring a tile into the second-level cache, a line at a time.
void WgmmaKernel::prefetchTile(Int tile, Int tiles) {
  k.ifThen(k.less(tile, tiles), [&] {
    WgmmaPosition position = startTile(tile);
    WgmmaCopy copy;
    copy.array = &input;
    copy.layout = &plan.landing;
    int64_t lineElements = 128 / plan.landing.elementBytes;
    SmallVector<int64_t> extents;
    for (const WgmmaAxis &axis : plan.axes) {
      bool isLast = &axis == &plan.axes.back();
      if (isLast && axis.isContiguous)
        copy.lanes = std::min(lineElements, axis.tile);
      bool isLine = !isLast && axis.isContiguous && axis.tile <= lineElements;
      extents.push_back(isLine ? 1 : axis.tile);
    }
    copy.global = offsetArray(input, position);
    copy.shared = getTileBuffer(0);
    emitCopies(copy, extents, position,
               [&](Value condition, Value from, Value, Value) {
                 k.ifThen(condition, [&] {
                   k.inlinePTX({}, "prefetch.global.L2 [$0];", "l", {from});
                 });
               });
  });
}

/// Starts to load what follows this warp's rows of a block of the last step.
void WgmmaKernel::refillBlock(const WgmmaStage &stage, Int block) {
  const WgmmaLayout &layout = plan.landing;
  // A lane takes 4 neighbours of the 16 rows, at every eighth position.
  Int row = k.add(k.add(k.mul(block, kWgmmaRows), k.mul(warp, 16)),
                  k.mul(k.bitAnd(lane, 3), 4));
  Value exists = nextExists;
  WgmmaPosition position = decodeRow(stage, row);
  for (auto [number, axis] : llvm::enumerate(plan.axes))
    if (axis.stage < 0 && axis.tile > 1 &&
        !(sizes[number].isConstant() &&
          sizes[number].getConstant() % axis.tile == 0))
      exists = k.both(exists, k.less(k.add(nextStart[number], position[number]),
                                     sizes[number]));
  Int first = k.floorDiv(lane, 4);
  Int stride = input.strides[stage.axis], pitch = layout.pitches[stage.axis];
  Int inner = k.bitXor(position.back(),
                       k.bitXor(swizzleOf(layout, position, stage.axis),
                                swizzle(layout, first)));
  Int offset = k.add(addressOf(layout, position, stage.axis),
                     k.add(k.mul(first, pitch), inner));
  Value to = k.offsetBytes(getTileBuffer(0), k.mul(offset, 4));
  Value from =
      k.offsetBytes(nextTile, k.mul(k.add(offsetOf(input, position, stage.axis),
                                          k.mul(k.extend(first), stride)),
                                    4));
  // All lanes of the warp have read.
  k.syncWarp();
  k.ifThen(exists, [&] {
    for (int64_t by = 0; by < stage.sizeK; by += 8)
      k.ifThen(by + 8 > stage.sizeK ? k.less(k.add(first, by), stage.sizeK)
                                    : Value(),
               [&] {
                 k.copyAsync(k.offsetBytes(to, k.mul(pitch, by * 4)),
                             k.offsetBytes(from, k.mul(stride, by * 4)), 16);
               });
  });
}

/// One copy.
void WgmmaKernel::emitCopy(WgmmaCopy &copy, WgmmaLinear index, Value condition,
                           WgmmaCopyAction action) {
  const WgmmaLayout &layout = *copy.layout;
  int64_t elementBytes = layout.elementBytes, lanes = copy.lanes;
  int64_t globalBytes = getElementBytes(copy.array->element);
  unsigned last = plan.axes.size() - 1;
  Int addendOffset = 0, globalOffset = 0, innermost = 0, outerOffset = 0,
      permutation = 0;
  int64_t globalAdd = 0, sharedAdd = 0;
  SmallVector<std::pair<Value, int64_t>> variables;
  for (unsigned number : copy.order) {
    if (copy.extents[number] == 1 && layout.pitches[number] == 0)
      continue;
    int64_t scale = number == last ? lanes : 1;
    auto [outer, own] = split(index, copy.extents[number]);
    index = outer;
    int64_t add = own.add * scale;
    int64_t largest = (own.bound - 1) * scale + add;
    bool isInside = copy.limits[number].isConstant() &&
                    largest < copy.limits[number].getConstant();
    if (!copy.limits[number].is(0) && !isInside)
      condition = k.both(condition, k.less(k.add(k.mul(own.var, scale), add),
                                           copy.limits[number]));
    if (copy.addend)
      addendOffset =
          k.add(addendOffset, k.mul(k.extend(k.add(k.mul(own.var, scale), add)),
                                    copy.addend->strides[number]));
    Int stride = copy.array->strides[number];
    // What XOR and dynamic strides do not let through becomes variable.
    int64_t period = number == last ? 128 / elementBytes : 16;
    if (!stride.isConstant() || (layout.swizzled && add % period != 0)) {
      own.var = k.add(own.var, own.add);
      own.bound += own.add;
      add = 0;
    }
    Int var = k.mul(own.var, scale);
    variables.push_back(
        {own.var.getValue(), own.var.isConstant() ? own.var.getConstant() : 0});
    bool isSmall =
        stride.isConstant() &&
        own.bound * scale * stride.getConstant() < (int64_t(1) << 28);
    globalOffset =
        k.add(globalOffset, k.mul(isSmall ? var : k.extend(var), stride));
    if (stride.isConstant())
      globalAdd += add * stride.getConstant();
    if (number == last) {
      // The permutation changes the low bits of the innermost position.
      innermost = var;
      sharedAdd += add;
      continue;
    }
    permutation = k.bitXor(permutation, swizzle(layout, var));
    outerOffset = k.add(outerOffset, k.mul(var, layout.pitches[number]));
    sharedAdd += add * layout.pitches[number];
  }
  // Copies that differ by constants share their addresses.
  if (!copy.globalBase || variables != copy.variables) {
    copy.variables = variables;
    Int sharedOffset = k.add(outerOffset, k.bitXor(innermost, permutation));
    copy.globalBase =
        hide(k.offsetBytes(copy.global, k.mul(globalOffset, globalBytes)));
    copy.sharedBase =
        hide(k.offsetBytes(copy.shared, k.mul(sharedOffset, elementBytes)));
  }
  action(condition, k.offsetBytes(copy.globalBase, globalAdd * globalBytes),
         k.offsetBytes(copy.sharedBase, sharedAdd * elementBytes),
         copy.addend ? k.materialize(addendOffset, 64) : Value());
}

/// The same pointer, about which LLVM knows nothing: it would fold constants
/// into the variable part of the address, and need registers for every sum.
Value WgmmaKernel::hide(Value pointer) {
  return k
      .inlinePTX(pointer.getType(), "mov.b64 $0, $1;", "=l,l", pointer,
                 /*hasSideEffects=*/false)
      .front();
}
