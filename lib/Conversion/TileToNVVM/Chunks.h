//===- Chunks.h - Pieces of chunks that warps multiply ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What tile.copy_pieces, tile.contract_pieces and the tile.store of its sums
// share: where data and factor come from, how they lie in two rings, and what
// lanes have of the sums.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_CHUNKS_H
#define KRON_LIB_CONVERSION_TILETONVVM_CHUNKS_H

#include "Lowering.h"
#include "kron/CodeGen/GPU/SparseStores.h"

namespace mlir::kron::tile {

class ChunkPieces {
public:
  /// Those of `op`, whose sums `store` stores, in front of the loop over tiles.
  ChunkPieces(Lowering &lowering, ContractPiecesOp op, StoreOp store);

  /// Starts to copy the first pieces of this CTA.
  void start();
  /// Multiplies the pieces of `tile`, and starts to copy later ones.
  void multiply(Int tile);
  /// Stores the sums of the tile that was multiplied.
  void store();

private:
  SparseArray getArray(Value view, bool isFactor);
  Value hasWholeRows();
  void enterFactor();
  void enterTargets();
  SparseTile locate(Int tile);
  SparseCopy getCopy(const SparseTile &tile, Int startK, Int slot,
                     bool isFactor, bool aligned);
  void choose(Value condition, function_ref<void(bool)> body);
  void copy(Int tile, Int number, Int slot);
  SparseStepPlace order(const SparseTile &tile, Int indexK, Int slot);
  Value locateSums(Int from, int64_t index);
  void giveSums();
  void takeSums();
  void storeSums();

  Lowering &lowering;
  KernelBuilder &k;
  ContractPiecesOp op;
  StoreOp target;
  const SparsePlan plan;
  ScalarOps ops;
  MmaProducts products;
  SparseMath math;
  SparseThread thread;
  SparseCopies copies;
  SparseProducts multiplier;
  SparseTargets targets;
  SparseStores stores;
  SparseArray data, factor;
  /// The factor as if it had no gaps.
  SparseArray alignedFactor;
  SmallVector<Int> freeSizes;
  /// Whether arrays are multiples of 16 bytes, and whether the factor is and
  /// has the strides of `alignedFactor`.
  Value isAligned, isFactorAligned;
  /// Where the rings begin.
  int64_t dataOffset, factorOffset;
  /// Tiles of the loop.
  Int count;
  SparseTile tile;
  SmallVector<MmaC> sums;
};

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_CHUNKS_H
