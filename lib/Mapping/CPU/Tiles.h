//===- Tiles.h - Sizes of tiles and slices ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_CPU_TILES_H
#define KRON_LIB_MAPPING_CPU_TILES_H

#include "kron/Mapping/CPU/CPUPlanner.h"
#include "kron/Plan/CPU/CPUPlan.h"

namespace mlir::kron {

/// Positions of the tiled axis that keep the intermediates in cache.
int64_t chooseTile(const CPUPlan &plan, FusedOp fused, int64_t vectorBits,
                   int64_t matrixTiles, const CacheBudget &caches);

/// At least `tile` positions of the tiled axis, so that blocks of matrix tiles
/// (AMX) are filled.
int64_t widenForMatrixTiles(const CPUPlan &plan, FusedOp fused, int64_t tile);

/// Positions of the slice axis that keep what lies between factors within half
/// of the first-level cache; 0 if that is the whole axis, or if slices bring
/// nothing.
int64_t chooseSlice(const CPUPlan &plan, FusedOp fused, int64_t vectorBits,
                    int64_t tile, const CacheBudget &caches);

/// Positions of the slice axis of `section` that a slice takes at least, of
/// `tile` positions of the tiled axis: so many that a factor which leaves the
/// first-level cache goes by for as many rows as register tiles want.
int64_t getLeastSlice(const CPUPlan &plan, FusedOp fused,
                      const Section &section, int64_t tile, int64_t lanes,
                      const CacheBudget &caches);

/// Whether rows, the tiled axis outside, go through a single factor that varies
/// along them, so that results are stored in short segments (of values that are
/// not rounded).
bool storesShortSegments(const CPUPlan &plan, FusedOp fused);

/// Whether the only factor varies along the innermost axis, which fills two
/// vectors of `lanes`, and enough q read copies of rows, in segments of that
/// axis.
bool hasLongVaryingAxis(const CPUPlan &plan, FusedOp fused, int64_t lanes,
                        int64_t matrixTiles);

/// Whether lanes run over columns of a known number that fill no whole vectors.
bool hasRaggedColumns(const CPUPlan &plan, FusedOp fused, int64_t vectorBits);

/// Whether columns, which lanes run over, go through a single factor one vector
/// after the other, and nothing is prefetched: rows start anywhere, and
/// elements of the input are used for so few results that a processor that
/// likes long segments (`CacheBudget::columnBytes`) sees by itself where they
/// go on.
bool takesSingleVectors(const CPUPlan &plan, FusedOp fused, int64_t vectorBits,
                        const CacheBudget &caches);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_CPU_TILES_H
