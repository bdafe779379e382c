//===- ForBlocks.cpp - tile.for_blocks and tile.for_pieces ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Where block number `item` starts.
static SmallVector<Int> getPositions(KernelBuilder &k, const Blocks &blocks,
                                     Int item) {
  SmallVector<int64_t> counts = blocks.getCounts();
  SmallVector<unsigned> axes;
  for (auto [axis, count] : llvm::enumerate(counts))
    if (count > 1)
      axes.push_back(axis);
  SmallVector<Int> positions(counts.size(), Int(0));
  for (unsigned axis : llvm::reverse(axes)) {
    // Of the outermost axis that is the number itself; that it has few bits is
    // worth an instruction where other axes could be outside.
    bool isWhole = axis == 0 ||
                   (axis == axes.front() && !llvm::isPowerOf2_64(counts[axis]));
    Int digit = isWhole ? item : k.rem(item, counts[axis]);
    item = k.floorDiv(item, counts[axis]);
    positions[axis] = k.mul(digit, blocks.block[axis]);
  }
  return positions;
}

/// Finds the tiles that the body stores to, in front of the loop.
static void locateStores(Lowering &lowering, Block &body) {
  for (StoreOp store : body.getOps<StoreOp>())
    for (Value view : {Value(store.getView()), Value(store.getAddend())})
      if (view)
        lowering.globalTiles[{store, view}] = std::make_shared<GlobalTile>(
            locateTile(lowering, view, *store.getBox(), *store.getAxes(),
                       lowering.numbers.at(store.getTile())));
}

static void lowerBody(Lowering &lowering, Block &body, const Blocks &blocks,
                      Int item) {
  lowering.blocks[body.getArgument(0)] = std::make_shared<LoweredBlock>(
      LoweredBlock{blocks, getPositions(lowering.k, blocks, item)});
  lowering.lower(body);
}

void tile::lower(Lowering &lowering, ForBlocksOp op) {
  KernelBuilder &k = lowering.k;
  Blocks blocks = *getBlocks(op.getBoxes());
  locateStores(lowering, *op.getBody());
  int64_t total = blocks.getCount(),
          groups = blocks.getGroups(lowering.threads);
  Int group = k.floorDiv(lowering.getLanes().warp, blocks.warps);
  Int first = group, end = total;
  int64_t step = groups;
  if (blocks.isShared) {
    first = k.mul(group, total / groups);
    end = k.add(first, total / groups);
    step = 1;
  } else if (blocks.isSplit) {
    // Of an odd number the first CTA has one more.
    int64_t half = llvm::divideCeil(total, lowering.cluster);
    Int rank = k.clusterRank();
    first = k.add(group, k.mul(rank, half));
    end = k.add(k.mul(rank, total - half), half);
  }
  if (groups * blocks.warps < lowering.threads / 32) {
    // Warps that are left over do nothing.
    Value works = k.less(group, groups);
    end = Int(k.select(works, k.materialize(end, 32), k.materialize(0, 32)));
  }
  k.rolledLoop(first, end, step, [&](Int item) {
    lowerBody(lowering, *op.getBody(), blocks, item);
  });
}

/// Lets the warps meet that share a block.
static void meet(Lowering &lowering, int64_t warps) {
  KernelBuilder &k = lowering.k;
  if (warps == 1)
    return k.syncWarp();
  k.namedBarrier(k.add(k.floorDiv(lowering.getLanes().warp, warps), 1),
                 32 * warps);
}

void tile::meetOfBlock(Lowering &lowering, BarrierOp op) {
  Block *body = op->getBlock();
  meet(lowering, getBlocks(body->getArgument(0))->warps);
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

PieceCopy::PieceCopy(Lowering &lowering, Value view, RingType ring,
                     PiecesAttr pieces)
    : lowering(lowering), k(lowering.k), view(view), pieces(pieces),
      buffer(ring.getBuffer()) {
  blocks.sizes.assign(pieces.getSizes().begin(), pieces.getSizes().end());
  blocks.block.assign(pieces.getBlock().begin(), pieces.getBlock().end());
  blocks.warps = pieces.getWarps();
  blocks.arePieces = true;
  int64_t groups = blocks.getGroups(lowering.threads / lowering.groups);
  count = blocks.getCount() / groups;
  slots = ring.getStages() / groups;
  ringBytes = slots * ring.getSlotBytes();
  if (groups > 1)
    group = k.floorDiv(lowering.getLanes().warp, blocks.warps);
  if (pieces.getBytes() > buffer.getElementBytes())
    aligned = isAligned(lowering, {view}, pieces.getBytes());
}

/// Starts copying the group's piece number `number` of `tile` to `slot`.
void PieceCopy::copy(const GlobalTile &tile, Int number, Int slot) const {
  SmallVector<Int> start =
      getPositions(k, blocks, k.add(k.mul(group, count), number));
  GlobalTile piece = tile;
  SmallVector<int64_t> sizes(blocks.block);
  Int offset = 0;
  for (auto [dim, position] : llvm::enumerate(start)) {
    offset = k.add(offset, tile.scale(k, position, tile.strides[dim]));
    if (!tile.mayExceed[dim])
      continue;
    Int limit = k.sub(tile.limits[dim], position);
    piece.limits[dim] = limit;
    if (!limit.isConstant())
      continue;
    // K ends within the last piece: lanes load no more than they have to.
    sizes[dim] = std::min<int64_t>(
        sizes[dim], llvm::alignTo(limit.getConstant(), kWarpgroupLoadedK));
    piece.mayExceed[dim] = limit.getConstant() < sizes[dim];
  }
  piece.base =
      k.offsetBytes(tile.base, k.mul(offset, buffer.getElementBytes()));
  int64_t threads = 32 * blocks.warps;
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, blocks.block.size()));
  if (!pieces.getOrder().empty())
    order.assign(pieces.getOrder().begin(), pieces.getOrder().end());
  SharedTile to(k, buffer, slot);
  emitFilledCopy(lowering,
                 {piece, &to, sizes, order, pieces.getBytes(), threads,
                  k.rem(k.threadId(), threads), /*ofGroup=*/true,
                  pieces.getLines()},
                 aligned);
}

