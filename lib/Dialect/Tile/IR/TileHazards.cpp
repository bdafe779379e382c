//===- TileHazards.cpp - Races of tiles in shared memory ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Follows the operations of a kernel in order, the loop over tiles twice, so
// that a turn meets what the one before has left. Shared memory is known by the
// buffers and slots that hold it: what threads have done to each since all of
// them met at a barrier. Groups of threads that keep to positions of their own
// along the outermost axis, or to shares of a tile, need only meet among
// themselves.
//
// It runs before the operations in the kernel are verified, and takes nothing
// for granted that they check.
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

/// `axis` of groups that keep to shares of a tile, in the order of its
/// elements.
constexpr int64_t kShares = -1;

/// Groups of threads that keep to one position each along an axis, or to equal
/// shares of a tile; none if `count` is 0.
struct Groups {
  int64_t count = 0, axis = 0;
  bool operator==(const Groups &other) const {
    return count == other.count && axis == other.axis;
  }
  /// Whether those that meet in `met` groups keep to a part of the tile, too.
  bool isKeptBy(int64_t met) const {
    return met > 0 && count > 0 &&
           (axis == kShares ? count % met == 0 : count == met);
  }
  /// What both keep to.
  Groups join(const Groups &other) const {
    if (axis == kShares && other.axis == kShares)
      return {std::gcd(count, other.count), kShares};
    return *this == other ? *this : Groups();
  }
};

/// Groups, and as how many, the fewest, their parts have met since.
struct Meeting {
  Groups groups;
  int64_t met = 0;
  void meet(int64_t count) {
    if (groups.isKeptBy(count))
      met = met ? std::min(met, count) : count;
  }
  /// Whether what they did is known to each of `others`.
  bool isKnownTo(const Groups &others) const {
    return groups.axis == others.axis && others.isKeptBy(met);
  }
  bool operator==(const Meeting &other) const {
    return groups == other.groups && met == other.met;
  }
};

/// Who reads or writes memory: a loop whose threads keep to boxes of their own
/// (null: all threads, anywhere), and what boxes these are.
struct Access {
  Operation *loop = nullptr;
  Attribute along;
  int64_t width = 0;
  /// Groups that keep to parts of their own.
  Meeting meeting;
  /// Whether it is of the buffers of both CTAs of a cluster.
  bool isOfBoth = false;
  /// Whether the lanes of some warps share what it moves, a block, and have not
  /// met since.
  bool isOpen = false;
  /// Whether each thread finds its own boxes, or each group its own.
  bool isApartFrom(const Access &other) const {
    return (loop && loop == other.loop && along == other.along &&
            width == other.width && !isOpen) ||
           meeting.isKnownTo(other.meeting.groups);
  }
};

/// What threads do to shared memory between two barriers.
struct Memory {
  /// Copied, and not waited for.
  bool isArriving = false;
  /// Each thread has waited, but for its own copies, of which groups have
  /// parts, and may have met.
  bool isApart = false;
  Meeting meeting;
  /// Since the CTAs of a cluster met: written, so that the other one must not
  /// read it, or read by that.
  bool isLocal = false, isReadByOther = false;
  /// Nothing is read any more.
  bool isReleased = false;
  /// Since the last barrier.
  SmallVector<Access> readers, writers;
};

/// Buffers of a ring: how many were acquired, filled, waited for, released, and
/// released in front of a barrier.
struct Slots {
  int64_t acquired = 0, filled = 0, waited = 0, released = 0, free = 0;
  /// Positions of the next one to fill that copies were started to.
  int64_t started = 0;
  /// All copies, and those up to the last one of each buffer that is filled.
  int64_t copies = 0;
  SmallVector<int64_t> lastCopies;
  /// Groups that copied each position of what is not waited for, if they did.
  SmallVector<int64_t> copyGroups;
  /// Whether the other CTA of a cluster may still read what was released.
  bool isReadByOther = false;
  /// Of buffers released since the last barrier, the groups that kept to
  /// positions of their own, who alone read them; and how many are released for
  /// `freeGroups`, which have met.
  SmallVector<Groups> readGroups;
  int64_t freeInGroups = 0, freeGroups = 0;

