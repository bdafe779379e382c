//===- Dmma.cpp - f64 octets by matrix instructions -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Per tile:
//
//   wait for this warp's part of the tile
//   steps within what a warp has loaded: it alone, one after the other
//   other steps: after a barrier of the warps that share their fibres
//   the last step: to global memory
//
// Two CTAs that share a tile hold 4 of the 8 positions of the last step's axis
// each. In that step, each CTA takes half of the fibres, reads the 4 positions
// that it does not hold from the other CTA's shared memory, and computes all 8
// results.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Dmma.h"
#include "DmmaEmitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kBytes = 8;
/// Offsets along axes with smaller strides have 32 bits.
static constexpr int64_t kWideStride = int64_t(1) << 24;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The swizzled index. It is linear: what is known and what is not may be
/// swizzled apart and put together by exclusive or.
Int DmmaEmitter::swizzle(Int index) {
  Int result = index;
  for (auto [from, to] : plan.swizzles) {
    Int moved = kernel.floorDiv(index, int64_t(1) << (from - to));
    result = kernel.bitXor(result, kernel.bitAnd(moved, int64_t(1) << to));
  }
  return result;
}

/// Positions of an index.
Positions DmmaEmitter::decode(Int index) {
  Positions positions;
  for (auto [bit, extent] : llvm::zip(plan.bits, plan.extents))
    positions.push_back(
        kernel.bitAnd(kernel.floorDiv(index, int64_t(1) << bit), extent - 1));
  return positions;
}

/// The offset of an index in an array. Axes that lie without a gap count as
/// one.
Int DmmaEmitter::getOffset(Int index, const StageArray &array) {
  Int offset = 0;
  for (unsigned axis = plan.extents.size(); axis-- > 0;) {
    if (plan.extents[axis] == 1)
      continue;
    unsigned bit = plan.bits[axis];
    Int stride = array.strides[axis];
    int64_t extent = plan.extents[axis];
    for (; axis > 0 && stride.isConstant() &&
           array.strides[axis - 1].is(stride.getConstant() * extent);
         --axis)
      extent *= plan.extents[axis - 1];
    Int position = kernel.floorDiv(index, int64_t(1) << bit);
    position = kernel.bitAnd(position, extent - 1);
    if (!stride.isConstant() || stride.getConstant() >= kWideStride)
      position = kernel.extend(position);
    offset = kernel.add(offset, kernel.mul(position, stride));
  }
  return offset;
}

/// Whether an element exists; null if it does anyway.
Value DmmaEmitter::isInside(Int index, int64_t known, const DmmaPlace &place) {
  Positions positions = decode(index), more = decode(known);
  Value inside;
  for (unsigned axis = 0; axis < positions.size(); ++axis) {
    int64_t extent = plan.extents[axis];
    if (plan.contracted[axis] || extent == 1 ||
        (sizes[axis].isConstant() && sizes[axis].getConstant() % extent == 0))
      continue;
    Int left = kernel.sub(sizes[axis], place.starts[axis]);
    inside = kernel.both(
        inside, kernel.less(kernel.add(positions[axis], more[axis]), left));
  }
  return inside;
}

