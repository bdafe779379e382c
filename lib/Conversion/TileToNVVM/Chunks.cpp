//===- Chunks.cpp - Pieces of chunks, from views to rings -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Chunks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// How often data have dimensions, behind the rows, that the factor has not.
static unsigned countFree(ContractPiecesOp op) {
  auto factor = cast<ViewType>(op.getOperand().getType());
  return op.getView().getType().getRank() - factor.getRank();
}

static StoreOp getStore(ContractPiecesOp op) {
  return cast<StoreOp>(*op.getSums().user_begin());
}

/// What the operations say, as those know it who multiply chunks.
static SparsePlan describe(ContractPiecesOp op) {
  SparsePlan plan =
      describeChunks(op.getPieces(), op.getView().getType(),
                     cast<ViewType>(op.getOperand().getType()),
                     getStore(op).getView().getType().getElementType(),
                     op.getSums().getType().getElementType());
  plan.warpGroups = getKernel(op).getGroups();
  plan.keepsFactor = bool(op.getKept());
  return plan;
}

/// The ring that pieces of the factor of `op` are in, or all of them.
static Value getFactorRing(ContractPiecesOp op) {
  return op.getKept() ? op.getKept().getDefiningOp<WaitOp>().getRing()
                      : op.getFactorRing();
}

