//===- ArrayViews.cpp - Views of tensors and memrefs ----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

Value kron::castToShape(OpBuilder &builder, Location loc, Value array,
                        ArrayRef<int64_t> shape) {
  ShapedType type = getShapedType(array);
  if (type.getShape() == shape)
    return array;
  Type cast = type.clone(shape);
  if (isOnTensors(array))
    return tensor::CastOp::create(builder, loc, cast, array);
  return memref::CastOp::create(builder, loc, cast, array);
}

/// Sizes that `view` requires of the stored array, but for a last dimension
/// that it drops: the product of every group.
static SmallVector<int64_t> getGroupedShape(const ArrayView &view) {
  SmallVector<int64_t> shape;
  for (ArrayRef<int64_t> group : view.groups) {
    int64_t product = 1;
    for (int64_t size : group)
      product = ShapedType::isDynamic(size) ? size : product * size;
    shape.push_back(product);
  }
  return shape;
}

static SmallVector<ReassociationIndices>
getReassociation(const ArrayView &view) {
  SmallVector<ReassociationIndices> reassociation;
  int64_t axis = 0;
  for (ArrayRef<int64_t> group : view.groups) {
    ReassociationIndices &indices = reassociation.emplace_back();
    for (size_t index = 0; index < group.size(); ++index)
      indices.push_back(axis++);
  }
  return reassociation;
}

static SmallVector<int64_t> getStoredShape(const ArrayView &view) {
  SmallVector<int64_t> shape = getGroupedShape(view);
  if (view.dropsLast)
    shape.push_back(1);
  return shape;
}

/// Merges the last dimension, of size 1, into the one before.
static SmallVector<ReassociationIndices> getDropOfLast(const ArrayView &view) {
  SmallVector<ReassociationIndices> reassociation;
  int64_t numDims = view.groups.size();
  for (int64_t dim = 0; dim < numDims; ++dim)
    reassociation.push_back({dim});
  reassociation.back().push_back(numDims);
  return reassociation;
}

static bool splitsDims(const ArrayView &view) {
  return llvm::any_of(
      view.groups, [](ArrayRef<int64_t> group) { return group.size() != 1; });
}

/// `array` with dimensions merged, on tensors into one of the size `shape`.
static Value collapse(OpBuilder &builder, Location loc, Value array,
                      ArrayRef<int64_t> shape,
                      ArrayRef<ReassociationIndices> reassociation) {
  if (isOnTensors(array))
    return tensor::CollapseShapeOp::create(
        builder, loc, getShapedType(array).clone(shape), array, reassociation);
  return memref::CollapseShapeOp::create(builder, loc, array, reassociation);
}

/// `array` with dimensions split, into one of the size `shape`.
static Value expand(OpBuilder &builder, Location loc, Value array,
                    ArrayRef<int64_t> shape,
                    ArrayRef<ReassociationIndices> reassociation) {
  if (isOnTensors(array))
    return tensor::ExpandShapeOp::create(
        builder, loc, getShapedType(array).clone(shape), array, reassociation);
  return memref::ExpandShapeOp::create(builder, loc, shape, array,
                                       reassociation);
}

Value kron::expandView(OpBuilder &builder, Location loc, Value array,
                       const ArrayView &view) {
  array = castToShape(builder, loc, array, getStoredShape(view));
  if (view.dropsLast)
    array = collapse(builder, loc, array, getGroupedShape(view),
                     getDropOfLast(view));
  if (splitsDims(view))
    array = expand(builder, loc, array, view.getExpandedShape(),
                   getReassociation(view));
  return array;
}

Value kron::collapseView(OpBuilder &builder, Location loc, Value array,
                         const ArrayView &view) {
  if (splitsDims(view))
    array = collapse(builder, loc, array, getGroupedShape(view),
                     getReassociation(view));
  if (view.dropsLast)
    array =
        expand(builder, loc, array, getStoredShape(view), getDropOfLast(view));
  return array;
}

Value kron::emitDimSize(OpBuilder &builder, Location loc, Value array,
                        int64_t dim) {
  if (isOnTensors(array))
    return tensor::DimOp::create(builder, loc, array, dim);
  return memref::DimOp::create(builder, loc, array, dim);
}

/// Tells upstream's buffer deallocation that this pass releases its own
/// buffers.
static void markManual(Operation *op) {
  op->setAttr(bufferization::BufferizationDialect::kManualDeallocation,
              UnitAttr::get(op->getContext()));
}

Value kron::createBuffer(OpBuilder &builder, Location loc,
                         ArrayRef<int64_t> shape, ValueRange sizes,
                         Type element, bool onTensors) {
  if (onTensors)
    return tensor::EmptyOp::create(builder, loc, shape, element, sizes);
  auto alloc = memref::AllocOp::create(builder, loc,
                                       MemRefType::get(shape, element), sizes);
  markManual(alloc);
  return alloc;
}

Value kron::createBufferLike(OpBuilder &builder, Location loc, Value array,
                             Type element) {
  ArrayRef<int64_t> shape = getShapedType(array).getShape();
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      sizes.push_back(emitDimSize(builder, loc, array, dim));
  return createBuffer(builder, loc, shape, sizes, element, isOnTensors(array));
}

Value kron::emitElementwise(
    OpBuilder &builder, Location loc, ValueRange inputs, Value outs,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  int64_t rank = cast<ShapedType>(outs.getType()).getRank();
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  SmallVector<Type> results;
  if (isOnTensors(outs))
    results.push_back(outs.getType());
  auto generic = linalg::GenericOp::create(
      builder, loc, results, inputs, outs, maps, iterators,
      [&](OpBuilder &inside, Location, ValueRange args) {
        linalg::YieldOp::create(inside, loc, body(inside, args));
      });
  return isOnTensors(outs) ? generic.getResult(0) : outs;
}

void kron::releaseBuffer(OpBuilder &builder, Location loc, Value array) {
  if (!isOnTensors(array))
    markManual(memref::DeallocOp::create(builder, loc, array));
}
