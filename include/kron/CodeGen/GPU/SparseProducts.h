//===- SparseProducts.h - Products of a sparse kernel -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Multiplies what K steps have in shared memory, by warps or by warpgroups, and
// knows which result is in which register of a thread.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SPARSEPRODUCTS_H
#define KRON_CODEGEN_GPU_SPARSEPRODUCTS_H

#include "kron/CodeGen/GPU/SparseCopies.h"

namespace mlir::kron {

/// Byte offsets in shared memory of what K step `indexK` of a tile multiplies:
/// its data, or those of all K steps, which begin at `region` of a row, if a
/// chain step left them there; and its factor.
struct SparseStepPlace {
  Int data, region = 0, factor, indexK;
};

class SparseProducts {
public:
  /// `dataFloat8`, `factorFloat8`: elements in memory if they have 8 bits.
  SparseProducts(KernelBuilder &kernel, SparseMath &math,
                 const SparsePlan &plan, const SparseThread &thread,
                 Type dataFloat8, Type factorFloat8)
      : k(kernel), math(math), plan(plan), thread(thread),
        dataFloat8(dataFloat8), factorFloat8(factorFloat8) {}

  // SparseSteps.cpp
  /// sums += data times factor of a K step.
  void multiplyStep(MutableArrayRef<MmaC> sums, const SparseStepPlace &from);
  /// Where the sums of a thread are that it has of these.
  int64_t getSumNumber(int64_t laneChunk, int64_t part, int64_t row,
                       int64_t result) const;
  std::pair<Int, int64_t> getResultOf(Int column, int64_t tile);
  Int getResultOf(Int column, Int tile);
  /// The result in the CTA's tile of sum number `column` (0 or 1) of a row that
  /// thread `quad` of four has of tile number `tile` of its warp's.
  Int getResult(Int quad, int64_t column, int64_t tile);

  // SparseWgmma.cpp
  void prepareMacro(Int from, Int to, int64_t macro);
  void prepareFactor(Int from, Int to);
  void multiplyGroups(MutableArrayRef<MmaC> sums, Int slot, Int prepared,
                      function_ref<void()> release,
                      function_ref<void(int64_t)> finishMacro);

private:
  void multiplyMacro(MutableArrayRef<MmaC> sums, Value data, Value factor,
                     int64_t macro, int64_t laneChunk);
  bool pairsRows() const;
  void exchangeRows(MutableArrayRef<MmaC> sums);
  std::pair<Int, int64_t> getChunkOffset(Value parity, int64_t number,
                                         int64_t laneChunk, bool isFactor);
  SparseChunks loadChunks(Value rows, Value parity, int64_t macro,
                          int64_t laneChunk, int64_t rowOffset, bool isFactor);
  SparseChunks loadData(Value data, int64_t macro, int64_t laneChunk,
                        int64_t half);
  SparseChunks loadRowChunks(Value data, int64_t macro, int64_t step,
                             int64_t tile, int64_t half);
  SparseChunks loadExchanged(Int from, Int row, int64_t macro);
  Value getParity(Int row, int64_t known);

  KernelBuilder &k;
  SparseMath &math;
  const SparsePlan &plan;
  const SparseThread &thread;
  Type dataFloat8, factorFloat8;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSEPRODUCTS_H
