//===- SparseLoad.cpp - Data and factors of a sparse kernel on their way --===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Which part of an array a K step needs, and when its copies are started.
//
//===----------------------------------------------------------------------===//

#include "SparseKernel.h"
#include "kron/CodeGen/GPU/WgmmaInstruction.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// K steps
//===----------------------------------------------------------------------===//

void SparseKernel::issueData(const SparseTile &tile, Int startK, Int slot,
                             bool isAligned) {
  copies.copyData(copies.getCopy(input, tile, startK, slot, /*isFactor=*/false,
                                 targets.rows),
                  isAligned);
}

void SparseKernel::issueFactor(const SparseTile &tile, Int startK, Int to,
                               bool isAligned) {
  const SparseArray &array = isAligned ? alignedFactor : factor;
  copies.copyFactor(
      copies.getCopy(array, tile, startK, to, /*isFactor=*/true, targets.rows),
      tile.groups, isAligned);
}

Int SparseKernel::getSlot(Int step) {
  Int slot =
      k.add(k.rem(step, plan.stages), k.mul(thread.warpGroup, plan.stages));
  return k.add(k.mul(slot, plan.getStageBytes()), stageOffset);
}

/// Builds `body` for K step number `step` of this CTA, if there is one, with
/// the number of its first tile.
void SparseKernel::ifStep(Int step,
                          function_ref<void(Int number, Int startK)> body) {
  Int number = k.floorDiv(step, plan.stepsK);
  k.ifThen(k.less(number, tileCount),
           [&] { body(number, k.mul(k.rem(step, plan.stepsK), plan.stepK)); });
}

/// Starts the copies of the factor that K step number `step` needs, if there is
/// one.
void SparseKernel::issueFactor(Int step, Int to) {
  ifStep(step, [&](Int number, Int startK) {
    SparseTile tile = getTile(number);
    choose(isFactorAligned,
           [&](bool isAligned) { issueFactor(tile, startK, to, isAligned); });
  });
}

/// Starts the copies of K step number `step` of this CTA, if there is one. What
/// is prepared ahead comes with the data of the K step before.
void SparseKernel::issue(Int step) {
  ifStep(step, [&](Int number, Int startK) {
    SparseTile tile = getTile(number);
    Int slot = getSlot(step);
    Int factorSlot = k.add(slot, plan.getCopiedBytes());
    bool isOneTest = isAligned == isFactorAligned && !plan.preparesAhead();
    choose(isAligned, [&](bool isAligned) {
      issueData(tile, startK, slot, isAligned);
      if (!plan.keepsFactor && isOneTest)
        issueFactor(tile, startK, factorSlot, isAligned);
    });
    if (!plan.keepsFactor && !plan.preparesAhead() && !isOneTest)
      choose(isFactorAligned, [&](bool isAligned) {
        issueFactor(tile, startK, factorSlot, isAligned);
      });
  });
  if (plan.preparesAhead())
    issueFactor(k.add(step, 1), k.add(getSlot(step), plan.getCopiedBytes()));
  k.commitCopies();
}

/// Whether a segment's first K steps are prefetched before its factor has
/// arrived. The kernels of others were slower so.
bool SparseKernel::startsEarly() const {
  return !plan.usesWgmma && (plan.alongRows || plan.warpGroups > 1);
}

/// Replaces the factor that is kept by the part that `tile` needs, or starts
/// the copies that do.
void SparseKernel::keepFactor(const SparseTile &tile) {
  k.barrier();
  if (plan.usesWgmma) {
    k.rolledLoop(0, plan.stepsK, 1, [&](Int number) {
      choose(isFactorAligned, [&](bool isAligned) {
        issueFactor(tile, k.mul(number, plan.stepK), stageOffset, isAligned);
      });
      k.commitCopies();
      k.waitCopies(0);
      k.barrier();
      multiplier.prepareFactor(stageOffset, getPrepared(number));
      k.barrier();
    });
    return finishPreparing();
  }
  choose(isFactorAligned, [&](bool isAligned) {
    k.rolledLoop(0, plan.stepsK, 1, [&](Int number) {
      issueFactor(tile, k.mul(number, plan.stepK),
                  k.add(k.mul(number, plan.getFactorBytes()), keptOffset),
                  isAligned);
    });
  });
  k.commitCopies();
  if (!startsEarly())
    finishKeeping(/*copiesUnderWay=*/0);
}

/// Waits for a factor that is kept.
void SparseKernel::finishKeeping(int64_t copiesUnderWay) {
  k.waitCopies(copiesUnderWay);
  k.barrier();
  if (!plan.pairsFactor)
    return;
  copies.pairFactor(keptOffset);
  k.barrier();
}

//===----------------------------------------------------------------------===//
// Factors that warpgroups read
//===----------------------------------------------------------------------===//

/// Where prepared factor number `number` is.
Int SparseKernel::getPrepared(Int number) {
  return k.add(k.mul(number, plan.getPreparedBytes()), keptOffset);
}

/// Makes what all threads prepared visible to the matrix unit.
void SparseKernel::finishPreparing() {
  fenceProxy(k);
  plan.keepsFactor ? k.barrier() : waitWarpGroup();
}

/// Prepares the factor of a segment's first K step.
void SparseKernel::prepareFirst() {
  k.waitCopies(plan.stages - 1);
  waitWarpGroup();
  multiplier.prepareFactor(
      k.add(getSlot(plan.stages - 1), plan.getCopiedBytes()), getPrepared(0));
  fenceProxy(k);
}

/// sums += K step `step` of the segment, while the factor of the next one is
/// prepared. What that leaves becomes visible at the next step's barrier.
void SparseKernel::multiplyAhead(MutableArrayRef<MmaC> sums, Int step) {
  Int slot = getSlot(step);
  Int from = k.add(slot, plan.getCopiedBytes());
  Int to = getPrepared(k.rem(k.add(step, 1), 2));
  multiplier.multiplyGroups(
      sums, slot, getPrepared(k.rem(step, 2)), [] {},
      [&](int64_t macro) { multiplier.prepareMacro(from, to, macro); });
  fenceProxy(k);
}
