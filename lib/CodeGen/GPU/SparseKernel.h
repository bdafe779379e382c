//===- SparseKernel.h - Builds the kernel of a sparse factor ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Persistent CTAs go through their tiles in K steps. What a K step needs of the
// data (and of the factor, unless that is kept) arrives in a ring of pipeline
// stages; the sums of a tile stay in registers and are stored from there.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_SPARSEKERNEL_H
#define KRON_LIB_CODEGEN_GPU_SPARSEKERNEL_H

#include "SparseChunks.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/KernelEpilogue.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/SparsePlan.h"

namespace mlir::kron {

/// Where a tile starts.
struct SparseTile {
  Int row, lane, result;
  /// Positions on the plan's group axes, then on its free ones.
  SmallVector<Int> groups;
};

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
  int64_t piece;
  bool isFactor;
  /// Whether all warp groups share the copies out.
  bool byAll;
};

/// 16 bytes of results before they are rounded.
struct SparseResults {
  SmallVector<Value> values;
  /// Where the first one is in the tile, and which of the tile's biases are
  /// theirs.
  Int row, result, lane;
  int64_t column;
};

class SparseKernel {
public:
  /// The kernel, or the chain step of one, that applies `product` of `fused`.
  SparseKernel(KernelBuilder &kernel, FusedOp fused, ModeProductOp product,
               const SparsePlan &plan, const GPUMachine &machine);

  /// Builds all of a kernel of one factor.
  void emit();

private:
  friend class SparseChain;

  // SparseKernel.cpp
  void enterAll();
  SparseArray getArray(const StageArray &array);
  SparseArray getFactor(const StageFactor &array);
  Int getAlignment();
  void swapSides(const StageFactor &array);
  void enterFactor();
  Int getHostRowBlocks();
  Value offsetTile(const SparseArray &array, const SparseTile &tile,
                   bool isFactor);
  SparseTile getTile(Int part, Int block);
  SparseTile getTile(Int number);
  Int divideUp(Int count, Int by);
  void emitTiles();
  void emitSegment(Int part, Int start, Int count);
  void startRun();
  void emitTilesOfSegment();
  void emitSegment();
  SmallVector<Value> emitSteps(Int firstStep);
  void waitWarpGroup();
  void waitStep(Int step);
  Value locateSums(Int from, int64_t index);
  void giveSums(ArrayRef<MmaC> sums);
  void takeSums(MutableArrayRef<MmaC> sums);
  void choose(Value condition, function_ref<void(bool)> body);

  // SparseLoad.cpp
  int64_t getPiece(const SparseArray &array, bool alongRows) const;
  void ifStep(Int step, function_ref<void(Int number, Int startK)> body);
  void issueFactor(Int step, Int to);
  void issue(Int step);
  SparseCopy getCopy(const SparseArray &array, const SparseTile &tile,
                     Int startK, Int to, bool isFactor);
  void issueData(const SparseTile &tile, Int startK, Int slot, bool isAligned);
  void issueFactor(const SparseTile &tile, Int startK, Int to, bool isAligned);
  bool startsEarly() const;
  void finishKeeping(int64_t copiesUnderWay);
  void pairFactor();
  void keepFactor(const SparseTile &tile);
  void keepAll();
  bool canCopySegments(const SparseArray &array) const;
  void copySegments(const SparseCopy &copy);
  void copyPackedOperand(const SparseCopy &copy);
  void copyRows(const SparseCopy &copy);
  void copyPieces(int64_t items, int64_t bytes, bool byAll,
                  function_ref<SparsePiece(Int item)> get);
  SparsePiece getPieceOf(const SparseCopy &copy, Int number, Int row,
                         int64_t known);
  Int getSwizzle(Int row, int64_t known, Int chunkIndexK, bool isFactor);
  Int getPlace(Int row, int64_t known, Int chunk, bool isFactor);
  Int getPlaceAlong(Int positionK, Int row, int64_t rows);
  Int getSlot(Int step);

  // SparsePick.cpp
  int64_t getPickedAxis(const SparseArray &array) const;
  void copyPicked(const SparseCopy &copy, const SparseTile &tile);

  // SparseSteps.cpp
  void multiplyStep(MutableArrayRef<MmaC> sums, Int slot, Int indexK);
  void multiplyMacro(MutableArrayRef<MmaC> sums, Value data, Value factor,
                     int64_t macro, int64_t laneChunk);
  std::pair<Int, int64_t> getChunkOffset(Value parity, int64_t number,
                                         int64_t laneChunk, bool isFactor);
  SparseChunks loadChunks(Value rows, Value parity, int64_t macro,
                          int64_t laneChunk, int64_t rowOffset, bool isFactor);
  SparseChunks loadData(Value data, int64_t macro, int64_t laneChunk,
                        int64_t half);
  SparseChunks loadRowChunks(Value data, int64_t macro, int64_t step,
                             int64_t tile, int64_t half);
  MmaC &getSum(MutableArrayRef<MmaC> sums, int64_t laneChunk, int64_t part,
               int64_t row, int64_t result) const;
  std::pair<Int, int64_t> getResultOf(Int column, int64_t tile);
  Int getResultOf(Int column, Int tile);
  Value getParity(Int row, int64_t known);

  // SparseWgmma.cpp
  void prepareMacro(Int from, Int to, int64_t macro);
  void prepareFactor(Int from, Int to);
  void prepareFirst();
  void multiplyAhead(MutableArrayRef<MmaC> sums, Int step);
  SparseChunks loadExchanged(Int from, Int row, int64_t macro);
  Int getPrepared(Int number);
  void finishPreparing();
  void multiplyGroups(MutableArrayRef<MmaC> sums, Int slot, Int prepared,
                      function_ref<void()> release,
                      function_ref<void(int64_t)> finishMacro);

