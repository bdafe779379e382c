//===- SparseGradPlan.h - Tiles of a gradient by sparse weights -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Tiles of the gradient, pieces of the batch, and pipeline stages. How a tile
// is cut among warps is the same in kernels of tile operations
// (kron/Dialect/Tile/IR/TileBatch.h).
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_SPARSEGRADPLAN_H
#define KRON_PLAN_GPU_SPARSEGRADPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Tile/IR/TileBatch.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/MmaMath.h"
#include "kron/Plan/GPU/PackedOperand.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <optional>
#include <string>
#include <variant>

namespace mlir::kron {

/// Positions of the batch whose sum a matrix unit can keep without an error
/// that shows.
inline constexpr int64_t kSummedK = 64;

/// Threads of a CTA of the kernel that adds up the sums of a launch.
inline constexpr int64_t kSumThreads = 256;

/// Of rows k with the same place in their chunks and of one t, for a K step.
inline PackedOperand getPackedOperand(const tile::BatchBlocks &blocks) {
  return {blocks.element, blocks.getRows(blocks.right) / blocks.rowsPerChunk,
          blocks.batchStep};
}
/// Packed operands of one K step, for all places in a chunk.
inline int64_t getPackedBytes(const tile::BatchBlocks &blocks) {
  return blocks.getParts() * getPackedOperand(blocks).getBytes();
}

struct SparseGradPlan : tile::BatchBlocks {
  MmaMath math = MmaMath::SplitTF32;
  /// Whether the sums of each K step are added up by themselves: the matrix
  /// unit cuts off when it adds.
  bool hasPartialSums = false;
  /// Whether all groups, or all products t, share their weights.
  bool sharesGroups = false, sharesLanes = false;

  int64_t stages = 3, ctasPerSM = 1;
  /// Pieces that the batch is cut into, unless it is too short: each has
  /// `leastPiece` positions or more.
  int64_t pieces = 1, leastPiece = 64;
  /// Where sums of one launch are added up by another: threads that share those
  /// of a weight, and how many each of them loads at a time.
  int64_t sumThreads = 1, sumLoads = 1;

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
    visit("least_piece", plan.leastPiece);
    visit("sum_threads", plan.sumThreads);
    visit("sum_loads", plan.sumLoads);
    visit("wgmma", plan.usesWgmma);
    visit("packed_operands", plan.usesPackedOperands);
    visit("bf16_residuals", plan.has16BitResiduals);
  }

  /// Whether sums of one launch are added up by another, whatever the pieces.
  bool isShared() const { return sharesGroups || sharesLanes; }
  bool hasSums() const { return pieces > 1 || isShared(); }
  /// Sums of a weight that this launch adds up: of all pieces, groups and
  /// products that share it.
  int64_t getSumsPerWeight() const {
    int64_t shared = (sharesGroups ? groups : 1) * (sharesLanes ? lanes : 1);
    return static_cast<int64_t>(
        std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(pieces, shared),
                           std::numeric_limits<int32_t>::max()));
  }
  /// Whether sums of a piece lie in the workspace as threads have them; else in
  /// the order of the weights, as they are added up if weights are shared, or
  /// since most of a tile's sums do not exist.
  bool hasThreadOrder() const {
    return !isShared() && getTiles() * getSumsPerTile() <= 2 * getWeights();
  }
  int64_t getSumsPerPiece() const {
    return hasThreadOrder() ? getTiles() * getSumsPerTile() : getWeights();
  }
  /// The packed operand of one of the two K steps is read while the other's is
  /// prepared.
  int64_t getSharedBytes() const {
    return stages * getStageBytes() +
           (usesPackedOperands ? 2 * getPackedBytes(*this) : 0);
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