/// The place of an element in shared memory: the slot at byte `base`, what
/// lanes and warps add to the index (swizzled), and what is known of it.
/// Addresses of shared memory have 32 bits, whatever the width of pointers.
Value DmmaEmitter::getShared(Int base, Int swizzled, int64_t known) {
  int64_t bytes = swizzle(known).getConstant() * kBytes;
  int64_t low = bytes % 128;
  OpBuilder &builder = kernel.builder;
  Value start = kernel.shared(0);
  Int address(LLVM::PtrToIntOp::create(builder, kernel.loc,
                                       builder.getI32Type(), start));
  address = kernel.add(address, base);
  address =
      kernel.add(address, kernel.bitXor(kernel.mul(swizzled, kBytes), low));
  Value pointer = LLVM::IntToPtrOp::create(builder, kernel.loc, start.getType(),
                                           address.getValue());
  return kernel.offsetBytes(pointer, bytes - low);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void DmmaEmitter::enterAll() {
  enterArrays();
  warp = kernel.warpId();
  lane = kernel.laneId();
  laneGroup = kernel.floorDiv(lane, 4);
  laneSlot = kernel.bitAnd(lane, 3);
  if (plan.cluster == 2)
    rank = kernel.clusterRank();
}

/// Number of tiles along `axis`.
Int DmmaEmitter::getTiles(Emitter &emitter, unsigned axis, Int size) {
  return plan.contracted[axis] ? Int(1)
                               : emitter.ceilDiv(size, plan.extents[axis]);
}

DmmaPlace DmmaEmitter::placeTile(Int tile) {
  Positions starts(sizes.size(), 0);
  Int rest = tile;
  for (unsigned axis = sizes.size(); axis-- > 0;) {
    Int count = getTiles(kernel, axis, sizes[axis]);
    if (count.is(1))
      continue;
    starts[axis] =
        kernel.mul(kernel.extend(kernel.rem(rest, count)), plan.extents[axis]);
    rest = kernel.floorDiv(rest, count);
  }
  DmmaPlace place = getPlaceAt(std::move(starts));
  if (plan.cluster == 2)
    place.input = kernel.offsetElements(
        place.input, element,
        kernel.mul(kernel.mul(kernel.extend(rank), plan.slots),
                   input.strides[plan.steps.back().axis]));
  return place;
}

/// Starts the copies of this warp's part of `tile`, whose first slot is `ring`,
/// if there is such a tile.
void DmmaEmitter::emitCopies(Int tile, Int ring) {
  kernel.ifThen(kernel.less(tile, end), [&] {
    DmmaPlace place = placeTile(tile);
    Int index = kernel.add(kernel.mul(warp, plan.getWarpElements()),
                           kernel.mul(lane, 2));
    Int base = getSlotBase(ring, getWarpSlot());
    Int swizzled = kernel.bitAnd(swizzle(index), plan.getSlotElements() - 1);
    Value from =
        kernel.offsetElements(place.input, element, getOffset(index, input));
    for (int64_t known = 0; known < plan.getWarpElements(); known += 64)
      kernel.ifThen(isInside(index, known, place), [&] {
        kernel.copyAsync(
            (getShared(base, swizzled, known)),
            kernel.offsetElements(from, element, getOffset(known, input)), 16);
      });
  });
}

/// The slot of the tile that this warp's elements are in.
Int DmmaEmitter::getWarpSlot() {
  if (plan.slots == 1)
    return 0;
  return kernel.floorDiv(warp, plan.warps / plan.slots);
}

/// Where slot `slot` of the tile that starts at slot `ring` begins, in bytes.
Int DmmaEmitter::getSlotBase(Int ring, Int slot) {
  Int sum = kernel.add(ring, slot);
  if (plan.slots > 1) {
    Int over = kernel.sub(sum, plan.ringSlots);
    sum = Int(kernel.select(kernel.less(sum, plan.ringSlots),
                            kernel.materialize(sum), kernel.materialize(over)));
  }
  return kernel.mul(sum, plan.getSlotElements() * kBytes);
}

/// The slot that is `slots` after `ring`.
Int DmmaEmitter::advance(Int ring, int64_t slots) {
  Int sum = kernel.add(ring, slots);
  Int over = kernel.sub(sum, plan.ringSlots);
  return Int(kernel.select(kernel.less(sum, plan.ringSlots),
                           kernel.materialize(sum, 32),
                           kernel.materialize(over, 32)));
}

//===----------------------------------------------------------------------===//
// Synchronization
//===----------------------------------------------------------------------===//

/// Waits for the warps that the fibres of a step lie with.
void DmmaEmitter::emitBarrier(const DmmaStep &step) {
  if (isSplit(step)) {
    emitClusterArrive();
    return emitClusterWait();
  }
  int64_t warps = plan.getStepWarps(step.bit);
  if (warps == 1)
    return kernel.syncWarp();
  if (warps == plan.warps)
    return kernel.barrier();
  kernel.namedBarrier(kernel.add(kernel.floorDiv(warp, warps), 1), 32 * warps);
}

void DmmaEmitter::emitClusterArrive() {
  kernel.inlinePTX({}, "barrier.cluster.arrive.release.aligned;", "~{memory}",
                   {});
}

void DmmaEmitter::emitClusterWait() {
  kernel.inlinePTX({}, "barrier.cluster.wait.acquire.aligned;", "~{memory}",
                   {});
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// A tile of one CTA. The slot before this tile's is free once the warps that
/// share fibres have met in this tile: its last reader was the tile before.
void DmmaEmitter::emitTile(Int tile, Int ring) {
  kernel.waitCopies(plan.ringSlots - 2);
  kernel.syncWarp();
  auto startCopies = [&] {
    int64_t ahead = plan.ringSlots - 1;
    emitCopies(kernel.add(tile, kernel.mul(kernel.gridSize(), ahead)),
               advance(ring, ahead));
    kernel.commitCopies();
  };
  bool meets = !plan.isPrivate(plan.steps.back().bit);
  if (!meets)
    startCopies();
  DmmaPlace place = placeTile(tile);
  for (auto [number, step] : llvm::enumerate(plan.steps)) {
    bool last = number + 1 == plan.steps.size();
    if (number > 0 || !plan.isPrivate(step.bit))
      emitBarrier(step);
    if (!last) {
      emitStep(step, factors[number], ring);
      continue;
    }
    if (meets)
      startCopies();
    emitLastStep(factors[number], place, ring, [] {});
  }
}

/// A tile of two CTAs. Slots that this tile leaves free take part of the next
/// one from the start, the others once both CTAs have read.
void DmmaEmitter::emitSharedTile(Int tile, Int ring) {
  kernel.waitCopies(0);
  kernel.syncWarp();
  DmmaPlace place = placeTile(tile);
  Int next = kernel.add(tile, kernel.floorDiv(kernel.gridSize(), 2));
  Int nextRing = advance(ring, plan.slots);
  int64_t early = plan.ringSlots - plan.slots;
  Value isEarly = kernel.less(getWarpSlot(), early);
  kernel.ifThen(isEarly, [&] { emitCopies(next, nextRing); });
  kernel.commitCopies();
  for (auto [number, step] : llvm::enumerate(plan.steps)) {
    if (number > 0 || !plan.isPrivate(step.bit))
      emitBarrier(step);
    if (number + 1 < plan.steps.size())
      emitStep(step, factors[number], ring);
    else
      emitLastStep(factors[number], place, ring, [&] { emitClusterArrive(); });
  }
  emitClusterWait();
  kernel.ifThen(kernel.less(early - 1, getWarpSlot()),
                [&] { emitCopies(next, nextRing); });
  kernel.commitCopies();
}

void DmmaEmitter::emit() {
  enterAll();
  Int count = 1;
  for (unsigned axis = 0; axis < sizes.size(); ++axis)
    count = host.mul(count, getTiles(host, axis, operands.sizes[axis]));
  end = kernel.enter(host.truncate(count));
  bool isShared = plan.cluster == 2;
  Int first = kernel.floorDiv(kernel.blockId(), plan.cluster);
  Int step = kernel.floorDiv(kernel.gridSize(), plan.cluster);
  for (int64_t slot = 0; slot < (isShared ? 1 : plan.ringSlots - 1); ++slot) {
    emitCopies(kernel.add(first, kernel.mul(step, slot)), slot);
    kernel.commitCopies();
  }
  for (const DmmaStep &each : plan.steps)
    factors.push_back(loadFactor(each));
  kernel.rolledLoop(first, end, step, kernel.materialize(0, 32),
                    [&](Int tile, ValueRange carried) -> SmallVector<Value> {
                      Int ring(carried.front());
                      if (isShared)
                        emitSharedTile(tile, ring);
                      else
                        emitTile(tile, ring);
                      return {
                          kernel.materialize(advance(ring, plan.slots), 32)};
                    });
  LaunchShape shape;
  shape.threads = 32 * plan.warps;
  shape.ctasPerSM = plan.ctasPerSM;
  shape.cluster = plan.cluster;
  shape.sharedBytes = plan.getSharedBytes();
  kernel.launch(shape, count);
}

//===----------------------------------------------------------------------===//
// The fused region
//===----------------------------------------------------------------------===//

LogicalResult kron::emitDmmaKernel(OpBuilder &builder,
                                   gpu::GPUModuleOp gpuModule, FusedOp fused,
                                   GPUPlanAttr plan,
                                   const GPUMachine &machine) {
  std::variant<DmmaPlan, std::string> found = readDmmaPlan(fused, plan);
  if (auto *reason = std::get_if<std::string>(&found))
    return fused.emitOpError("cannot become a dmma kernel: ") << *reason;
  auto &dmma = std::get<DmmaPlan>(found);
  if (std::optional<std::string> reason = getDmmaMachineReason(dmma, machine))
    return fused.emitOpError("cannot become a dmma kernel: ") << *reason;
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  DmmaEmitter(host, gpuModule, fused, dmma).emit();
  return success();
}
