//===- TileChunks.h - Pieces of chunks that warps multiply ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// How rows of chunks lie in shared memory, which plans and operations agree on.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILECHUNKS_H
#define KRON_DIALECT_TILE_IR_TILECHUNKS_H

#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Dialect/Tile/IR/TileOps.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::kron::tile {

/// Bytes of a chunk, and of one that holds all of 3, 6 or 12 lanes.
inline constexpr int64_t kChunkBytes = 16, kWideChunkBytes = 48;

/// The most groups of four sums of a lane, half as many of f64; and rows that
/// leave some of a matrix instruction's 16 unused.
inline constexpr int64_t kMostChunkSums = 64, kMostSkinnyM = 15;

/// From one row of `bytes` to the next. Rows of 8-bit elements are odd
/// multiples of 32 bytes, such that 16 threads that read 8 bytes each of four
/// rows meet in no bank; so are rows of wide chunks, of 64 bytes, for 16 bytes
/// each of two rows.
inline int64_t getChunkRowBytes(int64_t bytes, bool isOf8, bool isWide) {
  if (isWide)
    return bytes % 128 == 0 ? bytes + 64 : bytes;
  return isOf8 && bytes % 64 == 0 ? bytes + 32 : bytes;
}

/// Whether a part for each of `warps` of a row of `bytes` starts where chunks
/// of `chunkBytes`, of `laneChunks` lanes, are in the same places as in the
/// first part.
inline bool mayShareChunkRow(int64_t bytes, int64_t chunkBytes,
                             int64_t laneChunks, int64_t warps) {
  bool changesPlaces = chunkBytes == kChunkBytes && bytes % 128 == 0 &&
                       (laneChunks <= 2 || laneChunks == 4);
  return !changesPlaces || bytes / warps % 128 == 0;
}

/// Positions on K that a thread takes per matrix instruction, or two of TF32.
inline int64_t getChunkKPerThread(int64_t elementBytes, bool isNarrow) {
  return elementBytes == 2 || isNarrow ? 4 : 2;
}

/// A row of a piece as copies of 16 bytes bring it that start at multiples of
/// 16 bytes in memory, wherever its elements do: in segments, which are
/// contiguous there, of `bytes` per element.
struct WholeRow {
  /// `stepK` positions of `tileLanes` of `lanes` lanes, which are neighbours in
  /// memory, as positions are; chunks have `chunkLanes` of them.
  WholeRow(int64_t stepK, int64_t tileLanes, int64_t lanes, int64_t chunkLanes,
           int64_t bytes)
      : segments(tileLanes == lanes ? 1 : stepK),
        elements(stepK * tileLanes / segments),
        pieces(llvm::divideCeil((elements - chunkLanes) * bytes + kChunkBytes,
                                kChunkBytes)) {}

  int64_t getSegmentBytes() const { return pieces * kChunkBytes; }
  int64_t getBytes() const { return segments * getSegmentBytes(); }

  /// Segments of a row, elements of a segment, and copies that bring it.
  int64_t segments, elements, pieces;
};

/// Rows of sums that a warp leaves in shared memory at a time where they are
/// staged, half of a matrix instruction's; and sums of a row that it stores at
/// once.
inline constexpr int64_t kStagedRows = 8, kStagedSums = 32;

/// Tiles of 8 results, of `lanes` lanes, that it leaves at a time: as few as
/// have so many sums in a row, and multiples of `unit`.
inline int64_t getStagedTiles(int64_t lanes, int64_t unit,
                              int64_t resultTiles) {
  int64_t tiles = llvm::divideCeil(kStagedSums, 8 * lanes);
  return std::min<int64_t>(llvm::alignTo(tiles, unit), resultTiles);
}

/// Sums from one of these rows to the next, which keeps those of other rows in
/// other banks.
inline int64_t getStagedPitch(int64_t lanes, int64_t tiles) {
  return 8 * tiles * lanes + 1;
}

/// The same where neighbours in memory are rows: a warp leaves the results of a
/// tile of eight, each with all rows of a matrix instruction, which are `chunk`
/// rows each. Pitches are multiples of 16 bytes, as lanes write them.
inline int64_t getStagedPitchAlong(int64_t chunk, int64_t sumBytes) {
  return kMmaSizeM * chunk + kChunkBytes / sumBytes;
}

