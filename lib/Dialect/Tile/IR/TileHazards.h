//===- TileHazards.h - Races of tiles in shared memory ----------*- C++ -*-===//
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

#ifndef KRON_LIB_DIALECT_TILE_IR_TILEHAZARDS_H
#define KRON_LIB_DIALECT_TILE_IR_TILEHAZARDS_H

#include "TileRules.h"
#include "llvm/ADT/MapVector.h"
#include <numeric>

namespace mlir::kron::tile {

/// `axis` of groups that keep to shares of a tile, in the order of its
/// elements.
inline constexpr int64_t kShares = -1;

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
  /// Copies up to the last one of each buffer that is filled.
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
  LogicalResult checkTurns(Operation *loop);
  LogicalResult startPieces(CopyPiecesOp op);
  LogicalResult multiplyChunks(ContractPiecesOp op);
  LogicalResult pair(PairChunksOp op);
  LogicalResult spread(SpreadOp op);
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
  /// Copies that were started, to any ring.
  int64_t copies = 0;
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

} // namespace mlir::kron::tile

#endif // KRON_LIB_DIALECT_TILE_IR_TILEHAZARDS_H
