//===- PassPlan.h - Tiles and stages of one kron.pass -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the CPU code of a pass looks like, worked out from the types alone. The
// schedule pass uses it to size the tile, the emitter to build the code.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_CPU_PASSPLAN_H
#define KRON_CODEGEN_CPU_PASSPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Mode products applied as one: one, or several on neighbouring axes whose
/// factors are multiplied out first (two 2x2 factors cost as much as one 4x4).
struct StageGroup {
  /// The mode products, that of the outermost axis first.
  SmallVector<ModeProductOp> products;
  /// First axis, as the pass counts them, and sizes over all axes of the group.
  unsigned axis;
  int64_t depth = 1;
  int64_t results = 1;
};

/// How an axis of the pass is walked.
enum class AxisRole {
  /// One position per tile; the tiles are what threads share out.
  Grid,
  /// `tile` positions per tile (at most one axis).
  Tiled,
  /// Whole in every tile.
  Whole
};

struct PassPlan {
  /// In the order of application.
  SmallVector<StageGroup> groups;
  /// Per axis of the pass.
  SmallVector<AxisRole> roles;
  /// The tiled axis, or -1.
  int tiledAxis = -1;
  /// Largest number of elements, over all intermediates, that one position of
  /// the tiled axis takes.
  int64_t elementsPerPosition = 1;
  /// Buffers that intermediates need: 0, 1 or 2.
  int64_t numBuffers = 0;
};

/// The plan of `pass`, whose factors have static shapes.
PassPlan getPassPlan(PassOp pass, int64_t vectorBits);

/// Positions of the tiled axis that keep the intermediates within `cacheBytes`.
int64_t chooseTile(const PassPlan &plan, PassOp pass, int64_t vectorBits,
                   int64_t cacheBytes);

} // namespace mlir::kron

#endif // KRON_CODEGEN_CPU_PASSPLAN_H
