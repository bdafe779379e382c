//===- Chunks.h - Pieces of chunks that warps multiply ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What tile.copy_pieces, tile.contract_pieces and the tile.store of its sums
// share: where data and factor come from, how they lie in two rings, or in one
// beside a part of the factor that stays for a segment, and what lanes have of
// the sums.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_CHUNKS_H
#define KRON_LIB_CONVERSION_TILETONVVM_CHUNKS_H

#include "ChunkArrays.h"

namespace mlir::kron::tile {

class ChunkPieces : ChunkProduct {
public:
  /// Those of `op`, in front of the loop over tiles.
  ChunkPieces(Lowering &lowering, ContractPiecesOp op);

  /// Goes to the segment of `length` blocks of rows from `start` on that need
  /// part `part` of the factor; how many of them this group of threads takes.
  Int enterSegment(Int part, Int start, Int length);
  /// Starts to copy the part of the factor that it needs.
  void keep();
  /// Puts values of that in pairs.
  void pair();
  /// Starts to copy the first pieces of this CTA, or of the segment.
  void start();
  /// Multiplies the pieces of `tile`, and starts to copy later ones.
  void multiply(Int tile);
  /// Stores the sums of the tile that was multiplied.
  void store();

private:
  SparseArray getArray(Value view);
  void enterArrays();
  void ifPiece(Int first, Int number,
               function_ref<void(const SparseTile &, Int startK)> body);
  Int locatePacked(Int number);
  void packAll();
  void prepareFirst();
  void multiplyByWarpgroups(Int tile, Int indexK, Int step,
                            MutableArrayRef<MmaC> sums);
  Int getStep(Int number, Int indexK);
  SparseTile locate(Int part, Int block);
  SparseTile locate(Int tile);
  Int locateData(Int slot);
  Int locateFactor(Int slot);
  void order(const SparseTile &tile, SparseStepPlace &place);
  void copy(Int tile, Int number, Int slot);
  void copyNextFactor(Int first, Int number, Int to);
  Value locateSums(Int from, int64_t index);
  void giveSums();
  void takeSums();
  void storeSums();

  ContractPiecesOp op;
  StoreOp target;
  SmallVector<Int> freeSizes;
  /// Where the rings begin, and what warpgroups read of the factor.
  int64_t dataOffset, factorOffset, packedOffset;
  /// Tiles of the loop; in a segment, this group's, and what these are.
  Int count, segmentPart, segmentStart;
};

/// Bytes of a piece of a factor that warpgroups read and that stays: it comes
/// by way of `ring`, that of the data, which has room for it; 0 of other rings.
int64_t getPassingBytes(Value ring);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_CHUNKS_H
