//===- ForSegments.cpp - tile.for_segments --------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// And what moves the part of a factor that stays for a segment.
//
//===----------------------------------------------------------------------===//

#include "Chunks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

static Int divideUp(KernelBuilder &k, Int count, Int by) {
  return k.floorDiv(k.add(count, k.sub(by, 1)), by);
}

/// Blocks of rows of a segment, of `blocks` in all.
static Int getLength(KernelBuilder &k, ForSegmentsOp op, Int blocks) {
  Int grid = k.gridSize();
  int64_t parts = op.getParts();
  // As many segments for each CTA as that takes, all equally long, and no more
  // of them than CTAs have.
  Int rounds = 1;
  if (op.getMost())
    rounds = divideUp(k, divideUp(k, k.mul(blocks, parts), grid),
                      int64_t(op.getMost()));
  auto getLengthOf = [&](Int rounds) {
    Int segments = k.floorDiv(k.mul(grid, rounds), parts);
    // At least one.
    segments = k.add(segments, k.sub(1, k.min(segments, 1)));
    return divideUp(k, blocks, segments);
  };
  Int length = getLengthOf(rounds);
  // More and shorter segments where that shares tiles out better by more than
  // it takes to read the factor again.
  Int shorter = getLengthOf(k.add(rounds, 1));
  Value isBetter =
      k.less(k.add(k.mul(shorter, k.add(rounds, 1)), 1), k.mul(length, rounds));
  return Int(k.select(isBetter, k.materialize(shorter, 32),
                      k.materialize(length, 32)));
}

void tile::lower(Lowering &lowering, ForSegmentsOp op) {
  KernelBuilder &k = lowering.k;
  SmallVector<std::shared_ptr<ChunkPieces>> all;
  op.walk([&](ContractPiecesOp product) {
    auto wait = product.getKept().getDefiningOp<WaitOp>();
    auto pieces = std::make_shared<ChunkPieces>(lowering, product);
    lowering.chunks[product.getRing()] = pieces;
    lowering.chunks[wait.getRing()] = pieces;
    all.push_back(pieces);
  });
  Int blocks = lowering.numbers.at(op.getBlocks());
  int64_t parts = op.getParts();
  Int length = getLength(k, op, blocks);
  Int segments = divideUp(k, blocks, length);
  k.rolledLoop(k.blockId(), k.mul(segments, parts), k.gridSize(),
               [&](Int segment) {
                 Int start = k.mul(k.floorDiv(segment, parts), length);
                 Int part = k.rem(segment, parts);
                 Int blocksLeft = k.min(length, k.sub(blocks, start));
                 for (std::shared_ptr<ChunkPieces> &pieces : all)
                   lowering.numbers[op.getTiles()] =
                       pieces->enterSegment(part, start, blocksLeft);
                 lowering.lower(*op.getBody());
               });
}

Int ChunkPieces::enterSegment(Int part, Int start, Int length) {
  segmentPart = part;
  segmentStart = start;
  count = plan.warpGroups == 1
              ? length
              : divideUp(k, k.sub(length, thread.warpGroup), plan.warpGroups);
  return count;
}

void ChunkPieces::keep() {
  if (plan.usesWgmma)
    return packAll();
  SparseTile first = locate(segmentPart, segmentStart);
  auto copy = [&](bool aligned) {
    k.rolledLoop(0, plan.stepsK, 1, [&](Int number) {
      copyFactor(first, k.mul(number, plan.stepK),
                 k.add(k.mul(number, plan.getFactorBytes()), factorOffset),
                 aligned);
    });
  };
  k.choose(factor.isFactorAligned, copy);
  k.commitCopies();
}

void ChunkPieces::pair() { copies.pairFactor(factorOffset); }

void tile::copyPart(Lowering &lowering, CopyOp op) {
  auto acquire = op.getBuffer().getDefiningOp<AcquireOp>();
  lowering.chunks.at(acquire.getRing())->keep();
}

void tile::lower(Lowering &lowering, PairChunksOp op) {
  auto wait = op.getSlot().getDefiningOp<WaitOp>();
  lowering.chunks.at(wait.getRing())->pair();
}
