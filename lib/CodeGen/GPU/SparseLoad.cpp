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
  Int number = k.mul(k.floorDiv(step, plan.stepsK), plan.tileWarps);
  k.ifThen(k.less(number, tileCount),
           [&] { body(number, k.mul(k.rem(step, plan.stepsK), plan.stepK)); });
}

/// Starts the copies of K step number `step` of this CTA, if there is one.
void SparseKernel::issue(Int step) {
  ifStep(step, [&](Int number, Int startK) {
    SparseTile tile = getTile(number);
    Int slot = getSlot(step);
    Int factorSlot = k.add(slot, plan.getCopiedBytes());
    bool isOneTest = isAligned == isFactorAligned;
    if (!plan.readsShared)
      choose(isAligned, [&](bool isAligned) {
        if (plan.tileWarps == 1)
          issueData(tile, startK, slot, isAligned);
        else
          k.rolledLoop(0, plan.tileWarps, 1, [&](Int index) {
            issueData(getTile(k.add(number, index)), startK,
                      k.add(slot, k.mul(index, plan.getDataBytes())),
                      isAligned);
          });
        if (!plan.keepsFactor && isOneTest)
          issueFactor(tile, startK, factorSlot, isAligned);
      });
    if (!plan.keepsFactor && (plan.readsShared || !isOneTest))
      choose(isFactorAligned, [&](bool isAligned) {
        issueFactor(tile, startK, factorSlot, isAligned);
      });
  });
  k.commitCopies();
}

/// Starts the copies of the whole factor.
void SparseKernel::keepAll() {
  choose(isFactorAligned, [&](bool isAligned) {
    k.rolledLoop(0, plan.getTilesPerRows() * plan.stepsK, 1, [&](Int step) {
      issueFactor(
          getSparseTile(k, plan, freeSizes, k.floorDiv(step, plan.stepsK), 0),
          k.mul(k.rem(step, plan.stepsK), plan.stepK),
          k.add(k.mul(step, plan.getFactorBytes()), keptOffset), isAligned);
    });
  });
  k.commitCopies();
}
