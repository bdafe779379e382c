//===- WgmmaKernel.cpp - Frame of a wgmma kernel ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A kernel is
//
//   start to load the first tiles of this group of warpgroups
//   copy the factors to shared memory, split into TF32
//   for each tile of the group:
//     wait for the tile, start to load the one after the next
//     for each factor: for each block of 64 rows of this warpgroup:
//       rows -> registers, wgmma, results -> the same place in shared memory,
//       or, after the last factor, -> memory
//
// A warp reads and writes its own 16 rows of a block only, so that steps need a
// barrier between them but none within.
//
//===----------------------------------------------------------------------===//

#include "WgmmaKernel.h"
#include "WgmmaSums.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Frame of the kernel
//===----------------------------------------------------------------------===//

WgmmaArray WgmmaKernel::enter(const WgmmaArray &array) {
  WgmmaArray inside{k.enter(array.base), {}, array.element};
  for (Int stride : array.strides)
    inside.strides.push_back(k.enter(stride));
  return inside;
}

void WgmmaKernel::enterArrays() {
  input = enter(arrays.input);
  init = enter(arrays.init);
  for (Int size : arrays.sizes)
    sizes.push_back(k.truncate(k.enter(size)));
  if (!arrays.alpha.isOne())
    alpha = k.enter(arrays.alpha.materialize(host.builder, host.loc));
  if (!arrays.misalignment.isConstant())
    isAligned = k.equal(k.truncate(k.enter(arrays.misalignment)), 0);
  if (arrays.addend.base) {
    addend = enter(arrays.addend);
    beta = k.enter(arrays.beta.materialize(host.builder, host.loc));
  }
}

void WgmmaKernel::numberThreads() {
  Int thread = k.threadId();
  int64_t groupThreads = plan.groupSize * kWarpgroupThreads;
  bool isOne = plan.getNumGroups() == 1;
  group = isOne ? Int(0) : k.floorDiv(thread, groupThreads);
  threadOfGroup = isOne ? thread : k.rem(thread, groupThreads);
  warpgroup = plan.groupSize == 1
                  ? Int(0)
                  : k.floorDiv(threadOfGroup, kWarpgroupThreads);
  // All lanes have the same; told so, ptxas keeps matrix instructions in loops
  // over blocks asynchronous.
  if (plan.groupSize > 1)
    warpgroup = Int(k.shuffle(k.materialize(warpgroup), 0));
  warp = fromBits(thread, 5, 3);
  lane = k.bitAnd(thread, 31);
  laneRow = k.floorDiv(lane, 4);
  laneColumn = k.bitAnd(lane, 3);
}

void WgmmaKernel::copyFactors() {
  for (auto [index, stage] : llvm::enumerate(plan.stages))
    emitWgmmaFactor(k, stage, factors[index], k.enter(arrays.factors[index]),
                    /*firstResult=*/0, arrays.factorElements[index],
                    plan.threads);
  fenceProxy(k);
  k.barrier();
}

void WgmmaKernel::emit() {
  enterArrays();
  numberThreads();
  for (const WgmmaStage &stage : plan.stages)
    factors.push_back(
        {k.allocateShared(stage.getNumCopies() * stage.factorBytes, 128)});
  tileOffset =
      k.allocateShared(plan.getNumGroups() * plan.getGroupBytes(), 128);
  Value address = LLVM::PtrToIntOp::create(k.builder, k.loc,
                                           k.builder.getI32Type(), k.shared(0));
  descriptorBase = k.materialize(k.floorDiv(Int(address), 16), 64);
  if (arrays.quantize)
    enterQuantize();

  // Tiles, on the host.
  Int count = 1;
  for (auto [axis, size] : llvm::zip(plan.axes, arrays.sizes))
    if (axis.stage < 0)
      count = host.mul(count, host.ceilDiv(size, axis.tile));
  emitTiles(k.truncate(k.enter(count)));
  LaunchShape shape;
  shape.threads = plan.threads;
  shape.ctasPerSM = plan.ctasPerSM;
  shape.sharedBytes = k.getSharedBytes();
  k.launch(shape, count);
}

void WgmmaKernel::syncGroup() {
  if (plan.getNumGroups() == 1)
    k.barrier();
  else
    k.namedBarrier(k.add(group, 1), plan.groupSize * kWarpgroupThreads);
}

/// The buffer `by` after `buffer`.
Int WgmmaKernel::advance(Int buffer, int64_t by) {
  by %= plan.buffers;
  if (by == 0)
    return buffer;
  Int sum = k.add(buffer, by);
  return Int(k.select(k.less(sum, plan.buffers), k.materialize(sum),
                      k.materialize(k.sub(sum, plan.buffers))));
}

