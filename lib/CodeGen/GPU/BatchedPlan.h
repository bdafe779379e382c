//===- BatchedPlan.h - Steps and tiles of the batched kernel ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the batched kernel looks like, worked out from the types and the
// given. All numbers are in elements unless they say bytes.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_BATCHEDPLAN_H
#define KRON_LIB_CODEGEN_GPU_BATCHEDPLAN_H

#include "kron/CodeGen/GPU/Problem.h"
#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

/// How items lie in shared memory: planes (the two innermost axes) one after
/// the other, `pitch` apart. An odd number of 16-byte chunks per plane lets
/// threads that each read a plane of their own do so without bank conflicts.
struct ItemLayout {
  SmallVector<int64_t> sizes;
  int64_t planeSize = 1;
  int64_t pitch = 1;
  int64_t numPlanes = 1;

  int64_t getElements() const { return planeSize * numPlanes; }
  /// From one item to the next.
  int64_t getItemPitch() const { return pitch * numPlanes; }
  /// Positions inside `axis`, within its plane.
  int64_t getInside(unsigned axis) const;
  bool operator==(const ItemLayout &other) const {
    return sizes == other.sizes;
  }
};

/// One factor applied to fibres, or two applied to the planes of the two
/// innermost axes, in this order.
struct BatchedStep {
  SmallVector<unsigned> products;
  ItemLayout source, destination;
  bool isPlane() const { return products.size() == 2; }
};

/// Where the fibres of a step lie in a layout: those of `width` neighbouring
/// positions are a unit.
struct FibreWalk {
  /// From one position of the fibre to the next; 1 if nothing lies inside it.
  int64_t stride = 1;
  /// Neighbouring fibres, or (if stride is 1) neighbouring positions of one,
  /// that one access takes.
  int64_t width = 1;
};

/// The largest power of two up to `limit` that divides all of `numbers`.
int64_t getCommonWidth(int64_t limit, ArrayRef<int64_t> numbers);

struct BatchedPlan {
  /// First axis of the items, as the fused region counts them.
  unsigned firstAxis = 0;
  SmallVector<ProblemFactor> factors;
  SmallVector<BatchedStep> steps;
  /// Elements of 16 bytes.
  int64_t chunk = 4;
  int64_t itemsPerTile = 1;
  int64_t threads = 64;
  int64_t ctasPerSM = 1;
  int64_t stages = 2;
  /// Fibres that a thread takes through a factor together.
  int64_t fibres = 4;
  /// Room behind a tile, for what threads compute in excess.
  int64_t slackItems = 0;

  const ItemLayout &getInput() const { return steps.front().source; }
  const ItemLayout &getOutput() const { return steps.back().destination; }
  /// Of one pipeline stage, of one of `numWorkBuffers` buffers beside the
  /// stages, and of all factors; the latter have rows [q] padded to whole
  /// chunks.
  int64_t getStageElements() const;
  int64_t getWorkElements() const;
  int64_t getFactorElements() const;
  int64_t getSharedElements() const;
  int64_t numWorkBuffers = 0;
  bool hasPlanes() const {
    return llvm::any_of(steps,
                        [](const BatchedStep &step) { return step.isPlane(); });
  }

  // Steps of one product.
  FibreWalk getSourceWalk(const BatchedStep &step) const;
  FibreWalk getDestinationWalk(const BatchedStep &step) const;
  /// Units are the same fibres on both sides.
  int64_t getFibresPerUnit(const BatchedStep &step) const;
  int64_t getNumUnits(const BatchedStep &step) const;
  /// Units that a thread takes at a time.
  int64_t getUnitsTogether(const BatchedStep &step) const {
    return std::max<int64_t>(fibres / getFibresPerUnit(step), 1);
  }
  /// Row pitch of a factor in shared memory.
  int64_t getFactorPitch(unsigned index) const {
    return llvm::alignTo(factors[index].sizeN, chunk);
  }
};

/// The plan for `fused`, which the emitter takes; null if its items or its
/// plan need more than a CTA has.
std::optional<BatchedPlan> getBatchedPlan(FusedOp fused,
                                          const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_BATCHEDPLAN_H
