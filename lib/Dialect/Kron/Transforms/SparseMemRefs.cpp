//===- SparseMemRefs.cpp - kron.ksmm on memrefs ---------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Parts of arrays, and copies of them, are memrefs: a kron.ksmm on tensors
// whose arrays are known moves to these before it is taken apart.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "kron/Dialect/Kron/Transforms/SparseRewrites.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

/// Whether `tensor` will be a row-major array of its own.
static bool isComputed(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (isa<tensor::EmptyOp>(op))
      return true;
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
      tensor = dps.getTiedOpOperand(cast<OpResult>(tensor))->get();
    else if (isa<tensor::CastOp, tensor::ExpandShapeOp,
                 tensor::CollapseShapeOp>(op))
      tensor = op->getOperand(0);
    else
      return false;
  }
  return false;
}

/// The array that nobody writes behind `tensor`, or null.
static Value getReadOnlyBuffer(Value tensor) {
  auto toTensor = tensor.getDefiningOp<bufferization::ToTensorOp>();
  return toTensor && toTensor.getRestrict() && !toTensor.getWritable()
             ? toTensor.getBuffer()
             : Value();
}

/// The array that `op`, on tensors, alone writes, and the operation that says
/// so; null if there is none.
static bufferization::MaterializeInDestinationOp getStore(KsmmOp op) {
  auto toTensor = op.getInit().getDefiningOp<bufferization::ToTensorOp>();
  Value result = op->getResult(0);
  if (!toTensor || !toTensor.getWritable() || !op.getInit().hasOneUse() ||
      !result.hasOneUse())
    return nullptr;
  auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(
      *result.getUsers().begin());
  return store && store.getDest() == toTensor.getBuffer() &&
                 store->getBlock() == op->getBlock()
             ? store
             : nullptr;
}

bool kron::canUseMemRefs(KsmmOp op) {
  if (op.getPlanAttr())
    return false;
  auto canRead = [](Value tensor) {
    return getReadOnlyBuffer(tensor) || isComputed(tensor);
  };
  bool isOwn = op.getInit().getDefiningOp<tensor::EmptyOp>() &&
               getShapedType(op.getInit()).hasStaticShape();
  return canRead(op.getInput()) && canRead(op.getWeights()) &&
         (isOwn || getStore(op));
}

KsmmOp kron::moveToMemRefs(IRRewriter &rewriter, KsmmOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto getDense = [](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return MemRefType::get(type.getShape(), type.getElementType());
  };
  IRMapping mapping;
  for (Value tensor : {op.getInput(), op.getWeights()}) {
    Value buffer = getReadOnlyBuffer(tensor);
    if (!buffer)
      buffer = bufferization::ToBufferOp::create(
          rewriter, loc, getDense(tensor), tensor, /*read_only=*/true);
    mapping.map(tensor, buffer);
  }
  bufferization::MaterializeInDestinationOp store = getStore(op);
  Value init;
  if (store)
    init = store.getDest();
  else
    init = memref::AllocOp::create(rewriter, loc, getDense(op.getInit()));
  mapping.map(op.getInit(), init);
  auto moved = KsmmOp::create(
      rewriter, loc, TypeRange(),
      llvm::map_to_vector(op->getOperands(),
                          [&](Value v) { return mapping.lookupOrDefault(v); }),
      op->getAttrs());
  if (store) {
    rewriter.eraseOp(store);
    rewriter.eraseOp(op);
  } else {
    auto type = op->getResult(0).getType();
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(
        op, type, init, /*restrict=*/true, /*writable=*/true);
  }
  return moved;
}

void kron::castToKnownShapes(IRRewriter &rewriter, KsmmOp op) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  unsigned features = op.getFeatureDim();
  rewriter.setInsertionPoint(op);
  auto cast = [&](OpOperand &operand, OpOperand &other, int64_t size) {
    SmallVector<int64_t> shape(getShapedType(operand.get()).getShape());
    shape[features] = pattern[0] * size * pattern[3];
    if (ShapedType::isDynamic(shape[1 - features]))
      shape[1 - features] = getShapedType(other.get()).getDimSize(1 - features);
    Value known = castToShape(rewriter, op.getLoc(), operand.get(), shape);
    rewriter.modifyOpInPlace(op, [&] { operand.set(known); });
  };
  cast(op.getInputMutable(), op.getInitMutable(), pattern[2]);
  cast(op.getInitMutable(), op.getInputMutable(), pattern[1]);
}
