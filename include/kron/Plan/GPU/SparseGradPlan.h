//===- SparseGradPlan.h - Tiles of a gradient by sparse weights -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// For every (i, t) the gradient D[j, k] = sum over n of G[n, j] X[n, k] is a
// matrix product of its own, whose K axis is the batch. G is operand A of
// matrix instructions (the left side, of 16 rows), X operand B (the right side,
// of 8).
//
// Both are read from shared memory in chunks of 16 or 8 bytes. What lies along
// a chunk is what lies side by side in memory:
//
//   batch last     positions of the batch: a chunk is operand of several
//                  instructions
//   batch first    `lanesPerChunk` products t times `rowsPerChunk` rows j (or
//                  k): every element belongs to another instruction
//
// A CTA sums up a tile of j, k and t over a piece of the batch.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_SPARSEGRADPLAN_H
#define KRON_PLAN_GPU_SPARSEGRADPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/MmaMath.h"
#include "kron/Plan/GPU/PackedOperand.h"
#include "llvm/Support/MathExtras.h"
#include <optional>
#include <string>
#include <variant>

namespace mlir::kron {

/// Positions of the batch whose sum a matrix unit can keep without an error
/// that shows.
inline constexpr int64_t kSummedK = 64;

/// One operand: rows j of G, or k of X.
struct SparseGradSide {
  int64_t size = 1;
  /// Rows of a matrix instruction.
  int64_t unit = 16;
  /// Instructions per warp, and warps next to each other.
  int64_t tiles = 1, warps = 1;
};

struct SparseGradPlan {
  /// Warps of a warpgroup.
  static constexpr int64_t kGroupWarps = 4;
  /// Bytes of a line of shared memory: all banks, and what wgmma swizzles.
  static constexpr int64_t kLineBytes = 128;

  Type element;
  int64_t elementBytes = 4;
  MmaMath math = MmaMath::SplitTF32;
  /// Whether products of what splitting leaves are of bf16: that loses 2^-9 of
  /// what is 2^-12 of the result already, and costs half as much.
  bool has16BitResiduals = false;
  /// Whether the sums of each K step are added up by themselves: the matrix
  /// unit cuts off when it adds.
  bool hasPartialSums = false;
  bool batchLast = false;
  /// Groups i and products t per group.
  int64_t groups = 1, lanes = 1;
  /// Whether all groups, or all products t, share their weights.
  bool sharesGroups = false, sharesLanes = false;
  /// G and X.
  SparseGradSide left, right;

  int64_t chunkBytes = 16;
  int64_t lanesPerChunk = 1, rowsPerChunk = 1;

  /// Warps that have other chunks of t.
  int64_t laneWarps = 1;
  /// Positions of the batch that arrive in a K step.
  int64_t batchStep = 32;
  int64_t stages = 3, ctasPerSM = 1;
  /// Pieces that the batch is cut into, unless it is too short.
  int64_t pieces = 1;
  /// Whether warpgroups multiply f16 or bf16 with the batch last, which the
  /// matrix unit reads from shared memory: each has 64 rows j and all k of the
  /// tile.
  bool usesWgmma = false;
  /// Whether warpgroups multiply f32: warps load and split rows j of their own,
  /// and prepare packed operands of rows k, which the matrix unit reads.
  bool usesPackedOperands = false;

  /// The fields of the attribute: what is chosen. Everything else follows from
  /// these and the operation.
  template <typename Visitor>
  static void visitFields(Visitor &visit, SparseGradPlan &plan) {
    visit("chunk_bytes", plan.chunkBytes);
    visit("lane_warps", plan.laneWarps);
    visit("row_tiles", plan.left.tiles);
    visit("row_warps", plan.left.warps);
    visit("column_tiles", plan.right.tiles);
    visit("column_warps", plan.right.warps);
    visit("batch_step", plan.batchStep);
    visit("stages", plan.stages);
    visit("ctas_per_sm", plan.ctasPerSM);
    visit("split_k", plan.pieces);
    visit("wgmma", plan.usesWgmma);
    visit("packed_operands", plan.usesPackedOperands);
    visit("bf16_residuals", plan.has16BitResiduals);
  }

  /// Works out what lies along a chunk.
  void setChunks() {
    int64_t own = lanes & -lanes;
    lanesPerChunk = batchLast ? 1 : std::min(own, getChunk());
    rowsPerChunk = batchLast ? 1 : getChunk() / lanesPerChunk;
  }

