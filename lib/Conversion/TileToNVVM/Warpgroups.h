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
  /// The address of shared memory, as descriptors have it.
  Value descriptorBase;
  /// The column that is this CTA's first one.
  Int firstResult = 0;
};

/// The two fibres of a tile that a lane has.
struct LaneFibres {
  /// `sizes` are the tile's. Neighbours along the innermost dimension, if
  /// `pairs`; else they are 8 apart.
  LaneFibres(Lowering &lowering, ArrayRef<int64_t> sizes, unsigned along,
             bool pairs);

  /// Whether fibre `number` exists in `tile`; null if it always does.
  Value exists(KernelBuilder &k, const GlobalTile &tile, unsigned number) const;
  /// Where its position `p` is.
  Value getAddress(KernelBuilder &k, const GlobalTile &tile, unsigned number,
                   Int p) const;

  SmallVector<int64_t> sizes;
  unsigned along;
  /// Per dimension, 0 along the contracted one; of fibres that there are not,
  /// those of the last one.
  SmallVector<Int> positions[2];
  /// Whether there are such fibres; null: there are.
  Value present[2];

private:
  SmallVector<Int> decode(KernelBuilder &k, Int number) const;

  /// Positions that fibres are counted with.
  SmallVector<int64_t> radix;
};

/// What a product leaves in registers.
struct WarpgroupSums {
  LaneFibres fibres;
  std::shared_ptr<PackedFactor> factor;
  SmallVector<Value> sums;
};

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_WARPGROUPS_H