void WgmmaKernel::emitTiles(Int tiles) {
  // Groups of different CTAs come first: few tiles spread over all SMs.
  Int ctas = k.gridSize();
  Int first = k.add(k.mul(ctas, group), k.blockId());
  Int step = k.mul(ctas, plan.getNumGroups());
  // Loads are this many tiles ahead.
  int64_t ahead = plan.buffers - 1;
  auto issue = [&](Int tile, Int number, Int buffer) {
    issueTile(k.add(tile, k.mul(step, number)), tiles, buffer);
  };
  k.rolledLoop(0, ahead, 1, [&](Int number) { issue(first, number, number); });
  if (refills())
    issueTile(first, tiles, 0);
  copyFactors();

  Value firstBuffer = k.materialize(0, 32);
  k.rolledLoop(
      first, tiles, step, firstBuffer, [&](Int tile, ValueRange carried) {
        Int buffer(carried[0]);
        start = startTile(tile);
        if (init.base)
          initTile = offsetArray(init, start);
        if (addend.base)
          addendTile = offsetArray(addend, start);
        emitStages(waitForTile(tile, tiles, step, buffer));
        if (refills())
          ifAligned(
              true, [&] { k.commitCopies(); },
              [&] {
                syncGroup();
                issueTile(k.add(tile, step), tiles, 0);
              });
        return SmallVector<Value>{k.materialize(advance(buffer, 1))};
      });
}

/// Where `tile` is, once it is there; starts to load what comes later.
Value WgmmaKernel::waitForTile(Int tile, Int tiles, Int step, Int buffer) {
  int64_t ahead = plan.buffers - 1;
  if (ahead > 0) {
    k.waitCopies(ahead - 1);
    syncGroup();
    Int free = advance(buffer, ahead);
    issueTile(k.add(tile, k.mul(step, ahead)), tiles, free);
    return getTileBuffer(buffer);
  }
  Int next = k.add(tile, step);
  if (refills()) {
    startNext(next, tiles);
  } else {
    syncGroup();
    issueTile(tile, tiles, 0);
  }
  prefetchTile(next, tiles);
  k.waitCopies(0);
  syncGroup();
  return getTileBuffer(0);
}

/// What refilling with tile `next` needs.
void WgmmaKernel::startNext(Int next, Int tiles) {
  nextExists = k.less(next, tiles);
  nextStart = startTile(next);
  nextTile = offsetArray(input, nextStart);
}

/// All factors, on the tile at `landing`.
void WgmmaKernel::emitStages(Value landing) {
  Value work = landing;
  if (!plan.inPlace)
    work =
        k.offsetBytes(getTileBuffer(0), plan.buffers * plan.landing.getBytes());
  for (unsigned index = 0; index < plan.stages.size(); ++index) {
    if (index > 0)
      syncGroup();
    emitStage(index, index == 0 ? landing : work, work);
  }
  if (stagesStores)
    ifAligned(
        arrays.vectorStores, [] {},
        [&] {
          syncGroup();
          arrays.quantize ? quantizeTile(work) : storeTile(work);
        });
}

/// Where a tile starts, per axis; 0 for contracted ones. Neighbours of the
/// input that are in different tiles are worked on at the same time.
WgmmaPosition WgmmaKernel::startTile(Int tile) {
  SmallVector<unsigned> order;
  for (bool isContiguous : {true, false})
    for (unsigned number = plan.axes.size(); number-- > 0;)
      if (plan.axes[number].stage < 0 &&
          plan.axes[number].isContiguous == isContiguous)
        order.push_back(number);
  WgmmaPosition position(plan.axes.size(), 0);
  Int rest = tile;
  for (unsigned number : order) {
    const WgmmaAxis &axis = plan.axes[number];
    Int count = k.ceilDiv(sizes[number], axis.tile);
    Int index = number == order.back() ? rest : k.rem(rest, count);
    rest = number == order.back() ? Int(0) : k.floorDiv(rest, count);
    position[number] = k.mul(index, axis.tile);
  }
  return position;
}

Value WgmmaKernel::offsetArray(const WgmmaArray &array,
                               const WgmmaPosition &position) {
  Int offset = 0;
  for (auto [number, stride] : llvm::zip(position, array.strides))
    if (!number.is(0))
      offset = k.add(offset, k.mul(k.extend(number), stride));
  return k.offsetBytes(array.base,
                       k.mul(offset, getElementBytes(array.element)));
}

//===----------------------------------------------------------------------===//
// Addresses in shared memory
//===----------------------------------------------------------------------===//

/// What a position on an axis other than the innermost one changes in the
/// innermost position: bits that put successive pairs of positions on different
/// banks.
Int WgmmaKernel::swizzle(const WgmmaLayout &layout, Int coordinate) {
  if (!layout.swizzled)
    return 0;
  if (layout.elementBytes == 2)
    return k.mul(fromBits(coordinate, 1, 7), 8);
  return k.bitOr(k.mul(fromBits(coordinate, 1, 1), 16),
                 k.mul(fromBits(coordinate, 2, 1), 8));
}

Int WgmmaKernel::swizzleOf(const WgmmaLayout &layout,
                           const WgmmaPosition &position, unsigned except) {
  Int permutation = 0;
  for (unsigned number = 0; number + 1 < position.size(); ++number)
    if (number != except && !position[number].is(0))
      permutation = k.bitXor(permutation, swizzle(layout, position[number]));
  return permutation;
}

/// Offset of a position in elements, without the axis `except` and without the
/// innermost axis.
Int WgmmaKernel::addressOf(const WgmmaLayout &layout,
                           const WgmmaPosition &position, unsigned except) {
  Int offset = 0;
  for (unsigned number = 0; number + 1 < position.size(); ++number)
    if (number != except)
      offset = k.add(offset, k.mul(position[number], layout.pitches[number]));
  return offset;
}
