//===- WgmmaTiles.h - What kernels of warpgroups share ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The arrays of a fused region as tiles of a wgmma plan, whether these arrive
// whole or in pieces.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_KRONTOTILE_WGMMATILES_H
#define KRON_LIB_CONVERSION_KRONTOTILE_WGMMATILES_H

#include "TileKernel.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Plan/GPU/WgmmaPlan.h"

namespace mlir::kron {

class WgmmaTiles : protected FusedTiles<WgmmaPlan> {
protected:
  WgmmaTiles(const TileSource &source, const WgmmaPlan &plan);

  unsigned enterView(const StepArray &array, Type type, bool isInput);
  /// Enters what the kernel works on, but for `init` if there is no result.
  void enterOperands(bool hasResult);
  /// Bytes of an access to the array, provided that what is only known at run
  /// time is aligned to these; of the result and what is added to it.
  int64_t getAccessBytes(const StepArray &array, bool isInput) const;
  int64_t getStoreBytes() const;
  /// Whether sums go straight to the result in segments.
  bool canStoreSums() const;
  /// A buffer of `block` positions that lies as `layout` says.
  tile::BufferType getBuffer(const WgmmaLayout &layout, Type type,
                             ArrayRef<int64_t> block);
  /// The order of dimensions in which neighbouring threads access elements of
  /// `array` that are neighbours; empty if it is theirs.
  SmallVector<int64_t> getOrder(const StepArray &array) const;
  /// The operand of step `index`.
  Value prepare(unsigned index);
  /// Stores sums `along` a dimension of a tile of the sizes `box`, which are a
  /// block's if there is one.
  void store(Value sums, Value block, Value tile, int64_t along,
             ArrayRef<int64_t> box);
  /// Stores a buffer of sums by elements.
  void storeElements(Value buffer, Value tile);
  void begin();

  FusedOperands operands;
  Type inputType, outputType;
  /// Axes of the plan: those of the views, and those that are the tile's
  /// dimensions; which axes of the views these are.
  SmallVector<unsigned> viewAxes, dims;
  SmallVector<int64_t> axes;
  /// Of axes of the plan, on the host.
  SmallVector<Int> sizes;
  SmallVector<unsigned> factors;

private:
  int64_t getMostBytes(bool isInput) const;
  bool hasSegments(const StepArray &array, bool isInput,
                   int64_t elements) const;
};

/// The kernel of tiles that arrive in pieces.
void tileWgmmaPieces(const TileSource &source, const WgmmaPlan &plan);

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_WGMMATILES_H
