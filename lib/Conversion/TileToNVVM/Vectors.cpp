//===- Vectors.cpp - Neighbouring fibres of a tile ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Vectors.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// The store of a loop of vectors.
static StoreOp getVectorStore(ForBoxesOp loop) {
  return *loop.getBody()->getOps<StoreOp>().begin();
}

/// Groups of neighbours of a row of the tile.
static int64_t countGroups(ForBoxesOp loop) {
  StoreOp store = getVectorStore(loop);
  int64_t bytes = getBytesOf(store.getView().getType().getElementType());
  int64_t most = (*store.getBox())[*loop.getAxisAcross()] +
                 kVectorRowBytes / bytes - int64_t(loop.getTogether());
  return countVectors(most, loop.getTogether());
}

int64_t tile::countVectorTurns(ForBoxesOp loop) {
  int64_t positions = (*getVectorStore(loop).getBox())[*loop.getAxisAcross()];
  return int64_t(loop.getCount()) / positions * countGroups(loop) *
         int64_t(loop.getVectors());
}

Int LoweredTurn::getFirstResult(KernelBuilder &k, ForBoxesOp loop,
                                int64_t size) const {
  if (!loop.getVectors())
    return k.mul(part, size);
  // Of those that lie alike, which the fibres are at the first one of.
  Int first = positions.front().base[getVectorStore(loop).getAlong()->front()];
  return k.add(k.mul(part, loop.getResultStep() * size), first);
}

/// Elements from the last multiple of 32 bytes to the one of `store` that is at
/// `row` of its tile.
static Int getSectorShift(Lowering &lowering, StoreOp store,
                          ArrayRef<Int> row) {
  KernelBuilder &k = lowering.k;
  const LoweredView &view = lowering.views.at(store.getView());
  Value base = lowering.tiles.at({store, store.getView()}).base;
  int64_t bytes = getBytesOf(view.element), unit = kVectorRowBytes / bytes;
  Int address(
      LLVM::PtrToIntOp::create(k.builder, k.loc, k.builder.getI64Type(), base));
  Int shift =
      k.floorDiv(k.bitAnd(k.truncate(address), kVectorRowBytes - 1), bytes);
  // Of what is added up, these bits alone count.
  for (auto [position, stride] : llvm::zip_equal(row, view.array.strides))
    shift = k.add(shift, k.mul(k.truncate(position),
                               k.bitAnd(k.truncate(stride), unit - 1)));
  return k.bitAnd(shift, unit - 1);
}

void tile::placeVectors(Lowering &lowering, ForBoxesOp loop,
                        LoweredTurn &turn) {
  KernelBuilder &k = lowering.k;
  StoreOp store = getVectorStore(loop);
  int64_t across = *loop.getAxisAcross();
  unsigned along = store.getAlong()->front();
  SmallVector<int64_t> groups(turn.extents);
  groups[across] = countGroups(loop);
  groups[along] = loop.getVectors();
  // Results that lie alike are of all fibres before those that do otherwise.
  SmallVector<unsigned> walk = getWalk(loop.getOrder(), groups.size());
  llvm::erase(walk, along);
  walk.push_back(along);
  Positions base = decodeItem(k, turn.numbers.front(), groups, walk);
  Positions row(base);
  row[across] = 0;
  int64_t together = loop.getTogether();
  Int first = k.sub(k.mul(base[across], together),
                    getSectorShift(lowering, store, row));
  SmallVector<int64_t> none(turn.extents.size(), 0);
  for (int64_t index = 0; index < together; ++index) {
    base[across] = k.add(first, index);
    turn.positions.push_back({base, none});
  }
}
