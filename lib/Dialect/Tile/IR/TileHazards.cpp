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
// along the outermost axis need only meet among themselves.
//
// It runs before the operations in the kernel are verified, and takes nothing
// for granted that they check.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

/// Groups of threads that keep to one position each along an axis; none if
/// `count` is 0.
struct Groups {
  int64_t count = 0, axis = 0;
  bool operator==(const Groups &other) const {
    return count == other.count && axis == other.axis;
  }
};

/// Who reads or writes memory: a loop whose threads keep to boxes of their own
/// (null: all threads, anywhere), and what boxes these are.
struct Access {
  Operation *loop = nullptr;
  Attribute along;
  int64_t width = 0;
  /// Groups that keep to positions of their own, and whether each has met
  /// since.
  Groups groups;
  bool haveMet = false;
  /// Whether each thread finds its own boxes, or each group its own.
  bool isApartFrom(const Access &other) const {
    return (loop && loop == other.loop && along == other.along &&
            width == other.width) ||
           (haveMet && groups == other.groups);
  }
};

/// What threads do to shared memory between two barriers.
struct Memory {
  /// Copied, and not waited for.
  bool isArriving = false;
  /// Each thread has waited, but for its own copies; of which groups have one
  /// position each, and may have met.
  bool isApart = false;
  Groups groups;
  bool haveMet = false;
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
  /// Of buffers released since the last barrier, the groups that kept to
  /// positions of their own, who alone read them; and how many are released for
  /// `freeGroups`, which have met.
  SmallVector<Groups> readGroups;
  int64_t freeInGroups = 0, freeGroups = 0;
};

class HazardCheck {
public:
  explicit HazardCheck(int64_t threads) : threads(threads) {}
  LogicalResult check(Block &block);

private:
  LogicalResult check(Operation *op);
  LogicalResult acquire(AcquireOp op);
  LogicalResult fill(CopyOp op);
  LogicalResult wait(WaitOp op);
  LogicalResult read(Operation *op, Value buffer, const Access &access);
  LogicalResult write(ExchangeOp op);
  LogicalResult multiply(ContractOp op);
  LogicalResult release(ReleaseOp op);
  void meet();
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
  static Value getOrigin(Value value) {
    while (auto resize = value.getDefiningOp<ResizeOp>())
      value = resize->getOperand(0);
    return value;
  }

  int64_t threads;
  llvm::MapVector<Value, Memory> memory;
  llvm::MapVector<Value, Slots> rings;
  /// Numbers of buffers that were acquired.
  DenseMap<Value, int64_t> acquired;
};

} // namespace

/// Groups of threads that keep to a position each of `buffer`'s outermost axis
/// of several ones if `loop` shares its boxes along `along`.
static Groups getGroups(ForBoxesOp loop, int64_t threads, Value buffer,
                        ArrayRef<int64_t> along) {
  auto type = dyn_cast<BufferType>(buffer.getType());
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

/// How `op` moves boxes of `fragment` along `along`.
Access HazardCheck::getAccess(Operation *op, Value fragment, Value buffer,
                              DenseI64ArrayAttr along) {
  auto loop = op->getParentOfType<ForBoxesOp>();
  Access access;
  access.loop = loop;
  access.along = along;
  access.width = 1;
  auto type = dyn_cast<FragmentType>(fragment.getType());
  if (type && along && type.getBox().size() > size_t(along.size()))
    access.width = type.getShape().back();
  else if (along)
    access.groups = getGroups(loop, threads, buffer, along);
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
      slots.acquired - slots.free >= ring.getStages())
    return op.emitOpError("takes a slot that may still be read: expects a "
                          "tile.release of it and a tile.barrier in front");
  acquired[op->getResult(0)] = slots.acquired++;
  memory[op->getResult(0)] = Memory();
  memory[op->getResult(0)].isArriving = true;
  return success();
}

