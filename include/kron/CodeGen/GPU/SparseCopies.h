//===- SparseCopies.h - Packed operands of a sparse kernel ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Data and factors become packed operands of chunks in shared memory. Where
// they come from, and how many of their rows, positions on K and lanes there
// are, is all that these copies know of a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SPARSECOPIES_H
#define KRON_CODEGEN_GPU_SPARSECOPIES_H

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/SparseChunks.h"
#include "kron/Plan/GPU/SparsePlan.h"

namespace mlir::kron {

/// An array with the strides that matter, in elements.
struct SparseArray {
  Value base;
  /// How elements lie in memory.
  Type element;
  /// Whether it is a block of rows in shared memory.
  bool isBlock = false;
  /// Of the rows' axis (of data), or of the results' (of a factor).
  Int row = 0;
  /// Of the contracted axis; of the results' axis where it is written.
  Int strideK = 0;
  Int lane = 0;
  SmallVector<Int> groups;
};

/// Where a tile starts.
struct SparseTile {
  Int row, lane, result;
  /// Positions on the plan's group axes, then on its free ones.
  SmallVector<Int> groups;
};

/// The tile of part number `part` of the factor and block number `block` of the
/// rows, at positions of free axes of `freeSizes`.
SparseTile getSparseTile(KernelBuilder &k, const SparsePlan &plan,
                         ArrayRef<Int> freeSizes, Int part, Int block);

/// Global memory at a tile's first row and lane (a factor: result and lane).
Value offsetSparseTile(KernelBuilder &k, const SparseArray &array,
                       const SparseTile &tile, bool isFactor);

/// Numbers of a thread.
struct SparseThread {
  /// Its warp among those next to each other along rows and results, of those
  /// that share a tile's K steps, and of those with different tiles; and its
  /// place in its warp.
  Int rowWarp, resultWarp, warpK, tileWarp = 0, group, quad;
  /// Its warp group, and its number there.
  Int warpGroup = 0, warpGroupThread;

  static SparseThread get(KernelBuilder &k, const SparsePlan &plan);
};

/// A copy of rows x K x lanes into a packed operand of chunks.
struct SparseCopy {
  const SparseArray *array;
  /// Global memory at the packed operand's first element.
  Value from;
  /// Byte offset in shared memory.
  Int to;
  int64_t rows;
  /// The first row that exists, and positions that exist beyond the packed
  /// operand's first row, first position on K and first lane; a constant where
  /// that is enough for all.
  Int rowStart = 0;
  Int rowLimit, limitK, laneLimit;
  /// Elements per copy.
  int64_t piece = 1;
  bool isFactor;
  /// Whether all warp groups share the copies out.
  bool byAll;
};

/// Byte offset of an element in a packed operand of K x `rows`.
Int getSparsePlaceAlong(KernelBuilder &k, const SparsePlan &plan, Int positionK,
                        Int row, int64_t rows);

/// `lhs < rhs`, or null if `rhs` is a constant, which says that it holds.
Value isBelow(KernelBuilder &k, Int lhs, Int rhs);

class SparseCopies {
public:
  SparseCopies(KernelBuilder &kernel, SparseMath &math, const SparsePlan &plan,
               const SparseThread &thread)
      : k(kernel), math(math), plan(plan), thread(thread) {}

  /// The copy of the part of `array` (a factor, or data of `rows` rows) that
  /// `tile` needs from `startK` on.
  SparseCopy getCopy(const SparseArray &array, const SparseTile &tile,
                     Int startK, Int to, bool isFactor, Int rows);
  /// Starts the copies of `copy`, by pieces if its array `isAligned` to 16
  /// bytes, else by elements; of a factor at positions `groups` of the plan's
  /// group axes.
  void start(SparseCopy copy, ArrayRef<Int> groups, bool isAligned);
  /// Puts the 16-bit values of the chunks that a thread reads at a time, of the
  /// factor that is kept at byte `keptOffset`, in order: of each product the
  /// two pairs along K that its operand consists of.
  void pairFactor(int64_t keptOffset);

  /// Makes chunks, at byte `to` of shared memory, of what whole copies brought.
  void makeChunks(const SparseCopy &copy, Int to, bool isAligned);

private:
  // SparseCopies.cpp
  int64_t getPiece(const SparseArray &array, bool alongRows) const;
  bool canCopySegments(const SparseArray &array) const;
  void moveChunks(
      const SparseCopy &copy, int64_t unrolled,
      function_ref<SmallVector<Value>(Int row, Int chunk, Value exists)> load,
      function_ref<void(Int row, Int chunk, ArrayRef<Value>)> store);
  void copySegments(const SparseCopy &copy);
  void copyPackedOperand(const SparseCopy &copy);
  void copyRows(const SparseCopy &copy);
  void copyPieces(int64_t items, int64_t bytes, bool byAll,
                  function_ref<SparsePiece(Int item)> get);
  SparsePiece getPieceOf(const SparseCopy &copy, Int number, Int row,
                         int64_t known);
  Int getSwizzle(Int row, int64_t known, Int chunkIndexK, bool isFactor);
  Int getPlace(Int row, int64_t known, Int chunk, bool isFactor);
  Value getChunk(Int to, Int row, Int chunk, bool isFactor);

  // SparseWholeCopies.cpp
  Int getSegment(const SparseCopy &copy, Int row, Int segment);
  Int getShift(const SparseCopy &copy, Int offset);
  bool isAlongRows(const SparseCopy &copy) const;
  Value hasRow(const SparseCopy &copy, Int row);
  std::pair<SmallVector<Value>, Value>
  loadAlongRows(const SparseCopy &copy, Int item, Int to, bool isAligned);
  void copyWhole(const SparseCopy &copy);
  void copyElements(const SparseCopy &copy);
  SmallVector<Value> loadParts(ArrayRef<Value> parts);

  // SparsePick.cpp
  int64_t getPickedAxis(const SparseArray &array) const;
  void copyPicked(const SparseCopy &copy, ArrayRef<Int> groups);

  KernelBuilder &k;
  SparseMath &math;
  const SparsePlan &plan;
  const SparseThread &thread;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSECOPIES_H
