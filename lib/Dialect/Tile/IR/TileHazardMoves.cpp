//===- TileHazardMoves.cpp - What threads do to shared memory -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileHazards.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Warps that keep to a share of `buffer` each, or as few shares as these have
/// of boxes along `along`, one behind the other.
static Groups getShares(int64_t warps, BufferType buffer,
                        ArrayRef<int64_t> along) {
  ArrayRef<int64_t> shape = buffer.getShape();
  int64_t rank = shape.size();
  if (along.size() != 1 || along.front() < 0 || along.front() >= rank)
    return {};
  return {std::gcd(warps, llvm::product_of(shape.take_front(along.front()))),
          kShares};
}

/// The groups of a copy to a buffer of `ring`, of which there are `count`.
static Groups getCopyGroups(RingType ring, int64_t count) {
  tile::LayoutAttr layout = ring.getBuffer().getLayout();
  if (layout && !layout.getSwizzle().empty())
    return {count, kShares};
  return ring.getAlong() ? Groups{count, *ring.getAlong()} : Groups();
}

/// Groups of threads that keep to a position each of `buffer`'s outermost axis
/// of several ones if `loop` shares its boxes along `along`.
static Groups getGroups(ForBoxesOp loop, int64_t threads, Value buffer,
                        ArrayRef<int64_t> along) {
  auto type = dyn_cast<BufferType>(buffer.getType());
  if (type && loop && loop.getWarps())
    return getShares(loop.getWarps(), type, along);
  if (!type || !loop || !loop.getCountAttr() || loop.getOrderAttr() ||
      loop.getTogether() != 1 || !loop.isOnce(threads))
    return {};
  for (int64_t axis = 0, rank = type.getShape().size(); axis < rank; ++axis)
    if (int64_t size = type.getShape()[axis]; size > 1)
      return llvm::is_contained(along, axis) || threads % size != 0
                 ? Groups()
                 : Groups{size, axis};
  return {};
}

/// Groups of warps that keep to a share each of a tile of `blocks`: blocks of a
/// group lie one behind the other, of one position along outer axes.
static Groups getShares(const Blocks &blocks, int64_t threads) {
  int64_t positions = 1;
  for (auto [size, block] : llvm::zip_equal(blocks.sizes, blocks.block)) {
    if (block != 1)
      break;
    positions *= size;
  }
  return {std::gcd(blocks.getGroups(threads), positions), kShares};
}

/// How `op` moves boxes of `fragment` along `along`.
Access HazardCheck::getAccess(Operation *op, Value fragment, Value buffer,
                              DenseI64ArrayAttr along) {
  auto loop = op->getParentOfType<ForBoxesOp>();
  // Warps keep to their fibres.
  if (auto fibres = op->getParentOfType<ForFibresOp>()) {
    Access access;
    access.loop = fibres;
    access.along = fibres.getAlongAttr();
    return access;
  }
  if (isa<ForBlocksOp, ForPiecesOp>(op->getParentOp())) {
    Access access;
    access.loop = op->getParentOp();
    access.along = along;
    access.isOpen = true;
    std::optional<Blocks> blocks =
        getBlocks(access.loop->getRegion(0).getArgument(0));
    if (blocks && blocks->isShared &&
        blocks->sizes.size() == blocks->block.size())
      access.meeting.groups = getShares(*blocks, threads);
    access.isOfBoth = blocks && blocks->isSplit && isa<LoadOp>(op);
    return access;
  }
  Access access;
  access.loop = loop;
  access.along = along;
  access.width = 1;
  auto type = dyn_cast<FragmentType>(fragment.getType());
  if (loop && loop.getPartsAttr() && loop.getParts())
    access.meeting.groups = {};
  else if (type && along && !hasWarpBoxes(type) &&
           type.getBox().size() > size_t(along.size()))
    access.width = type.getShape().back();
  else if (along)
    access.meeting.groups = getGroups(loop, threads, buffer, along);
  if (auto load = dyn_cast<LoadOp>(op); load && load.getHalves()) {
    access.isOfBoth = true;
    access.meeting.groups = {};
  }
  return access;
}

static bool hasOthers(ArrayRef<Access> accesses, const Access &own) {
  return llvm::any_of(
      accesses, [&](const Access &access) { return !access.isApartFrom(own); });
}

