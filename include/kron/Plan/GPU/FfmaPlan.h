//===- FfmaPlan.h - Groups of axes and tiles of the FFMA kernel -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The contracted axes are put into groups that fit a thread's registers, the
// innermost axes first. Between the groups a tile lies in shared memory, where
// each group works in place: every element has one place, whatever groups have
// been applied, so that sizes K and N of an axis share max(K, N) places.
//
// The tile's outermost axis is a ring of slots, so that part of the next tile,
// or all of it, is on its way while this one is worked on.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_FFMAPLAN_H
#define KRON_PLAN_GPU_FFMAPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>
#include <string>
#include <variant>

namespace mlir::kron {

/// 4-byte values that a thread holds at a time.
inline constexpr int64_t kFfmaValues = 64;

/// A contracted axis and its factor.
struct FfmaAxis {
  ModeProductOp product;
  unsigned axis;
  /// K and N.
  int64_t sizeK, sizeN;
  /// Results per row of the factor in shared memory, padded to 16 bytes, and
  /// the factor's byte offset there.
  int64_t pitch, factorOffset;
};

/// Axes that a thread applies together.
struct FfmaGroup {
  SmallVector<FfmaAxis> axes;
  /// Sizes of the tile before and after.
  SmallVector<int64_t> before, after;
  /// Values that an item has at most, and items in the tile.
  int64_t values = 1, items = 0;
  /// Items that a thread takes at a time, to share the factor's loads.
  int64_t batch = 1;
};

/// What is chosen: the fields of the plan.
struct FfmaChoices {
  /// Of the tile before all groups, per axis.
  SmallVector<int64_t> extents;
  int64_t threads = 128, ctasPerSM = 1;
  /// Slots of the ring; 0 if there is none.
  int64_t ringSlots = 0;
  /// Results of a block, if there is room for more fibres than fit with all.
  int64_t blockResults = 0;
  /// Results of a block that are stored as soon as they are known; 0: none are.
  int64_t streamedResults = 4;
  /// Copies that a thread starts per turn of a loop.
  int64_t copies = 8;
  /// Bytes that pointers and strides are multiples of.
  int64_t alignment = 0;

  template <typename Visitor>
  static void visitFields(Visitor &visit, FfmaChoices &choices) {
    visit("extents", choices.extents);
    visit("threads", choices.threads);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("ring_slots", choices.ringSlots);
    visit("block_results", choices.blockResults);
    visit("streamed_results", choices.streamedResults);
    visit("copies", choices.copies);
    visit("alignment", choices.alignment);
  }
};

struct FfmaPlan : FfmaChoices {
  // What follows from the fused region.

  /// In the order of application.
  SmallVector<FfmaGroup, 2> groups;
  llvm::SmallBitVector contracted;
  /// Of the result.
  SmallVector<int64_t> sizes;
  int64_t elementBytes = 4;
  /// The axis along which neighbours of the input lie if those of the result
  /// lie along another one, or -1.
  int turnedAxis = -1;
  /// Straight from global memory to registers and back: one group, and lanes
  /// go along an axis that it does not touch.
  bool direct = false;
  /// Byte offset of the ring.
  int64_t ringOffset = 0;
  /// Fibres and results that a thread accumulates at a time.
  int64_t accumulators = 32;

  // What follows from the tile.

  /// The last group holds the innermost axis of the result: written back to
  /// shared memory, and copied out from there.
  bool copiesOut = false;
  /// Elements of one asynchronous copy.
  int64_t copyWidth = 1;
  /// Places in shared memory, in elements, and the axis that is a ring of
  /// `ringSlots` slots, `slots` of them per tile.
  SmallVector<int64_t> strides;
  unsigned slotAxis = 0;
  int64_t slots = 1;

  // What follows from tile and threads.

  /// Threads that work on one slot only until a group takes the slots' axis,
  /// and then wait for each other alone; 0 if all threads share all slots.
  int64_t slotThreads = 0;

  bool hasSlots(const FfmaGroup &group) const {
    return llvm::any_of(group.axes, [&](const FfmaAxis &axis) {
      return axis.axis == slotAxis;
    });
  }
  int64_t getSlotBytes() const {
    return direct ? 0 : strides[slotAxis] * elementBytes;
  }
  int64_t getSharedBytes() const {
    return ringOffset + ringSlots * getSlotBytes();
  }
  /// Places of a tile along each axis, before and after any group.
  SmallVector<int64_t> getRoom() const;
  /// Whether results of `group` are stored before all are known: all items are
  /// there, and blocks hold whole vectors of what is stored, since they have
  /// all fibres of an item, or items are fibres.
  bool streams(const FfmaGroup &group) const;
  /// Fibres, of `fibres`, and results that a thread computes at a time.
  SmallVector<int64_t> getBlock(const FfmaAxis &axis, int64_t fibres,
                                bool streams) const;
  /// Items of `group` that each of `threads` takes at a time.
  int64_t getBatch(const FfmaGroup &group, int64_t threads) const;
};

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<FfmaPlan, std::string> readFfmaPlan(FusedOp fused,
                                                 GPUPlanAttr plan);

/// The part of a plan that follows from `fused` alone; or why there is no plan
/// for it.
std::variant<FfmaPlan, std::string> describeFfma(FusedOp fused);

/// Sets what follows from the extents and the alignment of `plan`, which is
/// what describeFfma gave otherwise; or says why they are none for `fused`.
std::optional<std::string> placeFfmaTile(FusedOp fused, FfmaPlan &plan);

/// Elements that one asynchronous copy of the fused region's input takes if
/// addresses allow it.
int64_t getFfmaCopyWidth(FusedOp fused);

/// Why no kernel of arrays of one element type takes `fused`, if none does:
/// arrays that are empty or of several types, factors of unknown sizes, an
/// epilogue, or axes that are regrouped.
std::optional<std::string> getOperandsReason(FusedOp fused);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_FFMAPLAN_H
