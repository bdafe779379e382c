//===- FusedWindows.cpp - Parts of arrays in one tile or slice --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A window is a tile or a slice of it: its extents, and the dense buffers that
// hold it between two factors.
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/CPUForms.h"
#include "kron/Plan/CPU/FusedLayout.h"

using namespace mlir;
using namespace mlir::kron;

bool FusedLayout::repeatsPositions() const {
  const LayoutArrays &arrays = getArrays();
  if (plan.tiledAxis < 0 || isInPlace() || arrays.adds || arrays.hasEpilogue)
    return false;
  // Sums of lanes are added up in another order in a block's last rows: which
  // of two tiles stores a row last must not matter.
  auto addsUpLanes = [](const CPUStepChoices &step) {
    return step.lanes == kLanesOverK;
  };
  if (llvm::any_of(choices.steps, addsUpLanes))
    return false;
  Int positions = arrays.sizes[plan.tiledAxis];
  if (!positions.isConstant() || positions.getConstant() <= tileSize)
    return false;
  int64_t size = positions.getConstant(), bytes = getElementBytes();
  // Copies for non-temporal stores go to whole cache lines.
  Int stride = arrays.init.strides[plan.tiledAxis];
  if (choices.staging &&
      (!stride.isConstant() ||
       (size - tileSize) * stride.getConstant() * bytes % kLineBytes))
    return false;
  // Lanes along the axis would be empty else.
  bool hasLanes = plan.rowsInLanes || plan.isTiledInnermost();
  int64_t lanes = hasLanes ? vectorBits / 8 / bytes : 1;
  int64_t repeated = static_cast<int64_t>(llvm::alignTo(size, tileSize)) -
                     static_cast<int64_t>(llvm::alignTo(size, lanes));
  return size % tileSize && repeated * kCPUForms.leastSizeOfRepeated <= size;
}

bool FusedLayout::hasWholeTiles() const {
  if (plan.tiledAxis < 0)
    return true;
  Int size = getArrays().sizes[plan.tiledAxis];
  return (size.isConstant() && size.getConstant() % tileSize == 0) ||
         repeatsPositions();
}

Int FusedLayout::getFirstExtent() const {
  if (plan.tiledAxis < 0)
    return 1;
  return hasWholeTiles() ? Int(tileSize) : Int::open();
}

FusedWindow FusedLayout::getTileWindow(Int tiledExtent) const {
  FusedWindow window;
  for (auto [axis, role] : llvm::enumerate(plan.roles)) {
    bool isWhole = role == AxisRole::Whole;
    int64_t step = isWhole ? 1 : plan.getStep(axis, tileSize);
    window.extents.emplace_back();
    if (!isWhole)
      window.extents.back() = role == AxisRole::Tiled ? tiledExtent : Int(step);
    window.most.push_back(step);
  }
  return window;
}

/// Whether slices take all positions of `axis`, although it lies outside.
bool FusedLayout::isWholeInSlices(int axis) const {
  // What is transposed is contiguous along it.
  return plan.slicesWholeTile() && axis == plan.tiledAxis;
}

/// The window of a slice, or the tile's if `section` has none.
FusedWindow FusedLayout::getWindow(const Section &section,
                                   FusedWindow tile) const {
  for (int axis = 0; axis <= section.sliceAxis; ++axis) {
    if (isWholeInSlices(axis))
      continue;
    tile.most[axis] = axis == section.sliceAxis ? section.sliceSize : 1;
    tile.extents[axis] = Int(tile.most[axis]);
  }
  return tile;
}

SmallVector<Int> FusedLayout::getSizes(const FusedWindow &window,
                                       unsigned groupsApplied) const {
  SmallVector<Int> sizes;
  for (auto [axis, extent] : llvm::enumerate(window.extents))
    sizes.push_back(extent ? *extent
                           : Int(plan.getWholeSize(axis, groupsApplied)));
  return sizes;
}

