//===- Indexed.h - Tiles whose elements are known by bits -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// All sizes of such a tile are powers of two. An element is known by its index,
// its row-major number within the tile, of which every axis owns some bits.
// What lanes and warps add to an index and what is known of it have no bits in
// common, so that each can be swizzled, and looked up, apart.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_INDEXED_H
#define KRON_LIB_CONVERSION_TILETONVVM_INDEXED_H

#include "Lowering.h"

namespace mlir::kron::tile {

/// The elements of a lane in the boxes of a warp: pairs at `index` and at
/// `index + second`, with each of `known` added, one per box of the turn.
struct LaneBoxes {
  Int index;
  int64_t second = 0;
  SmallVector<int64_t> known;
};

class IndexedTile {
public:
  IndexedTile(KernelBuilder &k, ArrayRef<int64_t> sizes) : k(k), sizes(sizes) {}

  /// What a lane has in the turn of `boxes`, which are of fibres along `axis`.
  LaneBoxes getBoxes(Lowering &lowering, Value boxes, unsigned axis) const;
  /// The offset of an index in an array. Axes that lie without a gap count as
  /// one.
  Int getOffset(Int index, ArrayRef<Int> strides) const;
  /// Whether an element of `tile` exists in a view of `all` positions; null if
  /// it does anyway.
  Value isInside(ArrayRef<Int> all, const LoweredTile &tile, Int index,
                 int64_t known) const;

private:
  /// Elements from one position along `axis` to the next.
  int64_t getStride(unsigned axis) const;
  Positions decode(Int index) const;

  KernelBuilder &k;
  ArrayRef<int64_t> sizes;
};

/// Where a thread finds such a tile's elements in shared memory.
class IndexedPlaces {
public:
  /// Of those of `buffer` at `index`, and if it is of a ring along an axis, at
  /// position `slot` of that.
  IndexedPlaces(Lowering &lowering, Value buffer, Int index, Int slot);
  /// The same of a warp that keeps to a slot.
  IndexedPlaces(Lowering &lowering, Value buffer, Int index)
      : IndexedPlaces(lowering, buffer, index, getWarpSlot(lowering, buffer)) {}

  /// With what is known of the index added. Addresses of shared memory have 32
  /// bits, whatever the width of pointers.
  Value getPointer(int64_t known) const;

private:
  static Int getWarpSlot(Lowering &lowering, Value buffer);

  KernelBuilder &k;
  TileLayout layout;
  /// Byte offset of the slot, and the index within it, swizzled.
  Int base, swizzled;
};

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_INDEXED_H
