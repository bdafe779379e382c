//===- TileSpread.cpp - Tiles of segments as they lie ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "TileShared.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

std::optional<BoxSegments> tile::getBoxSegments(ViewType view,
                                                ArrayRef<int64_t> axes,
                                                ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides = getStrides(view), own;
  for (int64_t axis : axes)
    own.push_back(axis < 0 ? 0 : strides[axis]);
  return BoxSegments::get(sizes, own, getBytesOf(view.getElementType()));
}

LogicalResult tile::verifySegments(Operation *op, ViewType view,
                                   BufferType slot, ArrayRef<int64_t> axes,
                                   ArrayRef<int64_t> sizes) {
  // copy_c2, spread_c2
  if (!areTileSizes(sizes))
    return op->emitOpError("expects a box of known sizes, but got ") << sizes;
  if (failed(verifyAxes(op, view, axes, sizes)))
    return failure();
  // copy_c1, spread_c2
  if (failed(verifyElements(op, view, slot.getElementType())))
    return failure();
  std::optional<BoxSegments> segments = getBoxSegments(view, axes, sizes);
  // copy_c20, spread_c3
  if (!segments)
    return op->emitOpError("expects elements of a box of ")
           << sizes << " that lie side by side in " << view;
  SmallVector<int64_t> shape{segments->count, segments->room};
  bool isDense =
      !slot.getLayout() || (slot.getTileLayout().swizzles.empty() &&
                            slot.getTileLayout().strides ==
                                TileLayout::getDenseStrides(slot.getShape()));
  if (slot.getShape() != ArrayRef(shape) || !isDense)
    return op->emitOpError("expects a slot without gaps, of ")
           << shape[0] << " segments of " << shape[1] << " elements, but got "
           << slot;
  return success();
}

LogicalResult SpreadOp::verify() {
  BufferType buffer = getBuffer().getType();
  // spread_c1
  if (!isTile(getTile()))
    return emitOpError("expects a tile of a tile.for");
  // spread_c2
  if (failed(
          verifyElements(*this, getView().getType(), buffer.getElementType())))
    return failure();
  return verifySegments(*this, getView().getType(), getSlot().getType(),
                        getAxes(), buffer.getShape());
}
