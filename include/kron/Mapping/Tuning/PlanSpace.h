//===- PlanSpace.h - Plans that differ in one field -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_TUNING_PLANSPACE_H
#define KRON_MAPPING_TUNING_PLANSPACE_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Constraints, as text, that are `given` (empty: none) but for one field, a
/// list for each field of the table of plans (PlanFields.h). `chosen`, of which
/// planners made a complete plan from them, says where values begin: others are
/// a few times smaller and larger, or all where there are few. Steps are fields
/// of their own.
std::vector<std::vector<std::string>> getPlanNeighbours(StringRef given,
                                                        Attribute chosen);

/// What planners made of constraints for one fused region.
struct PlannedRegion {
  /// Mode products that it applies.
  int64_t numProducts = 0;
  Attribute plan;
  /// Estimated; 0: not known.
  double seconds = 0;
};

/// Constraints on an operation of several fused regions, as text, that are
/// `given` but for one thing, a list for each: where it is cut, the kernel of a
/// region, or a field of its plan. Regions that take longest come first.
std::vector<std::vector<std::string>>
getRegionNeighbours(StringRef given, ArrayRef<PlannedRegion> regions);

/// `regions` with their plans, as constraints.
RegionPlansAttr getRegionPlans(MLIRContext *context,
                               ArrayRef<PlannedRegion> regions);

} // namespace mlir::kron

#endif // KRON_MAPPING_TUNING_PLANSPACE_H
