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

#ifndef KRON_LIB_CODEGEN_GPU_FFMAPLAN_H
#define KRON_LIB_CODEGEN_GPU_FFMAPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::kron {

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
  int64_t values, items;
  /// Items that a thread takes at a time, to share the factor's loads.
  int64_t batch;
};

struct FfmaPlan {
  /// In the order of application.
  SmallVector<FfmaGroup, 2> groups;
  llvm::SmallBitVector contracted;
  /// Of the result; of the tile before all groups.
  SmallVector<int64_t> sizes, extents;
  /// Straight from global memory to registers and back: one group, and lanes
  /// run along an axis that it does not touch.
  bool direct = false;
  /// The last group holds the innermost axis of the result: written back to
  /// shared memory, and copied out from there.
  bool copiesOut = false;
  /// Places in shared memory, in elements, and the axis that is a ring of
  /// `ringSlots` slots, `slots` of them per tile.
  SmallVector<int64_t> strides;
  unsigned slotAxis = 0;
  int64_t slots = 1, ringSlots = 1;
  /// Threads that work on one slot only until a group takes the slots' axis,
  /// and then wait for each other alone; 0 if all threads share all slots.
  int64_t slotThreads = 0;
  /// Byte offset of the ring.
  int64_t ringOffset = 0;
  /// Elements of one asynchronous copy.
  int64_t copyWidth = 1;
  int64_t threads = 128, ctasPerSM = 1, sharedBytes = 0;
  /// Fibres and results that a thread accumulates at a time.
  int64_t accumulators = 32;
  /// Results of a block, if there is room for more fibres than fit with all.
  int64_t blockResults = 0;

  bool hasSlots(const FfmaGroup &group) const {
    return llvm::any_of(group.axes, [&](const FfmaAxis &axis) {
      return axis.axis == slotAxis;
    });
  }
};

/// The plan of `fused`, or nothing and a reason.
std::optional<FfmaPlan> planFfma(FusedOp fused, const GPUMachine &machine,
                                 std::string &reason);

/// Elements that one asynchronous copy of the fused region's input takes if
/// addresses allow it.
int64_t getFfmaCopyWidth(FusedOp fused);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_FFMAPLAN_H
