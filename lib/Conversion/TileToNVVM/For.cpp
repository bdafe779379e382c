//===- For.cpp - tile.for -------------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Advances what an operation has taken.
static void settle(Lowering &lowering, LoweredRing &ring) {
  if (ring.isFullTaken)
    ring.full = getNextSlot(lowering, ring, ring.full);
  if (ring.isFreeTaken)
    ring.free = getNextSlot(lowering, ring, ring.free);
  ring.isFullTaken = ring.isFreeTaken = false;
}

void tile::lowerFor(Lowering &lowering, ForOp op) {
  KernelBuilder &k = lowering.k;
  SmallVector<Value> slots;
  for (auto &[memory, ring] : lowering.rings) {
    settle(lowering, ring);
    slots.push_back(k.materialize(ring.full, 32));
    slots.push_back(k.materialize(ring.free, 32));
  }
  lowering.step = k.extend(k.gridSize());
  SmallVector<Value> last = k.rolledLoop(
      k.extend(k.blockId()), lowering.numbers.at(op.getTiles()), lowering.step,
      slots, [&](Int tile, ValueRange carried) {
        for (auto [index, entry] : llvm::enumerate(lowering.rings)) {
          entry.second.full = carried[2 * index];
          entry.second.free = carried[2 * index + 1];
        }
        lowering.numbers[op.getTile()] = tile;
        lowering.lower(*op.getBody());
        SmallVector<Value> next;
        for (auto &[memory, ring] : lowering.rings) {
          settle(lowering, ring);
          next.push_back(k.materialize(ring.full, 32));
          next.push_back(k.materialize(ring.free, 32));
        }
        return next;
      });
  for (auto [index, entry] : llvm::enumerate(lowering.rings)) {
    entry.second.full = last[2 * index];
    entry.second.free = last[2 * index + 1];
  }
}
