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

static Type getViewElement(Value view) {
  return cast<ViewType>(view.getType()).getElementType();
}

ChunkPieces::ChunkPieces(Lowering &lowering, ContractPiecesOp op, StoreOp store)
    : lowering(lowering), k(lowering.k), op(op), target(store),
      plan(describeChunks(op.getPieces(), op.getView().getType(),
                          cast<ViewType>(op.getOperand().getType()),
                          store.getView().getType().getElementType(),
                          op.getSums().getType().getElementType())),
      ops(k, op.getSums().getType().getElementType()),
      products(k, plan.math,
               op.getSums().getType().getAtom() == AtomKind::MmaF64),
      math(k, products, plan.isOf8() ? k.builder.getF16Type() : plan.element,
           plan.has16BitResiduals(), op.getPieces().getChunks().getWidens()),
      thread(SparseThread::get(k, plan)), copies(k, math, plan, thread),
      multiplier(k, math, plan, thread, getFloat8(getViewElement(op.getView())),
                 getFloat8(getViewElement(op.getOperand()))),
      targets(k, ops), stores(k, ops, plan, thread, multiplier, targets),
      data(getArray(op.getView())),
      dataOffset(lowering.rings[op.getRing()].begin),
      factorOffset(lowering.rings[op.getFactorRing()].begin),
      count(lowering.numbers.at(cast<ForOp>(op->getParentOp()).getTiles())) {
  ArrayRef<Int> sizes = lowering.views.at(op.getView()).sizes;
  targets.rows = sizes.front();
  for (Int size : sizes.slice(1, countFree(op)))
    freeSizes.push_back(k.truncate(size));
  if (plan.sharedStore)
    stores.sharedOffset = lowering.buffers.at(op.getSumsOf()).getConstant() +
                          plan.getExchangeBytes();
  enterArrays();
  // Both rings are at the same slot: its number.
  lowering.rings[op.getRing()].full = 0;
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
  enterChunkTargets(lowering, target, countFree(op), plan.element, targets);
  SmallVector<Value> views{op.getView(), target.getView()};
  collectRead(target, views);
  factor = enterChunkFactor(
      lowering, op.getOperand(), op.getPieces().getChunks().getOrder(),
      countFree(op), views, hasWholeRows(k, plan, targets.rows));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// What is large is read by tiles that follow each other: parts of the factor
/// are counted fastest.
SparseTile ChunkPieces::locate(Int number) {
  int64_t parts = plan.getTilesPerRows();
  SparseTile tile = getSparseTile(k, plan, freeSizes, k.rem(number, parts),
                                  k.floorDiv(number, parts));
  if (plan.shiftsResults())
    tile.result = k.sub(tile.result, stores.getShift(tile));
  return tile;
}

/// The copy of the data's or the factor's positions K from `startK` on to slot
/// `slot`.
SparseCopy ChunkPieces::getCopy(const SparseTile &tile, Int startK, Int slot,
                                bool isFactor, bool aligned) {
  if (!isFactor)
    return copies.getCopy(
        data, tile, startK,
        k.add(k.mul(slot, plan.getDataSlotBytes()), dataOffset), isFactor,
        targets.rows);
  return copies.getCopy(
      aligned ? factor.dense : factor.given, tile, startK,
      k.add(k.mul(slot, plan.getFactorSlotBytes()), factorOffset), isFactor,
      targets.rows);
}

/// Builds `body` for both answers to `condition`.
void ChunkPieces::choose(Value condition, function_ref<void(bool)> body) {
  k.choose(
      condition, [&] { body(true); }, [&] { body(false); });
}

/// Starts to copy piece `number` behind the first one of tile `first`, of that
/// or a later one of this CTA's, if there is that, to slot `slot`.
void ChunkPieces::copy(Int first, Int number, Int slot) {
  Int turn = k.floorDiv(number, plan.stepsK);
  Int own = k.add(first, k.mul(turn, lowering.getTileStep()));
  k.ifThen(k.less(own, count), [&] {
    SparseTile tile = locate(own);
    Int startK = k.mul(k.rem(number, plan.stepsK), plan.stepK);
    auto copyData = [&](bool aligned) {
      copies.copyData(getCopy(tile, startK, slot, /*isFactor=*/false, aligned),
                      aligned);
    };
    auto copyFactor = [&](bool aligned) {
      copies.copyFactor(getCopy(tile, startK, slot, /*isFactor=*/true, aligned),
                        tile.groups, aligned);
    };
    if (factor.isAligned == factor.isFactorAligned)
      return choose(factor.isAligned, [&](bool aligned) {
        copyData(aligned);
        copyFactor(aligned);
      });
    choose(factor.isAligned, copyData);
    choose(factor.isFactorAligned, copyFactor);
  });
  k.commitCopies();
}

void ChunkPieces::start() {
  Int first = lowering.getFirstTile();
  k.rolledLoop(0, plan.stages - 1, 1,
               [&](Int number) { copy(first, number, number); });
}

void tile::startChunks(Lowering &lowering, CopyPiecesOp op) {
  for (Operation *user : op.getRing().getUsers())
    if (auto product = dyn_cast<ContractPiecesOp>(user)) {
      auto store = cast<StoreOp>(*product.getSums().user_begin());
      auto pieces = std::make_shared<ChunkPieces>(lowering, product, store);
      lowering.chunks[op.getRing()] = pieces;
      pieces->start();
    }
}
