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

#include "SparsePlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Data and factor that a K step of a split-K tile should bring.
static constexpr int64_t kSplitKStepBytes = 10 * 1024;
/// CTAs per SM that work on split-K tiles, and warps of each.
static constexpr int64_t kSplitKCTAs = 4, kSplitKWarps = 4;

/// Warps of a split-K tile that share out K, in parts of 128 bytes of a row or
/// more, and its results.
static void setSplitKWarps(SparsePlan &plan, int64_t warps) {
  int64_t laneBytes = plan.getLanes() * plan.elementBytes;
  int64_t part = plan.getMacroK();
  if (laneBytes < 128)
    part = std::max<int64_t>(part, 128 / laneBytes);
  plan.warpsK = warps;
  while (plan.warpsK > 1 &&
         part * plan.warpsK > int64_t(llvm::alignTo(plan.sizeK, part)))
    plan.warpsK /= 2;
  plan.resultWarps = std::min<int64_t>(
      warps / plan.warpsK, llvm::PowerOf2Ceil(llvm::divideCeil(
                               plan.sizeN, plan.getResultsPerWarp())));
  plan.stepK = part * plan.warpsK;
}

bool kron::chooseSplitKSparseTile(SparsePlan &plan, int64_t rows,
                                  const GPUMachine &machine) {
  plan.skinnyM = rows <= kSparseSkinnyM ? rows : 0;
  // Stores matter less than parallel tiles.
  if (plan.order == SparseOrder::Chunks && plan.skinnyM) {
    plan.order = SparseOrder::Plain;
    plan.shiftUnit = 0;
  }
  if (plan.order == SparseOrder::Chunks)
    plan.resultTiles = std::max<int64_t>(plan.chunkK / 2, 1);
  plan.ctasPerSM = kSplitKCTAs;
  setSplitKWarps(plan, kSplitKWarps);
  // A thread has 128 registers.
  int64_t ctas = machine.numSMs * kSplitKCTAs;
  int64_t mostSums = plan.hasPartialSums || plan.element.isF64() ? 8 : 16;
  while (getSparseTiles(plan, rows) > ctas && 2 * plan.getSums() <= mostSums &&
         plan.getResults() < plan.sizeN)
    plan.resultTiles *= 2;
  if (getSparseTiles(plan, rows) <= machine.numSMs) {
    plan.ctasPerSM = 1;
    // Adding up many sums takes longer than it saves, copying does not.
    if (plan.getSums() <= 8 || plan.copiesSingly)
      setSplitKWarps(plan, 2 * kSplitKWarps);
  }
  int64_t perK = (plan.getPackedRows() + plan.getResults()) * plan.getLanes() *
                 plan.elementBytes;
  while (2 * plan.stepK * perK <= kSplitKStepBytes && plan.stepK < plan.sizeK &&
         llvm::alignTo(plan.sizeK, 2 * plan.stepK) * 8 <=
             llvm::alignTo(plan.sizeK, plan.stepK) * 9)
    plan.stepK *= 2;
  plan.stepsK = llvm::divideCeil(plan.sizeK, plan.stepK);
  for (; plan.ctasPerSM > 0; plan.ctasPerSM /= 2) {
    // No more pipeline stages than a CTA has K steps.
    ctas = machine.numSMs * plan.ctasPerSM;
    int64_t steps =
        plan.stepsK * llvm::divideCeil(getSparseTiles(plan, rows), ctas);
    int64_t sharedBytes = machine.getSharedBytes(plan.ctasPerSM);
    plan.stages = std::min(kMostSparseStages, steps + 1);
    while (plan.stages > 2 && plan.getSharedBytes() > sharedBytes)
      --plan.stages;
    if (plan.getSharedBytes() <= sharedBytes)
      return true;
  }
  return false;
}
