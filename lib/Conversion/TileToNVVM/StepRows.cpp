//===- StepRows.cpp - Rows between the steps of a chain -------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A row in shared memory holds the features that the next factor reads, group
// by group as chunks of 16 bytes: what a piece takes lies as it does in a
// packed operand that was copied. Behind the end of a group's K are zeros.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

Int StepRows::getGroup(const SparseTile &tile) {
  Int number = 0;
  for (auto [position, size] : llvm::zip(tile.groups, plan.groupSizes))
    number = k.add(k.mul(number, size), position);
  return number;
}

Int StepRows::getRegion(const SparseTile &tile) {
  Int block = k.floorDiv(tile.lane, plan.getLanes());
  Int region = k.add(k.mul(getGroup(tile), plan.getLaneBlocks()), block);
  return k.mul(region, plan.getRegionBytes());
}

/// Byte offset, from a row's region of `getRegion`, of a position.
Int StepRows::getRegionOffset(Int positionK, Int lane) {
  Int chunk = k.add(k.mul(k.floorDiv(positionK, plan.chunkK), plan.laneChunks),
                    k.floorDiv(lane, plan.lanesPerChunk));
  Int element = k.add(k.mul(k.rem(positionK, plan.chunkK), plan.lanesPerChunk),
                      k.rem(lane, plan.lanesPerChunk));
  return k.add(k.mul(chunk, kSparseChunkBytes),
               k.mul(element, plan.elementBytes));
}

Value StepRows::locate(Int row, Int feature) {
  Int place = k.mul(feature, plan.elementBytes);
  if (!keepsFeatures()) {
    Int lane = k.rem(feature, plan.lanes);
    Int positionK = k.rem(k.floorDiv(feature, plan.lanes), plan.sizeK);
    Int group = k.floorDiv(feature, plan.lanes * plan.sizeK);
    Int region = k.add(k.mul(group, plan.getLaneBlocks()),
                       k.floorDiv(lane, plan.getLanes()));
    place = k.add(k.mul(region, plan.getRegionBytes()),
                  getRegionOffset(positionK, k.rem(lane, plan.getLanes())));
  }
  return k.shared(k.add(k.add(k.mul(row, plan.sharedRowBytes), place), begin));
}

/// Whether rows in shared memory are features in their order.
bool StepRows::keepsFeatures() const {
  return plan.lanes == plan.lanesPerChunk &&
         plan.stepsK * plan.stepK == plan.sizeK;
}

bool StepRows::keepsChunks() const {
  return keepsFeatures() || plan.lanesPerChunk == plan.getChunk();
}

/// If the last step turns rows, a thread of it, which has rows g and g + 8 of
/// each matrix tile, gets neighbours.
Int StepRows::getSlotOfRow(Int row) {
  if (!turned)
    return row;
  Int warp = k.floorDiv(row, 8 * turned), rest = k.rem(row, 8 * turned);
  return k.add(k.mul(warp, 8 * turned),
               k.add(k.mul(k.rem(rest, turned), 8), k.floorDiv(rest, turned)));
}

Int StepRows::getRowOfSlot(Int slot) {
  if (!turned)
    return slot;
  Int warp = k.floorDiv(slot, 8 * turned), rest = k.rem(slot, 8 * turned);
  return k.add(k.mul(warp, 8 * turned),
               k.add(k.mul(k.rem(rest, 8), turned), k.floorDiv(rest, 8)));
}