LogicalResult HazardCheck::acquire(AcquireOp op) {
  Slots &slots = rings[op->getOperand(0)];
  auto ring = dyn_cast<RingType>(op->getOperand(0).getType());
  // acquire_c2
  if (ring && !ring.getAlong() &&
      slots.acquired - std::max(slots.free, slots.freeInGroups) >=
          ring.getStages())
    return op.emitOpError("takes a slot that may still be read: expects a "
                          "tile.release of it and a tile.barrier in front");
  acquired[op->getResult(0)] = slots.acquired++;
  memory[op->getResult(0)] = Memory();
  memory[op->getResult(0)].isArriving = true;
  return success();
}

/// Whether no thread is between arriving and waiting; else an error.
LogicalResult HazardCheck::checkArrived(Operation *op) {
  // barrier_c4
  if (arrived)
    return op->emitOpError("moves what is in shared memory between arriving at "
                           "a barrier and waiting for it");
  return success();
}

LogicalResult HazardCheck::fill(CopyOp op) {
  if (failed(checkArrived(op)))
    return failure();
  for (Value operand : op->getOperands()) {
    auto buffer = dyn_cast<BufferType>(operand.getType());
    if (!buffer)
      continue;
    if (isa_and_nonnull<AllocOp>(operand.getDefiningOp())) {
      Memory &found = get(operand);
      // copy_c8
      if (!found.readers.empty() || !found.writers.empty())
        return op.emitOpError("fills what threads may have read or written: "
                              "expects a tile.barrier in front");
      found.writers.push_back(Access());
      continue;
    }
    auto acquire = getOrigin(operand).getDefiningOp<AcquireOp>();
    // copy_c8
    if (!acquire)
      return op.emitOpError("expects to fill a slot from tile.acquire");
    Slots &slots = rings[acquire->getOperand(0)];
    ++copies;
    auto ring = dyn_cast<RingType>(acquire->getOperand(0).getType());
    int64_t number = acquired.lookup(acquire->getResult(0));
    int64_t free = slots.free;
    if (ring &&
        getCopyGroups(ring, op.getGroups()).isKeptBy(slots.freeGroups) &&
        ring.getStages() % ring.getSlotsPerBuffer() == 0)
      free = std::max(free, slots.freeInGroups);
    if (ring && ring.getAlong()) {
      int64_t size = buffer.getShape()[*ring.getAlong()], first = 0, end = size;
      if (DenseI64ArrayAttr part = op.getPartAttr();
          part && part.size() == 2 && part[0] >= 0 && part[1] <= size)
        first = part[0], end = part[1];
      int64_t perBuffer = ring.getSlotsPerBuffer();
      // copy_c12
      if (number != slots.filled || first != slots.started)
        return op.emitOpError("expects to fill a slot from position ")
               << slots.started << " on";
      if ((number - free) * perBuffer + end > ring.getStages())
        return op.emitOpError("fills positions that may still be read: expects "
                              "a tile.release of them and a tile.barrier in "
                              "front");
      slots.copyGroups.push_back(op.getGroups());
      slots.started = end;
      if (end < size)
        continue;
    } else if (ring) {
      // copy_c18
      if (number != slots.filled)
        return op.emitOpError("expects to fill each slot once, in the order of "
                              "the ring");
      // copy_c12
      if (number - free >= ring.getStages())
        return op.emitOpError("fills what threads of other groups may still "
                              "read: expects a tile.barrier of them in front");
      slots.copyGroups.push_back(op.getGroups());
    }
    slots.started = 0;
    ++slots.filled;
    slots.lastCopies.push_back(copies);
  }
  return success();
}

/// Pieces that go ahead, each by a copy of its own.
LogicalResult HazardCheck::startPieces(CopyPiecesOp op) {
  for (Value operand : op->getOperands()) {
    if (!isa<RingType>(operand.getType()))
      continue;
    Memory &found = memory[operand];
    // copy_pieces_c8
    if (!found.readers.empty())
      return op.emitOpError("fills what threads of a segment before may still "
                            "read: expects a tile.barrier in front");
  }
  if (op.getPiecesAttr())
    copies += op.getPieces().getAhead();
  return checkArrived(op);
}

