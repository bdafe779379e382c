//===- Sections.cpp - How slices go through factors -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CPUPlanning.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::kron;

int64_t kron::getDivisor(int64_t total, int64_t most) {
  int64_t size = std::clamp<int64_t>(most, 1, total);
  while (total % size)
    --size;
  return size;
}

/// Slices of more bytes are cut further, into slices of up to the other number.
static constexpr int64_t kMaxSliceBytes = 1 << 14, kSliceBytes = 1 << 13;

/// Moves groups from the end of the first section, which is sliced, to one of
/// their own with larger slices, so that those of the others can be smaller;
/// false if that is not possible.
static bool cutSlices(const CPUPlan &plan, SmallVectorImpl<Section> &sections,
                      bool copiesInput, int64_t bytesPerElement) {
  Section &outer = sections.front();
  ArrayRef<StageGroup> groups(plan.groups);
  for (unsigned split = outer.end - 1; split >= (copiesInput ? 1 : 2);
       --split) {
    unsigned first = getAxes(groups.take_front(split)).first;
    if (first < getAxes(groups.slice(split, outer.end - split)).second)
      continue;
    int axis = first - 1;
    while (axis > outer.sliceAxis && (plan.roles[axis] != AxisRole::Whole ||
                                      plan.getWholeSize(axis, 0) == 1))
      --axis;
    if (axis <= outer.sliceAxis)
      return false;
    int64_t bytes =
        bytesPerElement * countSliceElements(plan, /*begin=*/0, split, axis);
    Section inner{0, split, axis,
                  getDivisor(plan.getWholeSize(axis, 0), kSliceBytes / bytes)};
    outer.begin = split;
    sections.insert(sections.begin(), inner);
    return true;
  }
  return false;
}

SmallVector<Section> kron::getSections(const CPUPlan &plan, FusedOp fused,
                                       int64_t tile, int64_t slice) {
  if (slice <= 0 || plan.slicedSections.empty())
    return {{0, static_cast<unsigned>(plan.groups.size())}};
  SmallVector<Section> sections = plan.slicedSections;
  for (Section &section : sections)
    if (section.sliceAxis >= 0)
      section.sliceSize = getDivisor(plan.sliceAxisSize, slice);
  if (sections.front().sliceAxis < 0)
    return sections;
  int64_t bytes = getComputedBytes(fused);
  if (plan.tiledAxis > sections.front().sliceAxis || plan.slicesWholeTile())
    bytes *= tile;
  auto isLarge = [&] {
    const Section &first = sections.front();
    return bytes * first.sliceSize *
               countSliceElements(plan, first.begin, first.end,
                                  first.sliceAxis) >
           kMaxSliceBytes;
  };
  bool copiesInput = plan.rearrangesInput();
  while (isLarge() && cutSlices(plan, sections, copiesInput, bytes))
    ;
  return sections;
}
