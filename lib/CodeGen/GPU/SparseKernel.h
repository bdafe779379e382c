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

#include "kron/CodeGen/GPU/SparseStores.h"
#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

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
  SparseArray getArray(const StepArray &array);
  SparseArray getFactor(const StepFactor &array);
  Int getAlignment();
  void swapSides(const StepFactor &array);
  void enterFactor();
  Int getHostRowBlocks();
  SparseTile getTile(Int part, Int block);
  SparseTile getTile(Int number);
  Int divideUp(Int count, Int by);
  void emitTiles();
  void emitSegment(Int part, Int start, Int count);
  void startRun();
  void emitTilesOfSegment();
  void emitSegment();
  SparseStepPlace locateStep(Int slot, Int indexK);
  Int orderData(Int step, Int slot, Int indexK);
  SmallVector<Value> emitSteps(Int firstStep);
  void waitWarpGroup();
  void waitStep(Int step);
  void choose(Value condition, function_ref<void(bool)> body);

  // SparseLoad.cpp
  void ifStep(Int step, function_ref<void(Int number, Int startK)> body);
  void issueFactor(Int step, Int to);
  void issue(Int step);
  void issueData(const SparseTile &tile, Int startK, Int slot, bool isAligned);
  void issueFactor(const SparseTile &tile, Int startK, Int to, bool isAligned);
  bool startsEarly() const;
  void finishKeeping(int64_t copiesUnderWay);
  void keepFactor(const SparseTile &tile);
  void keepAll();
  Int getSlot(Int step);
  Int getPrepared(Int number);
  void finishPreparing();
  void prepareFirst();
  void multiplyAhead(MutableArrayRef<MmaC> sums, Int step);

  // SparseGuard.cpp
  void computeAgain(const SparseTile &tile);
  void store(ArrayRef<MmaC> sums, const SparseTile &tile);

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
  ScalarOps ops;
  MmaProducts products;
  SparseMath math;
  FusedOperands operands;
  SparseThread thread;
  SparseCopies copies;
  SparseProducts multiplier;

  SparseTargets targets;
  SparseStores stores;

  SparseArray input, factor;
  /// Blocks of rows at all positions of free axes.
  Int rowBlocks;
  SmallVector<Int> freeSizes;
  /// The tiles that this CTA is at: which part of the factor they need, their
  /// first block of rows, and how many they are.
  Int runPart, runStart, tileCount;
  /// The factor with known strides.
  SparseArray alignedFactor;
  /// Whether arrays are multiples of 16 bytes, and whether the factor is and
  /// has the strides of `alignedFactor`.
  Value isAligned, isFactorAligned;
  /// Byte offset of the factor that is kept, and of the pipeline stages.
  int64_t keptOffset = 0, stageOffset = 0, orderOffset = 0;

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
