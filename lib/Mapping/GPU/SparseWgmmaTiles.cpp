//===- SparseWgmmaTiles.cpp - Tiles of sparse kernels by warpgroups -------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Warpgroups have the same 64 rows or more and share out the results, or are
// warp groups with tiles of their own. What decides is whether the factor,
// which takes twice its size when it is prepared, stays in shared memory:
// preparing it for every tile takes longer than mma.sync saves, unless the tile
// is a large one of a single product. Without its packed operand in bf16 it
// takes one and a half times its size. That of f16 or bf16 is only put in
// another order.
//
//===----------------------------------------------------------------------===//

#include "SparseSearch.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/Resources.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Sums of 16 x 8 that a warp has registers for.
static constexpr int64_t kMostTiles = 32;

/// Whether what splitting the data leaves is multiplied in TF32.
static bool isOfFewPackedOperands(const SparsePlan &plan) {
  return plan.residuals == SparseResiduals::FactorBF16;
}

/// Chooses results, K steps and pipeline stages of `plan`, whose warps are
/// known, with `leastStages` or more; whether that fits. Tiles with few packed
/// operands may have fewer results for that.
static bool chooseTile(SparseCandidate &plan, int64_t stepK,
                       int64_t leastStages,
                       const SparseConstraints &constraints,
                       const GPUMachine &machine) {
  const SparseWgmmaRates &rates = getGPURates(machine).sparseWgmma;
  int64_t products = plan.lanesPerChunk * plan.laneChunks;
  int64_t unit = plan.order == SparseOrder::Chunks
                     ? std::max<int64_t>(plan.chunkK / 2, 1)
                     : 1;
  if (plan.swapsOperands)
    unit = std::max<int64_t>(kSwappedResults / 8 / plan.resultWarps, unit);
  int64_t most = (plan.hasPartialSums ? kMostTiles / 2 : kMostTiles) / products;
  int64_t tiles = llvm::divideCeil(plan.getPlaces(), 8);
  auto setResults = [&](int64_t blocks) {
    int64_t wanted =
        llvm::divideCeil(llvm::divideCeil(tiles, blocks), plan.resultWarps);
    plan.resultTiles = constraints.take(
        "result_tiles",
        std::min<int64_t>(most / unit * unit, llvm::alignTo(wanted, unit)));
  };
  setResults(/*blocks=*/1);
  plan.stepK = stepK;
  plan.stepsK = llvm::divideCeil(plan.sizeK, stepK);
  if (plan.resultTiles == 0 ||
      plan.getStageBytes() > getGPUTiles(machine).sparseWgmma.stageBytes)
    return false;
  int64_t shared = machine.getSharedBytes(plan.ctasPerSM);
  plan.stages = leastStages;
  if (plan.is16BitFloat())
    plan.stages = std::max<int64_t>(
        leastStages,
        1 + llvm::divideCeil(rates.leastBytesUnderWay,
                             plan.warpGroups * plan.getStageBytes()));
  if (isOfFewPackedOperands(plan) || plan.is16BitFloat()) {
    while (!constraints.has("result_tiles") && plan.resultTiles > unit &&
           plan.getSharedBytes() > shared)
      plan.resultTiles -= unit;
    setResults(plan.getResultBlocks());
  }
  plan.stages = std::max<int64_t>(leastStages, 2);
  while ((plan.stages - 1) * plan.warpGroups * plan.getStageBytes() <
         rates.bytesUnderWay)
    ++plan.stages;
  while (plan.stages > leastStages && plan.getSharedBytes() > shared)
    --plan.stages;
  plan.stages = constraints.take("stages", plan.stages);
  return plan.getSharedBytes() <= shared;
}

/// Whether tiles are enough for all SMs: two for each if the factor has to be
/// prepared first, else as many as keep three quarters of them busy.
static bool areEnough(const SparseCandidate &plan, const GPUMachine &machine) {
  int64_t tiles = getSparseTiles(plan);
  int64_t tilesPerSM = getGPURates(machine).sparseWgmma.tilesPerSM;
  // A part of the factor that is prepared for one tile alone is read by it
  // alone, too.
  if (plan.keepsFactor && tiles == plan.getTilesPerRows())
    return false;
  if (tiles >= tilesPerSM * machine.numSMs)
    return true;
  return !plan.keepsFactor &&
         tiles * 4 >= int64_t(llvm::alignTo(tiles, machine.numSMs)) * 3;
}

/// Whether a plan is faster than mma.sync, by what was measured. Where lanes
/// are more than a chunk's, all results have to fit.
static bool isWorthwhile(const SparseCandidate &plan,
                         const GPUMachine &machine) {
  const SparseWgmmaRates &rates = getGPURates(machine).sparseWgmma;
  if (!areEnough(plan, machine) ||
      plan.stepK * plan.stepsK * 4 >
          5 * int64_t(llvm::alignTo(plan.sizeK, tile::kWarpgroupChunkK)))
    return false;
  if (plan.swapsOperands &&
      int64_t(llvm::alignTo(plan.swappedRows, plan.getRows())) * 4 >
          5 * plan.swappedRows)
    return false;
  if (plan.is16BitFloat())
    return plan.lanes > 1 || plan.getResultBlocks() == 1;
  int64_t sizeN = std::min(plan.sizeN, rates.leastResults);
  if (isOfFewPackedOperands(plan))
    return plan.laneChunks == 1
               ? plan.getResults() * 2 >= sizeN
               : plan.laneChunks == 2 && plan.getResults() >= sizeN;
  if (plan.keepsFactor)
    return plan.laneChunks == 1 && plan.getResults() >= sizeN;
  return plan.lanes == 1 && plan.getRows() >= rates.leastRows &&
         plan.getResults() >= rates.leastRows;
}

