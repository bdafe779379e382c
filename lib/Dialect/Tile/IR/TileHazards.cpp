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
// them met at a barrier.
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

/// Who reads or writes memory: a loop whose threads keep to boxes of their own
/// (null: all threads, anywhere), and what boxes these are.
struct Access {
  Operation *loop = nullptr;
  Attribute along;
  int64_t width = 0;
  /// Whether each thread finds its own boxes.
  bool operator==(const Access &other) const {
    return loop && loop == other.loop && along == other.along &&
           width == other.width;
  }
};

/// What threads do to shared memory between two barriers.
struct Memory {
  /// Copied, and not waited for.
  bool isArriving = false;
  /// Each thread has waited, but for its own copies.
  bool isApart = false;
  /// Nothing is read any more.
  bool isReleased = false;
  /// Since the last barrier.
  SmallVector<Access> readers, writers;
};

/// Slots of a ring: how many were acquired, filled, waited for, released, and
/// released in front of a barrier.
struct Slots {
  int64_t acquired = 0, filled = 0, waited = 0, released = 0, free = 0;
};

class HazardCheck {
public:
  LogicalResult check(Block &block);

private:
  LogicalResult check(Operation *op);
  LogicalResult acquire(AcquireOp op);
  LogicalResult fill(CopyOp op);
  LogicalResult wait(WaitOp op);
  LogicalResult read(Operation *op, Value buffer, const Access &access);
  LogicalResult write(ExchangeOp op);
  LogicalResult multiply(ContractOp op);
  void meet();

  /// The memory behind `value`.
  Memory &get(Value value) {
    if (auto alloc = value.getDefiningOp<AllocOp>())
      if (alloc->getNumOperands() == 1)
        value = alloc->getOperand(0);
    return memory[value];
  }

  llvm::MapVector<Value, Memory> memory;
  llvm::MapVector<Value, Slots> rings;
};

} // namespace

/// How `op` moves boxes of `fragment` along `along`.
static Access getAccess(Operation *op, Value fragment,
                        DenseI64ArrayAttr along) {
  Access access{op->getParentOfType<ForBoxesOp>(), along, 1};
  auto type = dyn_cast<FragmentType>(fragment.getType());
  if (type && along && type.getBox().size() > size_t(along.size()))
    access.width = type.getShape().back();
  return access;
}

static bool hasOthers(ArrayRef<Access> accesses, const Access &own) {
  return llvm::any_of(accesses,
                      [&](const Access &access) { return !(access == own); });
}

LogicalResult HazardCheck::acquire(AcquireOp op) {
  Slots &slots = rings[op->getOperand(0)];
  auto ring = dyn_cast<RingType>(op->getOperand(0).getType());
  // acquire_c2
  if (ring && slots.acquired - slots.free >= ring.getStages())
    return op.emitOpError("takes a slot that may still be read: expects a "
                          "tile.release of it and a tile.barrier in front");
  ++slots.acquired;
  memory[op->getResult(0)] = Memory();
  memory[op->getResult(0)].isArriving = true;
  return success();
}

LogicalResult HazardCheck::fill(CopyOp op) {
  for (Value operand : op->getOperands()) {
    if (!isa<BufferType>(operand.getType()))
      continue;
    auto acquired = operand.getDefiningOp<AcquireOp>();
    // copy_c8
    if (!acquired)
      return op.emitOpError("expects to fill a slot from tile.acquire");
    ++rings[acquired->getOperand(0)].filled;
  }
  return success();
}

LogicalResult HazardCheck::wait(WaitOp op) {
  Slots &slots = rings[op->getOperand(0)];
  int64_t behind = slots.filled - slots.waited - 1;
  // wait_c2
  if (behind < 0)
    return op.emitOpError("waits for a slot that no tile.copy fills");
  // wait_c3
  if (op.getPendingAttr() && op.getPendingAttr().getInt() > behind)
    return op.emitOpError("lets ")
           << op.getPendingAttr().getInt() << " copies be pending, but only "
           << behind << " were started behind the one that it waits for";
  ++slots.waited;
  memory[op->getResult(0)] = Memory();
  memory[op->getResult(0)].isApart = true;
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
  if (found.isApart)
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
  Access access = getAccess(op, op->getOperand(0), op.getAlongAttr());
  // exchange_c2
  if (found.isArriving || found.isReleased || found.isApart)
    return op.emitOpError("writes to a slot that is not this turn's: expects "
                          "one from tile.wait, behind a tile.barrier");
  // exchange_c3
  if (hasOthers(found.readers, access))
    return op.emitOpError("overwrites what other threads may still read: "
                          "expects a tile.barrier in between");
  // exchange_c4
  if (!found.writers.empty())
    return op.emitOpError("writes elements that another operation has written: "
                          "expects a tile.barrier in between");
  found.writers.push_back(access);
  return success();
}

LogicalResult HazardCheck::multiply(ContractOp op) {
  if (!get(op->getOperand(1)).isApart)
    return success();
  // release_c1
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
  for (auto &[value, slots] : rings)
    slots.free = slots.released;
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
        return read(load, load->getOperand(0),
                    getAccess(load, load->getResult(0), load.getAlongAttr()));
      })
      .Case([&](StoreOp store) {
        bool isBuffer = isa<BufferType>(store->getOperand(0).getType());
        return isBuffer ? read(store, store->getOperand(0), Access())
                        : success();
      })
      .Case([&](ExchangeOp exchange) { return write(exchange); })
      .Case([&](ContractOp contract) { return multiply(contract); })
      .Case([&](BarrierOp) {
        meet();
        return success();
      })
      .Case([&](ReleaseOp release) {
        Value slot = release->getOperand(0);
        auto waited = slot.getDefiningOp<WaitOp>();
        if (!waited)
          return LogicalResult(
              release.emitOpError("expects a slot from tile.wait"));
        memory[slot].isReleased = true;
        ++rings[waited->getOperand(0)].released;
        return success();
      })
      .Case([&](ForOp loop) {
        // Its second turn meets what the first one leaves.
        Block &body = loop->getRegion(0).front();
        return failure(failed(check(body)) || failed(check(body)));
      })
      .Case([&](ForBoxesOp loop) { return check(loop->getRegion(0).front()); })
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
            .Case<AcquireOp, WaitOp, ReleaseOp, PrepareOp>(
                [](auto) { return 1; })
            .Default([](Operation *) { return 0; });
    bool hasBody = !isa<ForOp, ForBoxesOp>(op) ||
                   (op->getNumRegions() == 1 && !op->getRegion(0).empty());
    return op->getNumOperands() >= least && hasBody ? WalkResult::advance()
                                                    : WalkResult::interrupt();
  });
  if (complete.wasInterrupted() || kernel.getBody().empty())
    return success();
  return HazardCheck().check(kernel.getBody().front());
}
