//===- PairwiseGradPlan.h - Gradients of functions of pairs -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A CTA has sums of a tile of rows and positions of K in registers, while
// blocks of columns pass by: of each, threads compute the weights of rows and
// columns, from values of pairs if these are needed, and leave them in shared
// memory for those who multiply derivatives by them.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_PAIRWISEGRADPLAN_H
#define KRON_PLAN_GPU_PAIRWISEGRADPLAN_H

#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Machine/GPUMachine.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// What a plan says.
struct PairwiseGradChoices {
  /// Positions of K that the kernel is launched for at most; 0: any.
  int64_t maxK = 0;
  int64_t threads = 0, ctasPerSM = 0;
  /// Of values of pairs, 0 where weights need none: pipeline stages, and
  /// positions of K in each.
  int64_t stages = 0, stepK = 0;
  /// Of a block of the matrix: rows and columns of a thread, and threads next
  /// to each other along columns.
  int64_t rows = 0, columns = 0, lanes = 0;
  /// Of the gradient: positions of K of a thread, threads next to each other
  /// along K, and outputs.
  int64_t positions = 0, threadsK = 0, outputs = 1;
  /// CTAs that there shall be.
  int64_t splitCTAs = 1;

  template <typename Visitor>
  static void visitFields(Visitor &visit, PairwiseGradChoices &choices) {
    visit("max_k", choices.maxK);
    visit("threads", choices.threads);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("stages", choices.stages);
    visit("k_step", choices.stepK);
    visit("thread_rows", choices.rows);
    visit("thread_columns", choices.columns);
    visit("column_threads", choices.lanes);
    visit("thread_positions", choices.positions);
    visit("k_threads", choices.threadsK);
    visit("outputs", choices.outputs);
    visit("split_ctas", choices.splitCTAs);
  }
};

struct PairwiseGradPlan : PairwiseGradChoices {
  int64_t elementBytes = 0;

  /// Rows and columns of a block, positions of K of a tile of the gradient, and
  /// rows of that of a thread.
  int64_t getTileRows() const { return rows * (threads / lanes); }
  int64_t getTileColumns() const { return columns * lanes; }
  int64_t getTileK() const { return positions * threadsK; }
  int64_t getGradRows() const { return getTileRows() * threadsK / threads; }
  /// Bytes of sums.
  int64_t getSumBytes() const { return std::max<int64_t>(elementBytes, 4); }
  /// Elements from one row to the next in shared memory: of values of pairs,
  /// and from the weights of a column to those of the next one, such that those
  /// that a warp stores at once are in different banks.
  int64_t getPitch() const { return stepK + 16 / elementBytes; }
  int64_t getWeightPitch() const { return getTileRows() + 32 / lanes; }
  int64_t getSharedBytes() const {
    int64_t pairs =
        stages * (getTileRows() + getTileColumns()) * getPitch() * elementBytes;
    int64_t weights = getWeightPitch() + (outputs > 1 ? outputs : 0);
    return pairs + getTileColumns() *
                       (getTileK() * elementBytes + weights * getSumBytes());
  }
};

/// Refuses a plan of a gradient that has no kernel whatever its arrays are. Those
/// without elements take linalg with any plan.
LogicalResult verifyGradPlan(PairwiseGradOp op);

/// Why `op` has no kernel on a GPU, or nothing if it has.
std::optional<std::string> getPairwiseGradReason(PairwiseGradOp op);

/// Whether weights of rows and columns depend on values of pairs.
bool readsPairs(PairwiseGradOp op);

/// Why fields of `given` can have no such values in any plan, or nothing.
std::optional<std::string> getGradFieldsReason(PairwiseGradOp op,
                                               GPUPlanAttr given);

/// What `plan`, which is complete, says of `op`; or why that is no plan for it
/// on `machine`.
std::variant<PairwiseGradPlan, std::string>
readPairwiseGradPlan(PairwiseGradOp op, GPUPlanAttr plan,
                     const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_PAIRWISEGRADPLAN_H
