//===- Batch.h - Products that are summed over a batch ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A CTA goes through its piece of the batch in K steps, which arrive in the
// ring; the sums stay in registers until a tile.store takes them.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_BATCH_H
#define KRON_LIB_CONVERSION_TILETONVVM_BATCH_H

#include "Lowering.h"
#include "kron/CodeGen/GPU/SparseChunks.h"

namespace mlir::kron::tile {

/// What a CTA works on.
struct BatchTile {
  /// Its number.
  Int index;
  /// First j and k, first t, i, and piece of the batch.
  Int left, right, lane, group, piece;
  /// First position of the batch (64 bits), and how many there are.
  Int firstRow, rows;
};

/// What tile number `index` is of; not yet which positions of the batch.
BatchTile getBatchTile(KernelBuilder &kernel, const BatchBlocks &blocks,
                       Int index);
/// The indices of warp `warp` along j, k and t.
std::tuple<Int, Int, Int> getBatchWarp(KernelBuilder &kernel,
                                       const BatchBlocks &blocks, Int warp);
/// A tile's j, k and t of sum number `number` of warp `warp`, in the order in
/// which threads store their sums: 16 bytes of each thread, of one after the
/// other.
SmallVector<Int> locateBatchSum(KernelBuilder &kernel,
                                const BatchBlocks &blocks, Int warp,
                                Int number);

/// One side of the tile: an array in global memory and its packed operand in
/// shared memory.
struct BatchOperand {
  const BatchSide *side;
  Value base;
  /// Strides, in elements.
  Int batch, feature;
  /// Index of this thread's warp along the side.
  Int warp;
  /// Byte offset within a pipeline stage.
  int64_t offset;
};

class BatchProduct {
public:
  /// In front of the loop over tiles.
  BatchProduct(Lowering &lowering, ContractBatchOp op);
  BatchProduct(const BatchProduct &) = delete;

  /// Multiplies tile number `index`.
  void emit(Int index);

  // BatchStore.cpp
  /// Whether sums are to be computed again; null: they are not.
  Value isInexact();
  /// A sum of this tile with plain multiply-adds, an element at a time.
  Value sumAgain(Int j, Int column, Int t);

  const BatchBlocks blocks;
  const Type accumulator;
  BatchOperand left, right;
  /// This thread's warp along t, and its place in its warp.
  Int laneWarp, group, quad;
  /// Of this turn.
  BatchTile current;
  SmallVector<MmaC> sums;

  /// That of chunk element `lane` and rows of it, in these instructions.
  static MmaC &getSum(const BatchBlocks &blocks, MutableArrayRef<MmaC> sums,
                      int64_t lane, int64_t leftPart, int64_t rightPart,
                      int64_t leftTile, int64_t rightTile);

private:
  // ContractBatch.cpp
  BatchTile getTile(Int index);
  Int getFirst(const BatchOperand &operand, const BatchTile &tile);
  Value offsetTile(const BatchOperand &operand, const BatchTile &tile);

  // BatchCopies.cpp
  int64_t getPiece(const BatchOperand &operand) const;
  void issue(const BatchTile &tile, Int step, Int steps);
  void copySide(const BatchOperand &operand, const BatchTile &tile, Int step,
                int64_t piece);
  Int getPlaceAlong(const BatchSide &side, Int row, Int unit);
  void copySegments(const BatchOperand &operand, const BatchTile &tile,
                    Value from, Value to);
  void copyUnits(const BatchOperand &operand, const BatchTile &tile, Value from,
                 Value to);
  SparsePiece locateBatchFirst(const BatchOperand &operand,
                               const BatchTile &tile, int64_t piece, Int row,
                               Int fast);
  SparsePiece locateBatchLast(const BatchOperand &operand,
                              const BatchTile &tile, int64_t piece, Int row,
                              Int fast);
  Int getLimit(int64_t size, Int start, int64_t extent);
  Int getSlot(Int step);
  Int getTurn(Int row);

  // BatchProducts.cpp
  void placeThread(const BatchOperand &operand, Int slot, Int firstRow,
                   Value (&pointers)[2]);
  Int getFirstRow(const BatchOperand &operand);
  SparseChunks loadRow(const BatchOperand &operand, Value (&pointers)[2],
                       int64_t macro, int64_t row);
  void multiplyMacro(MutableArrayRef<MmaC> sums, Value (&left)[2],
                     Value (&right)[2], int64_t macro);
  void multiplyStep(MutableArrayRef<MmaC> sums, Int slot);

  // BatchWarpgroups.cpp
  Value getDescriptor(const BatchOperand &operand, Int slot, Int row);
  void startProducts(MutableArrayRef<MmaC> sums, Int slot);
  Int getPackedOperands(Int step);
  void prepareMacro(Int step, int64_t macro);
  void prepareStep(Int step);
  void multiplyPacked(MutableArrayRef<MmaC> sums, Int step,
                      function_ref<void()> issueNext);

  KernelBuilder &k;
  /// Whether values are split, so that the sums of a step are apart.
  const bool hasPartialSums;
  const int64_t stages;
  ScalarOps ops;
  MmaProducts products;
  SparseMath math;
  Int rows, rowsPerPiece;
  /// Whether arrays are multiples of 16 bytes.
  Value isAligned;
  int64_t stageOffset, packedOffset = 0;
};

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_BATCH_H
