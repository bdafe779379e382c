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
#include "kron/Plan/CPU/Registers.h"

namespace mlir::kron {

/// What `matrix_tiles` of a plan asks for.
inline constexpr int64_t kMatrixTiles = 1, kPairProducts = 2;

/// What `staging` of a plan asks for: results that cannot be stored directly go
/// by way of a copy, or all do.
inline constexpr int64_t kOthersStaged = 1, kAllStaged = 2;

/// What `moves_innermost` of a plan asks for: the innermost axis lies outside
/// of all others in the results of a tile, in its input, too, or in steps, too.
inline constexpr int64_t kMovedInResults = 1, kMovedInBuffers = 2,
                         kMovedInSteps = 3;

/// What `lanes` of a step asks for, where not what lies at the inner end of its
/// arrays says it: lanes run over p, over the innermost axis of a few rows and
/// the one outside of it, or over the innermost axis alone.
inline constexpr int64_t kLanesOverK = 1, kLanesOverRows = 2, kLanesInside = 3;

/// What a plan says of one step: of one mode product, or of several that are
/// joined.
struct CPUStepChoices {
  int64_t factors = 1;
  int64_t lanes = 0;
  /// Of its register tiles, the rows (of the operand that is broadcast) and the
  /// vectors in a row; 0 where there are none.
  int64_t rows = 0, vectors = 0;
  /// Whether its products are made in matrix tiles, and whether a factor that
  /// varies is transposed before it is packed for these.
  bool usesTiles = false, transposesFactor = false;
  /// Whether a factor whose elements are broadcast is packed, a factor that is
  /// loaded as vectors is packed in panels of `vectors` vectors, and a packed
  /// factor is packed by every tile for itself.
  bool packsFactor = false, hasPanels = false, packsInTiles = false;
  /// Whether rows of X are copied to panels before blocks of q are taken
  /// through them.
  bool copiesRows = false;
  /// Positions of the axis outside of the lanes, on which the factor varies,
  /// that a block of q goes along before the next one; 0: all q for each.
  int64_t along = 0;
  /// Rows that all of a factor in panels, or in matrix tiles, is applied to
  /// before the next ones.
  int64_t chunk = 0;
  /// Rows that share a vector of the q that fill none.
  int64_t sharingRows = 1;
  /// Of each group of lanes at the end of the innermost axis, its elements and
  /// the rows and vectors of its register tiles.
  SmallVector<int64_t> remainder;
  /// Registers of a long axis that few rows, or blocks of rows, are taken
  /// through before the next ones.
  int64_t segment = 0;
  /// Positions of p in a block of the factor that is packed for all rows of a
  /// segment; 0: it is read where it lies.
  int64_t packedK = 0;
  /// Positions of p, and q, of blocks that a segment is taken through, between
  /// which sums lie in memory; 0: all p at once, in registers.
  int64_t blockK = 0, blockQ = 0;
  /// Whether bf16 of a factor along p is read in pairs.
  bool readsPairs = false;
  /// Whether what it reads lies beyond the second-level cache, so that what
  /// later register tiles take of it is prefetched.
  bool isSourceFar = false;
  /// Elements from what is loaded of a factor that is read where it lies to
  /// what is prefetched of it; 0: nothing is.
  int64_t factorAhead = 0;
  /// Whether its factor is converted to the type of sums before it is used, not
  /// where it is loaded.
  bool convertsFactor = false;

  template <typename Visitor>
  static void visitFields(Visitor &visit, CPUStepChoices &choices) {
    visit("factors", choices.factors);
    visit("lanes", choices.lanes);
    visit("rows", choices.rows);
    visit("vectors", choices.vectors);
    visit("matrix_tiles", choices.usesTiles);
    visit("transposes_factor", choices.transposesFactor);
    visit("packs_factor", choices.packsFactor);
    visit("factor_panels", choices.hasPanels);
    visit("packs_in_tiles", choices.packsInTiles);
    visit("input_panels", choices.copiesRows);
    visit("along_axis", choices.along);
    visit("chunk", choices.chunk);
    visit("sharing_rows", choices.sharingRows);
    visit("remainder", choices.remainder);
    visit("segment", choices.segment);
    visit("packed_k", choices.packedK);
    visit("block_k", choices.blockK);
    visit("block_q", choices.blockQ);
    visit("reads_pairs", choices.readsPairs);
    visit("far", choices.isSourceFar);
    visit("factor_ahead", choices.factorAhead);
    visit("converts_factor", choices.convertsFactor);
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
  /// Whether tiles are copied so that the innermost axis lies outside.
  int64_t movesInnermost = 0;
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
  /// Sets of the first-level cache: positions of an axis that would share few
  /// of them are moved apart in buffers.
  int64_t l1Sets = 64;
  SmallVector<CPUStepChoices> steps;

  /// Whether the only step reads rows of the input that are far.
  bool hasFarRows() const {
    return steps.size() == 1 && steps.front().isSourceFar;
  }
  /// Bytes that lie in different sets.
  int64_t getWayBytes() const { return l1Sets * kLineBytes; }

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
    visit("moves_innermost", choices.movesInnermost);
    visit("blocks", choices.blocks);
    visit("reads_segments", choices.readsSegments);
    visit("prefetch_results", choices.prefetchesResults);
    visit("spread_prefetch", choices.spreadsPrefetch);
    visit("windows_ahead", choices.windowsAhead);
    visit("prefetch_lines", choices.prefetchLines);
    visit("staging", choices.staging);
    visit("drain_lines", choices.drainLines);
    visit("thread_fmas", choices.threadFmas);
    visit("l1_sets", choices.l1Sets);
  }
};

/// The fields of `plan`; those that are not there have their defaults.
CPUChoices readCPUChoices(CPUPlanAttr plan);

/// The plan that has the fields `choices`.
CPUPlanAttr writeCPUPlan(MLIRContext *context, CPUChoices choices);

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_CPUCHOICES_H