  /// What a turn of a loop must do as often as each other, and leave as it was.
  std::array<int64_t, 5> getState() const {
    return {acquired, filled, waited, released, started};
  }
};

class HazardCheck {
public:
  explicit HazardCheck(int64_t threads) : threads(threads) {}
  LogicalResult check(Block &block);
  /// Whether all have waited where they arrived; else an error.
  LogicalResult checkEnd();

private:
  LogicalResult check(Operation *op);
  LogicalResult acquire(AcquireOp op);
  LogicalResult fill(CopyOp op);
  LogicalResult wait(WaitOp op);
  LogicalResult read(Operation *op, Value buffer, const Access &access);
  LogicalResult write(ExchangeOp op);
  LogicalResult prepare(PrepareOp op);
  LogicalResult multiply(Operation *op, Value operand);
  LogicalResult release(ReleaseOp op);
  LogicalResult refill(RefillOp op);
  LogicalResult refilled(RefilledOp op);
  LogicalResult copyStep(CopyStepOp op);
  LogicalResult contractStep(ContractStepOp op);
  LogicalResult write(LeaveRowsOp op);
  LogicalResult clear(ClearOp op);
  LogicalResult checkParts(IfAlignedOp op);
  LogicalResult meet(BarrierOp op);
  LogicalResult meetByNumber(Operation *op, int64_t groupThreads);
  LogicalResult checkTurns(ForOp loop);
  LogicalResult checkArrived(Operation *op);
  /// All meet, or those of each group, which have memory of their own.
  void meetAll(bool isOfGroup = false);
  void meetInCluster();
  void meet(int64_t groups);
  Access getAccess(Operation *op, Value fragment, Value buffer,
                   DenseI64ArrayAttr along);

  /// The memory behind `value`.
  Memory &get(Value value) {
    value = getOrigin(value);
    if (auto alloc = value.getDefiningOp<AllocOp>())
      if (alloc->getNumOperands() == 1)
        value = alloc->getOperand(0);
    return memory[value];
  }

  int64_t threads;
  /// Where the threads arrived that do not wait for the cluster yet, or null.
  Operation *arrived = nullptr;
  /// The last one that reads buffers of both CTAs, or null.
  Operation *lastOfBoth = nullptr;
  /// Threads of the groups that have met at barriers with numbers since all
  /// have; 0 if none have.
  int64_t numberedThreads = 0;
  llvm::MapVector<Value, Memory> memory;
  llvm::MapVector<Value, Slots> rings;
  /// Numbers of buffers that were acquired, and waited for.
  DenseMap<Value, int64_t> acquired, waited;
};

} // namespace

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
    ++slots.copies;
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
    slots.lastCopies.push_back(slots.copies);
  }
  return success();
}

