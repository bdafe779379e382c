//===- Memory.cpp - Where a kron.fused reads and writes ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/CPUPlan.h"

using namespace mlir;
using namespace mlir::kron;

bool kron::isStretched(FusedOp fused, unsigned axis) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  return getArrayType(products.front().getInput()).getDimSize(axis) == 1 &&
         !getContractedAxes(fused)[axis];
}

bool kron::isConverted(FusedOp fused, Value array) {
  return getElementType(array) !=
         getAccumulatorType(getElementType(fused.getInit()));
}

bool kron::isInPlace(FusedOp fused) {
  return fused.getInputs().front() == fused.getInit();
}

int64_t kron::countTileElements(const CPUPlan &plan, int64_t tile,
                                unsigned groupsApplied) {
  return countWindowElements(plan, Section(), tile, groupsApplied);
}

std::pair<int, int64_t> kron::findBlockAxis(FusedOp fused,
                                            const CPUPlan &plan) {
  std::pair<int, int64_t> none{-1, 0};
  if (plan.groups.size() != 1 || !plan.views.empty() || plan.tiledAxis < 0 ||
      plan.rearrangesInput() || isInPlace(fused) || fused.getEpilogue())
    return none;
  SmallVector<int64_t> strides = getKnownStrides(fused.getInit());
  ShapedType init = getArrayType(fused.getInit());
  int64_t elements = 1;
  int axis = plan.roles.size() - 1;
  if (plan.isTiledInnermost()) {
    // All columns of several positions of an axis inside of the contracted one.
    int64_t columns = init.getDimSize(axis--);
    bool isGrid = axis > static_cast<int>(plan.groups.front().axis) &&
                  plan.roles[axis] == AxisRole::Grid;
    bool isKnown = isGrid && columns > 0 && init.getDimSize(axis) > 0 &&
                   strides[axis] == columns;
    return isKnown ? std::pair(axis, columns) : none;
  }
  for (; axis > plan.tiledAxis && plan.roles[axis] == AxisRole::Whole; --axis) {
    int64_t size = plan.getWholeSize(axis, plan.groups.size());
    if (size != 1 && strides[axis] != elements)
      return none;
    elements *= size;
  }
  if (axis <= plan.tiledAxis || init.isDynamicDim(axis) ||
      strides[axis] != elements)
    return none;
  return {axis, elements};
}

/// Whether all axes are known to be a single tile, which no other follows.
static bool isOnlyTile(FusedOp fused, const CPUPlan &plan, int64_t tile) {
  for (auto [axis, size] :
       llvm::enumerate(getArrayType(fused.getInit()).getShape()))
    if (plan.roles[axis] != AxisRole::Whole &&
        (ShapedType::isDynamic(size) || size > plan.getStep(axis, tile)))
      return false;
  return true;
}

bool kron::hasSegments(FusedOp fused, const CPUPlan &plan) {
  SmallVector<int64_t> strides = getInputStrides(fused);
  return plan.tiledAxis >= 0 && !strides.empty() &&
         strides[plan.tiledAxis] == 1 && !isStretched(fused, plan.tiledAxis);
}

bool kron::canPrefetchRows(FusedOp fused, const CPUPlan &plan,
                           const CPUChoices &choices) {
  return choices.prefetch >= 0 && plan.groups.size() == 1 &&
         plan.isTiledInnermost() && !plan.rearrangesInput() &&
         !choices.convertsInput && !isInPlace(fused) &&
         hasSegments(fused, plan) &&
         !isOnlyTile(fused, plan, getTileSize(fused, plan, choices));
}

bool kron::canSpreadPrefetch(FusedOp fused, const CPUPlan &plan,
                             const CPUChoices &choices) {
  constexpr int64_t kBits = 512;
  SmallVector<Section> sections = getSections(plan, choices);
  if (!plan.packsInput || choices.vectorBits != kBits ||
      !plan.isTiledInnermost() || sections.size() < 2 ||
      sections.front().sliceAxis < 0 || !hasSegments(fused, plan))
    return false;
  return sections.size() > 2 ||
         !isOnlyTile(fused, plan, getTileSize(fused, plan, choices));
}