/// Pieces in rings it waits for itself, but not for a part of the factor that
/// stays.
LogicalResult HazardCheck::multiplyChunks(ContractPiecesOp op) {
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  auto shape = kernel->getAttrOfType<KernelAttr>(kKernelAttrName);
  if (shape && shape.getGroups() > 1 &&
      failed(meetByNumber(op, threads / shape.getGroups())))
    return failure();
  for (Value operand : op->getOperands()) {
    if (isa<RingType>(operand.getType()))
      memory[operand].readers.push_back(Access());
    // contract_pieces_c15
    if (getKeptRing(operand) && failed(read(op, operand, Access())))
      return failure();
  }
  return success();
}

LogicalResult HazardCheck::pair(PairChunksOp op) {
  Memory &found = get(op->getOperand(0));
  // pair_chunks_c3
  if (!found.readers.empty() || !found.writers.empty())
    return op.emitOpError("moves what threads may have read or written: "
                          "expects a tile.barrier in front");
  // pair_chunks_c2
  if (failed(read(op, op->getOperand(0), Access())))
    return failure();
  found.writers.push_back(Access());
  return success();
}

LogicalResult HazardCheck::spread(SpreadOp op) {
  // spread_c4
  if (failed(read(op, op->getOperand(0), Access())))
    return failure();
  Memory &found = get(op->getOperand(3));
  // spread_c5
  if (!found.readers.empty() || !found.writers.empty())
    return op.emitOpError("fills what threads may have read or written: "
                          "expects a tile.barrier in front");
  found.writers.push_back(Access());
  return success();
}

LogicalResult HazardCheck::wait(WaitOp op) {
  if (failed(checkArrived(op)))
    return failure();
  Slots &slots = rings[op->getOperand(0)];
  // wait_c2
  if (slots.filled <= slots.waited)
    return op.emitOpError("waits for a slot that no tile.copy fills");
  int64_t behind = copies - slots.lastCopies[slots.waited];
  // wait_c3
  if (op.getPendingAttr() && op.getPendingAttr().getInt() > behind)
    return op.emitOpError("lets ")
           << op.getPendingAttr().getInt() << " copies be pending, but only "
           << behind << " were started behind the one that it waits for";
  waited[op->getResult(0)] = slots.waited++;
  Memory &found = memory[op->getResult(0)] = Memory();
  found.isApart = found.isLocal = true;
  auto ring = dyn_cast<RingType>(op->getOperand(0).getType());
  if (ring && !slots.copyGroups.empty() && llvm::all_equal(slots.copyGroups))
    found.meeting.groups = getCopyGroups(ring, slots.copyGroups.front());
  if (slots.filled == slots.waited && slots.started == 0)
    slots.copyGroups.clear();
  return success();
}

LogicalResult HazardCheck::read(Operation *op, Value buffer,
                                const Access &access) {
  if (failed(checkArrived(op)))
    return failure();
  Memory &found = get(buffer);
  // load_c9
  if (found.isArriving)
    return op->emitOpError("reads a slot that was not waited for: expects one "
                           "from tile.wait");
  // load_c11
  if (found.isReleased)
    return op->emitOpError("reads a slot behind its tile.release");
  // load_c10
  if (found.isApart && !found.meeting.isKnownTo(access.meeting.groups))
    return op->emitOpError("reads what other threads have copied: expects a "
                           "tile.barrier behind the tile.wait");
  // load_c12
  if (hasOthers(found.writers, access))
    return op->emitOpError("reads what other threads have written: expects a "
                           "tile.barrier in between");
  // load_c18
  if (access.isOfBoth && found.isLocal)
    return op->emitOpError("reads what the other CTA has written: expects a "
                           "tile.barrier cluster in between");
  found.isReadByOther |= access.isOfBoth;
  if (access.isOfBoth)
    lastOfBoth = op;
  found.readers.push_back(access);
  return success();
}

