//===- SparseSplitKTiles.cpp - Few rows of a Kronecker-sparse factor ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where there are few rows, the factor is most of what is read. Tiles have 16
// rows then, and warps share out K, such that as many copies are under way as
// an SM can have.
//
//===----------------------------------------------------------------------===//

#include "SparseSearch.h"
#include "kron/Machine/GPUTiles.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Warps of a split-K tile that share out K, in parts of 128 bytes of a row or
/// more, and its results.
static void setSplitKWarps(SparseCandidate &plan, int64_t warps,
                           const SparseConstraints &constraints) {
  int64_t laneBytes = plan.getLanes() * plan.elementBytes;
  int64_t part = plan.getMacroK();
  if (laneBytes < 128)
    part = std::max<int64_t>(part, 128 / laneBytes);
  plan.warpsK = constraints.take("k_warps", warps);
  while (!constraints.has("k_warps") && plan.warpsK > 1 &&
         part * plan.warpsK > int64_t(llvm::alignTo(plan.sizeK, part)))
    plan.warpsK /= 2;
  plan.resultWarps = std::min<int64_t>(
      warps / plan.warpsK, llvm::PowerOf2Ceil(llvm::divideCeil(
                               plan.sizeN, plan.getResultsPerWarp())));
  plan.resultWarps =
      constraints.take("result_warps", std::max<int64_t>(plan.resultWarps, 1));
  plan.stepK = part * plan.warpsK;
}

std::optional<SparseCandidate>
kron::chooseSplitKSparseTile(const SparseCandidate &described,
                             const SparseConstraints &constraints,
                             const GPUMachine &machine) {
  const SplitKTiles &tiles = getGPUTiles(machine).splitK;
  SparseCandidate plan = described;
  plan.laneChunks = constraints.take("lane_chunks", plan.laneChunks);
  plan.skinnyM = constraints.take(
      "skinny_m", plan.nominalRows <= kSparseSkinnyM ? plan.nominalRows : 0);
  if (plan.skinnyM && plan.nominalRows > plan.skinnyM)
    return std::nullopt;
  plan.sharedStore = constraints.take("shared_store", 0);
  plan.wholeCopies = constraints.take("whole_copies", plan.mostWhole);
  setSparseChunks(plan);
  // Stores matter less than parallel tiles.
  if (plan.skinnyM || plan.sharedStore)
    plan.shiftUnit = 0;
  if (plan.order == SparseOrder::Chunks)
    plan.resultTiles = std::max<int64_t>(plan.chunkK / 2, 1);
  plan.resultTiles = constraints.take("result_tiles", plan.resultTiles);
  plan.ctasPerSM = constraints.take("ctas_per_sm", tiles.ctasPerSM);
  setSplitKWarps(plan, constraints.takeWarps(tiles.warps), constraints);
  // A thread has 128 registers.
  int64_t ctas = machine.numSMs * tiles.ctasPerSM;
  int64_t mostSums = plan.hasPartialSums || plan.element.isF64() ? 8 : 16;
  while (!constraints.has("result_tiles") && getSparseTiles(plan) > ctas &&
         2 * plan.getSums() <= mostSums && plan.getResults() < plan.sizeN)
    plan.resultTiles *= 2;
  if (getSparseTiles(plan) <= machine.numSMs) {
    plan.ctasPerSM = constraints.take("ctas_per_sm", 1);
    // Adding up many sums takes longer than it saves, copying does not.
    if (plan.getSums() <= 8 || plan.copiesSingly)
      setSplitKWarps(plan, constraints.takeWarps(2 * tiles.warps), constraints);
  }
  int64_t perK = (plan.getPackedRows() + plan.getResults()) * plan.getLanes() *
                 plan.elementBytes;
  while (2 * plan.stepK * perK <= tiles.stepBytes && plan.stepK < plan.sizeK &&
         llvm::alignTo(plan.sizeK, 2 * plan.stepK) * 8 <=
             llvm::alignTo(plan.sizeK, plan.stepK) * 9)
    plan.stepK *= 2;
  plan.stepK = constraints.take("k_step", plan.stepK);
  plan.stepsK = llvm::divideCeil(plan.sizeK, plan.stepK);
  for (; plan.ctasPerSM > 0; plan.ctasPerSM /= 2) {
    // No more pipeline stages than a CTA has K steps.
    ctas = machine.numSMs * plan.ctasPerSM;
    int64_t steps = plan.stepsK * llvm::divideCeil(getSparseTiles(plan), ctas);
    int64_t sharedBytes = machine.getSharedBytes(plan.ctasPerSM);
    plan.stages = constraints.take(
        "stages", std::min<int64_t>(tiles.mostStages, steps + 1));
    while (!constraints.has("stages") && plan.stages > 2 &&
           plan.getSharedBytes() > sharedBytes)
      --plan.stages;
    if (plan.getSharedBytes() <= sharedBytes && constraints.allow(plan))
      return plan;
  }
  return std::nullopt;
}
