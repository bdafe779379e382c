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
  return {{quotient, (number.bound + divisor - 1) / divisor,
           number.add / divisor},
          {remainder, divisor, 0}};
}

/// Positions per axis that copies walk over, which are at least `extents`; the
/// innermost axis counts `lanes` elements as one. Element by element, rows take
/// whole warps and rounds whole rows where that costs little.
SmallVector<int64_t>
WgmmaKernel::getCopyExtents(SmallVector<int64_t> extents, int64_t lanes) const {
  int64_t threads = plan.groupSize * kWarpgroupThreads;
  if (lanes > 1) {
    extents.back() = llvm::divideCeil(extents.back(), lanes);
    return extents;
  }
  if (extents.back() > 16)
    extents.back() = llvm::alignTo(extents.back(), 32);
  int64_t perRound = threads;
  for (int64_t &extent : llvm::reverse(extents)) {
    int64_t padded = llvm::alignTo(extent, perRound);
    if (padded * 6 <= extent * 7)
      extent = padded;
    perRound = perRound % extent == 0 ? perRound / extent : 1;
  }
  return extents;
}

void WgmmaKernel::issueTile(Int tile, Int tiles, Int buffer, int64_t piece) {
  int64_t elementBytes = plan.landing.elementBytes;
  k.ifThen(k.less(tile, tiles), [&] {
    WgmmaPosition position = startTile(tile);
    WgmmaCopy copy;
    copy.array = &input;
    copy.layout = &plan.landing;
    copy.lanes = vectorLoads ? kWgmmaVectorBytes / elementBytes : 1;
    copy.global = offsetArray(input, position);
    copy.shared = getTileBuffer(buffer);
    SmallVector<int64_t> extents;
    for (const WgmmaAxis &axis : plan.axes) {
      extents.push_back(axis.tile);
      if (axis.stage >= 0 && plan.pieces > 1)
        extents.back() = std::min(plan.pieceDepth,
                                  axis.tile - piece * plan.pieceDepth);
    }
    if (piece > 0) {
      Int stride = input.strides[plan.stages.front().axis];
      copy.global = k.offsetBytes(
          copy.global,
          k.mul(k.mul(stride, piece * plan.pieceDepth), elementBytes));
    }
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
  });
  k.commitCopies();
}

/// Builds the group's copies of a tile that starts at `position`: `action` on
/// every element, or every 16 bytes, that exists, and `endBatch` after those
/// that are built together.
void WgmmaKernel::emitCopies(WgmmaCopy &copy, ArrayRef<int64_t> extents,
                             const WgmmaPosition &position,
                             WgmmaCopyAction action,
                             function_ref<void()> endBatch) {
  copy.extents = getCopyExtents(SmallVector<int64_t>(extents), copy.lanes);
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
  auto emit = [&](WgmmaLinear index, bool isPartial) {
    Value exists;
    if (isPartial)
      exists = k.less(k.add(index.var, index.add), copies);
    emitCopy(copy, index, exists, action);
  };
  int64_t rounds = llvm::divideCeil(copies, threads);
  if (rounds <= kMaxUnrolledCopies) {
    for (int64_t round = 0; round < rounds; ++round)
      emit({threadOfGroup, threads, round * threads},
           (round + 1) * threads > copies);
    if (endBatch)
      endBatch();
    return;
  }
  // Several at a time, to hide the latency of the addresses.
  int64_t unrolled = 8;
  int64_t iterations = llvm::divideCeil(rounds, unrolled);
  k.rolledLoop(0, iterations, 1, [&](Int iteration) {
    Int index = k.add(k.mul(iteration, unrolled * threads), threadOfGroup);
    for (int64_t round = 0; round < unrolled; ++round)
      emit({index, ((iterations - 1) * unrolled + 1) * threads,
            round * threads},
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
  copy.global = initTile;
  copy.shared = source;
  SmallVector<int64_t> extents;
  for (const WgmmaAxis &axis : plan.axes)
    extents.push_back(axis.stage >= 0 ? axis.after : axis.tile);
  SmallVector<WgmmaRun> runs;
  auto load = [&](Value condition, Value to, Value from, Value other) {
    WgmmaRun run;
    Type f32 = k.builder.getF32Type();
    run.sums.assign(k.ifElse(
        condition, f32,
        [&]() -> SmallVector<Value> { return {k.load(f32, from)}; },
        [&]() -> SmallVector<Value> { return {k.constant(f32, 0.0)}; }));
    run.exists = {condition};
    run.target = to;
    if (other)
      run.addend =
          k.offsetBytes(addendTile, k.mul(Int(other), elementBytes));
    runs.push_back(run);
  };
  emitCopies(copy, extents, start, load, [&] {
    storeRuns(runs);
    runs.clear();
  });
}

/// Starts to bring a tile into the second-level cache, a line at a time.
void WgmmaKernel::prefetchTile(Int tile, Int tiles) {
  k.ifThen(k.less(tile, tiles), [&] {
    WgmmaPosition position = startTile(tile);
    WgmmaCopy copy;
    copy.array = &input;
    copy.layout = &plan.landing;
    copy.lanes = std::min<int64_t>(128 / plan.landing.elementBytes,
                                   plan.axes.back().tile);
    copy.global = offsetArray(input, position);
    copy.shared = getTileBuffer(0);
    SmallVector<int64_t> extents;
    for (const WgmmaAxis &axis : plan.axes)
      extents.push_back(axis.tile);
    emitCopies(copy, extents, position,
               [&](Value condition, Value from, Value, Value) {
                 k.ifThen(condition, [&] {
                   k.inlinePTX({}, "prefetch.global.L2 [$0];", "l", {from});
                 });
               });
  });
}

/// One copy.
void WgmmaKernel::emitCopy(WgmmaCopy &copy, WgmmaLinear index, Value condition,
                           WgmmaCopyAction action) {
  const WgmmaLayout &layout = *copy.layout;
  int64_t elementBytes = layout.elementBytes, lanes = copy.lanes;
  int64_t globalBytes = getElementBytes(copy.array->element);
  int last = plan.axes.size() - 1;
  Int addendOffset = 0, globalOffset = 0, innermost = 0, outerOffset = 0, permutation = 0;
  int64_t globalAdd = 0, sharedAdd = 0;
  SmallVector<std::pair<Value, int64_t>> variables;
  for (int number = last; number >= 0; --number) {
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
      condition = k.both(
          condition,
          k.less(k.add(k.mul(own.var, scale), add), copy.limits[number]));
    if (copy.addend)
      addendOffset = k.add(
          addendOffset, k.mul(k.extend(k.add(k.mul(own.var, scale), add)),
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
    variables.push_back({own.var.getValue(),
                         own.var.isConstant() ? own.var.getConstant() : 0});
    bool isSmall = stride.isConstant() &&
                   own.bound * scale * stride.getConstant() <
                       (int64_t(1) << 28);
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

