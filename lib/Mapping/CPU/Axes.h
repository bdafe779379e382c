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

/// Bits of the vectors of `fused`: those that the processor executes as a whole
/// where these leave fewer lanes empty than wider ones, else the widest.
int64_t chooseVectorBits(FusedOp fused, CPUPlanAttr given,
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
