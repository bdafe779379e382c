//===- SparseKernel.h - A step of a chain of sparse factors -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Takes the tiles of a block of rows through one factor, in K steps. What a K
// step needs of the data (and of the factor, unless that is kept) arrives in a
// ring of pipeline stages; the sums of a tile stay in registers and are stored
// from there.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_SPARSEKERNEL_H
#define KRON_LIB_CODEGEN_GPU_SPARSEKERNEL_H

#include "kron/CodeGen/GPU/SparseStores.h"
#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

class SparseKernel {
public:
  /// The chain step that applies `product` of `fused`.
  SparseKernel(KernelBuilder &kernel, FusedOp fused, ModeProductOp product,
               const SparsePlan &plan, const GPUMachine &machine);

private:
  friend class SparseChain;

  // SparseKernel.cpp
  void enterAll();
  SparseArray getArray(const StepArray &array);
  SparseArray getFactor(const StepFactor &array);
  Int getAlignment();
  void enterFactor();
  Int getHostRowBlocks();
  SparseTile getTile(Int number);
  void startRun();
  void emitTiles();
  SparseStepPlace locateStep(Int slot, Int indexK);
  SmallVector<Value> emitSteps(Int firstStep);
  void waitWarpGroup();
  void waitStep(Int step);
  void choose(Value condition, function_ref<void(bool)> body);

  // SparseLoad.cpp
  void ifStep(Int step, function_ref<void(Int number, Int startK)> body);
  void issue(Int step);
  void issueData(const SparseTile &tile, Int startK, Int slot, bool isAligned);
  void issueFactor(const SparseTile &tile, Int startK, Int to, bool isAligned);
  void keepAll();
  Int getSlot(Int step);

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
  /// Tiles of a block of rows.
  Int tileCount;
  /// The factor with known strides.
  SparseArray alignedFactor;
  /// Whether arrays are multiples of 16 bytes, and whether the factor is and
  /// has the strides of `alignedFactor`.
  Value isAligned, isFactorAligned;
  /// Byte offset of the factor that is kept, and of the pipeline stages.
  int64_t keptOffset = 0, stageOffset = 0;

  /// The block of rows that it is at, the chain step that reads its results,
  /// where its data are in shared memory, and the part of their rows that the
  /// tile reads.
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