  /// Whether sums of one launch are added up by another, whatever the pieces.
  bool isShared() const { return sharesGroups || sharesLanes; }
  bool is16BitFloat() const { return elementBytes == 2; }
  int64_t getChunk() const { return chunkBytes / elementBytes; }
  /// Positions of the batch that a thread takes per instruction, and that an
  /// instruction takes.
  int64_t getKPerThread() const {
    return is16BitFloat() || has16BitResiduals ? 4 : 2;
  }
  int64_t getK() const { return 4 * getKPerThread(); }
  /// Positions of the batch that one load of chunks per row covers.
  int64_t getMacroK() const { return batchLast ? 4 * getChunk() : getK(); }
  /// What the positions of the batch in a K step are multiples of.
  int64_t getStepUnit() const {
    return usesWgmma ? kLineBytes / elementBytes : getMacroK();
  }
  /// Elements of a chunk that the instructions tell apart.
  int64_t getParts() const { return lanesPerChunk * rowsPerChunk; }
  int64_t getLanes() const { return lanesPerChunk * laneWarps; }
  int64_t getRowsPerWarp(const SparseGradSide &side) const {
    return side.unit * rowsPerChunk * side.tiles;
  }
  int64_t getRows(const SparseGradSide &side) const {
    return getRowsPerWarp(side) * side.warps;
  }
  int64_t getBlocks(const SparseGradSide &side) const {
    return llvm::divideCeil(side.size, getRows(side));
  }
  int64_t getLaneBlocks() const { return llvm::divideCeil(lanes, getLanes()); }
  int64_t getTiles() const {
    return groups * getLaneBlocks() * getBlocks(left) * getBlocks(right);
  }
  int64_t getWarps() const { return laneWarps * left.warps * right.warps; }
  int64_t getThreads() const { return 32 * getWarps(); }
  /// Matrix instructions that have sums of their own, per warp.
  int64_t getSums() const {
    return lanesPerChunk * rowsPerChunk * rowsPerChunk * left.tiles *
           right.tiles;
  }
  int64_t getWeights() const { return groups * left.size * right.size * lanes; }
  /// Sums of a warp, those that do not exist included.
  int64_t getSumsPerWarp() const { return 4 * 32 * getSums(); }
  int64_t getSumsPerTile() const { return getWarps() * getSumsPerWarp(); }
  /// Whether sums of a piece lie in the workspace as threads have them; else in
  /// the order of the weights, as they are added up if weights are shared, or
  /// since most of a tile's sums do not exist.
  bool hasThreadOrder() const {
    return !isShared() && getTiles() * getSumsPerTile() <= 2 * getWeights();
  }
  int64_t getSumsPerPiece() const {
    return hasThreadOrder() ? getTiles() * getSumsPerTile() : getWeights();
  }

  /// Batch first: of one position of the batch; batch last: of one row. Whole
  /// lines of all banks (of which wgmma wants those of all rows together).
  int64_t getPitch(const SparseGradSide &side) const {
    int64_t chunks = getRows(side) / rowsPerChunk * laneWarps;
    int64_t bytes = batchLast ? batchStep * elementBytes : chunks * chunkBytes;
    return llvm::alignTo(bytes, kLineBytes);
  }
  int64_t getSideBytes(const SparseGradSide &side) const {
    return getPitch(side) * (batchLast ? getRows(side) : batchStep);
  }
  int64_t getStageBytes() const {
    return getSideBytes(left) + getSideBytes(right);
  }
  /// Of rows k with the same place in their chunks and of one t, for a K step.
  PackedOperand getPackedOperand() const {
    return {element, getRows(right) / rowsPerChunk, batchStep};
  }
  /// Packed operands of one K step, for all places in a chunk.
  int64_t getPackedBytes() const {
    return getParts() * getPackedOperand().getBytes();
  }
  /// The packed operand of one of the two K steps is read while the other's is
  /// prepared.
  int64_t getSharedBytes() const {
    return stages * getStageBytes() +
           (usesPackedOperands ? 2 * getPackedBytes() : 0);
  }
};

/// Whether `gradient` has kernels of matrix instructions on every chip: f32
/// (unless precision is `ieee`), f64, f16 or bf16, and a known pattern.
bool hasGradientKernels(KsmmGradOp gradient);

/// The part of a plan that follows from `gradient`, which hasGradientKernels.
SparseGradPlan describeSparseGrad(KsmmGradOp gradient);

/// What is wrong with the choices of `plan`; an empty string if there is
/// nothing.
std::string findWrongSparseGradChoice(const SparseGradPlan &plan);

/// What `plan`, which is complete, says of `gradient`; or why that is no plan
/// for it.
std::variant<SparseGradPlan, std::string>
readSparseGradPlan(KsmmGradOp gradient, GPUPlanAttr plan);

/// What `machine` lacks for `plan`, if it lacks anything: instructions or
/// shared memory.
std::optional<std::string>
getSparseGradMachineReason(const SparseGradPlan &plan,
                           const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_SPARSEGRADPLAN_H