LogicalResult HazardCheck::fill(CopyOp op) {
  for (Value operand : op->getOperands()) {
    auto buffer = dyn_cast<BufferType>(operand.getType());
    if (!buffer)
      continue;
    auto acquire = getOrigin(operand).getDefiningOp<AcquireOp>();
    // copy_c8
    if (!acquire)
      return op.emitOpError("expects to fill a slot from tile.acquire");
    Slots &slots = rings[acquire->getOperand(0)];
    ++slots.copies;
    auto ring = dyn_cast<RingType>(acquire->getOperand(0).getType());
    if (ring && ring.getAlong()) {
      int64_t size = buffer.getShape()[*ring.getAlong()], first = 0, end = size;
      if (DenseI64ArrayAttr part = op.getPartAttr(); part && part.size() == 2)
        first = part[0], end = part[1];
      int64_t number = acquired.lookup(acquire->getResult(0));
      int64_t perBuffer = ring.getSlotsPerBuffer(), free = slots.free;
      if (slots.freeGroups == static_cast<int64_t>(op.getGroups()) &&
          ring.getStages() % perBuffer == 0)
        free = std::max(free, slots.freeInGroups);
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
    }
    slots.started = 0;
    ++slots.filled;
    slots.lastCopies.push_back(slots.copies);
  }
  return success();
}

LogicalResult HazardCheck::wait(WaitOp op) {
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
  ++slots.waited;
  Memory &found = memory[op->getResult(0)] = Memory();
  found.isApart = true;
  auto ring = dyn_cast<RingType>(op->getOperand(0).getType());
  if (ring && ring.getAlong() && !slots.copyGroups.empty() &&
      llvm::all_equal(slots.copyGroups))
    found.groups = {slots.copyGroups.front(), *ring.getAlong()};
  if (slots.filled == slots.waited && slots.started == 0)
    slots.copyGroups.clear();
  return success();
}

LogicalResult HazardCheck::read(Operation *op, Value buffer,
                                const Access &access) {
  Memory &found = get(buffer);
  // load_c9
  if (found.isArriving)
    return op->emitOpError("reads a slot that was not waited for: expects one "
                           "from tile.wait");
  // load_c11
  if (found.isReleased)
    return op->emitOpError("reads a slot behind its tile.release");
  // load_c10
  if (found.isApart && !(found.haveMet && found.groups == access.groups))
    return op->emitOpError("reads what other threads have copied: expects a "
                           "tile.barrier behind the tile.wait");
  // load_c12
  if (hasOthers(found.writers, access))
    return op->emitOpError("reads what other threads have written: expects a "
                           "tile.barrier in between");
  found.readers.push_back(access);
  return success();
}

LogicalResult HazardCheck::write(ExchangeOp op) {
  Memory &found = get(op->getOperand(1));
  Access access =
      getAccess(op, op->getOperand(0), op->getOperand(1), op.getAlongAttr());
  // exchange_c2
  if (found.isArriving || found.isReleased ||
      (found.isApart && !(found.haveMet && found.groups == access.groups)))
    return op.emitOpError("writes to a slot that is not this turn's: expects "
                          "one from tile.wait, behind a tile.barrier");
  // exchange_c3
  if (hasOthers(found.readers, access))
    return op.emitOpError("overwrites what other threads may still read: "
                          "expects a tile.barrier in between");
  // exchange_c4
  if (llvm::any_of(found.writers, [&](const Access &writer) {
        return !writer.haveMet || !(writer.groups == access.groups);
      }))
    return op.emitOpError("writes elements that another operation has written: "
                          "expects a tile.barrier in between");
  found.writers.push_back(access);
  return success();
}

LogicalResult HazardCheck::multiply(ContractOp op) {
  if (!get(op->getOperand(1)).isApart)
    return success();
  // contract_c7
  return op.emitOpError("multiplies by what other threads have copied: expects "
                        "a tile.barrier behind the tile.prepare");
}

void HazardCheck::meet() {
  for (auto &[value, found] : memory) {
    found.isApart = false;
    found.readers.clear();
    found.writers.clear();
  }
  for (auto &[value, slots] : rings) {
    slots.free = slots.released;
    slots.readGroups.clear();
  }
}

