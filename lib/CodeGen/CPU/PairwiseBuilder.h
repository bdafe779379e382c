//===- PairwiseBuilder.h - Blocks of a kron.pairwise ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The result is cut into columns as wide as a register tile, and these into
// blocks of rows, which threads share:
//
//            <- width ->                    for every k block:
//      +----+----+----+----+                  pack B, [k][width], unless the
//      |    |    |    |    |  row block       block above has left it there
//      +----+----+----+----+                  for every `rows` rows of A:
//      |    |    |    |    |                    acc[r][v] = reduce over k of
//      +----+----+----+----+                      inner(A(r, k), B[k][v])
//        N in lanes                             epilogue, store (or keep sums)
//
// A is read from where it lies, one element at a time, which is broadcast, but
// for elements that have another type than sums: of those, the rows of a
// register tile are converted first. The last rows of a block, too few for a
// tile, are tiles of one row; the last columns, if they fit one vector, tiles
// of one vector.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_PAIRWISEBUILDER_H
#define KRON_LIB_CODEGEN_CPU_PAIRWISEBUILDER_H

#include "kron/CodeGen/CPU/PairwiseEmitter.h"
#include "kron/CodeGen/CPU/RuntimeCalls.h"
#include "kron/CodeGen/FusedOperands.h"

namespace mlir::kron {

/// A, B or the result: strides of the batch of the result (0 where it
/// stretches), of its rows, and of K (of the result: of columns).
struct PairwiseMatrix {
  Value base;
  SmallVector<Int> batch;
  Int row, inner;
  Type element;
};

/// A hyper-parameter: a scalar, or an array along the batch.
struct PairwiseParameter {
  Value value;
  /// Strides of an array; not there for a scalar.
  std::optional<SmallVector<Int>> batch;
};

/// All that the operation reads and writes. It exists twice: outside of the
/// body, and inside with every value replaced by its capture.
struct PairwiseArrays {
  SmallVector<Int> batch;
  Int sizeM, sizeN, sizeK;
  PairwiseMatrix lhs, rhs, init;
  SmallVector<PairwiseParameter> params;
};

/// A block of the result, and what it is computed from: matrices start where
/// the block does.
struct PairwiseBlock {
  PairwiseMatrix lhs, rhs, init;
  Int rows, columns;
  /// One value each.
  SmallVector<Value> params;
};

/// Positions of K that are packed: `count` from `start` on.
struct PairwiseSlice {
  Int start, count;
  /// Whether there are slices before and behind it; null: there is no other.
  Value isFirst, isLast;
};

class PairwiseBuilder {
public:
  PairwiseBuilder(OpBuilder &builder, SymbolTable &symbols, PairwiseOp op);

  WorkspaceBytes emit();

private:
  //===--------------------------------------------------------------------===//
  // The operation, and blocks (PairwiseEmitter.cpp)
  //===--------------------------------------------------------------------===//

  void planScratch();
  PairwiseArrays collectArrays(Emitter &emitter);
  PairwiseMatrix getMatrix(Emitter &emitter, Value array, unsigned rowsDim,
                           unsigned innerDim);
  void emitBody(func::FuncOp body, SmallVectorImpl<Value> &captures);
  void emitBlock(Emitter &emitter, const PairwiseArrays &arrays, Int number,
                 Value begin);
  PairwiseBlock getBlock(Emitter &emitter, const PairwiseArrays &arrays,
                         Int rowBlock, Int column, Int batch);
  void emitSlices(Emitter &emitter, const PairwiseBlock &block, Int sizeK,
                  Value isPacked);
  /// The grain of the parallel loop over blocks of a result of `rows` x
  /// `columns`.
  Int getGrain(Emitter &emitter, Int rows, Int columns);

  //===--------------------------------------------------------------------===//
  // Copies (PairwisePacking.cpp)
  //===--------------------------------------------------------------------===//

  /// Packs the columns of `block` at the start of the scratch, [k][width].
  void packColumns(Emitter &emitter, const PairwiseBlock &block,
                   const PairwiseSlice &slice);
  void packContiguousColumns(Emitter &emitter, const PairwiseBlock &block,
                             const PairwiseSlice &slice, Value from);
  void packTransposed(Emitter &emitter, const PairwiseBlock &block,
                      const PairwiseSlice &slice, Value from);
  /// `rows` rows of A from `from` on in the type of sums.
  PairwiseMatrix convertRows(Emitter &emitter, const PairwiseMatrix &lhs,
                             const PairwiseSlice &slice, int64_t rows);

  //===--------------------------------------------------------------------===//
  // Register tiles (PairwiseTile.cpp)
  //===--------------------------------------------------------------------===//

  struct Tile {
    int64_t rows, vectors;
    /// The first row, in the block.
    Int row;
    /// Of vectors that are stored in part; null: all of them are whole.
    SmallVector<Value> masks;
    PairwiseMatrix lhs;
  };

  void emitColumns(Emitter &emitter, const PairwiseBlock &block,
                   const PairwiseSlice &slice);
  void emitRows(Emitter &emitter, const PairwiseBlock &block,
                const PairwiseSlice &slice, int64_t vectors, bool isWhole);
  void emitTile(Emitter &emitter, const PairwiseBlock &block,
                const PairwiseSlice &slice, Tile tile);
  SmallVector<Value> emitSums(Emitter &emitter, const PairwiseBlock &block,
                              const PairwiseSlice &slice, const Tile &tile);
  void emitStep(Emitter &emitter, const Tile &tile, Int position,
                ValueRange params, MutableArrayRef<Value> sums);
  Value emitReduced(Emitter &emitter, Value lhs, Value rhs, Value sum,
                    ValueRange params);
  void emitResults(Emitter &emitter, const PairwiseBlock &block,
                   const Tile &tile, ArrayRef<Value> sums);
  void storeLanes(Emitter &emitter, const PairwiseBlock &block, Value vector,
                  int64_t first, Value to);
  /// The parameters in all lanes.
  SmallVector<Value> broadcastParams(Emitter &emitter,
                                     const PairwiseBlock &block);
  /// Where the sums of a vector of the tile are kept between slices.
  Value getKeptSum(Emitter &emitter, const Tile &tile, int64_t row,
                   int64_t vector);

  OpBuilder &builder;
  Location loc;
  PairwiseOp op;
  RuntimeCalls runtime;
  PairwisePlanAttr plan;
  Type accumulator;
  int64_t lanes, width;
  /// Positions of K that a slice has at most, and that the packed part of B has
  /// room for; whether K may need several slices.
  int64_t sliceK = 0, packedK = 0;
  bool hasSlices = false;
  /// Offsets in the scratch, in elements of the accumulation type: the packed
  /// part of B lies at its start.
  int64_t sumsOffset = 0, convertedOffset = 0, scratchElements = 0;
  Value scratch;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_PAIRWISEBUILDER_H
