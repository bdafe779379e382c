//===- CPUPlanner.h - How a kron.fused is mapped to a CPU -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_CPU_CPUPLANNER_H
#define KRON_MAPPING_CPU_CPUPLANNER_H

#include "kron/Machine/Processor.h"
#include "kron/Plan/CPU/CPUPlan.h"

namespace mlir::kron {

/// Caches that a tile and its slices are cut for.
struct CacheBudget {
  /// Bytes of the first-level cache.
  int64_t l1Bytes = 32768;
  /// Bytes of the second-level cache.
  int64_t l2Bytes = 1 << 20;
  /// Bytes of every row that tiles of columns take while the second-level cache
  /// holds them; 0: two vectors.
  int64_t columnBytes = 0;
  /// Bytes of a tile of small rows. The first-level cache would hold more, but
  /// what is prefetched has to find room, too, and less is prefetched at once.
  int64_t rowTileBytes = 4096;
};

/// The CPU, as the options of --kron-plan describe it.
struct CPUPlannerOptions {
  /// Width of vector registers.
  int64_t vectorBits = 512;
  /// Width of the widest vectors that it executes as a whole: wider ones take
  /// two turns.
  int64_t wholeBits = 512;
  bool splitsWideVectors() const { return wholeBits < 512; }
  CacheBudget caches;
  /// Bytes of input and result from which results are stored non-temporally, 0:
  /// never; and those of results that are stored a few columns at a time.
  int64_t streamBytes = 0, streamColumnsBytes = 0;
  /// Whether it has matrix tiles for bf16 (AMX), or else is fast at adding up
  /// products of pairs of bf16 (AVX512-BF16).
  bool hasMatrixTiles = false, hasPairProducts = false;
  /// Whether it adds these up at all, for plans by hand.
  bool mayPairProducts = false;
  /// Whether it shuffles within 128 bits while it multiplies and adds.
  bool hasFastShuffles = false;
  ProcessorRates rates = {};
};

/// What one thread takes for a fused region.
struct CPUTime {
  /// Seconds that multiply-adds and loads take, that what lies between factors
  /// takes where it is beyond the first-level cache, and that input, factors
  /// and results take in memory.
  double arithmetic = 0, loads = 0, caches = 0, memory = 0;
  /// All of it, where each overlaps with the others, and the least that
  /// arithmetic and memory take at the processor's peak.
  double total = 0, floor = 0;

  /// "multiply-adds", "loads", "caches" or "memory".
  StringRef getBound() const;
};

/// Estimates what the code of `fused` by `choices`, a complete plan, takes.
/// Sizes that are not known count as kNominalCPURows.
CPUTime estimateCPUTime(FusedOp fused, const CPUChoices &choices,
                        const CPUPlannerOptions &options);

/// What `fused`, without a plan, takes by the plan that is chosen for it;
/// nothing if the code generator does not take it.
std::optional<CPUTime> estimateBestCPUTime(FusedOp fused,
                                           const CPUPlannerOptions &options);

/// Chooses the axes that tiles, slices and lanes of `fused` run over, with
/// vectors of `choices.vectorBits`, and which factors are joined: fields that
/// `given` (may be null) has are what `choices` has already. What follows from
/// that, or why those fields are no plan for it. `rowsInLanes`: whether lanes
/// are to run over rows where they can.
std::variant<CPUPlan, std::string>
chooseAxes(FusedOp fused, CPUPlanAttr given, const CacheBudget &caches,
           CPUChoices &choices, std::optional<bool> rowsInLanes = std::nullopt);

/// Completes the plan of `fused`, if the code generator takes it: what it
/// carries already stays. A remark says what was chosen. Fails, with an error,
/// if that is no plan for it.
LogicalResult planForCPU(FusedOp fused, const CPUPlannerOptions &options);

} // namespace mlir::kron

#endif // KRON_MAPPING_CPU_CPUPLANNER_H
