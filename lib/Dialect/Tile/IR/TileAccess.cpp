//===- TileAccess.cpp - Rules of where blocks and boxes lie ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What is moved several elements at a time has to lie together: along axes of a
// view, whose strides are known or tested at the launch, and in a buffer.
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// The most bytes that an access has.
static constexpr int64_t kMostBytes = 16;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

SmallVector<int64_t> tile::getStrides(ViewType view) {
  if (!view.isContiguous())
    return SmallVector<int64_t>(view.getStrides());
  SmallVector<int64_t> strides(view.getRank(), 1);
  for (int64_t axis = view.getRank(); axis-- > 1;) {
    int64_t size = view.getShape()[axis], &next = strides[axis - 1];
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(strides[axis]) ||
        llvm::MulOverflow(strides[axis], size, next))
      next = ShapedType::kDynamic;
  }
  return strides;
}

LogicalResult tile::verifyAxes(Operation *op, ViewType view,
                               ArrayRef<int64_t> axes,
                               ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> sorted;
  llvm::copy_if(axes, std::back_inserter(sorted),
                [](int64_t axis) { return axis != -1; });
  llvm::sort(sorted);
  bool isOnce =
      std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  // copy_c17, store_c11, copy_pieces_c3
  if (axes.size() != sizes.size() || !isOnce ||
      (!sorted.empty() &&
       (sorted.front() < 0 || sorted.back() >= view.getRank())))
    return op->emitOpError("expects an axis of ")
           << view << ", or -1, for each of " << sizes.size()
           << " dimensions, but got " << axes;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes))
    if (axis == -1 && size != 1)
      return op->emitOpError("expects one position of a dimension that is no "
                             "axis of ")
             << view << ", but got " << size;
  return success();
}

LogicalResult tile::verifyBytes(Operation *op, ViewType view,
                                ArrayRef<int64_t> axes, ArrayRef<int64_t> sizes,
                                int64_t bytes, bool isStored) {
  Type type = view.getElementType();
  // copy_c3, copy_pieces_c4, store_c11
  if (!type.isF16() && !type.isBF16() && !type.isF32() && !type.isF64())
    return op->emitOpError("expects elements of f16, bf16, f32 or f64, but "
                           "got ")
           << view;
  int64_t element = getBytesOf(type), width = bytes / element;
  if (!llvm::isPowerOf2_64(bytes) || bytes > kMostBytes || bytes < element)
    return op->emitOpError("expects bytes to be a power of two from ")
           << element << " to " << kMostBytes << ", but got " << bytes;
  if (width == 1)
    return success();
  // What a launch knows alone is tested there.
  auto divides = [&](int64_t number) {
    return ShapedType::isDynamic(number) || number % width == 0;
  };
  SmallVector<int64_t> strides = getStrides(view);
  int64_t inner = axes.back();
  bool liesTogether = inner >= 0 && strides[inner] == 1;
  for (auto [axis, stride] : llvm::enumerate(strides))
    liesTogether &=
        int64_t(axis) == inner || view.getShape()[axis] == 1 || divides(stride);
  // What is stored exists as a whole or not at all.
  if (liesTogether && isStored)
    liesTogether = sizes.back() % width == 0 && divides(view.getShape()[inner]);
  if (!liesTogether)
    return op->emitOpError("expects ")
           << width << " elements that lie together along axis " << inner
           << ", with strides" << (isStored ? " and sizes" : "")
           << " of multiples of these, but got " << view;
  return success();
}

LogicalResult tile::verifyMerged(Operation *op, ViewType view,
                                 ArrayRef<int64_t> axes,
                                 ArrayRef<int64_t> sizes, size_t first) {
  if (first + 1 >= sizes.size())
    return success();
  SmallVector<int64_t> strides = getStrides(view);
  int64_t inside = 1;
  for (size_t dim = sizes.size(); dim-- > first;) {
    int64_t axis = axes[dim], size = sizes[dim];
    bool isWhole = axis >= 0 && (strides[axis] == inside || size == 1) &&
                   !ShapedType::isDynamic(view.getShape()[axis]) &&
                   view.getShape()[axis] % size == 0;
    // store_c11
    if (size > 1 && !isWhole)
      return op->emitOpError("expects dimensions ")
             << first << " to " << sizes.size() - 1
             << ", which count as one, without a gap, but got " << view;
    inside *= size;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

bool tile::lieTogether(BufferType buffer, size_t rank, int64_t width) {
  ArrayRef<int64_t> shape = buffer.getShape();
  SmallVector<int64_t> strides = buffer.getTileLayout().strides;
  int64_t inside = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    bool isInner = dim + 1 >= rank;
    if (shape[dim] > 1 &&
        (isInner ? strides[dim] != inside : strides[dim] % width != 0))
      return false;
    inside *= shape[dim];
  }
  return true;
}

LogicalResult tile::verifyNeighbours(Operation *op, BufferType buffer,
                                     const Blocks &blocks, int64_t width) {
  // load_c23
  if (!lieTogether(buffer, blocks.sizes.size(), width))
    return op->emitOpError("expects ")
           << width << " neighbours along the last of " << blocks.sizes.size()
           << " dimensions to lie together, but got " << buffer;
  if (!buffer.getLayout() || buffer.getLayout().getSwizzle().empty())
    return success();
  // Indices are put together by exclusive ors of parts that share no bits.
  bool haveBits = true;
  for (auto [size, stride] :
       llvm::zip_equal(buffer.getShape(), buffer.getTileLayout().strides))
    haveBits &= size == 1 || llvm::isPowerOf2_64(stride);
  for (auto [size, part] : llvm::zip_equal(blocks.sizes, blocks.block))
    haveBits &= size == part || llvm::isPowerOf2_64(part);
  if (!haveBits)
    return op->emitOpError("expects a swizzled buffer to have strides, and "
                           "parts of axes, that are powers of two, but got ")
           << buffer << " and blocks of " << blocks.block;
  return success();
}
