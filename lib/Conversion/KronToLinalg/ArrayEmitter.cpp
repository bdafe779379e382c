//===- ArrayEmitter.cpp - Arrays on tensors and memrefs alike -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ArrayEmitter.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::kron;

OpFoldResult ArrayEmitter::getSize(Value array, unsigned dim) {
  OpFoldResult size = onTensors
                          ? tensor::getMixedSize(builder, loc, array, dim)
                          : memref::getMixedSize(builder, loc, array, dim);
  // The size of a cast array may have folded to a constant value.
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return builder.getIndexAttr(*constant);
  return size;
}

// Both look at the array itself: a kron.fused on memrefs may capture a tensor.
Value ArrayEmitter::emitDim(Value array, Value dim) {
  if (isa<TensorType>(array.getType()))
    return tensor::DimOp::create(builder, loc, array, dim);
  return memref::DimOp::create(builder, loc, array, dim);
}

Value ArrayEmitter::emitLoad(OpBuilder &builder, Location loc, Value array,
                             ValueRange indices) {
  if (isa<TensorType>(array.getType()))
    return tensor::ExtractOp::create(builder, loc, array, indices);
  return memref::LoadOp::create(builder, loc, array, indices);
}

/// Tells upstream's buffer deallocation that this code releases its own
/// buffers.
static void markManual(Operation *op) {
  op->setAttr(bufferization::BufferizationDialect::kManualDeallocation,
              UnitAttr::get(op->getContext()));
}

Value ArrayEmitter::createEmpty(ArrayRef<OpFoldResult> sizes, Type element) {
  if (onTensors)
    return tensor::EmptyOp::create(builder, loc, sizes, element);
  SmallVector<Value> dynamicSizes;
  SmallVector<int64_t> shape;
  dispatchIndexOpFoldResults(sizes, dynamicSizes, shape);
  auto alloc = memref::AllocOp::create(
      builder, loc, MemRefType::get(shape, element), dynamicSizes);
  markManual(alloc);
  temporaries.push_back(alloc);
  return alloc;
}

Value ArrayEmitter::createOwn(ArrayRef<OpFoldResult> sizes, Type element) {
  if (!onTensors)
    return createEmpty(sizes, element);
  SmallVector<Value> dynamicSizes;
  SmallVector<int64_t> shape;
  dispatchIndexOpFoldResults(sizes, dynamicSizes, shape);
  return bufferization::AllocTensorOp::create(
      builder, loc, RankedTensorType::get(shape, element), dynamicSizes);
}

Value ArrayEmitter::fillZeros(Value array) {
  return fill(array, getScalarAttr(kron::getElementType(array), 0.0));
}

Value ArrayEmitter::fill(Value array, TypedAttr number) {
  Value value = Scale{number, nullptr}.materialize(builder, loc);
  auto fill = linalg::FillOp::create(builder, loc, value, array);
  return onTensors ? fill.getResult(0) : array;
}

/// `array` with the static size of one dimension replaced (kDynamic included).
Value ArrayEmitter::castDim(Value array, unsigned dim, int64_t size) {
  auto type = cast<ShapedType>(array.getType());
  if (type.getDimSize(dim) == size)
    return array;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  Type newType = type.clone(shape);
  if (onTensors)
    return tensor::CastOp::create(builder, loc, newType, array);
  return memref::CastOp::create(builder, loc, newType, array);
}

/// One group per dimension, but `count` of the `rank` dimensions from `first`
/// on in one.
static SmallVector<ReassociationIndices>
getReassociation(unsigned rank, unsigned first, unsigned count) {
  SmallVector<ReassociationIndices> groups;
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (dim <= first || dim >= first + count)
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  return groups;
}

SmallVector<OpFoldResult>
ArrayEmitter::getSplitSizes(Value array, unsigned dim,
                            ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> split;
  unsigned rank = cast<ShapedType>(array.getType()).getRank();
  for (unsigned old = 0; old < rank; ++old) {
    if (old == dim)
      llvm::append_range(split, sizes);
    else
      split.push_back(getSize(array, old));
  }
  return split;
}

