//===- PairwiseBuilder.h - Blocks of functions of pairs ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The values of pairs are cut into columns as wide as a register tile, and
// these into blocks of rows:
//
//            <- width ->                    for every k block:
//      +----+----+----+----+                  pack B, [k][width], unless the
//      |    |    |    |    |  row block       block above has left it there
//      +----+----+----+----+                  for every `rows` rows of A:
//      |    |    |    |    |                    acc[r][v] = reduce over k of
//      +----+----+----+----+                      inner(A(r, k), B[k][v])
//        N in lanes                             epilogue, and what the
//        operation
//                                               does with them (or keep sums)
//
// Threads share the blocks of a kron.pairwise, which stores the values, and
// rows of blocks of a kron.pairwise_apply, which multiplies them, and of a
// kron.pairwise_grad. Where that differentiates by B, the two sides are
// exchanged: "A" is always what has the rows of the result here.
//
// A is read from where it lies, one element at a time, which is broadcast, but
// for elements that have another type than sums: of those, the rows of a
// register tile are converted first. The last rows of a block, too few for a
// tile, are tiles of one row; the last columns, if they fit one vector, tiles
// of one vector.
//
// Where squares of differences are made of products, rows of a block of A are
// packed as well, and both sides are less the mean of some rows of A. Register
// tiles whose squares come out too small to be exact are computed by the
// function when those of a strip are done.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_PAIRWISEBUILDER_H
#define KRON_LIB_CODEGEN_CPU_PAIRWISEBUILDER_H

#include "kron/CodeGen/CPU/PairwiseEmitter.h"
#include "kron/CodeGen/CPU/RuntimeCalls.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/Dialect/Kron/Utils/PairPrograms.h"

namespace mlir::kron {

/// A, B, the values or the result: strides of the batch of the result (0 where
/// it stretches), of its rows (of the values: of N), and of the other axis.
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

/// Those without a base are not there.
struct PairwiseMatrices {
  PairwiseMatrix lhs, rhs, init;
  /// V: the values of a kron.pairwise_apply, or the factor of a gradient that
  /// has rows as B; the other factor, and the gradient that is an array.
  PairwiseMatrix values, rowFactor, weights;
  /// What A and B move along.
  PairwiseMatrix lhsAlong, rhsAlong;

  std::array<PairwiseMatrix *, 8> getAll() {
    return {&lhs,       &rhs,     &init,     &values,
            &rowFactor, &weights, &lhsAlong, &rhsAlong};
  }
};

/// All that the operation reads and writes. It exists twice: outside of the
/// body, and inside with every value replaced by its capture.
struct PairwiseArrays : PairwiseMatrices {
  SmallVector<Int> batch;
  Int sizeM, sizeN, sizeK;
  /// The hyper-parameters and, behind them, their directions.
  SmallVector<PairwiseParameter> params;
  /// What only some operations have: columns of V, rows of a block, positions
  /// of the batch that add to one result, and outputs.
  Int sizeC, blockRows, sizeSummed, sizeO;
};

/// A block of values of pairs, and what it is computed from: matrices start
/// where the block does.
struct PairwiseBlock : PairwiseMatrices {
  Int rows, columns;
  /// All of A at this position of the batch, and how many rows that has.
  PairwiseMatrix firstRows;
  Int sizeM;
  /// One value each.
  SmallVector<Value> params;
  /// Rows of A that are packed for this block and for those behind it, if they
  /// are more than `rows`.
  std::optional<Int> packedRows = {};
};

/// How values of pairs are computed.
enum class PairwiseForm {
  /// By the function.
  Function,
  /// Squares by products; register tiles where these are not exact are marked.
  Products,
  /// By the function, in the register tiles that are marked.
  Marked
};

/// Positions of K that are packed: `count` from `start` on.
struct PairwiseSlice {
  PairwiseForm form;
  Int start, count;
  /// Whether there are slices before and behind it; null: there is no other.
  Value isFirst, isLast;
};

class PairwiseBuilder {
public:
  /// `rowSide`: which operand, A (0) or B (1), has the rows of the result.
  PairwiseBuilder(OpBuilder &builder, SymbolTable &symbols, PairOpInterface op,
                  PairwisePlanAttr plan, unsigned rowSide = 0);
  virtual ~PairwiseBuilder() = default;

