//===- Plan.cpp - How fused regions are mapped to a CPU ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Only annotates. On the CPU, the tile is the largest whose intermediates stay
// within the cache budget; register tiles are left to the emitter's own cost
// count, step by step, unless the plan names them. PlanGPU.cpp
// is about GPUs.
//
//===----------------------------------------------------------------------===//

#include "PlanGPU.h"
#include "VerifyOptions.h"
#include "kron/CodeGen/CPU/CPUPlan.h"
#include "kron/CodeGen/CPU/Support.h"
#include "kron/CodeGen/GPU/Support.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONPLAN
#include "kron/Dialect/Kron/Transforms/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {

struct KronPlanPass : kron::impl::KronPlanBase<KronPlanPass> {
  using KronPlanBase::KronPlanBase;

  void runOnOperation() override {
    if (target != "cpu" && target != "cuda") {
      getOperation()->emitError("expects target to be cpu or cuda, but got ")
          << target.getValue();
      return signalPassFailure();
    }
    dropForeignPlans(getOperation(), target);
    if (target == "cuda")
      return planForGPU();
    if (failed(verifyVectorBits(getOperation(), vectorBits)) ||
        failed(verifyBytes(getOperation(), cacheBytes, l2Bytes, streamBytes,
                           streamColumnsBytes, columnBytes, rowTileBytes)))
      return signalPassFailure();
    getOperation()->walk([&](FusedOp fused) { planForCPU(fused); });
  }

  void planForGPU() {
    FailureOr<GPUMachine> machine = getGPUMachine(getOperation(), chip);
    if (failed(machine))
      return signalPassFailure();
    WalkResult result = getOperation()->walk([&](FusedOp fused) {
      return WalkResult(kron::planForGPU(fused, *machine, cublas));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  /// Results in short segments wait longest for the lines that they go to.
  int64_t chooseStreamBytes(const CPUPlan &plan, FusedOp fused,
                            int64_t bits) const {
    // In rows, and in columns that fill no whole vectors, that was measured
    // where longer segments are faster, too.
    bool isColumns =
        plan.isTiledInnermost() && !hasRaggedColumns(plan, fused, bits);
    bool isMeasured =
        plan.isTiledInnermost() || storesShortSegments(plan, fused);
    if (isColumns || (columnBytes && isMeasured))
      return streamColumnsBytes;
    return plan.transposesInput ? streamBytes / 6 : streamBytes;
  }

  void planForCPU(FusedOp fused) {
    for (ModeProductOp product : fused.getModeProducts())
      if (getCPUUnsupportedReason(product))
        return;
    CPUPlanAttr given = getCPUPlanAttr(fused);
    int64_t bits = given && given.getVectorBits() ? given.getVectorBits()
                                                  : vectorBits.getValue();
    CPUPlan plan = getCPUPlan(fused, bits);
    CacheBudget caches{cacheBytes, l2Bytes, columnBytes, rowTileBytes};
    int64_t givenTiles = given ? given.getMatrixTiles() : 0;
    constexpr int64_t kTiles = 1, kPairs = 2;
    int64_t chosenTiles = matrixTiles ? kTiles : pairProducts ? kPairs : 0;
    if (!getElementType(fused.getInit()).isBF16())
      chosenTiles = 0;
    bool usesTiles = (givenTiles ? givenTiles : chosenTiles) == kTiles;
    int64_t tile = given ? given.getTile() : 0;
    if (!tile) {
      tile = chooseTile(plan, fused, bits, caches);
      if (usesTiles)
        tile = widenForMatrixTiles(plan, fused, tile);
    }
    auto takeGiven = [&](int64_t value, int64_t chosen) {
      return value ? value : chosen;
    };
    int64_t slice = takeGiven(given ? given.getSlice() : 0,
                              chooseSlice(plan, fused, tile, caches));
    int64_t streamBytes = takeGiven(given ? given.getStreamBytes() : 0,
                                    chooseStreamBytes(plan, fused, bits));
    // Columns of a chain were measured to be faster without: the lines that are
    // prefetched lie in few sets of the caches, which hold what is between
    // factors.
    bool isColumns = (!plan.views.empty() && plan.isTiledInnermost()) ||
                     takesSingleVectors(plan, fused, bits, caches);
    int64_t prefetch =
        takeGiven(given ? given.getPrefetch() : 0,
                  isColumns || fitsSecondLevel(plan, fused, caches) ? -1 : 0);
    fused.setPlanAttr(CPUPlanAttr::get(
        &getContext(), bits, tile, given ? given.getRegisterRows() : 0,
        given ? given.getRegisterVectors() : 0, slice, streamBytes, prefetch,
        takeGiven(givenTiles, chosenTiles),
        takeGiven(given ? given.getKeptFibres() : 0,
                  fastShuffles && hasHalfFibres(plan, fused, bits)),
        DenseI64ArrayAttr()));
    remark::analysis(fused.getLoc(),
                     remark::RemarkOpts::name("Plan").category("kron-plan"))
        << remark::metric("FactorsApplied", fused.getModeProducts().size())
        << remark::metric("Stages", plan.groups.size())
        << remark::metric("Tile", tile)
        << remark::metric("Buffers", plan.numBuffers)
        << remark::metric("ElementsPerPosition", plan.elementsPerPosition);
  }
};

} // namespace
