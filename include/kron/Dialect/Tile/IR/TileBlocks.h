//===- TileBlocks.h - Blocks of a tile that warps multiply ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEBLOCKS_H
#define KRON_DIALECT_TILE_IR_TILEBLOCKS_H

#include "kron/Dialect/Tile/IR/TileOps.h"

namespace mlir::kron::tile {

/// Sizes of the atoms `mma.m16n8k8`: rows, and columns or positions K.
inline constexpr int64_t kMmaSizeM = 16, kMmaSizeN = 8;

/// Whether `atom` multiplies blocks.
inline bool isOfBlocks(AtomKind atom) {
  return atom == AtomKind::MmaTF32 || atom == AtomKind::MmaF64 ||
         atom == AtomKind::MmaF64Small;
}

/// Fibres that a warpgroup multiplies at a time, and positions K of these that
/// its lanes load at a time.
inline constexpr int64_t kWarpgroupFibres = 64, kWarpgroupLoadedK = 16;
/// Threads of a warpgroup.
inline constexpr int64_t kWarpgroupThreads = 128;

/// Fibres of a tile of `sizes` along `along`; along other axes than the
/// innermost one, lanes have pairs of neighbours.
int64_t countFibres(ArrayRef<int64_t> sizes, unsigned along);

/// Whether warpgroups multiply with `atom`.
bool isOfWarpgroup(AtomKind atom);

/// The loop over fibres whose body has the argument `boxes`; null if there is
/// none.
ForFibresOp getFibres(Value boxes);

/// The dimension of a stored box along which elements that are stored together
/// are neighbours: the innermost one unless elements of the array are
/// neighbours along what fibres of a warpgroup are along or, if these are along
/// the innermost one, along the next one.
unsigned getStoredDim(StoreOp op);

/// What `buffer` is the same memory as, without its `tile.resize`.
Value getOrigin(Value buffer);

/// How a box of `sizes` along `axes` of `view` lies in memory; none if nothing
/// lies side by side.
std::optional<BoxSegments> getBoxSegments(ViewType view, ArrayRef<int64_t> axes,
                                          ArrayRef<int64_t> sizes);

/// Whether only one of both is executed, by what tile.if_aligned finds.
bool areExclusive(Operation *lhs, Operation *rhs);

/// How a loop shares the blocks of a tile among groups of warps.
struct Blocks {
  SmallVector<int64_t> sizes, block;
  int64_t warps = 1;
  /// Whether the blocks of a group lie one behind the other; whether they are
  /// pieces, each in a slot; whether the CTAs of a cluster have halves.
  bool isShared = false, arePieces = false, isSplit = false;

  int64_t getGroups(int64_t threads) const {
    return std::max<int64_t>(1, threads / 32 / warps);
  }
  /// Blocks along each axis, and all of them.
  SmallVector<int64_t> getCounts() const;
  int64_t getCount() const;
};

/// The blocks of the loop whose body has the argument `boxes`, if it has some.
std::optional<Blocks> getBlocks(Value boxes);

/// `size` columns as groups of `pair` tiles of 8 neighbouring ones that are
/// read as one: position `first + pair * n + j` is column n of tile j. At the
/// end there are smaller groups.
struct ColumnGroup {
  int64_t first, pair;
};
SmallVector<ColumnGroup> getColumnGroups(int64_t size, int64_t pair);
int64_t countTiles(ArrayRef<ColumnGroup> groups);

} // namespace mlir::kron::tile

#endif // KRON_DIALECT_TILE_IR_TILEBLOCKS_H
