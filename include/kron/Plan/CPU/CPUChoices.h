//===- CPUChoices.h - What a plan says of a kron.fused ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The fields of a #kron.cpu_plan as structs. --kron-plan chooses them, and what
// the code of a fused region looks like follows from them (CPUPlan.h).
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_CPUCHOICES_H
#define KRON_PLAN_CPU_CPUCHOICES_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Bytes of a cache line.
inline constexpr int64_t kLineBytes = 64;

/// What `matrix_tiles` of a plan asks for.
inline constexpr int64_t kMatrixTiles = 1, kPairProducts = 2;

/// What `staging` of a plan asks for: results that cannot be stored directly go
/// by way of a copy, or all do.
inline constexpr int64_t kStagesOthers = 1, kStagesAll = 2;

/// What a plan says of one step: of one mode product, or of several that are
/// joined.
struct CPUStepChoices {
  int64_t factors = 1;
  /// Of its register tiles, the rows (of the operand that is broadcast) and the
  /// vectors in a row; 0: as they cost least.
  int64_t rows = 0, vectors = 0;
  /// What it may take of the first two caches; 0: as much as the region's
  /// `CPUBudget` says.
  int64_t l1Bytes = 0, l2Bytes = 0;
  /// Whether what it reads lies beyond the second-level cache, so that what
  /// later register tiles take of it is prefetched.
  bool isSourceFar = false;
  /// Whether its factor is converted to the type of sums before it is used, not
  /// where it is loaded.
  bool convertsFactor = false;

  template <typename Visitor>
  static void visitFields(Visitor &visit, CPUStepChoices &choices) {
    visit("factors", choices.factors);
    visit("rows", choices.rows);
    visit("vectors", choices.vectors);
    visit("l1_bytes", choices.l1Bytes);
    visit("l2_bytes", choices.l2Bytes);
    visit("far", choices.isSourceFar);
    visit("converts_factor", choices.convertsFactor);
  }
};

/// What steps may take of the processor: what is copied, packed or taken in
/// blocks follows from it and from the shape of the step.
struct CPUBudget {
  /// Bytes of the first-level cache for what a step uses again at once, and of
  /// the second-level one for copies.
  int64_t l1Bytes = 1 << 15, l2Bytes = 1 << 18;
  /// Sets of the first-level cache, and lines of each that stay there.
  int64_t l1Sets = 64, l1Ways = 8;
  /// Pages whose addresses stay translated.
  int64_t pages = 32;
  /// Multiply-adds that hide each other's latency.
  int64_t fmasInFlight = 8;

  /// Bytes that lie in different sets.
  int64_t getWayBytes() const { return l1Sets * kLineBytes; }

  template <typename Visitor>
  static void visitFields(Visitor &visit, CPUBudget &budget) {
    visit("l1_bytes", budget.l1Bytes);
    visit("l2_bytes", budget.l2Bytes);
    visit("l1_sets", budget.l1Sets);
    visit("l1_ways", budget.l1Ways);
    visit("pages", budget.pages);
    visit("fmas_in_flight", budget.fmasInFlight);
  }
};

/// What a plan says of a fused region.
struct CPUChoices {
  int64_t vectorBits = 0;
  int64_t tile = 0;
  /// The axis of which a tile takes some positions, or -1, and those that are
  /// whole in a tile although no factor contracts them.
  int64_t tiledAxis = -1;
  SmallVector<int64_t> wholeAxes;
  /// Whether slices or tiles of the input are copied before they are used.
  bool packsInput = false;
  /// Whether lanes run over the tiled axis although it lies outside.
  bool rowsInLanes = false;
  /// Whether the input is converted to the type of sums before it is used, even
  /// if vectors of it could be where they are loaded.
  bool convertsInput = false;
  int64_t slice = 0;
  /// Sizes of slices within slices, those of the larger ones first.
  SmallVector<int64_t> sliceCuts;
  int64_t streamBytes = 0, prefetch = 0, matrixTiles = 0, keptFibres = 0;
  /// Positions of an axis with one per tile that tiles take nevertheless, since
  /// their results are whole cache lines together.
  int64_t blocks = 1;
  /// Whether the only factor reads short segments from where they lie.
  bool readsSegments = false;
  /// Whether lines of results are prefetched with the input, whether the input
  /// is while slices and what is around them are computed, and how many windows
  /// ahead it is; lines that one register tile prefetches, at most.
  bool prefetchesResults = true, spreadsPrefetch = false;
  int64_t windowsAhead = 1, prefetchLines = 32;
  /// Which results that are stored non-temporally go by way of a copy, and
  /// lines of these that one register tile stores, at most.
  int64_t staging = 0, drainLines = 12;
  /// Multiply-adds that make a range of tiles worth a thread.
  int64_t threadFmas = 1 << 16;
  CPUBudget budget;
  SmallVector<CPUStepChoices> steps;

  /// Fields that are no steps.
  template <typename Visitor>
  static void visitFields(Visitor &visit, CPUChoices &choices) {
    visit("vector_bits", choices.vectorBits);
    visit("tile", choices.tile);
    visit("tiled_axis", choices.tiledAxis);
    visit("whole_axes", choices.wholeAxes);
    visit("packs_input", choices.packsInput);
    visit("rows_in_lanes", choices.rowsInLanes);
    visit("converts_input", choices.convertsInput);
    visit("slice", choices.slice);
    visit("slice_cuts", choices.sliceCuts);
    visit("stream_bytes", choices.streamBytes);
    visit("prefetch", choices.prefetch);
    visit("matrix_tiles", choices.matrixTiles);
    visit("kept_fibres", choices.keptFibres);
    visit("blocks", choices.blocks);
    visit("reads_segments", choices.readsSegments);
    visit("prefetch_results", choices.prefetchesResults);
    visit("spread_prefetch", choices.spreadsPrefetch);
    visit("windows_ahead", choices.windowsAhead);
    visit("prefetch_lines", choices.prefetchLines);
    visit("staging", choices.staging);
    visit("drain_lines", choices.drainLines);
    visit("thread_fmas", choices.threadFmas);
    CPUBudget::visitFields(visit, choices.budget);
  }
};

/// What `step` of a region with `choices` may take.
CPUBudget getBudget(const CPUChoices &choices, const CPUStepChoices &step);

/// The fields of `plan`; those that are not there have their defaults.
CPUChoices readCPUChoices(CPUPlanAttr plan);

/// The plan that has the fields `choices`.
CPUPlanAttr writeCPUPlan(MLIRContext *context, CPUChoices choices);

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_CPUCHOICES_H
