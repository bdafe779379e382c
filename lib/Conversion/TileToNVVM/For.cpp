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
    ring.full = getSlotBehind(lowering, ring, 1);
  ring.isFullTaken = false;
}

/// What a turn changes of the rings. One whose next buffer is the same has no
/// state.
static SmallVector<Int *> getState(Lowering &lowering) {
  SmallVector<Int *> state;
  for (auto &[memory, ring] : lowering.rings) {
    if (ring.along && ring.stages == ring.slotsPerBuffer)
      continue;
    state.push_back(&ring.full);
  }
  return state;
}

void tile::lowerFor(Lowering &lowering, ForOp op) {
  KernelBuilder &k = lowering.k;
  SmallVector<Int *> state = getState(lowering);
  auto getValues = [&] {
    for (auto &[memory, ring] : lowering.rings)
      settle(lowering, ring);
    return llvm::map_to_vector(
        state, [&](Int *slot) { return k.materialize(*slot, 32); });
  };
  auto setValues = [&](ValueRange values) {
    for (auto [slot, value] : llvm::zip_equal(state, values))
      *slot = value;
  };
  // Few tiles are counted in 32 bits.
  Int count = lowering.numbers.at(op.getTiles());
  if (count.isConstant() && count.getConstant() <= (int64_t(1) << 30))
    lowering.countBits = 32;
  Int first = lowering.getFirstTile();
  lowering.step = lowering.getTileStep();
  lowering.tileCount = count;
  setValues(k.rolledLoop(first, count, lowering.step, getValues(),
                         [&](Int tile, ValueRange carried) {
                           setValues(carried);
                           lowering.numbers[op.getTile()] = tile;
                           lowering.lower(*op.getBody());
                           return getValues();
                         }));
}