LogicalResult HazardCheck::wait(WaitOp op) {
  if (failed(checkArrived(op)))
    return failure();
  Slots &slots = rings[op->getOperand(0)];
  // wait_c2
  if (slots.filled <= slots.waited)
    return op.emitOpError("waits for a slot that no tile.copy fills");
  int64_t behind = slots.copies - slots.lastCopies[slots.waited];
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

void HazardCheck::meetAll(bool isOfGroup) {
  numberedThreads = 0;
  for (auto &[value, found] : memory) {
    // Operands are what the threads of all groups have prepared.
    if (isOfGroup && (isa<OperandType>(value.getType()) ||
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
  ++slots.copies;
  slots.lastCopies.push_back(slots.copies);
  slots.copyGroups.push_back(1);
  slots.readGroups.push_back(Groups());
  return checkArrived(op);
}

//===----------------------------------------------------------------------===//
// Steps of a chain
//===----------------------------------------------------------------------===//

/// A ring of a step is filled as a whole, from the first slot on.
LogicalResult HazardCheck::copyStep(CopyStepOp op) {
  for (Value operand : op->getOperands()) {
    if (!isa<RingType>(operand.getType()))
      continue;
    Memory &found = memory[operand];
    // contract_step_c9
    if (found.isArriving)
      return op.emitOpError("starts a ring again that no tile.contract_step "
                            "has taken the pieces of");
    // copy_step_c3
    if (!found.readers.empty())
      return op.emitOpError("starts copies to slots that other threads may "
                            "still read: expects a tile.barrier in front");
    found.isArriving = true;
  }
  return checkArrived(op);
}

LogicalResult HazardCheck::contractStep(ContractStepOp op) {
  for (Value operand : op->getOperands()) {
    if (isa<RingType>(operand.getType())) {
      Memory &found = memory[operand];
      // contract_step_c9
      if (!found.isArriving)
        return op.emitOpError("takes pieces from a ring that no tile.copy_step "
                              "has started since its last turn");
      found.isArriving = false;
      found.readers.push_back(Access());
    } else if (isa<BufferType>(operand.getType())) {
      // contract_step_c8
      if (failed(read(op, operand, Access())))
        return failure();
    }
  }
  return success();
}

LogicalResult HazardCheck::write(LeaveRowsOp op) {
  for (Value operand : op->getOperands()) {
    if (!isa<BufferType>(operand.getType()))
      continue;
    Memory &found = get(operand);
    // leave_rows_c4
    if (!found.readers.empty() || !found.writers.empty())
      return op.emitOpError("overwrites what other threads may still read: "
                            "expects a tile.barrier in between");
    found.writers.push_back(Access());
  }
  return checkArrived(op);
}

LogicalResult HazardCheck::clear(ClearOp op) {
  get(op->getOperand(0)).writers.push_back(Access());
  return checkArrived(op);
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
    if (slots.getState() != end.getState() || slots.copies != end.copies)
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
    bool isOfGroup = groups > 1 && op->getParentOp() != kernel;
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
        // What pieces of chunks are multiplied by is in rings of its own.
        if (isa<ViewType>(product->getOperand(2).getType()))
          return success();
        // Its warpgroups meet, each by a number, between pieces.
        if (failed(meetByNumber(product, 4 * 32)))
          return failure();
        return multiply(product, product->getOperand(2));
      })
      .Case([&](BarrierOp barrier) { return meet(barrier); })
      .Case([&](ReleaseOp releaseOp) { return release(releaseOp); })
      .Case([&](ForOp loop) { return checkTurns(loop); })
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
LogicalResult HazardCheck::checkTurns(ForOp loop) {
  llvm::MapVector<Value, Slots> before = rings;
  Block &body = loop->getRegion(0).front();
  if (failed(check(body)) || failed(check(body)))
    return failure();
  for (auto &[value, slots] : rings) {
    std::array<int64_t, 5> first = before[value].getState(),
                           end = slots.getState();
    int64_t taken = (end[0] - first[0]) / 2;
    // for_c5
    for (unsigned index = 0; index < 4; ++index)
      if (end[index] - first[index] != 2 * taken || end[4] != first[4])
        return loop.emitOpError("expects a turn to acquire, fill, wait for and "
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
            .Case<ExchangeOp, StoreOp, CopyOp>([](auto) { return 2; })
            .Case<AcquireOp, WaitOp, ReleaseOp, PrepareOp, ResizeOp, RefillOp,
                  RefilledOp, tile::QuantizeOp, ClearOp, LoadRowsOp>(
                [](auto) { return 1; })
            .Default([](Operation *) { return 0; });
    bool hasBody = !isa<ForOp, ForBoxesOp, ForColumnsOp, ForBlocksOp,
                        ForPiecesOp, ForFibresOp, ForStepOp>(op) ||
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
