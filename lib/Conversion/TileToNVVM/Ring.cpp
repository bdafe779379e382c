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

Int tile::getNextSlot(Lowering &lowering, const LoweredRing &ring, Int slot) {
  KernelBuilder &k = lowering.k;
  if (ring.along)
    return wrapSlot(k, k.add(slot, ring.slotsPerBuffer), ring.stages);
  Int next = k.add(slot, ring.slotBytes);
  int64_t end = ring.begin + ring.stages * ring.slotBytes;
  if (next.isConstant())
    return next.is(end) ? Int(ring.begin) : next;
  return k.select(k.equal(next, end), k.materialize(ring.begin, 32),
                  k.materialize(next, 32));
}

static LoweredWindow getWindow(const LoweredRing &ring, Int slot) {
  return {ring.begin, ring.stages, ring.slotsPerBuffer, *ring.along, slot};
}

void tile::lowerAcquire(Lowering &lowering, AcquireOp op) {
  LoweredRing &ring = lowering.rings[op.getRing()];
  if (ring.along) {
    Int slot = ring.full;
    for (int64_t ahead = ring.isFullTaken ? -1 : 0; ahead < ring.ahead; ++ahead)
      slot = getNextSlot(lowering, ring, slot);
    ++ring.ahead;
    lowering.windows[op.getSlot()] = getWindow(ring, slot);
    return;
  }
  if (ring.isFreeTaken)
    ring.free = getNextSlot(lowering, ring, ring.free);
  ring.isFreeTaken = true;
  lowering.buffers[op.getSlot()] = ring.free;
}

void tile::lowerWait(Lowering &lowering, WaitOp op) {
  lowering.k.waitCopies(op.getPending());
  LoweredRing &ring = lowering.rings[op.getRing()];
  if (ring.isFullTaken)
    ring.full = getNextSlot(lowering, ring, ring.full);
  ring.isFullTaken = true;
  if (ring.along) {
    --ring.ahead;
    lowering.windows[op.getSlot()] = getWindow(ring, ring.full);
    return;
  }
  lowering.buffers[op.getSlot()] = ring.full;
}