Value ArrayEmitter::splitDim(Value array, unsigned dim,
                             ArrayRef<OpFoldResult> sizes) {
  if (sizes.size() == 1)
    return array;
  int64_t total = 1;
  unsigned dynamicCount = 0;
  for (OpFoldResult size : sizes) {
    dynamicCount += isa<Value>(size);
    total = dynamicCount ? ShapedType::kDynamic
                         : total * *getConstantIntValue(size);
  }
  if (dynamicCount > 1)
    return gatherSplit(array, dim, sizes);

  array = castDim(array, dim, total);
  SmallVector<OpFoldResult> newSizes = getSplitSizes(array, dim, sizes);
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamicSizes;
  dispatchIndexOpFoldResults(newSizes, dynamicSizes, shape);
  auto groups = getReassociation(newSizes.size(), dim, sizes.size());
  if (onTensors)
    return tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, kron::getElementType(array)),
        array, groups, newSizes);
  return memref::ExpandShapeOp::create(builder, loc, shape, array, groups,
                                       newSizes);
}

/// splitDim as a copy that computes the old index of every element.
Value ArrayEmitter::gatherSplit(Value array, unsigned dim,
                                ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> newSizes = getSplitSizes(array, dim, sizes);
  SmallVector<Value> sizeValues =
      getValueOrCreateConstantIndexOp(builder, loc, sizes);
  Value result = createEmpty(newSizes, kron::getElementType(array));
  AffineMap identity =
      builder.getMultiDimIdentityMap(static_cast<unsigned>(newSizes.size()));
  return emitGeneric(
      {}, result, identity, /*reductions=*/0,
      [&](OpBuilder &b, Location bodyLoc, ValueRange) -> Value {
        SmallVector<Value> indices;
        for (unsigned loop = 0; loop < newSizes.size(); ++loop) {
          Value index = linalg::IndexOp::create(b, bodyLoc, loop);
          if (loop > dim && loop < dim + sizes.size()) {
            Value scaled = arith::MulIOp::create(b, bodyLoc, indices.back(),
                                                 sizeValues[loop - dim]);
            indices.back() = arith::AddIOp::create(b, bodyLoc, scaled, index);
          } else {
            indices.push_back(index);
          }
        }
        return emitLoad(b, bodyLoc, array, indices);
      });
}

Value ArrayEmitter::mergeDims(Value array, unsigned first, unsigned count) {
  if (count == 1)
    return array;
  unsigned rank = cast<ShapedType>(array.getType()).getRank();
  auto groups = getReassociation(rank, first, count);
  if (onTensors)
    return tensor::CollapseShapeOp::create(builder, loc, array, groups);
  return memref::CollapseShapeOp::create(builder, loc, array, groups);
}

//===----------------------------------------------------------------------===//
// Slices and loops over them
//===----------------------------------------------------------------------===//

