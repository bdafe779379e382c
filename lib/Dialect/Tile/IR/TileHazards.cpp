//===- TileHazards.cpp - The order that barriers make ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileHazards.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

void HazardCheck::meetAll(bool isOfGroup) {
  numberedThreads = 0;
  for (auto &[value, found] : memory) {
    // Operands are what the threads of all groups have prepared, as what stays
    // for a segment, or for all tiles, is.
    if (isOfGroup && (isa<OperandType>(value.getType()) || getKeptRing(value) ||
                      value.getDefiningOp<KeepStepOp>()))
      continue;
    found.isApart = false;
    found.readers.clear();
    found.writers.clear();
  }
  for (auto &[value, slots] : rings) {
    if (slots.isReadByOther)
      continue;
    slots.free = slots.released;
    slots.readGroups.clear();
  }
}

void HazardCheck::meetInCluster() {
  for (auto &[value, found] : memory)
    found.isLocal = found.isReadByOther = false;
  for (auto &[value, slots] : rings)
    slots.isReadByOther = false;
  meetAll();
}

/// Each of `groups` groups meets.
void HazardCheck::meet(int64_t groups) {
  for (auto &[value, found] : memory) {
    if (found.isApart)
      found.meeting.meet(groups);
    for (SmallVector<Access> *accesses : {&found.readers, &found.writers})
      for (Access &access : *accesses)
        access.meeting.meet(groups);
  }
  for (auto &[value, slots] : rings)
    if (llvm::all_of(slots.readGroups,
                     [&](const Groups &readGroups) {
                       return readGroups.isKeptBy(groups);
                     }) &&
        (slots.freeInGroups < slots.released || groups < slots.freeGroups)) {
      slots.freeGroups = groups;
      slots.freeInGroups = slots.released;
    }
}

/// Groups of `groupThreads` threads meet, each at the barrier of its number.
LogicalResult HazardCheck::meetByNumber(Operation *op, int64_t groupThreads) {
  // Warps meet by themselves, without a number.
  if (groupThreads <= 32)
    return success();
  // barrier_c5
  if (numberedThreads && numberedThreads != groupThreads)
    return op->emitOpError("lets groups of ")
           << groupThreads
           << " threads meet at barriers where others may still wait in groups "
              "of "
           << numberedThreads << ": expects a tile.barrier of all in between";
  numberedThreads = groupThreads;
  return success();
}

LogicalResult HazardCheck::meet(BarrierOp op) {
  if (op.getOfBlock()) {
    std::optional<Blocks> blocks =
        op->getBlock()->getNumArguments()
            ? getBlocks(op->getBlock()->getArgument(0))
            : std::nullopt;
    if (blocks && failed(meetByNumber(op, 32 * blocks->warps)))
      return failure();
    for (auto &[value, found] : memory)
      for (SmallVector<Access> *accesses : {&found.readers, &found.writers})
        for (Access &access : *accesses)
          access.isOpen &= access.loop != op->getParentOp();
    return success();
  }
  // barrier_c4
  bool isWait = op.getWait() && !op.getArrive();
  if (isWait ? !arrived : op.getCluster() && arrived)
    return op.emitOpError("expects to arrive once in front of each wait");
  if (op.getArrive())
    arrived = op;
  else if (op.getCluster())
    meetInCluster();
  else if (op.getGroups() == 1) {
    auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
    auto shape = kernel->getAttrOfType<KernelAttr>(kKernelAttrName);
    int64_t groups = shape ? shape.getGroups() : 1;
    bool isOfGroup = groups > 1 && op->getParentOfType<ForOp>();
    // Groups meet each by a number.
    if (isOfGroup && failed(meetByNumber(op, threads / groups)))
      return failure();
    int64_t numbered = numberedThreads;
    meetAll(isOfGroup);
    if (isOfGroup)
      numberedThreads = numbered;
  } else {
    if (failed(
            meetByNumber(op, threads / std::max<int64_t>(op.getGroups(), 1))))
      return failure();
    meet(op.getGroups());
  }
  if (op.getWait())
    arrived = nullptr;
  return success();
}

