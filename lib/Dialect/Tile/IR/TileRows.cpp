//===- TileRows.cpp - Rules of rows that threads share --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileRows.h"
#include "TileShared.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

std::pair<ArrayRef<int64_t>, Type>
SharedRows::getShapeAndElement(Value source) {
  if (auto view = dyn_cast<ViewType>(source.getType()))
    return {view.getShape(), view.getElementType()};
  auto buffer = cast<BufferType>(source.getType());
  return {buffer.getShape(), buffer.getElementType()};
}

bool SharedRows::areWhole(ViewType view) const {
  return length % perSegment == 0 &&
         llvm::all_of(view.getStrides().drop_back(), [&](int64_t stride) {
           return ShapedType::isDynamic(stride) || stride % perSegment == 0;
         });
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Whether `op` may load rows of `buffer`; else an error.
static LogicalResult verifyRowsOf(LoadRowsOp op, BufferType buffer) {
  auto rows = SharedRows::get(op);
  TileLayout layout = buffer.getTileLayout();
  bool areSegments = buffer.getShape().size() == 2 &&
                     rows.length % rows.perSegment == 0 &&
                     layout.swizzles.empty() && layout.strides[1] == 1 &&
                     layout.strides[0] % rows.perSegment == 0;
  // load_rows_c6
  if (areSegments && rows.threads <= 32 && op.getBytes() == kSegmentBytes)
    return success();
  return op.emitOpError("expects rows of a buffer of two dimensions, in whole "
                        "segments by 16 bytes, of up to 32 threads, but got ")
         << buffer << " by " << rows.threads << " threads";
}

LogicalResult LoadRowsOp::verify() {
  KernelAttr kernel = getKernel(*this);
  // load_rows_c1
  if (!kernel || !isTile(getTile()) || !isa<ForOp>((*this)->getParentOp()) ||
      hasCluster(*this))
    return emitOpError("expects to be in the tile.for of its tile itself, in a "
                       "kernel without clusters");
  auto view = dyn_cast<ViewType>(getSource().getType());
  auto [shape, element] = SharedRows::getShapeAndElement(getSource());
  bool isTaken = element.isF32() || element.isF16() || element.isBF16();
  bool isRow = shape.back() >= 0 && shape.back() <= kMostElements;
  if (view)
    isRow &= view.getRank() >= 2 && !view.isContiguous() &&
             view.getStrides().back() == 1;
  // load_rows_c2
  if (!isRow || !isTaken)
    return emitOpError("expects a view of f32, f16 or bf16 with strides, two "
                       "axes or more, and rows of a known length whose "
                       "elements are neighbours, but got ")
           << getSource().getType();
  int64_t threads = getThreads();
  // load_rows_c3
  if (!llvm::isPowerOf2_64(threads) || kernel.getThreads() % threads != 0)
    return emitOpError("expects threads to be a power of two that divides ")
           << kernel.getThreads() << ", but got " << threads;
  auto rows = SharedRows::get(*this);
  auto expected =
      FragmentType::get({rows.getSegmentsOfThread(), rows.perSegment}, element);
  // load_rows_c4
  if (getFragment().getType() != expected)
    return emitOpError("expects a fragment of type ")
           << expected << ", but got " << getFragment().getType();
  if (!view)
    return verifyRowsOf(*this, cast<BufferType>(getSource().getType()));
  int64_t bytes = getBytes();
  // load_rows_c5
  if (bytes == getBytesOf(element) ||
      (bytes == kSegmentBytes && rows.areWhole(view)))
    return success();
  return emitOpError("expects bytes to be those of an element, or 16 that "
                     "divide rows and known strides, but got ")
         << bytes << " for " << view;
}

//===----------------------------------------------------------------------===//
// What is done to rows
//===----------------------------------------------------------------------===//

LogicalResult ReduceRowsOp::verify() {
  auto load = getFragment().getDefiningOp<LoadRowsOp>();
  // reduce_rows_c1
  if (!load || load->getBlock() != (*this)->getBlock())
    return emitOpError("expects what a tile.load_rows in the same turn loads");
  auto expected = FragmentType::get({1, 1}, Float32Type::get(getContext()));
  // reduce_rows_c2
  if (getLargest().getType() != expected)
    return emitOpError("expects a result of type ")
           << expected << ", but got " << getLargest().getType();
  return success();
}

LogicalResult QuantizeRowsOp::verify() {
  LoadRowsOp load = getLoad();
  auto reduce = getLargest().getDefiningOp<ReduceRowsOp>();
  Block *block = (*this)->getBlock();
  // quantize_rows_c1
  if (!load || load->getBlock() != block || load.getTile() != getTile() ||
      !reduce || reduce->getBlock() != block ||
      reduce.getFragment() != getFragment())
    return emitOpError("expects what a tile.load_rows of its tile loads, and a "
                       "tile.reduce_rows of that finds, in the same turn");
  ViewType bytes = getBytes().getType();
  Type source = load.getSource().getType(), byte = bytes.getElementType();
  SmallVector<int64_t> shape(
      SharedRows::getShapeAndElement(load.getSource()).first);
  // A tile's rows are some of an axis.
  if (isa<BufferType>(source))
    shape.front() = bytes.getShape().front();
  // quantize_rows_c2
  if (bytes.isContiguous() || bytes.getShape() != ArrayRef(shape) ||
      bytes.getStrides().back() != 1 ||
      !(byte.isSignlessInteger(8) || isFloat8(byte)))
    return emitOpError("expects a view of i8, f8E4M3FN or f8E5M2 with strides, "
                       "the axes of ")
           << source << ", and rows whose elements are neighbours, but got "
           << bytes;
  ViewType scales = getScales().getType();
  // quantize_rows_c3
  if (scales.isContiguous() ||
      scales.getShape() != ArrayRef(shape).drop_back() ||
      !scales.getElementType().isF32())
    return emitOpError("expects scales of f32 with strides, one for each row "
                       "of ")
           << source << ", but got " << scales;
  for (Value view : {Value(getBytes()), Value(getScales())})
    for (Operation *user : view.getUsers())
      // quantize_rows_c4
      if (user != *this)
        return emitOpError("expects no other operation to read or write what "
                           "it stores to, but ")
               << user->getName() << " does";
  // quantize_rows_c5
  if (isa<ViewType>(source) && load.getBytes() == kSegmentBytes &&
      !SharedRows::get(load).areWhole(bytes))
    return emitOpError("expects known strides of its bytes to be multiples of ")
           << SharedRows::get(load).perSegment << ", but got " << bytes;
  // quantize_rows_c6
  if (getNative() && !isFloat8(byte))
    return emitOpError("expects native for 8-bit floats, but got ") << byte;
  return success();
}