  // SparseStore.cpp
  bool canStoreChunks() const;
  Value getBase(const SparseArray &array, const SparseTile &tile);
  Value loadChunk(const SparseArray &array, const SparseTile &tile, Int row,
                  Int result, Int lane, Value inside);
  SmallVector<Value> unpackChunk(Value chunk);
  void storeWords(ArrayRef<Value> words, Value to);
  Value loadAddend(const SparseTile &tile, const SparseResults &place,
                   Value inside);
  SmallVector<Value> loadBiases(const SparseTile &tile, int64_t width);
  void storeTogether(ArrayRef<SparseResults> chunks, ArrayRef<Value> biases,
                     const SparseTile &tile);
  SmallVector<Value> packWords(ArrayRef<Value> values);
  void store(ArrayRef<MmaC> sums, const SparseTile &tile);
  void storeChunks(ArrayRef<MmaC> sums, const SparseTile &tile);
  SmallVector<SparseResults> collectChunks(ArrayRef<MmaC> sums);
  SmallVector<SparseResults> collectTurned(ArrayRef<MmaC> sums);
  void storePairs(ArrayRef<MmaC> sums, const SparseTile &tile);
  Value isInside(const SparseTile &tile, Int row, Int result, Int lane,
                 int64_t rows = 1);
  Value isColumnInside(const SparseTile &tile, Int result, Int lane);
  Value isRowInside(const SparseTile &tile, Int row, int64_t count);
  Int getOffset(const SparseArray &array, Int row, Int result, Int lane);
  Int getRowOf(int64_t tile, int64_t half, int64_t part);
  Value round(Value sum);

  // SparseWideStore.cpp
  void storeWide(ArrayRef<Value> words, const SparseResults &chunk,
                 const SparseTile &tile);

  // SparseShift.cpp
  Int getShift(const SparseTile &tile);
  void storeEnd(ArrayRef<Value> words, Value to, Int bytes, bool isFront);
  void storePart(ArrayRef<Value> words, Value to, Int result);
  void storeShifted(ArrayRef<MmaC> sums, const SparseTile &tile);

  // SparseElements.cpp
  Value finishElement(Value sum, const SparseTile &tile, Int row, Int result,
                      Int lane);
  void storeElements(ArrayRef<MmaC> sums, const SparseTile &tile);
  void computeAgain(const SparseTile &tile);

  // SparseShared.cpp
  Int getGroupNumber(const SparseTile &tile);
  Int getRegion(const SparseTile &tile);
  Int getRegionOffset(Int positionK, Int lane);
  Value locateFeature(Int row, Int feature);
  bool keepsFeatures() const;
  bool keepsChunks() const;
  void clearData();
  Int getFeature(const SparseTile &tile, Int result, Int lane);
  void storeShared(ArrayRef<MmaC> sums, const SparseTile &tile);
  void storeSharedAlong(ArrayRef<MmaC> sums, const SparseTile &tile);
  Int getSlotOfRow(Int row);
  Int getRowOfSlot(Int slot);
  SparseArray getResultRows(Int offset);
  void handOn(ArrayRef<Value> values, Int row, ArrayRef<Int> results,
              ArrayRef<Int> lanes, const SparseTile &tile, bool isChunk);

  KernelBuilder &k;
  Emitter &host;
  FusedOp fused;
  ModeProductOp product;
  const SparsePlan &plan;
  Type accumulator;
  /// Of data and factor, if they are 8-bit values; null otherwise.
  Type dataFloat8, factorFloat8;
  ScalarOps ops;
  MmaProducts products;
  SparseMath math;
  FusedOperands operands;

  SparseArray input, output, addend, factor, bias, residual;
  KernelScale alpha, beta;
  KernelEpilogue epilogue;
  /// Rows of the arrays, and blocks of them at all positions of free axes.
  Int rows, rowBlocks;
  SmallVector<Int> freeSizes;
  /// The tiles that this CTA is at: which part of the factor they need, their
  /// first block of rows, and how many they are.
  Int runPart, runStart, tileCount;
  /// The factor with known strides.
  SparseArray alignedFactor;
  /// Whether arrays are multiples of 16 bytes, and whether the factor is and
  /// has the strides of `alignedFactor`.
  Value isAligned, isFactorAligned;
  /// This thread's warp and its place in it.
  Int rowWarp, resultWarp, warpK, tileWarp = 0, group, quad;
  /// Its warp group, and its number there.
  Int warpGroup = 0, warpGroupThread;
  /// Byte offset of the factor that is kept, of the pipeline stages, and of the
  /// sums that warps give to the first one.
  int64_t keptOffset = 0, stageOffset = 0, exchangeOffset = 0;

  /// Of a chain step: the block of rows that it is at, the chain step that
  /// reads its results, where its data are in shared memory, and the part of
  /// their rows that the tile reads.
  Int chainBlock;
  SparseKernel *next = nullptr;
  /// The chain step whose order of rows all of them in shared memory have, if
  /// there is one that turns them.
  const SparsePlan *turning = nullptr;
  Int dataOffset = 0, dataRegion = 0;
  /// Copies that other chain steps start between this one's first and others,
  /// and where the tile's part of the factor is among all that are kept.
  int64_t copiesBetween = 0;
  Int keptTile = 0;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_SPARSEKERNEL_H
