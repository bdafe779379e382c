//===- StepBudget.h - What steps may take of a processor --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_CPU_STEPBUDGET_H
#define KRON_LIB_MAPPING_CPU_STEPBUDGET_H

#include "kron/Mapping/CPU/CPUPlanner.h"

namespace mlir::kron {

/// What steps may take of a processor: what is copied, packed or taken in
/// blocks is chosen for it.
struct StepBudget {
  /// Bytes of the first-level cache for what a step uses again at once, and of
  /// the second-level one for copies.
  int64_t l1Bytes = 0, l2Bytes = 0;
  /// Bytes of all of the second-level cache.
  int64_t cacheBytes = 0;
  /// Sets of the first-level cache, and lines of each that stay there.
  int64_t l1Sets = 0, l1Ways = 0;
  /// Pages whose addresses stay translated.
  int64_t pages = 0;
  /// Multiply-adds that hide each other's latency.
  int64_t fmasInFlight = 0;

  /// Issue slots that a load takes more if what it belongs to takes `bytes`.
  double getLoadSlots(int64_t bytes) const;

  /// Bytes that lie in different sets.
  int64_t getWayBytes() const { return l1Sets * kLineBytes; }
};

/// The budget of step `index` on a processor with `caches`; what `given` (may
/// be null) says of it, or of all steps, wins.
StepBudget chooseBudget(CPUPlanAttr given, size_t index,
                        const CacheBudget &caches);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_CPU_STEPBUDGET_H
