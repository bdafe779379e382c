//===- MmaLayout.h - Tiles in shared memory without bank conflicts -*- C++ -*-//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_MMALAYOUT_H
#define KRON_PLAN_GPU_MMALAYOUT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace mlir::kron {

/// Where the elements of a tile lie in shared memory. Each dimension has room
/// for the larger of its sizes before and after its factor, so that a factor is
/// applied in place.
///
/// Matrix instructions read 4 positions of a contracted dimension times 8 of
/// the innermost one. The 4 must come from different banks:
/// - where all sizes are (nearly) powers of two, bits of the bank number are
///   exchanged: bit `to` of an index is flipped where bit `from` is set;
/// - otherwise dimensions are padded.
/// Either way, 16 bytes that are next to each other stay so.
struct TileLayout {
  struct Swizzle {
    unsigned from, to;
  };

  int64_t elementBytes = 4;
  /// Positions that have room, and elements from one to the next.
  SmallVector<int64_t> pitches, strides;
  SmallVector<Swizzle> swizzles;
  /// Of the whole tile; a multiple of 128 bytes.
  int64_t bytes = 0;

  /// The layout of a tile of `sizes`, outermost dimension first.
  static TileLayout get(ArrayRef<int64_t> sizes, int64_t elementBytes);

  /// Index of the element at `positions`, before swizzling.
  int64_t getIndex(ArrayRef<int64_t> positions) const;

  /// What swizzling makes of an index. It is linear: the swizzled sum of
  /// indices that have no set bit in common is the exclusive or of the swizzled
  /// ones.
  int64_t swizzle(int64_t index) const;
};

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_MMALAYOUT_H
