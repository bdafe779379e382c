//===- Ring.cpp - tile.acquire and tile.wait ------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

Int tile::wrapSlot(KernelBuilder &k, Int slot, int64_t stages) {
  Int over = k.sub(slot, stages);
  if (slot.isConstant())
    return over.getConstant() >= 0 ? over : slot;
  return k.select(k.less(slot, stages), k.materialize(slot),
                  k.materialize(over));
}

Int tile::getSlotBehind(Lowering &lowering, const LoweredRing &ring,
                        int64_t buffers) {
  KernelBuilder &k = lowering.k;
  Int slot = ring.full;
  if (ring.along) {
    for (int64_t buffer = 0; buffer < buffers; ++buffer)
      slot = wrapSlot(k, k.add(slot, ring.slotsPerBuffer), ring.stages);
    return slot;
  }
  int64_t bytes = ring.stages * ring.slotBytes, end = ring.begin + bytes;
  buffers %= ring.stages;
  if (buffers == 0)
    return slot;
  Int next = k.add(slot, buffers * ring.slotBytes), over = k.sub(next, bytes);
  if (next.isConstant())
    return over.getConstant() >= ring.begin ? over : next;
  // The next one is the first one, or less than the end.
  if (buffers == 1)
    return k.select(k.equal(next, end), k.materialize(ring.begin, 32),
                    k.materialize(next, 32));
  return k.select(k.less(next, end), k.materialize(next, 32),
                  k.materialize(over, 32));
}

static LoweredWindow getWindow(const LoweredRing &ring, Int slot) {
  return {ring.begin, ring.stages, ring.slotsPerBuffer, *ring.along, slot};
}

/// The slot before the one to wait for, that is the last one behind it.
/// Computed in another way than the next one, of which it would otherwise be a
/// common part with two slots, and take a register through the whole turn.
static Int getSlotBefore(KernelBuilder &k, const LoweredRing &ring) {
  int64_t last = ring.begin + (ring.stages - 1) * ring.slotBytes;
  return k.select(k.equal(ring.full, ring.begin), k.materialize(last, 32),
                  k.materialize(k.sub(ring.full, ring.slotBytes), 32));
}

/// The slot at byte offset `slot` of the first group's ring, in that of this
/// thread's group.
static Int getOwnSlot(Lowering &lowering, const LoweredRing &ring, Int slot) {
  if (ring.isShared)
    return slot;
  return lowering.k.add(
      slot, lowering.k.mul(lowering.getGroup(), ring.stages * ring.slotBytes));
}

void tile::lower(Lowering &lowering, AcquireOp op) {
  LoweredRing &ring = lowering.rings[op.getRing()];
  int64_t behind = ring.ahead + (ring.isFullTaken ? 1 : 0);
  bool isBefore = lowering.blockLanes && ring.stages > 1 &&
                  behind + 1 == ring.stages && !ring.full.isConstant();
  Int slot = isBefore ? getSlotBefore(lowering.k, ring)
                      : getSlotBehind(lowering, ring, behind);
  ++ring.ahead;
  if (ring.along)
    lowering.windows[op.getSlot()] = getWindow(ring, slot);
  else
    lowering.buffers[op.getSlot()] = getOwnSlot(lowering, ring, slot);
}

void tile::lower(Lowering &lowering, WaitOp op) {
  lowering.k.waitCopies(op.getPending());
  LoweredRing &ring = lowering.rings[op.getRing()];
  if (ring.isFullTaken)
    ring.full = getSlotBehind(lowering, ring, 1);
  ring.isFullTaken = true;
  --ring.ahead;
  if (ring.along)
    lowering.windows[op.getSlot()] = getWindow(ring, ring.full);
  else
    lowering.buffers[op.getSlot()] = getOwnSlot(lowering, ring, ring.full);
}
