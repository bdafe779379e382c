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

Int tile::getNextSlot(Lowering &lowering, const LoweredRing &ring, Int slot) {
  KernelBuilder &k = lowering.k;
  Int next = k.add(slot, ring.slotBytes);
  int64_t end = ring.begin + ring.stages * ring.slotBytes;
  if (next.isConstant())
    return next.is(end) ? Int(ring.begin) : next;
  return k.select(k.equal(next, end), k.materialize(ring.begin, 32),
                  k.materialize(next, 32));
}

void tile::lowerAcquire(Lowering &lowering, AcquireOp op) {
  LoweredRing &ring = lowering.rings[op.getRing()];
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
  lowering.buffers[op.getSlot()] = ring.full;
}
