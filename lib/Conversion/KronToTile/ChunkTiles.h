//===- ChunkTiles.h - Tiles of chunks of a sparse factor --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What kernels of one sparse factor and steps of a chain share: views with rows
// first, then what the factor does not vary along, then groups, lanes, and K or
// the results; and the pieces of a plan's tiles.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_KRONTOTILE_CHUNKTILES_H
#define KRON_LIB_CONVERSION_KRONTOTILE_CHUNKTILES_H

#include "TileKernel.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/SparsePlan.h"

namespace mlir::kron {

class ChunkTiles {
public:
  ChunkTiles(TileKernel &kernel, FusedOp fused, ModeProductOp product,
             const SparsePlan &plan, const GPUMachine &machine)
      : kernel(kernel), fused(fused), product(product), plan(plan),
        machine(machine), b(kernel.builder) {}

  /// Enters a view of `array`, whose axes have `sizes`, with `last` positions
  /// of the axis that is contracted, the results' axis of what is written.
  unsigned enterArray(const StepArray &array, ArrayRef<Int> sizes, int64_t last,
                      Type element);
  /// Enters a view of groups, lanes, results and K: of the factor, or of an
  /// `array` that has changed places with it.
  void enterFactor();
  void enterFactor(const StepFactor &array, Type element);
  /// Enters what is done to the results, whose axes have `sizes`.
  void enterTargets(const FusedOperands &operands, ArrayRef<Int> sizes,
                    BoxArguments &arguments);

  /// Axes of data and results.
  int64_t getRank() const {
    return 3 + plan.groupAxes.size() + plan.freeAxes.size();
  }
  tile::PiecesAttr getPieces();
  tile::FragmentType getSums();
  /// A ring of pieces of data, of as many parts at a time, or of the factor; of
  /// one slot for all pieces of a part that stays.
  Value allocateRing(bool isFactor, int64_t parts = 1);
  /// Elements from one row of a piece to the next.
  int64_t getPitch(bool isFactor) const;
  /// Stores `sums`: boxes `part` (null: one tile) of `tile`.
  void store(const BoxArguments &arguments, Value sums, Value part, Value tile);

  Value getFactor() { return kernel.getArgument(factor); }

private:
  DenseI64ArrayAttr getFactorOrder();
  tile::ChunksAttr getChunks();

  TileKernel &kernel;
  FusedOp fused;
  ModeProductOp product;
  const SparsePlan &plan;
  const GPUMachine &machine;
  OpBuilder &b;
  unsigned factor = 0;
  DenseI64ArrayAttr factorOrder;
};

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_CHUNKTILES_H
