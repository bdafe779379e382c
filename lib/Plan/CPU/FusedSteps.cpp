//===- FusedSteps.cpp - What is copied, what is packed ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/FusedLayout.h"
#include "kron/Plan/CPU/LoopNest.h"

using namespace mlir;
using namespace mlir::kron;

StepLayout FusedLayout::getPlanned(unsigned index) {
  const LayoutArrays &arrays = getArrays();
  const Section &section = *llvm::find_if(
      sections, [&](const Section &each) { return index < each.end; });
  StepArray source =
      index == 0 && !copiesIn ? arrays.input : getIntermediate(Value(), index);
  StepArray destination =
      index + 1 == plan.groups.size() && !copiesOut
          ? arrays.init
          : getIntermediate(Value(), index + 1, /*asWritten=*/true);
  StepLayout step = describeStep(arrays, index, getWindow(section, firstTile),
                                 source, destination);
  chooseStep(index, step);
  return step;
}

bool FusedLayout::isUnsupported(unsigned index) {
  StepLayout step = getPlanned(index);
  return getStepMapping(step) == StepMapping::Unsupported && !usesTiles(step);
}

void FusedLayout::moveInnermost(int64_t move) {
  movesInnermost = move != 0;
  rowsOutside = move == kMovedInSteps;
  copiesIn = move >= kMovedInBuffers;
  copiesOut = movesInnermost || getArrays().hasEpilogue;
}

/// Whether the first step broadcasts elements of the input, and needs none of
/// its vectors: then a copy of it need not be transposed.
bool FusedLayout::canKeepTransposed() {
  if (!plan.transposesInput)
    return false;
  StepLayout first = getPlanned(0);
  return first.axis + 1 == first.sizes.size() && !usesTiles(first) &&
         getStepMapping(first) == StepMapping::Fibre &&
         !getScratchElements(first);
}

/// Whether the products of bf16 of a single factor are made in pairs. For few
/// rows factors are multiplied as they lie.
bool FusedLayout::planPairs() {
  auto is16BitFloat = [](Type type) { return type && type.isBF16(); };
  const StepGroup &group = plan.groups.front();
  return mayMultiplyBy(kPairProducts) && group.products.size() == 1 &&
         plan.views.empty() && !plan.rowsInLanes && group.sizeK > 1 &&
         is16BitFloat(getArrays().input.element) &&
         is16BitFloat(getArrays().factors.front().array.element) &&
         choices.steps.front().convertsFactor &&
         (!plan.transposesInput || canKeepTransposed());
}

void FusedLayout::planSteps(Int tiledExtent) {
  const LayoutArrays &arrays = getArrays();
  unsigned numGroups = plan.groups.size();
  firstTile = getTileWindow(tiledExtent);
  // An epilogue is applied on the way out, to what is still in cache.
  copiesOut = arrays.hasEpilogue;
  // Tiles take bf16, and what lies far apart, as it is.
  chooseMoveForTiles();
  if (choices.movesInnermost && choices.movesInnermost != kMovedInSteps)
    moveInnermost(choices.movesInnermost);
  bool startsInTiles = movesInnermost || usesTiles(getPlanned(0));
  // Prefer to copy the input alone, then the result alone, then both. What is
  // to be converted is copied anyway, unless elements are loaded about once.
  hasPairs = planPairs();
  if (hasPairs)
    pairFactor();
  bool converts =
      hasPairs || (!startsInTiles && isConverted(arrays.input.element) &&
                   (choices.convertsInput || !canConvertSource(getPlanned(0))));
  copiesIn |= converts;
  if (!startsInTiles && !hasPairs)
    chooseMove();
  if (choices.movesInnermost == kMovedInSteps)
    moveInnermost(kMovedInSteps);
  if (!rowsOutside && !plan.rowsInLanes && isUnsupported(0)) {
    copiesIn = true;
    if (numGroups == 1 && isUnsupported(0)) {
      copiesIn = converts;
      copiesOut = true;
      copiesIn = converts || isUnsupported(0);
    }
  }
  if (!plan.rowsInLanes && numGroups > 1 && isUnsupported(numGroups - 1))
    copiesOut = true;
  copiesIn |= (plan.packsInput && !startsInTiles && !choices.readsSegments) ||
              plan.transposesInput || plan.rowsInLanes;
  copiesOut |= plan.rowsInLanes;
  // Several factors have read all of a tile before the last one stores.
  copiesIn |= isInPlace() && numGroups == 1 && !canWorkInPlace(getPlanned(0));
  keepsTransposed = canKeepTransposed();
  for (unsigned index = 0; index < numGroups; ++index)
    planStep(index);
}

void FusedLayout::planStep(unsigned index) {
  StepLayout step = getPlanned(index);
  PlannedStep planned;
  FactorArray &factor = getArrays().factors[index];
  SmallVector<Int> factorSizes;
  for (int64_t size : factor.sizes)
    factorSizes.push_back(size);
  for (Int size : collapse(factorSizes, plan.groups[index]))
    planned.factorSizes.push_back(size.getConstant());
  // As `moveRowsInside` moves the axes of the step.
  if (plan.rowsInLanes)
    std::rotate(planned.factorSizes.begin() + plan.tiledAxis,
                planned.factorSizes.begin() + plan.tiledAxis + 1,
                planned.factorSizes.end());
  if (rowsOutside)
    std::rotate(planned.factorSizes.begin(), planned.factorSizes.end() - 1,
                planned.factorSizes.end());
  planned.usesTiles = usesTiles(step);
  if (planned.usesTiles) {
    planned.packs = true;
    visitStep(index, step, planned);
    packMatrixTiles(index, step, planned);
    steps.push_back(planned);
    return;
  }
  planned.packs = needsPacking(step);
  if (!planned.packs && isConverted(step.factor.element) &&
      (choices.steps[index].convertsFactor || !canConvertFactor(step))) {
    convertFactor(index);
    step = getPlanned(index);
    planned.packs = needsPacking(step);
  }
  if (planned.packs) {
    planned.packed = getPackedFactor(step, planned.factorSizes);
    choosePackingInTiles(index, planned);
    planned.packsInBody =
        choices.steps[index].packsInTiles && countPackedInTile(planned);
  }
  visitStep(index, step, planned);
  if (planned.packsInBody) {
    for (auto [axis, size] : llvm::enumerate(planned.factorSizes))
      if (plan.roles[axis] == AxisRole::Grid)
        size = std::min(size, plan.getStep(axis, tileSize));
    planned.packed = getPackedFactor(step, planned.factorSizes);
    packedElements =
        llvm::alignTo(planned.packed.elements, kLineBytes / getElementBytes());
  } else if (planned.packs) {
    factor.array.base = packFactor(step, planned);
    factor.array.element = nullptr;
  }
  stepScratchElements = std::max(stepScratchElements, getScratchElements(step));
  steps.push_back(planned);
}
