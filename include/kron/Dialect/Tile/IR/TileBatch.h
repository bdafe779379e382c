//===- TileBatch.h - Products that are summed over a batch ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// For every (i, t) the sums D[j, k] = sum over n of G[n, j] X[n, k] are a
// matrix product of its own, whose K axis is the batch. G is operand A of
// matrix instructions (the left side, of 16 rows), X operand B (the right side,
// of 8).
//
// Both are read from shared memory in chunks of 16 or 8 bytes. What lies along
// a chunk is what lies side by side in memory:
//
//   batch last     positions of the batch: a chunk is operand of several
//                  instructions
//   batch first    `lanesPerChunk` products t times `rowsPerChunk` rows j (or
//                  k): every element belongs to another instruction
//
// A CTA sums up a tile of j, k and t over a piece of the batch.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEBATCH_H
#define KRON_DIALECT_TILE_IR_TILEBATCH_H

#include "mlir/IR/Types.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::kron::tile {

/// One operand: rows j of G, or k of X.
struct BatchSide {
  int64_t size = 1;
  /// Rows of a matrix instruction.
  int64_t unit = 16;
  /// Instructions per warp, and warps next to each other.
  int64_t tiles = 1, warps = 1;
};

/// How the tiles of such products are cut among warps, and how their operands
/// lie in shared memory.
struct BatchBlocks {
  /// Warps of a warpgroup.
  static constexpr int64_t kGroupWarps = 4;
  /// Bytes of a line of shared memory: all banks, and what wgmma swizzles.
  static constexpr int64_t kLineBytes = 128;

  Type element;
  int64_t elementBytes = 4;
  /// Whether products of what splitting leaves are of bf16: that loses 2^-9 of
  /// what is 2^-12 of the result already, and costs half as much.
  bool has16BitResiduals = false;
  bool batchLast = false;
  /// Groups i and products t per group.
  int64_t groups = 1, lanes = 1;
  /// G and X.
  BatchSide left, right;

  int64_t chunkBytes = 16;
  int64_t lanesPerChunk = 1, rowsPerChunk = 1;

  /// Warps that have other chunks of t.
  int64_t laneWarps = 1;
  /// Positions of the batch that arrive in a K step.
  int64_t batchStep = 32;
  /// Whether warpgroups multiply f16 or bf16 with the batch last, which the
  /// matrix unit reads from shared memory: each has 64 rows j and all k of the
  /// tile.
  bool usesWgmma = false;
  /// Whether warpgroups multiply f32: warps load and split rows j of their own,
  /// and prepare packed operands of rows k, which the matrix unit reads.
  bool usesPackedOperands = false;

  /// Works out what lies along a chunk.
  void setChunks() {
    int64_t own = lanes & -lanes;
    lanesPerChunk = batchLast ? 1 : std::min(own, getChunk());
    rowsPerChunk = batchLast ? 1 : getChunk() / lanesPerChunk;
  }

  bool is16BitFloat() const { return elementBytes == 2; }
  int64_t getChunk() const { return chunkBytes / elementBytes; }
  /// Positions of the batch that a thread takes per instruction, and that an
  /// instruction takes.
  int64_t getKPerThread() const {
    return is16BitFloat() || has16BitResiduals ? 4 : 2;
  }
  int64_t getK() const { return 4 * getKPerThread(); }
  /// Positions of the batch that one load of chunks per row covers.
  int64_t getMacroK() const { return batchLast ? 4 * getChunk() : getK(); }
  /// What the positions of the batch in a K step are multiples of.
  int64_t getStepUnit() const {
    return usesWgmma ? kLineBytes / elementBytes : getMacroK();
  }
  /// Elements of a chunk that the instructions tell apart.
  int64_t getParts() const { return lanesPerChunk * rowsPerChunk; }
  int64_t getLanes() const { return lanesPerChunk * laneWarps; }
  int64_t getRowsPerWarp(const BatchSide &side) const {
    return side.unit * rowsPerChunk * side.tiles;
  }
  int64_t getRows(const BatchSide &side) const {
    return getRowsPerWarp(side) * side.warps;
  }
  int64_t getBlocks(const BatchSide &side) const {
    return llvm::divideCeil(side.size, getRows(side));
  }
  int64_t getLaneBlocks() const { return llvm::divideCeil(lanes, getLanes()); }
  int64_t getTiles() const {
    return groups * getLaneBlocks() * getBlocks(left) * getBlocks(right);
  }
  int64_t getWarps() const { return laneWarps * left.warps * right.warps; }
  int64_t getThreads() const { return 32 * getWarps(); }
  /// Matrix instructions that have sums of their own, per warp.
  int64_t getSums() const {
    return lanesPerChunk * rowsPerChunk * rowsPerChunk * left.tiles *
           right.tiles;
  }
  int64_t getWeights() const { return groups * left.size * right.size * lanes; }
  /// Sums of a warp, those that do not exist included.
  int64_t getSumsPerWarp() const { return 4 * 32 * getSums(); }
  int64_t getSumsPerTile() const { return getWarps() * getSumsPerWarp(); }

  /// Batch first: of one position of the batch; batch last: of one row. Whole
  /// lines of all banks (of which wgmma wants those of all rows together).
  int64_t getPitch(const BatchSide &side) const {
    int64_t chunks = getRows(side) / rowsPerChunk * laneWarps;
    int64_t bytes = batchLast ? batchStep * elementBytes : chunks * chunkBytes;
    return llvm::alignTo(bytes, kLineBytes);
  }
  int64_t getSideBytes(const BatchSide &side) const {
    return getPitch(side) * (batchLast ? getRows(side) : batchStep);
  }
  int64_t getStageBytes() const {
    return getSideBytes(left) + getSideBytes(right);
  }
  /// Sums that lie side by side among the weights and of which a thread has
  /// several, `bytes` each; but a multiple of what a row has.
  int64_t getNeighbours(int64_t bytes) const {
    int64_t segment = lanes == lanesPerChunk ? 2 * getParts() : lanesPerChunk;
    int64_t width = std::min<int64_t>(segment, 16 / bytes);
    while (right.size * lanes % width != 0)
      width /= 2;
    return width;
  }
};

} // namespace mlir::kron::tile

#endif // KRON_DIALECT_TILE_IR_TILEBATCH_H
