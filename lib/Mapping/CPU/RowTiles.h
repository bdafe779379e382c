//===- RowTiles.h - Rows of a tile of a single factor -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_CPU_ROWTILES_H
#define KRON_LIB_MAPPING_CPU_ROWTILES_H

#include "kron/Mapping/CPU/CPUPlanner.h"
#include "kron/Plan/CPU/CPUPlan.h"

namespace mlir::kron {

/// Rows per tile of a single factor if the next tile is one of many blocks that
/// lie side by side in long rows, else 0: short segments of more rows push each
/// other, and the pages' addresses, out of the caches. But where a block's part
/// of the factor leaves the first-level cache, that comes from beyond for each
/// tile: then as many as half of the second-level one holds.
int64_t chooseBlockRows(const CPUPlan &plan, FusedOp fused,
                        int64_t elementBytes, const CacheBudget &caches);

/// Rows that take an eighth of the second-level cache, of so many bytes each in
/// input and result.
int64_t chooseRowsBeside(int64_t rowBytes, const CacheBudget &caches);

/// Rows per tile of a single factor: many, so that what is loaded of the factor
/// is used often, but if the factor stays in the second-level cache so few that
/// they and the next ones stay there with it.
int64_t chooseRows(const CPUPlan &plan, FusedOp fused, int64_t elementBytes,
                   const CacheBudget &caches);

/// All `size` rows (may be unknown) in place of the `tile` of a single factor
/// that would leave fewer than that behind it: they would go through all of the
/// factor again, with register tiles that are not full. Only if other blocks
/// are left for threads, and as long as half of the second-level cache holds
/// them.
int64_t joinLastRows(const CPUPlan &plan, FusedOp fused, int64_t tile,
                     int64_t elementBytes, const CacheBudget &caches);

/// Fewer rows than the `tile` of a single factor, where blocks lie side by side
/// in rows and arrays come from memory: each row of a tile, of the input and of
/// results, is a stream that goes on with the next block, and of more streams
/// than a processor follows memory delivers half as much. But every tile loads
/// the factor anew.
int64_t chooseFollowedRows(const CPUPlan &plan, FusedOp fused,
                           int64_t vectorBits, int64_t tile,
                           int64_t elementBytes, const CacheBudget &caches);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_CPU_ROWTILES_H
