//===- Steps.h - Steps of a chain of sparse factors -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the operations of a chain step share: where its data and its factor come
// from, how rows between steps lie, and what lanes have of the sums.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_STEPS_H
#define KRON_LIB_CONVERSION_TILETONVVM_STEPS_H

#include "ChunkArrays.h"

namespace mlir::kron::tile {

/// Rows of a buffer that a step reads, in the places of its chunks.
class StepRows {
public:
  StepRows(KernelBuilder &k, const SparsePlan &plan, int64_t turned)
      : k(k), plan(plan), turned(turned) {}

  /// Where the buffer begins.
  Int begin = 0;

  /// The number of a tile's group among all of them.
  Int getGroup(const SparseTile &tile);
  /// Byte offset, in a row, of the first chunk that `tile` reads.
  Int getRegion(const SparseTile &tile);
  /// Where `feature` of `row` is, counted as in memory.
  Value locate(Int row, Int feature);
  /// Whether features that are a chunk of an array are one in these rows, too.
  bool keepsChunks() const;
  /// Where the buffer has row `row` of a tile, and the opposite.
  Int getSlotOfRow(Int row);
  Int getRowOfSlot(Int slot);

private:
  Int getRegionOffset(Int positionK, Int lane);
  bool keepsFeatures() const;

  KernelBuilder &k;
  const SparsePlan &plan;
  int64_t turned;
};

class ChainStep : ChunkProduct {
public:
  ChainStep(Lowering &lowering, ContractStepOp op);

  /// Starts the copies of the whole factor.
  void keep();
  /// Starts those of the first pieces of `tile`, of which there are `count`.
  void start(Int tile, Int count);
  /// body() for all parts of `tile`, for which as many copies of other steps
  /// are started behind this one's first ones.
  void forParts(Int tile, int64_t others, function_ref<void()> body);
  /// Multiplies all pieces of the part.
  void multiply();
  /// Stores the sums of the part, to the array, or to rows of features.
  void store();
  /// Hands them on to the step that reads them.
  void exchange(ChainStep &reader);

  int64_t getParts() const { return plan.getTilesPerRows(); }
  /// Groups of copies that `start` commits.
  int64_t getStarted() const { return plan.stages - 1; }

private:
  void enterTargets(SmallVectorImpl<Value> &views);
  SparseTile locate(Int part);
  void copy(Int step, Int count);
  void copyData(Int number, Int startK, Int slot, bool isAligned);
  void copyFactor(Int number, Int startK, Int to, bool isAligned);
  Int getSlot(Int step);
  void wait(Int step);
  SparseStepPlace locateStep(Int step, Int indexK);

  // StepSums.cpp
  Int getFeature(Int result, Int lane);
  void exchangeAlong(ChainStep &reader);
  void exchangeAcross(ChainStep &reader);
  void handOn(ArrayRef<Value> values, Int row, ArrayRef<Int> results,
              ArrayRef<Int> lanes, ChainStep &reader, bool isChunk);
  void computeAgain(
      function_ref<void(Value sum, Int row, Int result, Int lane)> storeOne);

  ContractStepOp op;
  StepRows rows;

  /// The tile that copies are of, and that the loop is at; its part and the
  /// first one of those that go together; and copies of others behind this
  /// one's first ones.
  Int block, first, number;
  int64_t copiesBetween = 0;
  /// Of the part: the bytes of rows that it reads, from their first one, and
  /// its factor's, from the first part's, if that is kept.
  Int region = 0, keptPart = 0;
};

/// The step of `op`. All those of a kernel are made when the first one is asked
/// for, in front of its loop.
ChainStep &getChainStep(Lowering &lowering, ContractStepOp op);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_STEPS_H
