//===- BatchedPlan.h - Steps and tiles of the batched kernel ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the batched kernel looks like: what its plan says, and what follows from
// that and the types of a kron.fused. All numbers are in elements unless they
// say bytes.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_BATCHEDPLAN_H
#define KRON_PLAN_GPU_BATCHEDPLAN_H

#include "kron/Plan/GPU/Problem.h"
#include <string>
#include <variant>

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

/// What a plan says.
struct BatchedChoices {
  int64_t itemsPerTile = 1;
  int64_t threads = 64;
  int64_t ctasPerSM = 1;
  int64_t stages = 2;
  /// Fibres that a thread takes through a factor together.
  int64_t fibres = 4;
  /// Whether there is room behind a tile for what threads compute in excess.
  bool hasSlack = true;
  /// Fibres of a plane that share the loads of a factor.
  int64_t planeFibres = 4;
  /// Turns of all threads up to which the loop over a step's planes or fibres
  /// is written out.
  int64_t unrolled = 3;
  /// Whether arrays have no gaps and begin at multiples of 16 bytes.
  bool isPacked = false;
  /// Whether the last step's results go to memory from registers.
  bool storesDirectly = false;

  template <typename Visitor>
  static void visitFields(Visitor &visit, BatchedChoices &choices) {
    visit("tile", choices.itemsPerTile);
    visit("threads", choices.threads);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("stages", choices.stages);
    visit("fibres", choices.fibres);
    visit("slack", choices.hasSlack);
    visit("plane_fibres", choices.planeFibres);
    visit("unrolled", choices.unrolled);
    visit("packed", choices.isPacked);
    visit("direct_store", choices.storesDirectly);
  }
};

struct BatchedPlan : BatchedChoices {
  /// First axis of the items, as the fused region counts them.
  unsigned firstAxis = 0;
  SmallVector<ProblemFactor> factors;
  SmallVector<BatchedStep> steps;
  /// Elements of 16 bytes.
  int64_t chunk = 4;
  /// Items that the slack has room for: none where a thread may take a plane.
  int64_t slackItems = 0;
  int64_t numWorkBuffers = 0;

  const ItemLayout &getInput() const { return steps.front().source; }
  const ItemLayout &getOutput() const { return steps.back().destination; }
  /// Of one pipeline stage, of one of `numWorkBuffers` buffers beside the
  /// stages, and of all factors; the latter have rows [q] padded to whole
  /// chunks.
  int64_t getStageElements() const;
  int64_t getWorkElements() const;
  int64_t getFactorElements() const;
  int64_t getSharedElements() const;
  int64_t getSharedBytes() const { return getSharedElements() * 16 / chunk; }
  bool hasPlanes() const {
    return llvm::any_of(steps,
                        [](const BatchedStep &step) { return step.isPlane(); });
  }

  /// Items that tiles have a multiple of, so that they begin at multiples of 16
  /// bytes, in and out.
  int64_t getTileUnit() const;

  // Steps of one product.
  /// Neighbouring fibres that one access takes, on both sides: a unit.
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

/// Steps and layouts of `fused`, which no choice changes; or why the batched
/// kernel does not take it.
std::variant<BatchedPlan, std::string> describeBatched(FusedOp fused);

/// Works out what follows from the choices of `plan`, or why no kernel has
/// them.
std::optional<std::string> completeBatchedPlan(BatchedPlan &plan);

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<BatchedPlan, std::string> readBatchedPlan(FusedOp fused,
                                                       GPUPlanAttr plan);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_BATCHEDPLAN_H
