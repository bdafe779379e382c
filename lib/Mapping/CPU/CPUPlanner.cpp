//===- CPUPlanner.cpp - How a kron.fused is mapped to a CPU -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The tile is the largest whose intermediates stay within the cache budget;
// register tiles are left to the emitter's own cost count, step by step, unless
// the plan names them.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/CPU/CPUPlanner.h"
#include "Tiles.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/Registers.h"
#include "kron/Plan/CPU/Support.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether fibres of a factor fill half a register, and are longer than those
/// that stay in it as they lie anyway.
static bool hasHalfFibres(const CPUPlan &plan, FusedOp fused,
                          int64_t vectorBits) {
  int64_t half = vectorBits / 16 / getComputedBytes(fused);
  return vectorBits == 512 && half > kMostKeptElements &&
         llvm::any_of(plan.groups, [&](const StageGroup &group) {
           return group.sizeK == half && group.sizeN == half;
         });
}

/// Whether input and result of `fused` are known to fit the second-level cache
/// together: then nothing has to be prefetched.
static bool fitsSecondLevel(const CPUPlan &plan, FusedOp fused,
                            const CacheBudget &caches) {
  ShapedType init = getArrayType(fused.getInit());
  if (!init.hasStaticShape())
    return false;
  // The input, which may be stretched, has the axes of the result before any
  // group.
  int64_t inputs = 1;
  for (auto [axis, size] : llvm::enumerate(init.getShape()))
    inputs *=
        plan.roles[axis] == AxisRole::Whole ? plan.getWholeSize(axis, 0) : size;
  return (inputs + init.getNumElements()) *
             getElementBytes(getElementType(fused.getInit())) <=
         caches.l2Bytes;
}

/// Bytes from which results are stored non-temporally. Results in short
/// segments wait longest for the lines that they go to.
static int64_t chooseStreamBytes(const CPUPlan &plan, FusedOp fused,
                                 int64_t vectorBits,
                                 const CPUPlannerOptions &options) {
  // In rows, and in columns that fill no whole vectors, that was measured where
  // longer segments are faster, too.
  bool isColumns =
      plan.isTiledInnermost() && !hasRaggedColumns(plan, fused, vectorBits);
  bool isMeasured = plan.isTiledInnermost() || storesShortSegments(plan, fused);
  if (isColumns || (options.caches.columnBytes && isMeasured))
    return options.streamColumnsBytes;
  return plan.transposesInput ? options.streamBytes / 6 : options.streamBytes;
}

/// What `matrix_tiles` of the plan of `fused` is: 0 if products are computed
/// one by one.
static int64_t chooseMatrixTiles(FusedOp fused,
                                 const CPUPlannerOptions &options) {
  if (!getElementType(fused.getInit()).isBF16())
    return 0;
  return options.hasMatrixTiles    ? kMatrixTiles
         : options.hasPairProducts ? kPairProducts
                                   : 0;
}

/// What `prefetch` of the plan of `fused` is: -1 if nothing is prefetched.
static int64_t choosePrefetch(const CPUPlan &plan, FusedOp fused,
                              int64_t vectorBits, const CacheBudget &caches) {
  // Columns of a chain were measured to be faster without: the lines that are
  // prefetched lie in few sets of the caches, which hold what is between
  // factors.
  bool isColumns = (!plan.views.empty() && plan.isTiledInnermost()) ||
                   takesSingleVectors(plan, fused, vectorBits, caches);
  return isColumns || fitsSecondLevel(plan, fused, caches) ? -1 : 0;
}

void kron::planForCPU(FusedOp fused, const CPUPlannerOptions &options) {
  for (ModeProductOp product : fused.getModeProducts())
    if (getCPUUnsupportedReason(product))
      return;
  CPUPlanAttr given = getCPUPlanAttr(fused);
  if (!given)
    given = CPUPlanAttr::get(fused.getContext(), 0, 0, 0, 0, 0, 0, 0, 0, 0,
                             DenseI64ArrayAttr());
  auto takeGiven = [&](int64_t value, int64_t chosen) {
    return value ? value : chosen;
  };
  const CacheBudget &caches = options.caches;
  int64_t bits = takeGiven(given.getVectorBits(), options.vectorBits);
  CPUPlan plan = getCPUPlan(fused, bits);
  int64_t matrixTiles =
      takeGiven(given.getMatrixTiles(), chooseMatrixTiles(fused, options));
  int64_t tile = given.getTile();
  if (!tile) {
    tile = chooseTile(plan, fused, bits, caches);
    if (matrixTiles == kMatrixTiles)
      tile = widenForMatrixTiles(plan, fused, tile);
  }
  int64_t slice =
      takeGiven(given.getSlice(), chooseSlice(plan, fused, tile, caches));
  int64_t streamBytes = takeGiven(
      given.getStreamBytes(), chooseStreamBytes(plan, fused, bits, options));
  int64_t prefetch =
      takeGiven(given.getPrefetch(), choosePrefetch(plan, fused, bits, caches));
  int64_t keptFibres =
      takeGiven(given.getKeptFibres(),
                options.hasFastShuffles && hasHalfFibres(plan, fused, bits));
  fused.setPlanAttr(
      CPUPlanAttr::get(fused.getContext(), bits, tile, given.getRegisterRows(),
                       given.getRegisterVectors(), slice, streamBytes, prefetch,
                       matrixTiles, keptFibres, DenseI64ArrayAttr()));
  remark::analysis(fused.getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
      << remark::metric("FactorsApplied", fused.getModeProducts().size())
      << remark::metric("Stages", plan.groups.size())
      << remark::metric("Tile", tile)
      << remark::metric("Buffers", plan.numBuffers)
      << remark::metric("ElementsPerPosition", plan.elementsPerPosition);
}
