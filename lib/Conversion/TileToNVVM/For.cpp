//===- For.cpp - tile.for -------------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "Pairs.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Advances what an operation has taken.
static void settle(Lowering &lowering, LoweredRing &ring) {
  if (ring.isFullTaken)
    ring.full = getSlotBehind(lowering, ring, 1);
  ring.isFullTaken = false;
}

/// What a turn changes of the rings, which only a loop in the kernel itself
/// does. One whose next buffer is the same has no state.
static SmallVector<Int *> getState(Lowering &lowering, ForOp op) {
  SmallVector<Int *> state;
  if (isa<ForColumnsOp>(op->getParentOp()))
    return state;
  for (auto &[memory, ring] : lowering.rings) {
    if (ring.stages == (ring.along ? ring.slotsPerBuffer : 1))
      continue;
    state.push_back(&ring.full);
  }
  return state;
}

/// Sets how many tiles there are and what is between those of a CTA; returns
/// the first one.
static Int startTiles(Lowering &lowering, ForOp op) {
  KernelBuilder &k = lowering.k;
  Int count = lowering.numbers.at(op.getTiles()), first;
  if (auto loop = dyn_cast<ForColumnsOp>(op->getParentOp())) {
    const LoweredColumns &columns = lowering.columns.at(loop.getColumns());
    first = columns.firstTile;
    lowering.step = columns.tileStep;
    count = k.truncate(count);
  } else if (isa<ForSegmentsOp>(op->getParentOp())) {
    lowering.countBits = 32;
    first = 0;
    lowering.step = 1;
  } else {
    // Few tiles are counted in 32 bits.
    if (count.isConstant() && count.getConstant() <= (int64_t(1) << 30))
      lowering.countBits = 32;
    first = lowering.getFirstTile(count);
    lowering.step = lowering.getTileStep();
  }
  lowering.tileCount = count;
  return first;
}

/// Tests in front of the loop what its body depends on.
static void testAhead(Lowering &lowering, ForOp op) {
  op.walk([&](IfAlignedOp parts) {
    isAligned(lowering, llvm::to_vector(parts.getViews()), parts.getBytes(),
              parts.getAxis());
  });
  op.walk([&](tile::QuantizeOp store) { testQuantize(lowering, store); });
  op.walk([&](StoreOp store) {
    bool isOfWarpgroup = (store.getSource().getDefiningOp<ContractPiecesOp>() &&
                          !areChunkSums(store.getSource())) ||
                         getFibres(store.getBoxes());
    if (getBlocks(store.getBoxes()) ||
        (isOfWarpgroup && !store->getParentOfType<IfAlignedOp>()))
      testStore(lowering, store);
  });
  op.walk([&](ContractBatchOp product) { startBatch(lowering, product); });
  op.walk([&](QuantizeRowsOp rows) { testQuantizedRows(lowering, rows); });
  op.walk([&](PairsOp pairs) {
    startPowers(lowering, pairs, pairs.getInner(), pairs.getPolynomials());
  });
  op.walk([&](PairsOfRowsOp pairs) {
    startPowers(lowering, pairs, pairs.getInner(), pairs.getPolynomials());
  });
}

void tile::lower(Lowering &lowering, ForOp op) {
  KernelBuilder &k = lowering.k;
  SmallVector<Int *> state = getState(lowering, op);
  // What a turn leaves: slots of rings, and `fragments`.
  auto getValues = [&](ValueRange fragments) {
    for (auto &[memory, ring] : lowering.rings)
      settle(lowering, ring);
    SmallVector<Value> values = llvm::map_to_vector(
        state, [&](Int *slot) { return k.materialize(*slot, 32); });
    for (Value fragment : fragments)
      llvm::append_range(values, lowering.fragments.at(fragment).registers);
    return values;
  };
  auto setValues = [&](ValueRange values) {
    for (auto [slot, value] :
         llvm::zip_equal(state, values.take_front(state.size())))
      *slot = value;
    values = values.drop_front(state.size());
    for (auto [init, carried] :
         llvm::zip_equal(op.getInits(), op.getCarried())) {
      LoweredFragment first = lowering.fragments.at(init);
      size_t count = first.registers.size();
      lowering.fragments[carried] = first.rebuild(values.take_front(count));
      values = values.drop_front(count);
    }
  };
  Int first = startTiles(lowering, op);
  testAhead(lowering, op);
  auto lowerBody = [&] {
    lowering.lower(*op.getBody());
    return getValues(op.getYielded());
  };
  auto place = dyn_cast<PlaceOp>(op.getBody()->front());
  setValues(k.rolledLoop(
      first, lowering.tileCount, lowering.step, getValues(op.getInits()),
      [&](Int tile, ValueRange carried) {
        setValues(carried);
        lowering.numbers[op.getTile()] = tile;
        if (!place || !place.getTriangle())
          return lowerBody();
        Value exists = placeTriangle(lowering, place);
        return k.ifElse(exists, carried.getTypes(), lowerBody,
                        [&] { return SmallVector<Value>(carried); });
      }));
}