/// Bytes of a warp's sums, from one row (or result) to the next `pitch` apart.
inline int64_t getStagedBytes(int64_t pitch, int64_t sumBytes) {
  return llvm::alignTo(kStagedRows * pitch * sumBytes, kChunkBytes);
}

/// Tiles of results that are whole chunks, if results are in `chunks` of `k`.
inline int64_t getResultUnit(bool areChunks, int64_t k) {
  return areChunks ? std::max<int64_t>(k / 2, 1) : 1;
}

/// Bytes that an element takes as warpgroups read it: one of 16 bits, or one of
/// f32 as TF32, its residual in bf16 and, unless residuals of data are TF32,
/// too
/// (`isMixed`), itself in bf16.
inline constexpr int64_t getPackedElementBytes(bool is16Bit, bool isMixed) {
  return is16Bit ? 2 : isMixed ? 6 : 8;
}

/// Of what warpgroups multiply: warps that execute a matrix instruction
/// together, positions on K of one, or of two of TF32, and the most tiles of 8
/// results that one has.
inline constexpr int64_t kWarpgroupWarps = BatchBlocks::kGroupWarps,
                         kWarpgroupChunkK = 16, kMostWarpgroupTiles = 32;
/// Results of tiles whose data and factor have changed places come in multiples
/// of these: chunks of a row of K are exchanged among eight neighbours.
inline constexpr int64_t kSwappedChunkResults = 32;

/// What follows from how warps multiply chunks and from their elements.
struct ChunkTile {
  ChunkTile(ChunksAttr chunks, Type data, Type factor);

  int64_t getChunkElements() const { return chunks.getBytes() / elementBytes; }
  int64_t getWarps() const;
  /// Rows and results of a tile.
  int64_t getRows() const;
  int64_t getResults() const;
  /// Groups of four sums that a lane has, of `laneChunks` chunks of lanes.
  int64_t getSums(int64_t laneChunks) const;
  /// Sums that warps leave at a time, of `lanes` lanes, where they are staged.
  int64_t getStagedSums(int64_t lanes) const;
  /// Bytes of chunks, of `perRow` elements of a row, that are made of data, or
  /// of a factor, if it is copied whole.
  int64_t getOrderedBytes(bool isFactor, int64_t perRow, Type type) const;
  /// Elements from one row of a slot of the ring to the next, of `stepK`
  /// positions of `tileLanes` of `lanes` lanes.
  int64_t getSlotPitch(bool isFactor, int64_t stepK, int64_t tileLanes,
                       int64_t lanes, Type type) const;
  /// Positions K of whole chunks and instructions of all warps.
  int64_t getUnitK() const;
  /// Elements from one row of `elements` of a piece to the next.
  int64_t getPitch(int64_t elements, Type type) const;
  /// Bytes of a piece of the factor of `lanes` as warpgroups read it.
  int64_t getPackedBytes(int64_t stepK, int64_t lanes) const;
  /// Tiles of `pieces` that have the same rows: parts of the factor.
  int64_t getParts(ViewType factor, PiecesAttr pieces) const;

  ChunksAttr chunks;
  /// Of products.
  int64_t elementBytes;
  int64_t rowTiles, resultTiles, rowWarps, resultWarps, warpsK;
};

/// Whether `op` has pieces of chunks of `data` in `ring`, and of `factor` in
/// what is of type `beside`: a ring, or the buffer of a part that stays; else
/// an error.
LogicalResult verifyChunkPieces(Operation *op, ViewType data, RingType ring,
                                ViewType factor, Type beside,
                                PiecesAttr pieces);

/// Whether `pieces` of chunks are those of `data` and `factor`, of which a part
/// may stay for a segment (`isKept`), by all warps of the kernel: `sharers`
/// times those of a tile; else an error.
LogicalResult verifyChunkTiles(Operation *op, ViewType data, ViewType factor,
                               PiecesAttr pieces, int64_t sharers, bool isKept);

/// Whether `found` is the sums of a tile of such pieces.
bool areChunkSumsOf(FragmentType found, ViewType data, ViewType factor,
                    PiecesAttr pieces);

/// The rules of sums of such pieces, and of what stores them.
LogicalResult verifyChunkSums(ContractPiecesOp op);
LogicalResult verifyStoredChunks(StoreOp op, ContractPiecesOp product);

} // namespace mlir::kron::tile

#endif // KRON_DIALECT_TILE_IR_TILECHUNKS_H
