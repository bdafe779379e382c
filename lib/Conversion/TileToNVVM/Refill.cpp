//===- Refill.cpp - tile.refill and tile.refilled -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Bytes of a copy, and positions along the fibres that a warp's lanes take at
/// a time.
static constexpr int64_t kCopyBytes = 16, kLanePositions = 8;

void tile::lower(Lowering &lowering, RefillOp op) {
  KernelBuilder &k = lowering.k;
  ForFibresOp loop = getFibres(op.getBoxes());
  const GlobalTile &from = *lowering.globalTiles.at({op, op.getView()});
  SharedTile to(k, op.getBuffer().getType(),
                lowering.buffers.at(op.getBuffer()));
  unsigned along = loop.getAlong();
  LaneFibres fibres(lowering, loop.getSizes(), along, /*pairs=*/true,
                    lowering.numbers.at(op.getBoxes()));
  // A lane takes 4 neighbours of the 16 fibres, at every eighth position.
  const LaneNumbers &lanes = lowering.getLanes();
  SmallVector<Int> position = fibres.locate(k, k.mul(lanes.slot, 4));
  Value exists = lowering.nextExists.at(op);
  for (auto [dim, own] : llvm::enumerate(position))
    if (dim != along && from.mayExceed[dim])
      exists = k.both(exists, k.less(own, from.limits[dim]));
  Int first = lanes.group;
  int64_t pitch = to.layout.strides[along];
  Value target = to.getAddress(to.getOffset(position, k.mul(first, pitch)), 0);
  Int offset = from.scale(k, first, from.strides[along]);
  for (auto [own, stride] : llvm::zip_equal(position, from.strides))
    offset = k.add(offset, from.scale(k, own, stride));
  int64_t bytes = getBytesOf(from.type);
  Value source = k.offsetBytes(from.base, k.mul(offset, bytes));
  int64_t sizeK = loop.getSizes()[along];
  // All lanes of the warp have read.
  k.syncWarp();
  k.ifThen(exists, [&] {
    for (int64_t by = 0; by < sizeK; by += kLanePositions)
      k.ifThen(by + kLanePositions > sizeK ? k.less(k.add(first, by), sizeK)
                                           : Value(),
               [&] {
                 Int step = from.scale(k, by, from.strides[along]);
                 k.copyAsync(k.offsetBytes(target, pitch * by * bytes),
                             k.offsetBytes(source, k.mul(step, bytes)),
                             kCopyBytes);
               });
  });
}

void tile::lower(Lowering &lowering, RefilledOp op) {
  lowering.k.commitCopies();
  auto wait = op.getSlot().getDefiningOp<WaitOp>();
  ++lowering.rings[wait.getRing()].ahead;
}