  WorkspaceBytes emit();

protected:
  struct Tile {
    int64_t rows, vectors;
    /// The first row, in the block.
    Int row;
    /// Of vectors of which only a part exists; null: all of them are whole.
    SmallVector<Value> masks;
    PairwiseMatrix lhs, along;
  };

  //===--------------------------------------------------------------------===//
  // What operations differ in
  //===--------------------------------------------------------------------===//

  /// Adds to the arrays, outside of the body.
  virtual void addArrays(Emitter &emitter, PairwiseArrays &arrays) {}
  /// What threads share: the number of parts, and the multiply-adds of one.
  virtual Int countParts(Emitter &emitter, const PairwiseArrays &arrays) = 0;
  virtual Int countFmas(Emitter &emitter, const PairwiseArrays &arrays) = 0;
  /// One part; `begin` is the first of the range that the thread computes.
  virtual void emitPart(Emitter &emitter, const PairwiseArrays &arrays,
                        Int number, Value begin) = 0;
  /// What is done with the reduced values of a tile.
  virtual void emitResults(Emitter &emitter, const PairwiseBlock &block,
                           const Tile &tile, ArrayRef<Value> sums) = 0;

  //===--------------------------------------------------------------------===//
  // Blocks (PairwiseBuilder.cpp)
  //===--------------------------------------------------------------------===//

  /// `rowsDim`: none of an array along the batch alone.
  PairwiseMatrix getMatrix(Emitter &emitter, Value array,
                           std::optional<unsigned> rowsDim);
  /// Moves `matrix` by `row` rows and `inner` positions of the other axis.
  static void moveMatrix(Emitter &emitter, PairwiseMatrix &matrix, Int row,
                         Int inner = 0);
  /// Moves all that have rows of the result, or of N, by `first` of these.
  static void moveRows(Emitter &emitter, PairwiseMatrices &matrices, Int first);
  static void moveColumns(Emitter &emitter, PairwiseMatrices &matrices,
                          Int first);
  /// What has `size` positions, from `first` on: at most `most`.
  static Int getExtent(Emitter &emitter, Int size, Int first, Int most);
  /// All values of position `batch` of the batch.
  PairwiseBlock getBatch(Emitter &emitter, const PairwiseArrays &arrays,
                         Int batch);
  static Int countBatch(Emitter &emitter, const PairwiseArrays &arrays);
  /// Rows of a block of which there are `others` for the same rows: fewer than
  /// the plan says where threads would have none, but whole register tiles.
  Int getBlockRows(Emitter &emitter, Int sizeM, Int others);
  /// The values of pairs `block`, of which a column of register tiles starts at
  /// `first`.
  PairwiseBlock getStrip(Emitter &emitter, const PairwiseBlock &block,
                         Int first);
  /// The values of pairs `strip`. `isPacked`: whether what strips next to it
  /// share is packed already: B, or where there are products, A; null: it is
  /// not.
  void emitStrip(Emitter &emitter, const PairwiseBlock &strip, Int sizeK,
                 Value isPacked);

  //===--------------------------------------------------------------------===//
  // Copies (PairwisePacking.cpp)
  //===--------------------------------------------------------------------===//

  /// Packs `columns` rows of `matrix`, a width at most, with `count` positions
  /// of the other axis: as [position][stride], which is the width if it is 0.
  /// `centre`: a row that is taken off; null: none.
  void packPanel(Emitter &emitter, const PairwiseMatrix &matrix, Int columns,
                 Int count, Value to, int64_t stride = 0,
                 Value centre = nullptr);

  //===--------------------------------------------------------------------===//
  // Register tiles (PairwiseTile.cpp)
  //===--------------------------------------------------------------------===//

  /// Adds the function of two elements to a sum.
  using Reduce = function_ref<Value(Value, Value, Value)>;

