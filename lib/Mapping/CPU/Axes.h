//===- Axes.h - What lanes, tiles and slices run over -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_CPU_AXES_H
#define KRON_LIB_MAPPING_CPU_AXES_H

#include "kron/Mapping/CPU/CPUPlanner.h"
#include "kron/Plan/CPU/CPUPlan.h"

namespace mlir::kron {

/// Cost of a group per element of what it is applied to, with `inside` elements
/// inside its axis (-1: many): multiply-adds over lane use, plus one for
/// loading and storing.
double getGroupCost(int64_t sizeK, int64_t sizeN, int64_t inside,
                    int64_t lanes);

/// The mode products of `fused`, neighbours joined where that is cheaper.
/// `isFull`: lanes are full whatever lies inside.
SmallVector<StepGroup> chooseGroups(FusedOp fused, int64_t lanes,
                                    const CacheBudget &caches,
                                    bool isFull = false);

/// Whether `first`, a step with others behind it, takes fewer issue slots with
/// products of pairs of bf16, although its input is copied and vectors hold no
/// groups that shuffles repeat.
bool paysForPairs(FusedOp fused, const StepGroup &first, int64_t lanes);

/// What storing the results of `group` takes more, per element of its input,
/// where vectors that they do not fill are stored in parts.
double getPartSlots(const StepGroup &group, int64_t inside, int64_t lanes);

/// Bytes of the rows that a vector has lanes for, inputs or results; of a
/// transposed input at least those of a cache line.
int64_t countLaneBytes(const CPUPlan &plan, FusedOp fused, int64_t vectorBits);

/// Whether lanes may run over rows: those of a last tile that are not there are
/// computed, too, threads are to have tiles, and a cache holds these.
bool hasRowsForLanes(const CPUPlan &plan, FusedOp fused, int64_t vectorBits,
                     const CacheBudget &caches);

/// Bits of the vectors of a region, and whether lanes run over rows, where that
/// is chosen with them.
struct VectorForm {
  int64_t bits = 0;
  std::optional<bool> rowsInLanes;
};

/// The widest vectors of the processor, or, where it executes narrower ones as
/// a whole, those with which `fused` takes the fewest issue slots.
VectorForm chooseVectors(FusedOp fused, CPUPlanAttr given,
                         const CPUPlannerOptions &options);

/// Sizes of the slices within slices that `choices` asks for, each of which
/// leaves less of the first-level cache to what is sliced no further.
SmallVector<int64_t> chooseSliceCuts(const CPUPlan &plan, FusedOp fused,
                                     const CPUChoices &choices,
                                     const CacheBudget &caches);

/// Marks the steps that read what smaller slices left from beyond the
/// second-level cache.
void chooseFarSources(const CPUPlan &plan, FusedOp fused,
                      const CacheBudget &caches, CPUChoices &choices);

/// How often a call loads each element of the factor of `group` if it is not
/// packed; the largest number if that is not known.
int64_t countFactorUses(const CPUPlan &plan, FusedOp fused,
                        const StepGroup &group);

/// Chooses whether input and factors are converted before they are used, but
/// for the fields that `given` (may be null) has.
void chooseConversions(const CPUPlan &plan, FusedOp fused, CPUPlanAttr given,
                       const CacheBudget &caches, CPUChoices &choices);

/// Chooses how many positions of a grid axis tiles take together, so that their
/// results can be stored non-temporally.
int64_t chooseBlocks(const CPUPlan &plan, FusedOp fused,
                     const CPUChoices &choices, const CacheBudget &caches);

/// Chooses what is prefetched and which results are stored by way of a copy,
/// but for the fields that `given` (may be null) has.
void chooseMemory(const CPUPlan &plan, FusedOp fused, CPUPlanAttr given,
                  const CPUPlannerOptions &options, CPUChoices &choices);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_CPU_AXES_H