/// The most that `getSizes` can be: buffers are laid out for that.
SmallVector<int64_t> FusedLayout::getBufferSizes(const FusedWindow &window,
                                                 unsigned groupsApplied,
                                                 bool asWritten) const {
  SmallVector<int64_t> sizes;
  for (auto [axis, extent] : llvm::enumerate(window.extents))
    sizes.push_back(extent ? window.most[axis]
                           : plan.getWholeSize(axis, groupsApplied, asWritten));
  return sizes;
}

SmallVector<int64_t> FusedLayout::getStoredSizes(const FusedWindow &window,
                                                 unsigned groupsApplied,
                                                 bool asWritten) const {
  SmallVector<int64_t> sizes = getBufferSizes(window, groupsApplied, asWritten);
  if (hasPairs && groupsApplied == 0) {
    int64_t &sizeK = sizes[plan.groups.front().axis];
    sizeK = llvm::divideCeil(sizeK, 2);
  }
  return sizes;
}

int64_t FusedLayout::countElements(const FusedWindow &window,
                                   unsigned groupsApplied) const {
  int64_t elements = 1;
  for (int64_t size : getBufferSizes(window, groupsApplied))
    elements *= size;
  return elements;
}

int64_t FusedLayout::countFmas(const FusedWindow &window, unsigned begin,
                               unsigned end) const {
  int64_t fmas = 0;
  for (unsigned index = begin; index < end; ++index)
    fmas += plan.groups[index].sizeK * countElements(window, index + 1);
  return fmas;
}

/// A dense array for what is left behind `groupsApplied` groups. If the
/// positions of `paddedAxis` would alias in the cache, they are moved a cache
/// line apart.
StepArray FusedLayout::getBuffer(Value base, ArrayRef<int64_t> sizes,
                                 unsigned groupsApplied, int paddedAxis) const {
  StepArray buffer{base, SmallVector<Int>(sizes.size(), 0)};
  int64_t stride = 1, bytes = getElementBytes();
  auto axes = llvm::to_vector(llvm::seq<int>(0, sizes.size()));
  if (movesInnermost)
    std::rotate(axes.begin(), axes.end() - 1, axes.end());
  if (plan.rowsInLanes || (keepsTransposed && !groupsApplied))
    std::rotate(axes.begin() + plan.tiledAxis,
                axes.begin() + plan.tiledAxis + 1, axes.end());
  for (int axis : llvm::reverse(axes)) {
    if (axis == paddedAxis && stride * bytes % choices.getWayBytes() == 0)
      stride += kLineBytes / bytes;
    buffer.strides[axis] = stride;
    stride *= sizes[axis];
  }
  return buffer;
}

/// The section in whose windows lies what is left behind `groupsApplied`
/// groups.
unsigned FusedLayout::getOwner(unsigned groupsApplied) const {
  for (unsigned index = 0; index + 1 < sections.size(); ++index) {
    if (groupsApplied < sections[index].end)
      return index;
    // Slices leave it to the larger window, or find it there.
    if (groupsApplied == sections[index].end)
      return isNested() ? index + 1 : index;
  }
  return sections.size() - 1;
}

/// The array at `base` for what is left behind `groupsApplied` groups, as the
/// next one reads it or as the last one writes it.
StepArray FusedLayout::getIntermediate(Value base, unsigned groupsApplied,
                                       bool asWritten) const {
  unsigned owner = getOwner(groupsApplied);
  FusedWindow window = getWindow(sections[owner], getTileWindow(tileSize));
  // Slices are written or read one after the other.
  int paddedAxis = -1;
  if (isNested() && owner && groupsApplied == sections[owner].begin)
    paddedAxis = sections[owner - 1].sliceAxis;
  if (!isNested() && groupsApplied == sections[owner].end)
    paddedAxis = sections.back().sliceAxis;
  if (!plan.views.empty())
    paddedAxis = plan.tiledAxis;
  SmallVector<int64_t> sizes = getStoredSizes(window, groupsApplied, asWritten);
  // A joint factor takes its axes for one, which goes by the stride of the
  // last: padding is behind those of size 1 that follow.
  while (paddedAxis >= 0 && paddedAxis + 1 < static_cast<int>(sizes.size()) &&
         sizes[paddedAxis + 1] == 1)
    ++paddedAxis;
  return getBuffer(base, sizes, groupsApplied, paddedAxis);
}
