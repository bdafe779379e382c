//===- Sections.cpp - How slices go through factors -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/CPUPlan.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::kron;

int64_t kron::getDivisor(int64_t total, int64_t most) {
  int64_t size = std::clamp<int64_t>(most, 1, total);
  while (total % size)
    --size;
  return size;
}

/// Moves groups from the end of the first section, which is sliced, to one of
/// their own with larger slices, so that those of the others can be smaller.
bool kron::cutSlices(
    const CPUPlan &plan, SmallVectorImpl<Section> &sections,
    function_ref<int64_t(const Section &, int64_t)> chooseSize) {
  Section &outer = sections.front();
  ArrayRef<StepGroup> groups(plan.groups);
  for (unsigned split = outer.end - 1;
       split >= (plan.rearrangesInput() ? 1 : 2); --split) {
    unsigned first = getAxes(groups.take_front(split)).first;
    if (first < getAxes(groups.slice(split, outer.end - split)).second)
      continue;
    int axis = first - 1;
    while (axis > outer.sliceAxis && (plan.roles[axis] != AxisRole::Whole ||
                                      plan.getWholeSize(axis, 0) == 1))
      --axis;
    if (axis <= outer.sliceAxis)
      return false;
    Section inner{0, split, axis, plan.getWholeSize(axis, 0)};
    inner.sliceSize =
        chooseSize(inner, countSliceElements(plan, /*begin=*/0, split, axis));
    if (!inner.sliceSize)
      return false;
    outer.begin = split;
    sections.insert(sections.begin(), inner);
    return true;
  }
  return false;
}

SmallVector<Section> kron::getSections(const CPUPlan &plan,
                                       const CPUChoices &choices) {
  if (choices.slice <= 0 || plan.slicedSections.empty())
    return {{0, static_cast<unsigned>(plan.groups.size())}};
  SmallVector<Section> sections = plan.slicedSections;
  for (Section &section : sections)
    if (section.sliceAxis >= 0)
      section.sliceSize = getDivisor(plan.sliceAxisSize, choices.slice);
  if (sections.front().sliceAxis < 0)
    return sections;
  for (int64_t size : choices.sliceCuts)
    cutSlices(plan, sections, [&](const Section &inner, int64_t) {
      return inner.sliceSize % size ? 0 : size;
    });
  return sections;
}

int64_t kron::countWindowElements(const CPUPlan &plan, const Section &section,
                                  int64_t tile, unsigned groupsApplied) {
  int64_t elements = 1;
  for (auto [index, role] : llvm::enumerate(plan.roles)) {
    int axis = index;
    // What is transposed is contiguous along the tiled axis.
    bool isWholeInSlices = plan.slicesWholeTile() && axis == plan.tiledAxis;
    if (axis <= section.sliceAxis && !isWholeInSlices)
      elements *= axis == section.sliceAxis ? section.sliceSize : 1;
    else if (role == AxisRole::Whole)
      elements *= plan.getWholeSize(axis, groupsApplied);
    else
      elements *= plan.getStep(axis, tile);
  }
  return elements;
}