/// Each of `groups` groups meets.
void HazardCheck::meet(int64_t groups) {
  for (auto &[value, found] : memory) {
    found.haveMet |= found.isApart && found.groups.count == groups;
    for (SmallVector<Access> *accesses : {&found.readers, &found.writers})
      for (Access &access : *accesses)
        access.haveMet |= access.groups.count == groups;
  }
  for (auto &[value, slots] : rings)
    if (llvm::all_of(slots.readGroups, [&](const Groups &readGroups) {
          return readGroups.count == groups;
        })) {
      slots.freeGroups = groups;
      slots.freeInGroups = slots.released;
    }
}

LogicalResult HazardCheck::release(ReleaseOp op) {
  Value slot = op->getOperand(0);
  auto waited = slot.getDefiningOp<WaitOp>();
  // release_c1
  if (!waited)
    return op.emitOpError("expects a slot from tile.wait");
  Memory &found = memory[slot];
  found.isReleased = true;
  Slots &slots = rings[waited->getOperand(0)];
  ++slots.released;
  auto ring = dyn_cast<RingType>(waited->getOperand(0).getType());
  Groups groups;
  if (ring && ring.getAlong() && !found.readers.empty())
    groups = found.readers.front().groups;
  for (ArrayRef<Access> accesses :
       {ArrayRef(found.readers), ArrayRef(found.writers)})
    for (const Access &access : accesses)
      if (groups.count &&
          (!(access.groups == groups) || groups.axis != ring.getAlong()))
        groups = Groups();
  slots.readGroups.push_back(groups);
  return success();
}

LogicalResult HazardCheck::check(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](AcquireOp acquireOp) { return acquire(acquireOp); })
      .Case([&](CopyOp copy) { return fill(copy); })
      .Case([&](WaitOp waitOp) { return wait(waitOp); })
      .Case([&](PrepareOp prepare) {
        memory[prepare->getResult(0)].isApart = true;
        return success();
      })
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
      .Case([&](ContractOp contract) { return multiply(contract); })
      .Case([&](BarrierOp barrier) {
        int64_t groups = barrier.getGroups();
        groups == 1 ? meet() : meet(groups);
        return success();
      })
      .Case([&](ReleaseOp releaseOp) { return release(releaseOp); })
      .Case([&](ForOp loop) {
        // Its second turn meets what the first one leaves.
        Block &body = loop->getRegion(0).front();
        return failure(failed(check(body)) || failed(check(body)));
      })
      .Case<ForBoxesOp, ForColumnsOp>(
          [&](auto loop) { return check(loop->getRegion(0).front()); })
      .Default([](Operation *) { return success(); });
}

LogicalResult HazardCheck::check(Block &block) {
  for (Operation &op : block)
    if (failed(check(&op)))
      return failure();
  return success();
}

LogicalResult tile::verifyHazards(gpu::GPUFuncOp kernel) {
  // Operations that lack operands say so themselves.
  WalkResult complete = kernel.walk([](Operation *op) {
    unsigned least =
        TypeSwitch<Operation *, unsigned>(op)
            .Case<ContractOp, LoadOp>([](auto) { return 2; })
            .Case<ExchangeOp, StoreOp, CopyOp>([](auto) { return 2; })
            .Case<AcquireOp, WaitOp, ReleaseOp, PrepareOp, ResizeOp>(
                [](auto) { return 1; })
            .Default([](Operation *) { return 0; });
    bool hasBody = !isa<ForOp, ForBoxesOp, ForColumnsOp>(op) ||
                   (op->getNumRegions() == 1 && !op->getRegion(0).empty());
    return op->getNumOperands() >= least && hasBody ? WalkResult::advance()
                                                    : WalkResult::interrupt();
  });
  if (complete.wasInterrupted() || kernel.getBody().empty())
    return success();
  auto shape = kernel->getAttrOfType<KernelAttr>(kKernelAttrName);
  return HazardCheck(shape ? shape.getThreads() : 0)
      .check(kernel.getBody().front());
}