/// Those that go ahead of the first one that is read, of tiles that exist.
static void startPieces(Lowering &lowering, const PieceCopy &pieces,
                        const LoweredRing &ring, CopyPiecesOp op) {
  KernelBuilder &k = lowering.k;
  Int count = 0;
  for (Operation *user : op.getRing().getUsers())
    if (auto product = dyn_cast<ContractPiecesOp>(user))
      count =
          lowering.numbers.at(cast<ForOp>(product->getParentOp()).getTiles());
  Int tile = lowering.getFirstTile(count);
  Int slot = pieces.getRing(ring.begin);
  for (int64_t number = 0; number < pieces.getAhead(); ++number) {
    if (number > 0 && number % pieces.count == 0)
      tile = k.add(tile, lowering.getTileStep());
    k.ifThen(k.less(tile, count), [&] {
      pieces.copy(pieces.locate(tile), number % pieces.count,
                  k.add(slot, number * ring.slotBytes));
    });
    k.commitCopies();
  }
}

void tile::lower(Lowering &lowering, CopyPiecesOp op) {
  if (op.getPieces().getChunks())
    return startChunks(lowering, op);
  KernelBuilder &k = lowering.k;
  PieceCopy pieces(lowering, op.getView(), op.getRing().getType(),
                   op.getPieces());
  LoweredRing &ring = lowering.rings[op.getRing()];
  if (pieces.getAhead())
    return startPieces(lowering, pieces, ring, op);
  // Of this group, from now on.
  ring.full = k.add(k.mul(pieces.group, pieces.ringBytes), ring.begin);
  GlobalTile tile = pieces.locate(lowering.getFirstTile());
  for (int64_t slot = 0; slot < pieces.slots; ++slot) {
    pieces.copy(tile, slot, k.add(ring.full, slot * ring.slotBytes));
    k.commitCopies();
  }
}

/// A slot is filled again as soon as its piece has been read.
void tile::lower(Lowering &lowering, ForPiecesOp op) {
  KernelBuilder &k = lowering.k;
  PieceCopy pieces(lowering, op.getView(), op.getRing().getType(),
                   op.getPieces());
  LoweredRing &ring = lowering.rings[op.getRing()];
  locateStores(lowering, *op.getBody());
  Int tile = lowering.numbers.at(op.getTile());
  Int next = k.add(tile, lowering.step);
  GlobalTile thisTile = pieces.locate(tile), nextTile = pieces.locate(next);
  Value nextExists = k.less(next, lowering.tileCount);
  int64_t slots = pieces.slots, count = pieces.count;
  Int first = k.mul(pieces.group, count);
  int64_t lastSlot = (slots - 1) * ring.slotBytes;
  Int wrapsAt =
      k.add(k.add(k.mul(pieces.group, pieces.ringBytes), ring.begin), lastSlot);
  SmallVector<Value> end = k.rolledLoop(
      0, count, 1, k.materialize(ring.full, 32),
      [&](Int number, ValueRange carried) -> SmallVector<Value> {
        Int slot(carried[0]);
        k.waitCopies(slots - 1);
        meet(lowering, pieces.blocks.warps);
        lowering.buffers[op.getSlot()] = slot;
        lowerBody(lowering, *op.getBody(), pieces.blocks, k.add(first, number));
        meet(lowering, pieces.blocks.warps);
        Int later = k.add(number, slots);
        Value isHere = k.less(later, count);
        Value exists =
            arith::OrIOp::create(k.builder, k.loc, isHere, nextExists);
        auto select = [&](Int here, Int next) {
          return Int(k.select(isHere, k.materialize(here, 32),
                              k.materialize(next, 32)));
        };
        k.ifThen(exists, [&] {
          GlobalTile from = thisTile;
          from.base = k.select(isHere, thisTile.base, nextTile.base);
          for (unsigned dim = 0; dim < from.limits.size(); ++dim)
            if (from.mayExceed[dim])
              from.limits[dim] =
                  select(thisTile.limits[dim], nextTile.limits[dim]);
          pieces.copy(from, select(later, k.sub(later, count)), slot);
        });
        k.commitCopies();
        Value wraps = k.equal(slot, wrapsAt);
        return {k.select(wraps, k.materialize(k.sub(slot, lastSlot), 32),
                         k.materialize(k.add(slot, ring.slotBytes), 32))};
      });
  ring.full = end.front();
}
