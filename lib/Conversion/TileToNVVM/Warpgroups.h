//===- Warpgroups.h - Tiles that warpgroups multiply ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_WARPGROUPS_H
#define KRON_LIB_CONVERSION_TILETONVVM_WARPGROUPS_H

#include "Blocks.h"
#include "kron/CodeGen/GPU/WgmmaRows.h"

namespace mlir::kron::tile {

/// A factor in shared memory, as the instruction reads it.
struct PackedFactor {
  WgmmaOperand shape;
  WgmmaFactor place;
  /// Elements of the array.
  Type element;
  /// The address of shared memory, as descriptors have it.
  Value descriptorBase;
  /// The column that is this CTA's first one.
  Int firstResult = 0;
};

/// The two fibres of a block of a tile that a lane has.
struct LaneFibres {
  /// `sizes` are the tile's. Neighbours along the innermost dimension, if
  /// `pairs`; else they are 8 apart.
  LaneFibres(Lowering &lowering, ArrayRef<int64_t> sizes, unsigned along,
             bool pairs, Int block = 0);

  /// Whether fibre `number` exists in `tile`, or in a tile that does as a
  /// whole; null if it always does.
  Value exists(KernelBuilder &k, const GlobalTile &tile, unsigned number) const;
  Value exists(KernelBuilder &k, unsigned number) const;
  /// Where the fibre is that is number `index`, of 8, of the warp's first or,
  /// if `second` is 1, second ones.
  SmallVector<Int> locate(KernelBuilder &k, Int index, Int second) const;
  /// Where fibre `number` of the warp's 16 is.
  SmallVector<Int> locate(KernelBuilder &k, Int number) const {
    return delinearize(k, k.add(first, number), radix);
  }
  /// Whether some of the warp's fibres may not exist, and one does.
  Value hasSome(KernelBuilder &k) const { return k.less(first, fibres); }
  /// Where its position `p` is.
  Value getAddress(KernelBuilder &k, const GlobalTile &tile, unsigned number,
                   Int p) const;

  /// The f32 values that the lane has of its fibres of `tile`, in the order of
  /// the instructions: of `positions`, those from `sizeK` on are 0.
  /// `innermost`: fibres are along the innermost dimension.
  SmallVector<Value> load(KernelBuilder &k, Int slot, const SharedTile &tile,
                          bool innermost, int64_t positions,
                          int64_t sizeK) const;

  SmallVector<int64_t> sizes;
  unsigned along;
  /// Per dimension, 0 along the contracted one; of fibres that there are not,
  /// those of the last one.
  SmallVector<Int> positions[2];
  /// Whether there are such fibres; null: there are.
  Value present[2];

  /// All fibres, and whether lanes have pairs of neighbours.
  int64_t fibres;
  bool pairs;

private:
  Int getNumber(KernelBuilder &k, Int index, Int second) const;

  /// Positions that fibres are counted with.
  SmallVector<int64_t> radix;
  /// The warp's first fibre.
  Int first;
};

/// What a product leaves in registers.
struct WarpgroupSums {
  LaneFibres fibres;
  std::shared_ptr<PackedFactor> factor;
  SmallVector<Value> sums;
};

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_WARPGROUPS_H
