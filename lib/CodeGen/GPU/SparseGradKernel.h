//===- SparseGradKernel.h - Builds the kernels of a gradient ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A CTA goes through its piece of the batch in K steps, which arrive in a ring
// of pipeline stages; the sums stay in registers. They are the gradient, or, if
// the batch is cut into pieces, go to the launch's workspace, and a second
// kernel adds them up in the order of the batch.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_SPARSEGRADKERNEL_H
#define KRON_LIB_CODEGEN_GPU_SPARSEGRADKERNEL_H

#include "kron/CodeGen/GPU/ScalarOps.h"
#include "kron/CodeGen/GPU/SparseChunks.h"
#include "kron/Plan/GPU/SparseGradPlan.h"

namespace mlir::kron {

/// Arrays of the operation, as its kernels' launches see them.
struct SparseGradOperands {
  /// G and X, with the strides of the batch and of features.
  StageArray left, right;
  unsigned batchDim = 0;
  Int rows = 0;
  StageArray init, addend;
  Scale alpha, beta;
};

/// How the batch is cut, on the host.
struct SparseGradPieces {
  Int rowsPerPiece = 0, count = 1;
  /// Sums of the pieces; null if there is one piece.
  Value sums;
};

/// Weights or their sums in global memory: base, strides of i, j, k and t, and
/// what is stored.
struct SparseGradTarget {
  Value base;
  SmallVector<Int> strides;
  Type element;
};

/// What a CTA works on.
struct SparseGradTile {
  /// Its number.
  Int index;
  /// First j and k, first t, i, and piece of the batch.
  Int left, right, lane, group, piece;
  /// First position of the batch (64 bits), and how many there are.
  Int firstRow, rows;
};

/// What tile number `index` is of; not yet which positions of the batch.
SparseGradTile getSparseGradTile(KernelBuilder &kernel,
                                 const SparseGradPlan &plan, Int index);
/// The indices of warp `warp` along j, k and t.
std::tuple<Int, Int, Int>
getSparseGradWarp(KernelBuilder &kernel, const SparseGradPlan &plan, Int warp);
/// A tile's j, k and t of sum number `number` of warp `warp`, in the order in
/// which threads store their sums: 16 bytes of each thread, of one after the
/// other.
SmallVector<Int> locateSparseGradSum(KernelBuilder &kernel,
                                     const SparseGradPlan &plan, Int warp,
                                     Int number);

/// One side of the tile: an array in global memory and its packed operand in
/// shared memory.
struct SparseGradOperand {
  const SparseGradSide *side;
  Value base;
  /// Strides, in elements.
  Int batch, feature;
  /// Index of this thread's warp along the side.
  Int warp;
  /// Byte offset within a pipeline stage.
  int64_t offset;
};

class SparseGradKernel {
public:
  SparseGradKernel(Emitter &host, gpu::GPUModuleOp gpuModule, StringRef name,
                   const SparseGradPlan &plan,
                   const SparseGradOperands &operands,
                   const SparseGradPieces &pieces, const GPUMachine &machine);

  void emit();

private:
  // SparseGradKernel.cpp
  void enterAll();
  void enterTarget();
  Int getAlignment();
  SparseGradTile getTile(Int index);
  Int getFirst(const SparseGradOperand &operand, const SparseGradTile &tile);
  Value offsetTile(const SparseGradOperand &operand,
                   const SparseGradTile &tile);
  void emitTile(const SparseGradTile &tile);

  // SparseGradLoad.cpp
  int64_t getPiece(const SparseGradOperand &operand) const;
  void issue(const SparseGradTile &tile, Int step, Int steps);
  void copySide(const SparseGradOperand &operand, const SparseGradTile &tile,
                Int step, int64_t piece);
  Int getPlaceAlong(const SparseGradSide &side, Int row, Int unit);
  void copySegments(const SparseGradOperand &operand,
                    const SparseGradTile &tile, Value from, Value to);
  void copyUnits(const SparseGradOperand &operand, const SparseGradTile &tile,
                 Value from, Value to);
  SparsePiece locateBatchFirst(const SparseGradOperand &operand,
                               const SparseGradTile &tile, int64_t piece,
                               Int row, Int fast);
  SparsePiece locateBatchLast(const SparseGradOperand &operand,
                              const SparseGradTile &tile, int64_t piece,
                              Int row, Int fast);
  Int getLimit(int64_t size, Int start, int64_t extent);
  Int getSlot(Int step);
  Int getTurn(Int row);

  // SparseGradSteps.cpp
  void placeThread(const SparseGradOperand &operand, Int slot, Int firstRow,
                   Value (&pointers)[2]);
  Int getFirstRow(const SparseGradOperand &operand);
  SparseChunks loadRow(const SparseGradOperand &operand, Value (&pointers)[2],
                       int64_t macro, int64_t row);
  void multiplyMacro(MutableArrayRef<MmaC> sums, Value (&left)[2],
                     Value (&right)[2], int64_t macro);
  void multiplyStep(MutableArrayRef<MmaC> sums, Int slot);
  MmaC &getSum(MutableArrayRef<MmaC> sums, int64_t lane, int64_t leftPart,
               int64_t rightPart, int64_t leftTile, int64_t rightTile) const;

  // SparseGradWgmma.cpp
  Value getDescriptor(const SparseGradOperand &operand, Int slot, Int row);
  void startProducts(MutableArrayRef<MmaC> sums, Int slot);

  // SparseGradPacked.cpp
  Int getPackedOperands(Int step);
  void prepareMacro(Int step, int64_t macro);
  void prepareStep(Int step);
  void multiplyPacked(MutableArrayRef<MmaC> sums, Int step,
                      function_ref<void()> issueNext);

  // SparseGradStore.cpp
  void store(ArrayRef<MmaC> sums, const SparseGradTile &tile);
  Value getWarpSums(const SparseGradTile &tile);
  void storeInThreadOrder(ArrayRef<MmaC> sums, const SparseGradTile &tile);
  void storeAll(ArrayRef<MmaC> sums, const SparseGradTile &tile);
  int64_t getStoreWidth() const;
  void storeNeighbours(ArrayRef<Value> sums, const SparseGradTile &tile, Int j,
                       Int column, Int t);
  void computeAgain(const SparseGradTile &tile);
  Value isInside(const SparseGradTile &tile, Int j, Int column, Int t);
  Value getPlace(const SparseGradTarget &array, const SparseGradTile &tile,
                 Int j, Int column, Int t);

  Emitter &host;
  const SparseGradPlan &plan;
  const SparseGradOperands &arrays;
  const SparseGradPieces &pieces;
  Type accumulator;
  KernelBuilder k;
  ScalarOps ops;
  MmaProducts products;
  SparseMath math;

  SparseGradOperand left, right;
  SparseGradTarget output, addend;
  KernelScale alpha, beta;
  Int rows, rowsPerPiece;
  /// Whether arrays are multiples of 16 bytes.
  Value isAligned;
  /// This thread's warp along t, and its place in its warp.
  Int laneWarp, group, quad;
  int64_t stageOffset = 0, packedOffset = 0;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_SPARSEGRADKERNEL_H
