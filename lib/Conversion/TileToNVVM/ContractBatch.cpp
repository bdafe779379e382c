//===- ContractBatch.cpp - tile.contract_batch ----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Batch.h"
#include "Blocks.h"
#include "kron/CodeGen/GPU/WgmmaSums.h"
#include "kron/Plan/GPU/SparseGradPlan.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

static MmaMath getMath(BatchAttr batch) {
  if (batch.getElementType().isF64())
    return MmaMath::F64;
  return batch.getResiduals() == Residuals::None ? MmaMath::TF32
                                                 : MmaMath::SplitTF32;
}

BatchProduct::BatchProduct(Lowering &lowering, ContractBatchOp op)
    : blocks(op.getBatch().getBlocks()),
      accumulator(getSumType(blocks.element)), k(lowering.k),
      hasPartialSums(getMath(op.getBatch()) == MmaMath::SplitTF32),
      stages(op.getRing().getType().getStages()), ops(k, accumulator),
      products(k, getMath(op.getBatch()),
               op.getBatch().getAtom() != AtomKind::MmaF64Small),
      math(k, products, blocks.element, blocks.has16BitResiduals),
      stageOffset(lowering.rings[op.getRing()].begin) {
  unsigned batchDim = blocks.batchLast ? 1 : 0;
  auto enterSide = [&](const BatchSide &side, Value view) {
    const StepArray &array = lowering.views.at(view).array;
    return BatchOperand{
        &side, array.base, array.strides[batchDim], array.strides[1 - batchDim],
        0,     0};
  };
  left = enterSide(blocks.left, op.getLeft());
  right = enterSide(blocks.right, op.getRight());
  right.offset = blocks.getSideBytes(blocks.left);
  if (blocks.usesPackedOperands)
    packedOffset = k.allocateShared(2 * getPackedBytes(blocks), 128);
  rows = lowering.views.at(op.getLeft()).sizes[batchDim];
  rowsPerPiece = lowering.numbers.at(op.getPositions());
  isAligned = tile::isAligned(lowering, {op.getLeft(), op.getRight()}, 16);
  std::tie(left.warp, right.warp, laneWarp) =
      getBatchWarp(k, blocks, k.warpId());
  group = k.floorDiv(k.laneId(), 4);
  quad = k.bitAnd(k.laneId(), 3);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

BatchTile tile::getBatchTile(KernelBuilder &k, const BatchBlocks &blocks,
                             Int index) {
  BatchTile tile;
  tile.index = index;
  Digits digits{k, index};
  tile.right = k.mul(digits.take(blocks.getBlocks(blocks.right)),
                     blocks.getRows(blocks.right));
  tile.left = k.mul(digits.take(blocks.getBlocks(blocks.left)),
                    blocks.getRows(blocks.left));
  tile.lane = k.mul(digits.take(blocks.getLaneBlocks()), blocks.getLanes());
  tile.group = digits.take(blocks.groups);
  tile.piece = digits.rest;
  return tile;
}

/// Tiles of the same piece of the batch are worked on at the same time, so that
/// what they share comes from memory once.
BatchTile BatchProduct::getTile(Int index) {
  BatchTile tile = getBatchTile(k, blocks, index);
  tile.firstRow = k.mul(k.extend(tile.piece), rowsPerPiece);
  tile.rows = k.truncate(k.min(rowsPerPiece, k.sub(rows, tile.firstRow)));
  return tile;
}

/// The tile's first row j or k.
Int BatchProduct::getFirst(const BatchOperand &operand, const BatchTile &tile) {
  return operand.side == &blocks.left ? tile.left : tile.right;
}

/// Global memory at a tile's first position of the batch and first feature.
Value BatchProduct::offsetTile(const BatchOperand &operand,
                               const BatchTile &tile) {
  Int row = k.add(k.mul(k.extend(tile.group), operand.side->size),
                  k.extend(getFirst(operand, tile)));
  Int feature = k.add(k.mul(row, blocks.lanes), k.extend(tile.lane));
  Int offset = k.add(k.mul(feature, operand.feature),
                     k.mul(tile.firstRow, operand.batch));
  return k.offsetElements(operand.base, blocks.element, offset);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void BatchProduct::emit(Int index) {
  current = getTile(index);
  Int steps =
      k.floorDiv(k.add(current.rows, blocks.batchStep - 1), blocks.batchStep);
  // Nobody reads the pipeline stages any more, and no copy is under way to
  // them.
  k.waitCopies(0);
  k.barrier();
  k.rolledLoop(0, stages - 1, 1,
               [&](Int step) { issue(current, step, steps); });
  if (blocks.usesPackedOperands)
    prepareStep(0);
  int64_t count = blocks.getSums();
  SmallVector<Value> values = math.sumSteps(
      steps, count, hasPartialSums, [&](Int step, MutableArrayRef<MmaC> sums) {
        auto issueNext = [&] {
          issue(current, k.add(step, stages - 1), steps);
        };
        if (blocks.usesPackedOperands)
          return multiplyPacked(sums, step, issueNext);
        k.waitCopies(stages - 2);
        if (blocks.usesWgmma)
          fenceProxy(k);
        k.barrier();
        if (blocks.usesWgmma)
          startProducts(sums, getSlot(step));
        issueNext();
        if (blocks.usesWgmma)
          waitForSums(k, sums);
        else
          multiplyStep(sums, getSlot(step));
      });
  sums.resize(count);
  for (auto [number, value] : llvm::enumerate(values))
    sums[number / 4][number % 4] = value;
}

void tile::startBatch(Lowering &lowering, ContractBatchOp op) {
  lowering.batches[op.getSums()] = std::make_shared<BatchProduct>(lowering, op);
}

void tile::lower(Lowering &lowering, ContractBatchOp op) {
  lowering.batches.at(op.getSums())->emit(lowering.numbers.at(op.getTile()));
}
