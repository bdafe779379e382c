//===- SparseThinTiles.cpp - Few rows of a Kronecker-sparse factor --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where there are few rows, the factor is most of what is read. Tiles have 16
// rows then, and warps share out the depth, such that as many copies are under
// way as a processor can have.
//
//===----------------------------------------------------------------------===//

#include "SparsePlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Data and factor that a step of a thin tile should bring.
static constexpr int64_t kThinStepBytes = 10 * 1024;
/// CTAs per processor that work on thin tiles, and warps of each.
static constexpr int64_t kThinCTAs = 4, kThinWarps = 4;

/// Warps of a thin tile that share out the depth, in parts of 128 bytes of a
/// row or more, and its results.
static void setThinWarps(SparsePlan &plan, int64_t warps) {
  int64_t laneBytes = plan.getLanes() * plan.elementBytes;
  int64_t part = plan.getMacroDepth();
  if (laneBytes < 128)
    part = std::max<int64_t>(part, 128 / laneBytes);
  plan.depthWarps = warps;
  while (plan.depthWarps > 1 &&
         part * plan.depthWarps > int64_t(llvm::alignTo(plan.depth, part)))
    plan.depthWarps /= 2;
  plan.resultWarps = std::min<int64_t>(
      warps / plan.depthWarps, llvm::PowerOf2Ceil(llvm::divideCeil(
                                   plan.results, plan.getResultsPerWarp())));
  plan.depthStep = part * plan.depthWarps;
}

bool kron::chooseThinSparseTile(SparsePlan &plan, int64_t rows,
                                const GPUMachine &machine) {
  plan.fewRows = rows <= kSparseFewRows ? rows : 0;
  // Stores matter less than parallel tiles.
  if (plan.order == SparseOrder::Chunks && plan.fewRows) {
    plan.order = SparseOrder::Plain;
    plan.shiftUnit = 0;
  }
  if (plan.order == SparseOrder::Chunks)
    plan.resultTiles = std::max<int64_t>(plan.depthPerChunk / 2, 1);
  plan.ctasPerSM = kThinCTAs;
  setThinWarps(plan, kThinWarps);
  // A thread has 128 registers.
  int64_t ctas = machine.processors * kThinCTAs;
  int64_t mostSums = plan.hasPartialSums || plan.element.isF64() ? 8 : 16;
  while (getSparseTiles(plan, rows) > ctas && 2 * plan.getSums() <= mostSums &&
         plan.getResults() < plan.results)
    plan.resultTiles *= 2;
  if (getSparseTiles(plan, rows) <= machine.processors) {
    plan.ctasPerSM = 1;
    // Adding up many sums takes longer than it saves, copying does not.
    if (plan.getSums() <= 8 || plan.copiesSingly)
      setThinWarps(plan, 2 * kThinWarps);
  }
  int64_t perDepth = (plan.getImageRows() + plan.getResults()) *
                     plan.getLanes() * plan.elementBytes;
  while (2 * plan.depthStep * perDepth <= kThinStepBytes &&
         plan.depthStep < plan.depth &&
         llvm::alignTo(plan.depth, 2 * plan.depthStep) * 8 <=
             llvm::alignTo(plan.depth, plan.depthStep) * 9)
    plan.depthStep *= 2;
  plan.depthSteps = llvm::divideCeil(plan.depth, plan.depthStep);
  for (; plan.ctasPerSM > 0; plan.ctasPerSM /= 2) {
    // No more stages than a CTA has steps.
    ctas = machine.processors * plan.ctasPerSM;
    int64_t steps =
        plan.depthSteps * llvm::divideCeil(getSparseTiles(plan, rows), ctas);
    int64_t sharedBytes = machine.getSharedBytes(plan.ctasPerSM);
    plan.stages = std::min(kMostSparseStages, steps + 1);
    while (plan.stages > 2 && plan.getSharedBytes() > sharedBytes)
      --plan.stages;
    if (plan.getSharedBytes() <= sharedBytes)
      return true;
  }
  return false;
}
