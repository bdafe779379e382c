//===- TileWarps.cpp - Rules of tiles that warps share --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Boxes of instructions of a warp lie in tiles whose sizes are powers of two:
// an element is known by its index, of whose bits lanes, warps and turns have
// some each.
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

static bool arePowersOf2(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes,
                      [](int64_t size) { return llvm::isPowerOf2_64(size); });
}

/// Whether the elements of `buffer` are known by the bits of an index, of which
/// a swizzle flips those within 128 bytes.
static bool isIndexed(BufferType buffer) {
  ArrayRef<int64_t> swizzle = buffer.getLayout()
                                  ? buffer.getLayout().getSwizzle()
                                  : ArrayRef<int64_t>();
  for (size_t pair = 0; pair < swizzle.size(); pair += 2)
    if ((buffer.getElementBytes() << swizzle[pair + 1]) >= 128)
      return false;
  return arePowersOf2(buffer.getShape()) &&
         buffer.getTileLayout().strides ==
             TileLayout::getDenseStrides(buffer.getShape());
}

ForBoxesOp tile::getTurnOf(Operation *op, FragmentType fragment, Value boxes) {
  auto loop =
      dyn_cast_or_null<ForBoxesOp>(boxes.getParentBlock()->getParentOp());
  // load_c1
  if (!loop || boxes != loop.getBoxes()) {
    op->emitOpError("expects boxes of a tile.for_boxes");
    return {};
  }
  bool isOfWarps = hasWarpBoxes(fragment);
  // load_c15
  if (isOfWarps ? !loop.getWarps()
                : loop.getWarps() || fragment.getAtom() != AtomKind::Fma) {
    op->emitOpError("expects boxes of ")
        << (isOfWarps ? "warps, but got those of threads"
                      : "threads, but got those of warps");
    return {};
  }
  // load_c2
  if (fragment.getShape().front() != static_cast<int64_t>(loop.getTogether())) {
    op->emitOpError("expects a fragment of ")
        << loop.getTogether() << " boxes, as the loop takes, but got "
        << fragment;
    return {};
  }
  return loop;
}

/// Whether boxes of `fragment`, of 16 fibres along one axis, are all of a tile
/// of `sizes`, which has `positions` of the fibres' along that axis; else an
/// error.
static LogicalResult verifyFibres(Operation *op, FragmentType fragment,
                                  ArrayRef<int64_t> sizes, Value boxes,
                                  ArrayRef<int64_t> along, int64_t positions) {
  ForBoxesOp loop = getTurnOf(op, fragment, boxes);
  if (!loop)
    return failure();
  int64_t rank = sizes.size();
  int64_t axis = along.size() == 1 ? along.front() : -1;
  // load_c16
  if (axis < 0 || axis >= rank || !arePowersOf2(sizes) ||
      sizes[axis] != positions)
    return op->emitOpError("expects ")
           << positions << " positions along one axis of sizes that are powers "
           << "of two, but got " << along << " of " << sizes;
  bool isInner = llvm::product_of(sizes.drop_front(axis + 1)) == 1;
  if (isInner != (fragment.getBox().back() == kDmmaSizeK))
    return op->emitOpError("expects boxes of 16 fibres whose last dimension is "
                           "the innermost axis of several positions, but got ")
           << fragment;
  int64_t fibres = llvm::product_of(sizes) / positions;
  // load_c8, exchange_c1, store_c7
  if (static_cast<int64_t>(loop.getCount()) * kDmmaSizeM != fibres)
    return op->emitOpError("expects the boxes of a tile of ")
           << fibres << " fibres, but got " << loop.getCount() << " boxes";
  return success();
}

/// Whether the loop of `boxes` is of all warps of the CTA or, with
/// `ofCluster`, of its cluster; else an error.
static LogicalResult verifyWarps(Operation *op, Value boxes, bool ofCluster) {
  auto loop = cast<ForBoxesOp>(boxes.getParentBlock()->getParentOp());
  KernelAttr kernel = getKernel(op);
  int64_t ctas = ofCluster && kernel ? kernel.getCluster() : 1;
  // load_c17
  if (kernel && int64_t(loop.getWarps()) != kernel.getThreads() / 32 * ctas)
    return op->emitOpError("expects boxes of the warps of ")
           << ctas << " CTAs, but got those of " << loop.getWarps() << " warps";
  return success();
}