/// What is behind `op` meets what either part of it leaves.
LogicalResult HazardCheck::checkParts(IfAlignedOp op) {
  HazardCheck other(*this);
  if (failed(check(op->getRegion(0).front())) ||
      failed(other.check(op->getRegion(1).front())))
    return failure();
  // if_aligned_c3
  if (!arrived != !other.arrived)
    return op.emitOpError("expects both parts to arrive at as many barriers "
                          "of a cluster as they wait for");
  numberedThreads = numberedThreads ? numberedThreads : other.numberedThreads;
  lastOfBoth = lastOfBoth ? lastOfBoth : other.lastOfBoth;
  for (auto &[value, end] : other.memory) {
    Memory &found = memory[value];
    found.isArriving |= end.isArriving;
    found.isApart |= end.isApart;
    if (!(found.meeting == end.meeting))
      found.meeting = Meeting();
    found.isLocal |= end.isLocal;
    found.isReadByOther |= end.isReadByOther;
    found.isReleased |= end.isReleased;
    llvm::append_range(found.readers, end.readers);
    llvm::append_range(found.writers, end.writers);
  }
  for (auto &[value, end] : other.rings) {
    Slots &slots = rings[value];
    // if_aligned_c3
    if (slots.getState() != end.getState() || copies != other.copies)
      return op.emitOpError("expects both parts to acquire, fill, wait for and "
                            "release as many slots of a ring");
    slots.free = std::min(slots.free, end.free);
    slots.freeInGroups = slots.freeGroups == end.freeGroups
                             ? std::min(slots.freeInGroups, end.freeInGroups)
                             : slots.free;
    slots.isReadByOther |= end.isReadByOther;
    llvm::append_range(slots.copyGroups, end.copyGroups);
    llvm::append_range(slots.readGroups, end.readGroups);
  }
  return success();
}

LogicalResult HazardCheck::check(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](AcquireOp acquireOp) { return acquire(acquireOp); })
      .Case([&](CopyOp copy) { return fill(copy); })
      .Case([&](WaitOp waitOp) { return wait(waitOp); })
      .Case([&](PrepareOp prepareOp) { return prepare(prepareOp); })
      .Case([&](LoadOp load) {
        // What is in global memory is nobody else's.
        if (!isa<BufferType>(load->getOperand(0).getType()))
          return success();
        return read(load, load->getOperand(0),
                    getAccess(load, load->getResult(0), load->getOperand(0),
                              load.getAlongAttr()));
      })
      .Case([&](StoreOp store) {
        bool isBuffer = isa<BufferType>(store->getOperand(0).getType());
        return isBuffer ? read(store, store->getOperand(0), Access())
                        : success();
      })
      .Case([&](ExchangeOp exchange) { return write(exchange); })
      .Case([&](ContractOp contract) {
        return multiply(contract, contract->getOperand(1));
      })
      .Case([&](MultiplyOp product) {
        // multiply_c8
        if (failed(read(product, product->getOperand(0), Access())))
          return failure();
        return multiply(product, product->getOperand(2));
      })
      .Case([&](ContractFibresOp product) {
        // contract_fibres_c6
        if (failed(read(product, product->getOperand(0),
                        getAccess(product, Value(), Value(), {}))))
          return failure();
        return multiply(product, product->getOperand(2));
      })
      .Case([&](tile::QuantizeOp quantize) {
        // quantize_c5
        return read(quantize, quantize->getOperand(0), Access());
      })
      .Case([&](LoadRowsOp load) {
        bool isBuffer = isa<BufferType>(load->getOperand(0).getType());
        // load_rows_c7
        return isBuffer ? read(load, load->getOperand(0), Access()) : success();
      })
      .Case([&](CopyStepOp copyOp) { return copyStep(copyOp); })
      .Case([&](KeepStepOp keep) {
        memory[keep->getResult(0)].isApart = true;
        return checkArrived(keep);
      })
      .Case([&](ClearOp clearOp) { return clear(clearOp); })
      .Case([&](ContractStepOp product) { return contractStep(product); })
      .Case([&](LeaveRowsOp rows) { return write(rows); })
      .Case([&](RefillOp refillOp) { return refill(refillOp); })
      .Case([&](RefilledOp refilledOp) { return refilled(refilledOp); })
      .Case([&](IfAlignedOp parts) { return checkParts(parts); })
      .Case([&](ContractPiecesOp product) {
        if (isa<ViewType>(product->getOperand(2).getType()))
          return multiplyChunks(product);
        // Its warpgroups meet, each by a number, between pieces.
        if (failed(meetByNumber(product, 4 * 32)))
          return failure();
        return multiply(product, product->getOperand(2));
      })
      .Case([&](BarrierOp barrier) { return meet(barrier); })
      .Case([&](ReleaseOp releaseOp) { return release(releaseOp); })
      .Case([&](CopyPiecesOp copy) { return startPieces(copy); })
      .Case([&](PairChunksOp op) { return pair(op); })
      .Case([&](SpreadOp op) { return spread(op); })
      .Case<ForOp, ForSegmentsOp>([&](auto loop) { return checkTurns(loop); })
      .Case([&](ForPiecesOp loop) {
        // Its groups meet in front of the body and behind it.
        return failure(
            failed(meetByNumber(loop, 32 * loop.getPieces().getWarps())) ||
            failed(check(loop->getRegion(0).front())));
      })
      .Case<ForBoxesOp, ForColumnsOp, ForBlocksOp, ForFibresOp, ForStepOp>(
          [&](auto loop) { return check(loop->getRegion(0).front()); })
      .Default([](Operation *) { return success(); });
}