ChunkPieces::ChunkPieces(Lowering &lowering, ContractPiecesOp op)
    : ChunkProduct(lowering, describe(op), op.getPieces().getChunks(),
                   op.getSums().getType(), op.getView().getType(),
                   cast<ViewType>(op.getOperand().getType())),
      op(op), target(getStore(op)),
      dataOffset(lowering.rings[op.getRing()].begin),
      factorOffset(lowering.rings[::getFactorRing(op)].begin) {
  data = getArray(op.getView());
  ArrayRef<Int> sizes = lowering.views.at(op.getView()).sizes;
  targets.rows = sizes.front();
  for (Int size : sizes.slice(1, countFree(op)))
    freeSizes.push_back(k.truncate(size));
  packedOffset = factorOffset;
  if (plan.preparesAhead())
    packedOffset = lowering.firstBuffers.at(op.getSumsOf());
  if (plan.sharedStore)
    stores.sharedOffset = lowering.firstBuffers.at(op.getSumsOf()) +
                          plan.getExchangeBytes() +
                          (plan.preparesAhead() ? plan.getKeptBytes() : 0);
  enterArrays();
  // A segment's pieces are counted by themselves.
  if (plan.keepsFactor) {
    lowering.rings.erase(op.getRing());
    return;
  }
  count = lowering.numbers.at(cast<ForOp>(op->getParentOp()).getTiles());
  // Both rings are at the same slot: its number.
  lowering.rings.erase(op.getFactorRing());
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

SparseArray ChunkPieces::getArray(Value view) {
  return getChunkArray(lowering, view, countFree(op), /*isFactor=*/false);
}

void ChunkPieces::enterArrays() {
  targets.output = getArray(target.getView());
  SmallVector<Value> views{op.getView(), target.getView()};
  enterTargets(target, countFree(op), views);
  factor = enterChunkFactor(
      lowering, op.getOperand(), op.getPieces().getChunks().getOrder(),
      countFree(op), views, hasWholeRows(k, plan, targets.rows));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The tile of part number `part` of the factor and block number `block` of the
/// rows.
SparseTile ChunkPieces::locate(Int part, Int block) {
  SparseTile tile = getSparseTile(k, plan, freeSizes, part, block);
  if (plan.shiftsResults())
    tile.result = k.sub(tile.result, stores.getShift(tile));
  return tile;
}

/// What is large is read by tiles that follow each other: parts of the factor
/// are counted fastest, unless it has changed places with the data. Of a
/// segment, each group has a block of rows in turn.
SparseTile ChunkPieces::locate(Int number) {
  if (plan.keepsFactor)
    return locate(segmentPart, k.add(k.add(segmentStart, thread.warpGroup),
                                     k.mul(number, plan.warpGroups)));
  if (plan.swapsOperands) {
    Int blocks = k.ceilDiv(targets.rows, plan.getRows());
    return locate(k.floorDiv(number, blocks), k.rem(number, blocks));
  }
  int64_t parts = plan.getTilesPerRows();
  return locate(k.rem(number, parts), k.floorDiv(number, parts));
}

/// Where slot number `slot` of this group is.
Int ChunkPieces::locateData(Int slot) {
  Int own = k.add(slot, k.mul(thread.warpGroup, plan.stages));
  return k.add(k.mul(own, plan.getDataSlotBytes()), dataOffset);
}

/// Where the factor of slot number `slot` is.
Int ChunkPieces::locateFactor(Int slot) {
  return k.add(k.mul(slot, plan.getFactorSlotBytes()), factorOffset);
}

/// Builds `body` for piece `number` behind the first one of tile `first`, of
/// that or a later one of this CTA's, if there is that.
void ChunkPieces::ifPiece(
    Int first, Int number,
    function_ref<void(const SparseTile &, Int startK)> body) {
  Int turn = k.floorDiv(number, plan.stepsK);
  Int step = plan.keepsFactor ? Int(1) : lowering.getTileStep();
  Int own = k.add(first, k.mul(turn, step));
  k.ifThen(k.less(own, count), [&] {
    body(locate(own), k.mul(k.rem(number, plan.stepsK), plan.stepK));
  });
}

/// Starts to copy piece `number` to slot `slot`. Of a factor that warpgroups
/// read, the next one comes with the data, and is prepared while these are
/// multiplied.
void ChunkPieces::copy(Int first, Int number, Int slot) {
  Int beside = locateFactor(slot);
  bool isOneTest =
      factor.isAligned == factor.isFactorAligned && !plan.preparesAhead();
  ifPiece(first, number, [&](const SparseTile &tile, Int startK) {
    bool isWithData = !plan.keepsFactor && isOneTest;
    k.choose(factor.isAligned, [&](bool aligned) {
      copies.start(getDataCopy(tile, startK, locateData(slot)), /*groups=*/{},
                   aligned);
      if (isWithData)
        copyFactor(tile, startK, beside, aligned);
    });
    if (!plan.keepsFactor && !isOneTest && !plan.preparesAhead())
      k.choose(factor.isFactorAligned, [&](bool aligned) {
        copyFactor(tile, startK, beside, aligned);
      });
  });
  if (plan.preparesAhead())
    copyNextFactor(first, k.add(number, 1), beside);
  k.commitCopies();
}

/// Starts to copy piece `number` of the factor to byte `to`.
void ChunkPieces::copyNextFactor(Int first, Int number, Int to) {
  ifPiece(first, number, [&](const SparseTile &tile, Int startK) {
    k.choose(factor.isFactorAligned,
             [&](bool aligned) { copyFactor(tile, startK, to, aligned); });
  });
}

void ChunkPieces::start() {
  Int first = plan.keepsFactor ? Int(0) : lowering.getFirstTile();
  if (!plan.keepsFactor)
    lowering.rings[op.getRing()].full = 0;
  if (plan.preparesAhead()) {
    // A slot that comes free once this is prepared.
    copyNextFactor(first, 0,
                   (plan.stages - 1) * plan.getFactorBytes() + factorOffset);
    k.commitCopies();
  }
  k.rolledLoop(0, std::max<int64_t>(plan.stages - 1, 1), 1,
               [&](Int number) { copy(first, number, number); });
  if (plan.preparesAhead())
    prepareFirst();
}

void tile::startChunks(Lowering &lowering, CopyPiecesOp op) {
  std::shared_ptr<ChunkPieces> &pieces = lowering.chunks[op.getRing()];
  // A segment has made those of a factor that stays.
  if (!pieces)
    for (Operation *user : op.getRing().getUsers())
      if (auto product = dyn_cast<ContractPiecesOp>(user))
        pieces = std::make_shared<ChunkPieces>(lowering, product);
  pieces->start();
}