LogicalResult tile::verifyWarpBoxes(Operation *op, FragmentType fragment,
                                    Value buffer, Value boxes,
                                    ArrayRef<int64_t> along, bool halves) {
  auto type = cast<BufferType>(buffer.getType());
  RingType ring = getRing(buffer);
  // load_c6
  if (failed(verifyElements(op, fragment, type.getElementType())))
    return failure();
  // load_c16
  if (!isIndexed(type))
    return op->emitOpError("expects a buffer of sizes that are powers of two, "
                           "without gaps, but got ")
           << type;
  bool isAlongSlots =
      ring && along.size() == 1 && along.front() == *ring.getAlong();
  // load_c17
  if (isAlongSlots != halves || (halves && !hasCluster(op)))
    return op->emitOpError("expects halves of boxes along the axis of a "
                           "cluster's ring, and of no others");
  if (failed(verifyFibres(op, fragment, type.getShape(), boxes, along,
                          halves ? kDmmaSizeK / 2 : kDmmaSizeK)))
    return failure();
  auto loop = cast<ForBoxesOp>(boxes.getParentBlock()->getParentOp());
  // load_c16
  if (ring && !halves &&
      int64_t(loop.getWarps()) % ring.getSlotsPerBuffer() != 0)
    return op->emitOpError("expects each of ")
           << loop.getWarps() << " warps to keep to one of "
           << ring.getSlotsPerBuffer() << " slots";
  return verifyWarps(op, boxes, halves);
}

LogicalResult tile::verifyWarpBoxes(Operation *op, FragmentType fragment,
                                    ArrayRef<int64_t> sizes, Value boxes,
                                    ArrayRef<int64_t> along) {
  if (failed(verifyFibres(op, fragment, sizes, boxes, along, kDmmaSizeK)))
    return failure();
  return verifyWarps(op, boxes, /*ofCluster=*/true);
}

LogicalResult tile::verifyShares(CopyOp op) {
  BufferType buffer = op.getBuffer().getType();
  RingType ring = getRing(op.getBuffer());
  // copy_c15
  if (op.getSplit() && (!ring || !hasCluster(op)))
    return op.emitOpError("expects a split along the axis of a cluster's ring");
  bool isSwizzled =
      buffer.getLayout() && !buffer.getLayout().getSwizzle().empty();
  if (op.getSplit()) {
    int64_t axis = *ring.getAlong();
    int64_t whole = buffer.getShape()[axis] * getKernel(op).getCluster();
    if (!isSwizzled || op.getView().getType().getShape()[axis] != whole)
      return op.emitOpError("expects a split of ")
             << whole << " positions along axis " << axis
             << ", for swizzled buffers, but got " << op.getView().getType();
  }
  if (!isSwizzled)
    return success();
  int64_t groups = op.getGroups(), threads = getThreads(op);
  int64_t slots = ring ? ring.getSlotsPerBuffer() : 1;
  int64_t width = op.getBytes() / buffer.getElementBytes();
  bool isEqual = int64_t(op.getTogether()) <= kMostElements &&
                 threads % groups == 0 && groups % slots == 0 &&
                 llvm::product_of(buffer.getShape()) ==
                     threads * width * int64_t(op.getTogether());
  // copy_c14
  if (!isIndexed(buffer) || op.getOrder() || op.getBytes() != 16 || !isEqual)
    return op.emitOpError("expects a swizzled buffer of sizes that are powers "
                          "of two to be filled in one turn, 16 bytes at a "
                          "time, by groups that keep to a slot, but got ")
           << op.getTogether() << " times " << op.getBytes() << " bytes by "
           << groups << " groups of " << threads << " threads for " << buffer;
  return success();
}