  /// `sums` with what `count` positions of a packed `panel` add to them.
  SmallVector<Value> emitSums(Emitter &emitter, Value panel, Int count,
                              const Tile &tile, SmallVector<Value> sums,
                              Reduce reduce);
  /// Adds the products with `count` positions of a packed `panel` to the
  /// vectors of sums that are `at` these places of scratch.
  void addProducts(Emitter &emitter, Value panel, Int count, const Tile &tile,
                   ArrayRef<Value> at);
  /// The value of pair `index` of a tile, or its derivative along directions;
  /// `sums` are reduced values and, behind them, their derivatives.
  Value emitValue(ArrayRef<Value> sums, unsigned index, ValueRange params);
  /// Calls `body(row, count)` for all rows in tiles of those of a register
  /// tile, then of one.
  void forRowTiles(Emitter &emitter, Int rows,
                   function_ref<void(Int, int64_t)> body);
  /// The parameters, and their directions, in all lanes.
  SmallVector<Value> broadcastParams(Emitter &emitter,
                                     const PairwiseBlock &block);
  /// Stores the first `count` lanes of `vector`, with this `mask` if these are
  /// not all, along the second axis of `matrix`.
  void storeRow(Emitter &emitter, const PairwiseMatrix &matrix, Value vector,
                Int count, Value mask, Value to);
  /// Loads them from there; other lanes are 0, or anything.
  Value loadRow(Emitter &emitter, const PairwiseMatrix &matrix, Int count,
                Value mask, Value from);

  OpBuilder &builder;
  Location loc;
  PairOpInterface op;
  RuntimeCalls runtime;
  PairwisePlanAttr plan;
  Type accumulator;
  const unsigned rowSide;
  int64_t lanes, width;
  /// Positions of K that a slice has at most, and that the packed part of B has
  /// room for.
  int64_t sliceK = 0, packedK = 0;
  /// Of the scratch, in elements of the accumulation type.
  int64_t scratchElements = 0;
  Value scratch;

  bool hasDirections() const { return innerAlong.has_value(); }

private:
  void planScratch();
  PairwiseArrays collectArrays(Emitter &emitter);
  void emitBody(func::FuncOp body, PairwiseArrays arrays,
                SmallVectorImpl<Value> &captures);
  /// The grain of the parallel loop over parts of `fmas` multiply-adds.
  Int getGrain(Emitter &emitter, Int fmas);

  void emitSlices(Emitter &emitter, const PairwiseBlock &block, Int sizeK,
                  PairwiseForm form, Value isPacked);
  void packSlice(Emitter &emitter, const PairwiseBlock &block,
                 const PairwiseSlice &slice, Value isPacked);

  void packContiguous(Emitter &emitter, const PairwiseMatrix &matrix,
                      Int columns, Int count, Value panel, int64_t stride,
                      Value centre);
  void packTransposed(Emitter &emitter, const PairwiseMatrix &matrix,
                      Int columns, Int count, Value panel, int64_t stride,
                      Value centre);
  /// Packs the columns of `block` at the start of the scratch.
  void packColumns(Emitter &emitter, const PairwiseBlock &block,
                   const PairwiseSlice &slice);
  /// Copies `count` positions of a row, less those of `centre` if that is not
  /// null.
  void copyRow(Emitter &emitter, const PairwiseMatrix &from, Int count,
               Value to, Value centre);
  /// `rows` rows of A from `from` on in the type of sums.
  PairwiseMatrix convertRows(Emitter &emitter, const PairwiseMatrix &lhs,
                             const PairwiseSlice &slice, int64_t rows);

  //===--------------------------------------------------------------------===//
  // Squares made of products (PairwiseProducts.cpp)
  //===--------------------------------------------------------------------===//

  void planProducts();
  /// Squares by products, and those of marked tiles, or of all where K turns
  /// out to be too small, by the function.
  void emitProducts(Emitter &emitter, const PairwiseBlock &block, Int sizeK,
                    Value isPacked);
  /// What is near all rows, in the scratch.
  void packCentre(Emitter &emitter, const PairwiseBlock &block,
                  const PairwiseSlice &slice);
  void packRows(Emitter &emitter, const PairwiseBlock &block,
                const PairwiseSlice &slice);
  /// A as `packRows` leaves it.
  int64_t getRowStride() const;
  PairwiseMatrix getPackedRows(Emitter &emitter, const PairwiseMatrix &lhs);
  /// `start` in the first slice, else what the one before has left.
  Value loadKept(const PairwiseSlice &slice, Value start,
                 function_ref<Value()> load);
  /// Adds the squared length of a packed row to that at `norm`.
  void addNorm(Emitter &emitter, Value row, const PairwiseSlice &slice,
               Value norm);
  /// Adds the squared lengths of `vectors` vectors of rows, packed as
  /// [position][stride] in `panel`, to those at `norms`.
  void addNorms(Emitter &emitter, Value panel, int64_t stride, int64_t vectors,
                const PairwiseSlice &slice, Value norms);
  /// What is done with products that are complete.
  void emitSquares(Emitter &emitter, const PairwiseBlock &block, Int sizeK,
                   const Tile &tile, ArrayRef<Value> products);
  /// Of the register tile that starts at `row`; behind the last one, of the
  /// strip.
  Value getMark(Emitter &emitter, Int row);
  void setMark(Value mark, bool isSet);
  /// Calls `body` where a mark is set.
  void ifMarked(Value mark, function_ref<void()> body);

