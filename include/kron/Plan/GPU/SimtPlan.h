//===- SimtPlan.h - Launches and tiles of the general GPU code --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the general kernel does: what its plan says, and what follows from that
// and the types. A tile takes contracted axes whole and a fixed extent of every
// other one; it goes through all products between two buffers in shared memory.
// A fused op whose tile does not fit becomes several kernels.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_SIMTPLAN_H
#define KRON_PLAN_GPU_SIMTPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "llvm/ADT/SmallBitVector.h"
#include <string>
#include <variant>
#include <vector>

namespace mlir::kron {

/// What a plan says of one launch.
struct SimtChoices {
  /// Mode products that it applies.
  int64_t factors = 0;
  /// Positions of a tile along each axis before it does: all of those that it
  /// contracts.
  SmallVector<int64_t> extents;
  int64_t ctasPerSM = 1;

  template <typename Visitor>
  static void visitFields(Visitor &visit, SimtChoices &choices) {
    visit("factors", choices.factors);
    visit("extents", choices.extents);
    visit("ctas_per_sm", choices.ctasPerSM);
  }
};

/// One mode product within a launch.
struct SimtStage {
  ModeProductOp product;
  unsigned axis;
  /// p and q.
  int64_t sizeK, sizeN;
  /// Neighbouring results that a thread computes together.
  int64_t block;
  /// Byte offset of the factor in shared memory, laid out [p][q padded to whole
  /// blocks]; -1 where it stays in global memory.
  int64_t factorOffset = -1;
  int64_t getPaddedResults() const;
};

/// One launch: some mode products, one after the other.
struct SimtLaunch {
  SmallVector<SimtStage> stages;
  /// Axes that the steps contract.
  llvm::SmallBitVector contracted;
  /// Sizes of the whole arrays before and after; dynamic ones as in types.
  SmallVector<int64_t> before, after;
  /// Bytes of an accumulator.
  int64_t elementBytes = 4;
  /// Sizes of a tile before each step, and after the last.
  SmallVector<SmallVector<int64_t>> extents;
  /// Byte offsets of the two buffers, and what the kernel takes in all.
  int64_t bufferOffsets[2] = {0, 0};
  int64_t sharedBytes = 0;
  int64_t ctasPerSM = 1;
};

struct SimtPlan {
  int64_t threads = 0;
  std::vector<SimtLaunch> launches;
};

/// The mode products of a fused region.
struct SimtChain {
  SmallVector<ModeProductOp> products;
  /// Sizes of the array before each product, and after the last.
  SmallVector<SmallVector<int64_t>> shapes;
  /// Bytes of an accumulator.
  int64_t elementBytes = 4;
};

/// Strides of a tile of `extents` in a buffer: row-major, with rows of an odd
/// pitch, so that lanes which are a row apart read different banks.
SmallVector<int64_t> getBufferStrides(ArrayRef<int64_t> extents);

/// Elements of a tile of `extents`; a very large number if they are more than
/// that.
int64_t getTileElements(ArrayRef<int64_t> extents);

/// What no choice changes of `fused`; or why it cannot become general kernels.
std::variant<SimtChain, std::string> describeSimt(FusedOp fused);

/// The launch of products [first, end) of `chain`, still without a tile.
SimtLaunch describeSimtLaunch(const SimtChain &chain, unsigned first,
                              unsigned end);

/// Lays buffers out for tiles of `tile`, which counts for axes that `launch`
/// does not contract.
void setSimtTile(SimtLaunch &launch, ArrayRef<int64_t> tile);

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<SimtPlan, std::string> readSimtPlan(FusedOp fused,
                                                 GPUPlanAttr plan);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_SIMTPLAN_H
