//===- ChunkWarpgroups.cpp - Pieces of chunks that warpgroups multiply ----===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Matrix instructions of four warps read the factor from shared memory
// themselves, as a packed operand per lane. One that stays is packed once for a
// segment; one that streams piece by piece, each while the piece in front of it
// is multiplied.
//
//===----------------------------------------------------------------------===//

#include "Chunks.h"
#include "kron/CodeGen/GPU/WgmmaInstruction.h"
#include "kron/Dialect/Tile/IR/TileChunks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Where packed operand number `number` of the factor is.
Int ChunkPieces::locatePacked(Int number) {
  return k.add(k.mul(number, plan.getPreparedBytes()), packedOffset);
}

/// Packs the pieces of the factor, which come one by one to the ring of the
/// data.
void ChunkPieces::packAll() {
  SparseTile first = locate(segmentPart, segmentStart);
  k.rolledLoop(0, plan.stepsK, 1, [&](Int number) {
    k.choose(factor.isFactorAligned, [&](bool aligned) {
      copyFactor(first, k.mul(number, plan.stepK), dataOffset, aligned);
    });
    k.commitCopies();
    k.waitCopies(0);
    k.barrier();
    multiplier.prepareFactor(dataOffset, locatePacked(number));
    k.barrier();
  });
  fenceProxy(k);
}

/// Packs the first piece of the factor.
void ChunkPieces::prepareFirst() {
  k.waitCopies(plan.stages - 1);
  meet();
  multiplier.prepareFactor((plan.stages - 1) * plan.getFactorBytes() +
                               factorOffset,
                           locatePacked(0));
  fenceProxy(k);
}

/// sums += piece `indexK` of tile `number`, which is `step` of all. What is
/// packed for the next one becomes visible at its barrier.
void ChunkPieces::multiplyByWarpgroups(Int number, Int indexK, Int step,
                                       MutableArrayRef<MmaC> stepSums) {
  Int slot = k.rem(step, plan.stages);
  if (plan.preparesAhead()) {
    Int from = k.add(k.mul(slot, plan.getFactorBytes()), factorOffset);
    Int to = locatePacked(k.rem(k.add(step, 1), 2));
    multiplier.multiplyGroups(
        stepSums, locateData(slot), locatePacked(k.rem(step, 2)), [] {},
        [&](int64_t macro) { multiplier.prepareMacro(from, to, macro); });
    return fenceProxy(k);
  }
  // The only slot is filled again once it is in registers.
  auto release = [&] {
    if (plan.stages > 1)
      return;
    meet();
    copy(number, k.add(indexK, 1), 0);
  };
  multiplier.multiplyGroups(stepSums, locateData(slot), locatePacked(indexK),
                            release, [](int64_t) {});
}

int64_t tile::getPassingBytes(Value ring) {
  int64_t bytes = 0;
  for (Operation *user : ring.getUsers()) {
    auto product = dyn_cast<ContractPiecesOp>(user);
    ChunksAttr chunks =
        product ? product.getPieces().getChunks() : ChunksAttr();
    if (!chunks || !chunks.getWarpgroups() || !product.getKept())
      continue;
    Type factor =
        cast<ViewType>(product.getOperand().getType()).getElementType();
    ArrayRef<int64_t> block = product.getPieces().getBlock();
    ChunkTile tile(chunks, product.getView().getType().getElementType(),
                   factor);
    int64_t perRow = block.back() * block[block.size() - 2];
    bytes =
        tile.getResults() * tile.getPitch(perRow, factor) * getBytesOf(factor);
  }
  return bytes;
}
