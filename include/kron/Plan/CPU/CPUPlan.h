//===- CPUPlan.h - Tiles and steps of one kron.fused ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the CPU code of a fused region looks like, worked out from the types and
// the width of vectors. --kron-plan uses it to size the tile, the emitter to
// build the code.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_CPUPLAN_H
#define KRON_PLAN_CPU_CPUPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::kron {

/// What `matrix_tiles` of a plan asks for.
inline constexpr int64_t kMatrixTiles = 1, kPairProducts = 2;

/// Mode products applied as one: one, or several on neighbouring axes whose
/// factors are multiplied out first (two 2x2 factors cost as much as one 4x4).
struct StageGroup {
  /// The mode products, that of the outermost axis first.
  SmallVector<ModeProductOp> products;
  /// First axis, as the op counts them, and sizes over all axes of the group.
  unsigned axis;
  int64_t sizeK = 1;
  int64_t sizeN = 1;
};

/// How an axis of the op is walked.
enum class AxisRole {
  /// One position per tile; the tiles are what threads share out.
  Grid,
  /// `tile` positions per tile (at most one axis).
  Tiled,
  /// Whole in every tile.
  Whole
};

/// Groups [begin, end) of a fused region, which the whole tile goes through
/// before the next section or, if there is a slice axis, one slice of it after
/// the other: some positions of that axis, and one of every axis outside of it.
struct Section {
  unsigned begin, end;
  int sliceAxis = -1;
  int64_t sliceSize = 1;
};

/// Sizes of all axes before and after a group.
struct GroupView {
  SmallVector<int64_t> before, after;
};

struct CPUPlan {
  /// In the order of application.
  SmallVector<StageGroup> groups;
  /// Where axes are regrouped between mode products, the axes of each group,
  /// which is one mode product; else empty. All but the rows are whole then.
  SmallVector<GroupView> views;
  /// Per axis of the op.
  SmallVector<AxisRole> roles;
  /// The tiled axis, or -1.
  int tiledAxis = -1;
  /// An axis that is a grid of which a tile takes several positions, or -1, and
  /// how many these are.
  int blockAxis = -1;
  int64_t blocks = 1;
  /// Largest number of elements, over all intermediates, that one position of
  /// the tiled axis takes.
  int64_t elementsPerPosition = 1;
  /// Buffers that intermediates need: 0, 1 or 2.
  int64_t numBuffers = 0;
  /// How slices go through most factors at once, two sections of which one has
  /// a slice axis; empty if the order of the factors leaves none outside.
  SmallVector<Section> slicedSections;
  /// Size of the slice axis, and the largest number of elements, over all
  /// intermediates within slices, that one position of it takes.
  int64_t sliceAxisSize = 1;
  int64_t elementsPerSlicePosition = 1;
  /// The input is contiguous along the tiled axis where lanes run over another
  /// one: a tile is transposed on the way in.
  bool transposesInput = false;
  /// Elements that the first group needs together lie far apart in the input,
  /// where they would push each other out of the cache: a slice or tile is
  /// copied first.
  bool packsInput = false;
  /// Lanes run over columns of which each lies as a row in the input: the copy
  /// transposes.
  bool hasColumnsAsRows = false;
  /// The only factor works in place, and registers have room for all its
  /// results: it can read every line once, in as many streams as it has p.
  bool fitsRegisters = false;
  /// Lanes run over the tiled axis although it lies outside: a tile is
  /// transposed on the way in and on the way out.
  bool rowsInLanes = false;

  /// Whether a slice or tile of the input is rearranged before it is used.
  bool rearrangesInput() const {
    return packsInput || transposesInput || rowsInLanes;
  }
  /// Whether slices take all positions of the tiled axis, although it lies
  /// outside.
  bool slicesWholeTile() const { return transposesInput || rowsInLanes; }
  /// Positions of axis `axis`, which is not whole, that a tile of `tile`
  /// positions of the tiled axis takes.
  int64_t getStep(int axis, int64_t tile) const {
    return axis == tiledAxis ? tile : axis == blockAxis ? blocks : 1;
  }
  bool isTiledInnermost() const {
    return tiledAxis >= 0 && tiledAxis + 1 == static_cast<int>(roles.size());
  }
  /// Size of axis `axis`, which is whole, behind the first `groupsApplied`
  /// groups: as the next group reads it or, if `asWritten`, as the last of them
  /// writes it, which is the same unless axes are regrouped.
  int64_t getWholeSize(unsigned axis, unsigned groupsApplied,
                       bool asWritten = false) const;
};

/// The plan of `fused`, whose factors have static shapes.
CPUPlan getCPUPlan(FusedOp fused, int64_t vectorBits);

/// The sections of a tile of `tile` positions with slices of `slice` ones.
/// Where the first section is sliced, every section's slices lie within those
/// of the next one: slices of more than `kMaxSliceBytes` are themselves cut.
SmallVector<Section> getSections(const CPUPlan &plan, FusedOp fused,
                                 int64_t tile, int64_t slice);

inline ShapedType getArrayType(Value value) {
  return cast<ShapedType>(value.getType());
}

/// Bytes of an element in the buffers of a fused region: those of f16 and bf16
/// hold f32.
int64_t getComputedBytes(FusedOp fused);

/// Elements of `array` in a tile of one position.
int64_t countElements(Value array, ArrayRef<AxisRole> roles);

/// The largest divisor of `total` up to `most`.
int64_t getDivisor(int64_t total, int64_t most);

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_CPUPLAN_H