/// Elements of X and of the factor that tiles read for each row and product.
static double getTraffic(const SparsePlan &plan) {
  double data = double(plan.sizeK) * plan.getResultBlocks();
  if (plan.keepsFactor)
    return data;
  return data + double(plan.sizeK) * plan.sizeN / plan.getRows();
}

/// What ranks plans: what they read or, with narrow loads, their time; then
/// results that do not exist.
static std::pair<double, int64_t> getCost(const SparseCandidate &plan,
                                          const SparseConstraints &constraints,
                                          const GPUMachine &machine) {
  return {!plan.is16BitFloat() && hasNarrowLoads(plan)
              ? getNarrowSeconds(plan, constraints, machine)
              : getTraffic(plan),
          plan.getResultBlocks() * plan.getResults()};
}

/// Whether 16-bit values are of several products side by side, or of groups of
/// many results, and of a K for which the factor leaves room.
static bool areHalvesTaken(const SparsePlan &plan,
                           const SparseWgmmaRates &rates) {
  if (plan.swapsOperands)
    return false;
  if (plan.lanes == 1)
    return !plan.groupAxes.empty() && plan.sizeN >= rates.leastSingleResults &&
           plan.sizeK <= rates.mostSingleK;
  return plan.lanesPerChunk > 1 && plan.sizeN >= rates.leastResults &&
         plan.sizeK <=
             (plan.isWideChunk() ? rates.mostWideK : rates.most16BitK);
}

/// Whether the types are those of kernels with warpgroups: f32 in three
/// products, or 16-bit types.
static bool isTaken(const SparsePlan &plan, const SparseWgmmaRates &rates) {
  if (plan.isOf8() || plan.alongRows || plan.copiesSingly || plan.hasEpilogue)
    return false;
  if (plan.is16BitFloat())
    return areHalvesTaken(plan, rates);
  return plan.math == MmaMath::SplitTF32 && plan.sizeN >= rates.leastN;
}

std::optional<SparseCandidate>
kron::chooseSparseWgmma(const SparseCandidate &described,
                        const SparseConstraints &constraints,
                        const GPUMachine &machine) {
  const SparseWgmmaRates &rates = getGPURates(machine).sparseWgmma;
  // Who asks for warpgroups gets them.
  bool isGiven = constraints.take("wgmma", 0);
  if (!machine.hasWgmma || (!isGiven && (!isTaken(described, rates) ||
                                         described.sizeK < rates.leastK)))
    return std::nullopt;
  int64_t warps = getGPUTiles(machine).sparseWgmma.warps;
  int64_t allWarps = constraints.takeWarps(warps);
  std::optional<SparseCandidate> best;
  auto attempt = [&](bool keeps, int64_t rowWarps, int64_t warpGroups,
                     bool hasFewPackedOperands = false,
                     int64_t leastStages = 2) {
    for (int64_t step : {4 * tile::kWarpgroupChunkK, 2 * tile::kWarpgroupChunkK,
                         tile::kWarpgroupChunkK}) {
      SparseCandidate candidate = described;
      candidate.usesWgmma = true;
      candidate.residuals = described.is16BitFloat() ? SparseResiduals::TF32
                            : hasFewPackedOperands ? SparseResiduals::FactorBF16
                                                   : SparseResiduals::BF16;
      candidate.laneChunks =
          constraints.take("lane_chunks", described.laneChunks);
      setSparseChunks(candidate);
      candidate.keepsFactor = keeps;
      candidate.sharedStore = constraints.take(
          "shared_store", isWorthSharingStores(candidate, machine));
      if (candidate.sharedStore)
        candidate.shiftUnit = 0;
      candidate.ctasPerSM = constraints.take("ctas_per_sm", 1);
      candidate.warpGroups = warpGroups;
      candidate.rowWarps = rowWarps;
      candidate.resultWarps =
          std::max<int64_t>(allWarps / warpGroups / rowWarps, 1);
      step = constraints.take("k_step", step);
      if (step % candidate.getMacroK() == 0 &&
          chooseTile(candidate, step, leastStages, constraints, machine) &&
          (isGiven || isWorthwhile(candidate, machine)) &&
          constraints.allow(candidate) &&
          (!best || getCost(candidate, constraints, machine) <
                        getCost(*best, constraints, machine)))
        best = candidate;
    }
  };
  bool swaps = described.swapsOperands;
  if (described.is16BitFloat()) {
    for (int64_t rowWarps : {warps, tile::kWarpgroupWarps})
      attempt(/*keeps=*/true, rowWarps, /*warp groups=*/1);
    return best;
  }
  for (int64_t rowWarps : {tile::kWarpgroupWarps, warps})
    for (bool keeps : {true, false})
      if (!keeps || !swaps)
        attempt(keeps, rowWarps, /*warp groups=*/1);
  if (swaps)
    return best;
  attempt(/*keeps=*/true, tile::kWarpgroupWarps, /*warp groups=*/2);
  // Few packed operands take a product of TF32 instead of bf16, but leave room
  // for more results, or for any.
  if ((!best || (best->keepsFactor && best->hasPartialSums)))
    attempt(/*keeps=*/true, tile::kWarpgroupWarps, /*warp groups=*/2,
            /*hasFewPackedOperands=*/true,
            /*leastStages=*/1);
  for (int64_t rowWarps : {warps, tile::kWarpgroupWarps})
    attempt(/*keeps=*/true, rowWarps, /*warp groups=*/1,
            /*hasFewPackedOperands=*/true,
            /*leastStages=*/1);
  return best;
}
