//===- Vectors.cpp - Vectors of a processor that splits them ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A processor that executes vectors of 512 bits in two halves is no faster with
// them than with narrower ones, but for what each instruction takes beside
// multiply-adds. So narrow vectors, of which fewer lanes are empty, are a
// choice, and so are lanes over rows, which are never empty but for a last
// tile.
//
//===----------------------------------------------------------------------===//

#include "Axes.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Machine/CPURates.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/Registers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Multiply-adds of whole vectors that all factors of `plan`, on arrays of
/// known sizes, take as long as, per vector of the input. Those hide loads and
/// stores between factors.
static double getSplitCost(const CPUPlan &plan, FusedOp fused,
                           int64_t vectorBits, const CacheBudget &caches) {
  int64_t lanes = vectorBits / 8 / getComputedBytes(fused);
  bool isNarrow = vectorBits < 512;
  // Two buffers, of a vector of rows or of two.
  int64_t bytes = 2 * countLaneBytes(plan, fused, vectorBits);
  bool isSingle = isNarrow && 2 * bytes > caches.l1Bytes;
  ModeProductOp first = fused.getModeProducts().front();
  SmallVector<int64_t> sizes(getArrayType(first.getInput()).getShape());
  double cost = 0, share = 1;
  for (const StepGroup &group : plan.groups) {
    int64_t inside = ShapedType::getNumElements(
        ArrayRef(sizes).drop_front(group.axis + group.products.size()));
    double growth = double(group.sizeN) / group.sizeK;
    double own = group.sizeN;
    if (plan.rowsInLanes) {
      own *= 1 + (isSingle ? kCPURates.singleBroadcastSlots
                           : kCPURates.narrowBroadcastSlots);
      if (bytes > caches.l1Bytes)
        own = std::max(own, kCPURates.secondLevelSlots * (1 + growth));
    } else {
      own = getGroupCost(group.sizeK, group.sizeN, inside, lanes) - 1 - growth;
      if (isNarrow)
        own += kCPURates.narrowBroadcastSlots * own +
               kCPURates.splitPartShare * getPartSlots(group, inside, lanes);
      else if (inside == 1 && 2 * group.sizeN <= lanes &&
               group.sizeN > kMostKeptElements)
        own += kCPURates.splitShuffleSlots;
    }
    cost += share * own;
    share *= growth;
    for (ModeProductOp product : group.products)
      sizes[product.getAxis()] =
          getArrayType(product.getFactor())
              .getDimSize(product.getResultingFactorDim());
  }
  // Of a vector of the input and of its results.
  double endSlots = isNarrow ? 0 : kCPURates.wideMoveSlots;
  if (plan.rowsInLanes)
    endSlots = isNarrow ? kCPURates.narrowTransposingSlots
                        : kCPURates.wideTransposingSlots;
  return cost + endSlots * (1 + share);
}

VectorForm kron::chooseVectors(FusedOp fused, CPUPlanAttr given,
                               const CPUPlannerOptions &options) {
  VectorForm widest{options.vectorBits, std::nullopt};
  Type type = getElementType(fused.getInit());
  bool isMeasured = type.isF32() || type.isF64();
  if (options.vectorBits <= options.wholeBits || given || !isMeasured ||
      isRegrouped(fused) || hasEmptyArray(fused) ||
      !getArrayType(fused.getInputs().front()).hasStaticShape() ||
      !getVaryingAxes(fused).none() || fused.getInputPermutation())
    return widest;
  std::optional<double> least;
  VectorForm best = widest;
  for (int64_t bits : {options.vectorBits, options.wholeBits})
    for (bool rowsInLanes : {false, true}) {
      CPUChoices choices;
      choices.vectorBits = bits;
      auto chosen =
          chooseAxes(fused, given, options.caches, choices, rowsInLanes);
      if (std::holds_alternative<std::string>(chosen))
        return widest;
      const CPUPlan &plan = std::get<CPUPlan>(chosen);
      if (plan.tiledAxis < 0 || plan.isTiledInnermost() || plan.transposesInput)
        return widest;
      if (plan.rowsInLanes != rowsInLanes ||
          (rowsInLanes && !hasRowsForLanes(plan, fused, bits, options.caches)))
        continue;
      double cost = getSplitCost(plan, fused, bits, options.caches);
      if (bits < options.vectorBits && !rowsInLanes)
        cost *= kCPURates.narrowVectorsGain;
      if (least && cost >= *least)
        continue;
      least = cost;
      best = {bits, rowsInLanes};
    }
  return best;
}
