//===- SparseWgmmaPlan.cpp - Tiles of sparse kernels by warpgroups --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Warpgroups have the same 64 rows or more and share out the results, or are
// teams with tiles of their own. What decides is whether the factor, which
// takes twice its size when it is prepared, stays in shared memory: preparing
// it for every tile takes longer than mma.sync saves, unless the tile is a
// large one of a single product.
//
//===----------------------------------------------------------------------===//

#include "SparsePlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Warps of a warpgroup and of a CTA.
static constexpr int64_t kGroupWarps = 4, kWarps = 8;
/// Depth that one instruction of bf16 takes.
static constexpr int64_t kMacroDepth = 16;
/// Sums of 16 x 8 that a warp has registers for.
static constexpr int64_t kMostTiles = 32;
/// Results of a tile, unless there are fewer, for which X is worth reading.
static constexpr int64_t kLeastResults = 64;
/// Results, depth and rows that are worth preparing the factor for.
static constexpr int64_t kFewestResults = 48, kLeastDepth = 48;
static constexpr int64_t kFewestRows = 128;
/// Tiles for each processor: the factor has to be prepared first.
static constexpr int64_t kTilesPerProcessor = 2;
/// Bytes of a stage at most, and of stages that should be under way.
static constexpr int64_t kStageBytes = 64 * 1024, kBytesUnderWay = 64 * 1024;

/// Chooses results, steps and stages of `plan`, whose warps are known; whether
/// that fits.
static bool chooseTile(SparsePlan &plan, int64_t depthStep,
                       const GPUMachine &machine) {
  int64_t products = plan.lanesPerChunk * plan.laneChunks;
  int64_t unit = plan.order == SparseOrder::Chunks
                     ? std::max<int64_t>(plan.depthPerChunk / 2, 1)
                     : 1;
  int64_t most = (plan.hasPartialSums ? kMostTiles / 2 : kMostTiles) / products;
  int64_t wanted =
      llvm::divideCeil(llvm::divideCeil(plan.results, 8), plan.resultWarps);
  plan.resultTiles =
      std::min<int64_t>(most / unit * unit, llvm::alignTo(wanted, unit));
  plan.depthStep = depthStep;
  plan.depthSteps = llvm::divideCeil(plan.depth, depthStep);
  if (plan.resultTiles == 0 || plan.getStageBytes() > kStageBytes)
    return false;
  int64_t shared = machine.getSharedBytes(/*ctas=*/1);
  plan.stages = 2;
  while ((plan.stages - 1) * plan.teams * plan.getStageBytes() < kBytesUnderWay)
    ++plan.stages;
  while (plan.stages > 2 && plan.getSharedBytes() > shared)
    --plan.stages;
  return plan.getSharedBytes() <= shared;
}

/// Whether a plan is faster than mma.sync, by what was measured. Where lanes
/// are more than a chunk's, too few results fit.
static bool isWorthwhile(const SparsePlan &plan, int64_t rows,
                         const GPUMachine &machine) {
  if (getSparseTiles(plan, rows) < kTilesPerProcessor * machine.processors ||
      plan.depthStep * plan.depthSteps * 4 >
          5 * int64_t(llvm::alignTo(plan.depth, kMacroDepth)))
    return false;
  if (plan.keepsFactor)
    return plan.laneChunks == 1 &&
           plan.getResults() >= std::min(plan.results, kLeastResults);
  return plan.lanes == 1 && plan.getRows() >= kFewestRows &&
         plan.getResults() >= kFewestRows;
}

/// Elements of X and of the factor that tiles read for each row and product.
static double getTraffic(const SparsePlan &plan) {
  double data = double(plan.depth) * plan.getResultBlocks();
  if (plan.keepsFactor)
    return data;
  return data + double(plan.depth) * plan.results / plan.getRows();
}

std::optional<SparsePlan> kron::chooseSparseWgmma(const SparsePlan &plan,
                                                  int64_t rows,
                                                  const GPUMachine &machine) {
  if (!machine.hasWgmma || plan.math != MmaMath::SplitTF32 || plan.isOf8() ||
      plan.alongRows || plan.copiesSingly || plan.hasEpilogue ||
      plan.depth < kLeastDepth || plan.results < kFewestResults)
    return std::nullopt;
  std::optional<SparsePlan> best;
  auto attempt = [&](bool keeps, int64_t rowWarps, int64_t teams) {
    for (int64_t step : {4 * kMacroDepth, 2 * kMacroDepth, kMacroDepth}) {
      SparsePlan candidate = plan;
      candidate.usesWgmma = candidate.hasHalfRests = true;
      candidate.keepsFactor = keeps;
      candidate.ctasPerSM = 1;
      candidate.teams = teams;
      candidate.rowWarps = rowWarps;
      candidate.resultWarps = kWarps / teams / rowWarps;
      if (chooseTile(candidate, step, machine) &&
          isWorthwhile(candidate, rows, machine) &&
          (!best || getTraffic(candidate) < getTraffic(*best)))
        best = candidate;
    }
  };
  for (int64_t rowWarps : {kGroupWarps, kWarps})
    for (bool keeps : {true, false})
      attempt(keeps, rowWarps, /*teams=*/1);
  attempt(/*keeps=*/true, kGroupWarps, /*teams=*/2);
  return best;
}
