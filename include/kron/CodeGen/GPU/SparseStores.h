//===- SparseStores.h - Results of a sparse kernel --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Sums go from registers to memory, scaled and through an epilogue, by 16 bytes
// where arrays allow that.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SPARSESTORES_H
#define KRON_CODEGEN_GPU_SPARSESTORES_H

#include "kron/CodeGen/GPU/KernelEpilogue.h"
#include "kron/CodeGen/GPU/SparseProducts.h"

namespace mlir::kron {

/// Where results go, and what is done to them on their way.
struct SparseTargets {
  SparseTargets(KernelBuilder &k, ScalarOps &ops) : epilogue(k, ops) {}

  SparseArray output, addend, bias, residual;
  KernelScale alpha, beta;
  KernelEpilogue epilogue;
  /// Rows of the arrays.
  Int rows;
};

/// 16 bytes of results before they are rounded.
struct SparseResults {
  SmallVector<Value> values;
  /// Where the first one is in the tile, and which of the tile's biases are
  /// theirs.
  Int row, result, lane;
  int64_t column;
};

/// How results are computed again, an element at a time: whether there is one
/// at a row, result and lane of the tile, the data of a row and lane at a
/// position on K, and what becomes of the sum.
struct SparseAgain {
  function_ref<Value(Int row, Int result, Int lane)> exists;
  function_ref<Scalar(Int row, Int lane, Int positionK)> loadData;
  function_ref<void(Value sum, Int row, Int result, Int lane)> store;
};

class SparseStores {
public:
  SparseStores(KernelBuilder &kernel, ScalarOps &ops, const SparsePlan &plan,
               const SparseThread &thread, SparseProducts &multiplier,
               SparseTargets &targets)
      : k(kernel), ops(ops), plan(plan), thread(thread), multiplier(multiplier),
        targets(targets), accumulator(getAccumulatorType(plan.element)) {}

  /// Where in shared memory results go first, if they do.
  int64_t sharedOffset = 0;

  /// Stores what a tile's results are of `sums`; by 16 bytes if arrays are
  /// multiples of that.
  void store(ArrayRef<MmaC> sums, const SparseTile &tile, Value isAligned);

  // SparseGuard.cpp
  /// Builds `again` where sums of a warp are infinite or NaN, which do not
  /// survive the splitting of values, and else `store`.
  void guard(MmaProducts &products, ArrayRef<MmaC> sums,
             function_ref<void()> again, function_ref<void()> store);
  /// Computes the warp's results of a tile with plain multiply-adds.
  void computeAgain(const SparseTile &tile, const SparseArray &factor,
                    const SparseAgain &again);
  /// An element of data, of which the tile's first one is at `first`, and a
  /// result on its way to the output, of which the tile's first one is there.
  Scalar loadData(const SparseArray &data, Value first, Int row, Int lane,
                  Int positionK);
  void storeElement(Value sum, Value first, const SparseTile &tile, Int row,
                    Int result, Int lane);

  // SparseStore.cpp
  Value getBase(const SparseArray &array, const SparseTile &tile);
  Int getOffset(const SparseArray &array, Int row, Int result, Int lane);
  Value isInside(const SparseTile &tile, Int row, Int result, Int lane,
                 int64_t rows = 1);
  Value isColumnInside(const SparseTile &tile, Int result, Int lane);
  Int getRowOf(int64_t tile, int64_t half, int64_t part);
  Value round(Value sum);
  SmallVector<Value> packWords(ArrayRef<Value> values);

  // SparseElements.cpp
  Value finishElement(Value sum, const SparseTile &tile, Int row, Int result,
                      Int lane);

  // SparseShift.cpp
  Int getShift(const SparseTile &tile);

private:
  // SparseStore.cpp
  bool canStoreChunks() const;
  Value loadChunk(const SparseArray &array, const SparseTile &tile, Int row,
                  Int result, Int lane, Value inside);
  SmallVector<Value> unpackChunk(Value chunk);
  void storeWords(ArrayRef<Value> words, Value to);
  Value loadAddend(const SparseTile &tile, const SparseResults &place,
                   Value inside);
  SmallVector<Value> loadBiases(const SparseTile &tile, int64_t width);
  void storeTogether(ArrayRef<SparseResults> chunks, ArrayRef<Value> biases,
                     const SparseTile &tile);
  void storeChunks(ArrayRef<MmaC> sums, const SparseTile &tile);
  SmallVector<SparseResults> collectChunks(ArrayRef<MmaC> sums);
  SmallVector<SparseResults> collectTurned(ArrayRef<MmaC> sums);
  void storePairs(ArrayRef<MmaC> sums, const SparseTile &tile);
  Value isRowInside(const SparseTile &tile, Int row, int64_t count);

  // SparseElements.cpp
  void storeElements(ArrayRef<MmaC> sums, const SparseTile &tile);

  // SparseSharedStore.cpp
  void leaveRows(ArrayRef<MmaC> sums, Value region, int64_t rowTile,
                 int64_t half, int64_t firstTile, int64_t tiles);
  void leaveResults(ArrayRef<MmaC> sums, Value region, int64_t rowTile,
                    int64_t resultTile);
  void storeRows(Value region, const SparseTile &tile, Int firstRow,
                 Int firstResult, int64_t tiles);
  void storeShared(ArrayRef<MmaC> sums, const SparseTile &tile);

  // SparseWideStore.cpp
  void storeWide(ArrayRef<Value> words, const SparseResults &chunk,
                 const SparseTile &tile);

  // SparseShift.cpp
  void storeEnd(ArrayRef<Value> words, Value to, Int bytes, bool isFront);
  void storePart(ArrayRef<Value> words, Value to, Int result);
  void storeShifted(ArrayRef<MmaC> sums, const SparseTile &tile);

  KernelBuilder &k;
  ScalarOps &ops;
  const SparsePlan &plan;
  const SparseThread &thread;
  SparseProducts &multiplier;
  SparseTargets &targets;
  Type accumulator;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSESTORES_H