/// The second turn of `loop` meets what the first one leaves. What either takes
/// of rings is what all others do.
LogicalResult HazardCheck::checkTurns(Operation *loop) {
  llvm::MapVector<Value, Slots> before = rings;
  Block &body = loop->getRegion(0).front();
  if (failed(check(body)) || failed(check(body)))
    return failure();
  for (auto &[value, slots] : rings) {
    std::array<int64_t, 5> first = before[value].getState(),
                           end = slots.getState();
    int64_t taken = (end[0] - first[0]) / 2;
    // for_c5, for_segments_c3
    for (unsigned index = 0; index < 4; ++index)
      if (end[index] - first[index] != 2 * taken || end[4] != first[4])
        return loop->emitOpError(
                   "expects a turn to acquire, fill, wait for and "
                   "release as many slots of a ring, but it does ")
               << taken << ", " << (end[1] - first[1]) / 2 << ", "
               << (end[2] - first[2]) / 2 << " and " << (end[3] - first[3]) / 2;
  }
  return success();
}

LogicalResult HazardCheck::check(Block &block) {
  for (Operation &op : block)
    if (failed(check(&op)))
      return failure();
  return success();
}

LogicalResult HazardCheck::checkEnd() {
  // barrier_c4
  if (arrived)
    return arrived->emitOpError("expects a wait behind it");
  if (!lastOfBoth || !hasCluster(lastOfBoth))
    return success();
  // load_c19
  bool isRead = llvm::any_of(
      memory, [](auto &entry) { return entry.second.isReadByOther; });
  if (isRead || llvm::any_of(rings, [](auto &entry) {
        return entry.second.isReadByOther;
      }))
    return lastOfBoth->emitOpError(
        "reads what the other CTA has, which may have "
        "ended: expects a tile.barrier cluster at "
        "the end");
  return success();
}

LogicalResult tile::verifyHazards(gpu::GPUFuncOp kernel) {
  // Operations that lack operands say so themselves.
  WalkResult complete = kernel.walk([](Operation *op) {
    unsigned least =
        TypeSwitch<Operation *, unsigned>(op)
            .Case<ContractOp, LoadOp>([](auto) { return 2; })
            .Case<MultiplyOp, ContractPiecesOp, ContractFibresOp>(
                [](auto) { return 3; })
            .Case<SpreadOp>([](auto) { return 4; })
            .Case<ExchangeOp, StoreOp, CopyOp>([](auto) { return 2; })
            .Case<AcquireOp, WaitOp, ReleaseOp, PrepareOp, ResizeOp, RefillOp,
                  RefilledOp, PairChunksOp, tile::QuantizeOp, ClearOp,
                  LoadRowsOp>([](auto) { return 1; })
            .Default([](Operation *) { return 0; });
    bool hasBody =
        !isa<ForOp, ForBoxesOp, ForColumnsOp, ForBlocksOp, ForPiecesOp,
             ForFibresOp, ForSegmentsOp, ForStepOp>(op) ||
        (op->getNumRegions() == 1 && !op->getRegion(0).empty());
    if (isa<IfAlignedOp>(op))
      hasBody = op->getNumRegions() == 2 && !op->getRegion(0).empty() &&
                !op->getRegion(1).empty();
    if (auto loop = dyn_cast<ForFibresOp>(op))
      hasBody &= bool(loop.getAlongAttr());
    // Blocks are looked at.
    if (auto loop = dyn_cast<ForBlocksOp>(op))
      hasBody &= loop.getSizesAttr() && loop.getBlockAttr() &&
                 op->getRegion(0).getNumArguments() > 0 &&
                 loop.getWarps() > 0 && loop.getWarps() <= kMostElements &&
                 areTileSizes(loop.getSizes()) && areTileSizes(loop.getBlock());
    if (auto loop = dyn_cast<ForPiecesOp>(op))
      hasBody &= loop.getPiecesAttr() && op->getRegion(0).getNumArguments() > 0;
    return op->getNumOperands() >= least && hasBody ? WalkResult::advance()
                                                    : WalkResult::interrupt();
  });
  if (complete.wasInterrupted() || kernel.getBody().empty())
    return success();
  auto shape = kernel->getAttrOfType<KernelAttr>(kKernelAttrName);
  HazardCheck check(shape ? shape.getThreads() : 0);
  return failure(failed(check.check(kernel.getBody().front())) ||
                 failed(check.checkEnd()));
}