LogicalResult HazardCheck::write(ExchangeOp op) {
  if (failed(checkArrived(op)))
    return failure();
  Memory &found = get(op->getOperand(1));
  Access access =
      getAccess(op, op->getOperand(0), op->getOperand(1), op.getAlongAttr());
  // exchange_c2
  if (found.isArriving || found.isReleased ||
      (found.isApart && !found.meeting.isKnownTo(access.meeting.groups)))
    return op.emitOpError("writes to a slot that is not this turn's: expects "
                          "one from tile.wait, behind a tile.barrier");
  // exchange_c3
  if (hasOthers(found.readers, access))
    return op.emitOpError("overwrites what other threads may still read: "
                          "expects a tile.barrier in between");
  // exchange_c4
  if (llvm::any_of(found.writers, [&](const Access &writer) {
        return !writer.meeting.isKnownTo(access.meeting.groups);
      }))
    return op.emitOpError("writes elements that another operation has written: "
                          "expects a tile.barrier in between");
  // exchange_c5
  if (found.isReadByOther)
    return op.emitOpError("overwrites what the other CTA may still read: "
                          "expects a tile.barrier cluster in between");
  found.isLocal = true;
  found.writers.push_back(access);
  return success();
}

LogicalResult HazardCheck::prepare(PrepareOp op) {
  // What lanes have in registers is their own.
  auto type = dyn_cast<OperandType>(op->getResult(0).getType());
  if (type && type.getAtom() != AtomKind::Fma && !isOfWarpgroup(type.getAtom()))
    return success();
  Memory &found = memory[op->getResult(0)];
  // prepare_c5
  if (!found.readers.empty())
    return op.emitOpError("overwrites an operand that other threads may still "
                          "multiply by: expects a tile.barrier in front");
  found.isApart = true;
  return checkArrived(op);
}

LogicalResult HazardCheck::multiply(Operation *op, Value operand) {
  Memory &found = get(operand);
  found.readers.push_back(Access());
  if (!found.isApart)
    return success();
  // contract_c7, multiply_c9, contract_pieces_c6
  return op->emitOpError(
      "multiplies by what other threads have copied: expects "
      "a tile.barrier behind the tile.prepare");
}

LogicalResult HazardCheck::release(ReleaseOp op) {
  Value slot = op->getOperand(0);
  auto wait = slot.getDefiningOp<WaitOp>();
  // release_c1
  if (!wait)
    return op.emitOpError("expects a slot from tile.wait");
  Memory &found = memory[slot];
  Slots &slots = rings[wait->getOperand(0)];
  // release_c3
  if (found.isReleased || waited.lookup(slot) != slots.released)
    return op.emitOpError("expects to release each slot once, in the order of "
                          "the ring");
  found.isReleased = true;
  ++slots.released;
  auto ring = dyn_cast<RingType>(wait->getOperand(0).getType());
  slots.isReadByOther |= found.isReadByOther;
  Groups groups;
  if (ring && !found.readers.empty())
    groups = found.readers.front().meeting.groups;
  for (ArrayRef<Access> accesses :
       {ArrayRef(found.readers), ArrayRef(found.writers)})
    for (const Access &access : accesses)
      groups = groups.join(access.meeting.groups);
  if (ring && groups.axis != getCopyGroups(ring, groups.count).axis)
    groups = {};
  slots.readGroups.push_back(groups);
  return success();
}

/// What a warp has read, it fills.
LogicalResult HazardCheck::refill(RefillOp op) {
  Memory &found = get(op->getOperand(0));
  Access access = getAccess(op, Value(), Value(), {});
  // refill_c1
  if (hasOthers(found.readers, access) || hasOthers(found.writers, access))
    return op.emitOpError("fills what other threads may still read or write: "
                          "expects a tile.barrier in between");
  return checkArrived(op);
}

LogicalResult HazardCheck::refilled(RefilledOp op) {
  auto wait = op->getOperand(0).getDefiningOp<WaitOp>();
  // What is wrong there it says itself.
  if (!wait)
    return success();
  Memory &found = memory[op->getOperand(0)];
  Slots &slots = rings[wait->getOperand(0)];
  // release_c3
  if (found.isReleased)
    return op.emitOpError("expects to release each slot once, in the order of "
                          "the ring");
  found.isReleased = true;
  ++slots.released;
  ++slots.acquired;
  ++slots.filled;
  ++copies;
  slots.lastCopies.push_back(copies);
  slots.copyGroups.push_back(1);
  slots.readGroups.push_back(Groups());
  return checkArrived(op);
}
