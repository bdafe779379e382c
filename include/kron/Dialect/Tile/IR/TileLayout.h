//===- TileLayout.h - Where the elements of tiles lie -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILELAYOUT_H
#define KRON_DIALECT_TILE_IR_TILELAYOUT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace mlir::kron {

/// Where the elements of a tile lie in shared memory: at the sum of positions
/// times strides, with bits exchanged.
///
/// `get` chooses a layout for matrix instructions. Each dimension has room for
/// the larger of its sizes before and after its factor, so that a factor is
/// applied in place. Instructions read 4 positions of a contracted dimension
/// times 8 of the innermost one. The 4 must come from different banks:
/// - where all sizes are (nearly) powers of two, bits of the bank number are
///   exchanged: bit `to` of an index is flipped where bit `from` is set;
/// - otherwise dimensions are padded.
/// Either way, 16 bytes that are next to each other stay so.
struct TileLayout {
  struct Swizzle {
    unsigned from, to;
  };
  /// Dimensions that lie one behind the other, as one.
  struct Segment {
    int64_t size, stride;
    bool operator==(const Segment &other) const {
      return size == other.size && stride == other.stride;
    }
  };

  int64_t elementBytes = 4;
  /// Positions that have room, and elements from one to the next.
  SmallVector<int64_t> pitches, strides;
  SmallVector<Swizzle> swizzles;
  /// Of the whole tile; a multiple of 16 bytes, of 128 with swizzles.
  int64_t bytes = 0;

  /// The layout of a tile of `sizes`, outermost dimension first.
  static TileLayout get(ArrayRef<int64_t> sizes, int64_t elementBytes);
  /// The layout with given strides.
  static TileLayout get(ArrayRef<int64_t> sizes, int64_t elementBytes,
                        ArrayRef<int64_t> strides,
                        ArrayRef<Swizzle> swizzles = {});
  /// Strides of a tile without gaps.
  static SmallVector<int64_t> getDenseStrides(ArrayRef<int64_t> sizes);

  /// Index of the element at `positions`, before swizzling.
  int64_t getIndex(ArrayRef<int64_t> positions) const;

  /// What swizzling makes of an index. It is linear: the swizzled sum of
  /// indices that have no set bit in common is the exclusive or of the swizzled
  /// ones.
  int64_t swizzle(int64_t index) const;

  /// Dimensions `begin` to `end` (excluded), outermost first, in as few
  /// segments as their strides allow, without those of one position. At least
  /// one.
  SmallVector<Segment> getSegments(unsigned begin, unsigned end) const;

  /// The largest power of two up to `limit` elements that all positions along
  /// dimensions `begin` to `end` (excluded) are multiples of.
  int64_t getAlignment(unsigned begin, unsigned end, int64_t limit) const;
};

/// Bytes of a copy of what starts anywhere.
inline constexpr int64_t kSegmentChunkBytes = 16;

/// A box of an array in segments that lie in memory without a gap, wherever
/// they start.
struct BoxSegments {
  /// The first dimension of a segment: those in front count segments.
  unsigned inner = 0;
  /// Segments, elements of one, and of the chunks of 16 bytes that it is part
  /// of, at most.
  int64_t count = 1, elements = 1, room = 1;

  int64_t getBytes(int64_t elementBytes) const {
    return count * room * elementBytes;
  }
  bool operator==(const BoxSegments &other) const {
    return inner == other.inner && count == other.count &&
           elements == other.elements && room == other.room;
  }

  /// Those of a box of `sizes` whose positions along each dimension are
  /// `strides` elements apart, as far as these are known; none if no elements
  /// lie side by side.
  static std::optional<BoxSegments>
  get(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, int64_t elementBytes);
};

/// What vectors of neighbours are counted from: bytes of a sector.
inline constexpr int64_t kVectorRowBytes = 32;

/// Groups of `together` neighbours, counted from where a sector begins, that
/// `positions` of a row may be in.
inline int64_t countVectors(int64_t positions, int64_t together) {
  return positions / together + 1;
}

} // namespace mlir::kron

#endif // KRON_DIALECT_TILE_IR_TILELAYOUT_H