  void emitColumns(Emitter &emitter, const PairwiseBlock &block,
                   const PairwiseSlice &slice);
  void emitRows(Emitter &emitter, const PairwiseBlock &block,
                const PairwiseSlice &slice, int64_t vectors, bool isWhole);
  void emitTile(Emitter &emitter, const PairwiseBlock &block,
                const PairwiseSlice &slice, Tile tile);
  SmallVector<Value> emitReducedValues(Emitter &emitter,
                                       const PairwiseBlock &block,
                                       const PairwiseSlice &slice,
                                       const Tile &tile);
  /// `sums` after `step(position, sums)` of `count` positions.
  SmallVector<Value>
  forPositions(Emitter &emitter, Int count, SmallVector<Value> sums,
               function_ref<void(Int, MutableArrayRef<Value>)> step);
  void emitStep(Emitter &emitter, Value panel, const Tile &tile, Int position,
                MutableArrayRef<Value> sums, Reduce reduce);
  /// Of reduced values and of their derivatives.
  void emitStepAlong(Emitter &emitter, const Tile &tile, Int position,
                     MutableArrayRef<Value> sums, ValueRange params);
  Value emitReducedAlong(Emitter &emitter, ValueRange args, Value sum);
  Value emitReduced(Emitter &emitter, Value lhs, Value rhs, Value sum,
                    ValueRange params);
  void storeLanes(Emitter &emitter, const PairwiseMatrix &matrix, Value vector,
                  Int count, Value to);
  /// Where sum `index` of the tile is kept between slices.
  Value getKeptSum(Emitter &emitter, const Tile &tile, int64_t index);

  /// Where there are directions: the functions and their derivatives along
  /// these.
  std::optional<PairProgram> innerAlong, epilogueAlong;
  /// Whether K may need several slices.
  bool hasSlices = false;
  /// In the scratch: the packed part of B lies at its start, then that of its
  /// direction.
  int64_t alongOffset = 0, sumsOffset = 0, convertedOffset = 0;
  /// Where there are products: the row that is taken off, rows of A and their
  /// squared lengths, those of columns, and marks of register tiles.
  int64_t centreOffset = 0, rowsOffset = 0, rowNormsOffset = 0,
          columnNormsOffset = 0, marksOffset = 0;
};

/// Calls `body(first, mask)` for vectors of `count` elements; the mask is that
/// of the last one if it is not whole, else null.
void forVectors(Emitter &emitter, Int count, int64_t lanes,
                function_ref<void(Int, Value)> body);

/// Calls `body(first, number)` for `count` of anything, `most` of them at a
/// time, then one by one.
void forTiles(Emitter &emitter, Int count, int64_t most,
              function_ref<void(Int, int64_t)> body);

/// Calls `emitThen` where `condition` holds, else `emitElse`.
void emitChoice(Emitter &emitter, Value condition,
                function_ref<void()> emitThen, function_ref<void()> emitElse);

/// A scalar in all lanes of `type`.
Value broadcastScalar(Emitter &emitter, VectorType type, Value scalar);

/// The code of kron.pairwise_apply (PairwiseApply.cpp).
std::unique_ptr<PairwiseBuilder> createApplyBuilder(OpBuilder &builder,
                                                    SymbolTable &symbols,
                                                    PairwiseApplyOp op);

/// The code of kron.pairwise_grad (PairwiseGrad.cpp).
std::unique_ptr<PairwiseBuilder>
createGradBuilder(OpBuilder &builder, SymbolTable &symbols, PairwiseGradOp op);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_PAIRWISEBUILDER_H