namespace {
/// Offsets, sizes and strides of a slice along one dimension.
struct SliceShape {
  SliceShape(ArrayEmitter &emitter, Value array, unsigned dim,
             OpFoldResult offset, OpFoldResult size) {
    Builder &builder = emitter.getBuilder();
    unsigned rank = cast<ShapedType>(array.getType()).getRank();
    offsets.assign(rank, builder.getIndexAttr(0));
    strides.assign(rank, builder.getIndexAttr(1));
    for (unsigned other = 0; other < rank; ++other)
      sizes.push_back(other == dim ? size : emitter.getSize(array, other));
    offsets[dim] = offset;
  }

  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

/// `array` with the sizes of empty dimensions open: a slice from 0 on, of
/// nothing, is out of bounds for MLIR where it knows that they are empty.
static Value openEmptyDims(OpBuilder &builder, Location loc, Value array) {
  auto type = cast<ShapedType>(array.getType());
  SmallVector<int64_t> shape(type.getShape());
  llvm::replace(shape, int64_t(0), ShapedType::kDynamic);
  if (type.getShape() == ArrayRef(shape))
    return array;
  if (isa<TensorType>(type))
    return tensor::CastOp::create(builder, loc, type.clone(shape), array);
  return memref::CastOp::create(
      builder, loc,
      MemRefType(MemRefType::Builder(cast<MemRefType>(type)).setShape(shape)),
      array);
}

Value ArrayEmitter::slice(Value array, unsigned dim, OpFoldResult offset,
                          OpFoldResult size) {
  SliceShape shape(*this, array, dim, offset, size);
  array = openEmptyDims(builder, loc, array);
  if (onTensors)
    return tensor::ExtractSliceOp::create(builder, loc, array, shape.offsets,
                                          shape.sizes, shape.strides);
  return memref::SubViewOp::create(builder, loc, array, shape.offsets,
                                   shape.sizes, shape.strides);
}

Value ArrayEmitter::insert(Value array, Value part, unsigned dim,
                           OpFoldResult offset) {
  if (!onTensors)
    return array;
  SliceShape shape(*this, array, dim, offset, getSize(part, dim));
  Value whole = tensor::InsertSliceOp::create(
      builder, loc, part, openEmptyDims(builder, loc, array), shape.offsets,
      shape.sizes, shape.strides);
  if (whole.getType() == array.getType())
    return whole;
  return tensor::CastOp::create(builder, loc, array.getType(), whole);
}

SmallVector<Value> ArrayEmitter::emitTileLoop(
    OpFoldResult count, int64_t step, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(OpFoldResult, OpFoldResult,
                                          ValueRange)>
        body) {
  std::optional<int64_t> constant = getConstantIntValue(count);
  if (constant && *constant <= step)
    return body(builder.getIndexAttr(0), count, carried);
  auto getIndex = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value end = getValueOrCreateConstantIndexOp(builder, loc, count);
  Value stepValue = getIndex(step);
  auto loop = scf::ForOp::create(builder, loc, getIndex(0), end, stepValue,
                                 onTensors ? carried : ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value offset = loop.getInductionVar();
  OpFoldResult size = builder.getIndexAttr(step);
  if (!constant || *constant % step != 0) {
    Value left = arith::SubIOp::create(builder, loc, end, offset);
    size = arith::MinSIOp::create(builder, loc, left, stepValue).getResult();
  }
  SmallVector<Value> updated = body(
      offset, size, onTensors ? ValueRange(loop.getRegionIterArgs()) : carried);
  if (!onTensors)
    return updated;
  scf::YieldOp::create(builder, loc, updated);
  return llvm::to_vector_of<Value>(loop.getResults());
}

Value ArrayEmitter::emitGeneric(ValueRange inputs, Value destination,
                                ArrayRef<AffineMap> maps, unsigned reductions,
                                Body body) {
  unsigned loops = maps.front().getNumDims();
  return emitGeneric(
      inputs, destination, maps,
      llvm::to_vector(llvm::seq<unsigned>(loops - reductions, loops)), body);
}

Value ArrayEmitter::emitGeneric(ValueRange inputs, Value destination,
                                ArrayRef<AffineMap> maps,
                                ArrayRef<unsigned> reductions, Body body) {
  SmallVector<utils::IteratorType> iterators(maps.front().getNumDims(),
                                             utils::IteratorType::parallel);
  for (unsigned loop : reductions)
    iterators[loop] = utils::IteratorType::reduction;
  SmallVector<Type> resultTypes;
  if (onTensors)
    resultTypes.push_back(destination.getType());
  auto generic = linalg::GenericOp::create(
      builder, loc, resultTypes, inputs, destination, maps, iterators,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
        linalg::YieldOp::create(b, bodyLoc, body(b, bodyLoc, args));
      });
  return onTensors ? generic.getResult(0) : destination;
}

void ArrayEmitter::freeTemporaries() {
  for (Value temporary : temporaries)
    markManual(memref::DeallocOp::create(builder, loc, temporary));
  temporaries.clear();
}
