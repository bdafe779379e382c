//===- DecomposeSparse.cpp - kron.ksmm as a GPU wants it ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One kernel for all of a Kronecker-sparse factor is not always the fastest
// way. Weights may lie so that copying them first is worth it, and with the
// batch last every t is a dense product of strided matrices, which other
// kernels and cuBLAS take. With the batch first, copies of X and Y make it one
// (SplitSparse).
//
//===----------------------------------------------------------------------===//

#include "DecomposeSparse.h"
#include "ArrayViews.h"
#include "SplitSparse.h"
#include "TransposeRows.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "kron/Machine/GPUSplits.h"
#include "kron/Machine/NominalSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

bool kron::hasKernelOf8(KsmmOp sparse) {
  Type input = kron::getElementType(sparse.getInput());
  Type weights = kron::getElementType(sparse.getWeights());
  Type init = kron::getElementType(sparse.getInit());
  auto isTaken = [](Type type) { return isFloat8(type) || type.isF16(); };
  SmallVector<int64_t, 4> pattern = sparse.getPattern();
  if (pattern[1] >= kWeightSplits.hugeSide &&
      pattern[2] >= kWeightSplits.hugeSide && !init.isF32())
    return false;
  return (isFloat8(input) || isFloat8(weights)) && isTaken(input) &&
         isTaken(weights) &&
         (init.isF16() || init.isBF16() ||
          (init.isF32() && sparse.getPrecision() != Precision::Ieee));
}

static bool needsTransposedCopy(KsmmOp op) {
  Type element = kron::getElementType(op.getInit());
  if (op.getTransWeights() == Transpose::N || !isa<FloatType>(element) ||
      kron::getAlpha(op).isZero())
    return false;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t run = pattern[3] * element.getIntOrFloatBitWidth() / 8;
  int64_t rows = getShapedType(op.getInit()).getDimSize(1 - op.getFeatureDim());
  return run < kWeightSplits.shortSegmentBytes &&
         pattern[1] * pattern[2] * run >= kWeightSplits.keptBytes &&
         (ShapedType::isDynamic(rows) || rows >= kWeightSplits.fewRows);
}

/// Lets `op` use a copy of its weights [a, c, b, d] as [a, b, c, d].
static void transposeWeights(IRRewriter &rewriter, KsmmOp op) {
  rewriter.setInsertionPoint(op);
  Value weights = op.getWeights();
  SmallVector<int64_t> shape(getShapedType(weights).getShape());
  std::swap(shape[1], shape[2]);
  bool onTensors = isOnTensors(weights);
  Value copy = createBuffer(rewriter, op.getLoc(), shape, /*sizes=*/{},
                            kron::getElementType(weights), onTensors);
  auto transpose = linalg::TransposeOp::create(
      rewriter, op.getLoc(), weights, copy, ArrayRef<int64_t>{0, 2, 1, 3});
  if (onTensors)
    copy = transpose->getResult(0);
  rewriter.modifyOpInPlace(op, [&] {
    op.getWeightsMutable().assign(copy);
    op.setTransWeights(Transpose::N);
  });
  rewriter.setInsertionPointAfter(op);
  releaseBuffer(rewriter, op.getLoc(), copy);
}

/// What rows of copied weights start at multiples of, for cuBLAS and copies of
/// 16 bytes.
static constexpr int64_t kSegmentBytes = 16;

bool kron::isBareProduct(KsmmOp op) {
  return op.getTransInput() == Transpose::N && !kron::getAlpha(op).isZero() &&
         !op.getBias() && !op.getResidual() && !op.getScaleAttr() &&
         op.getActivation() == Activation::Identity;
}

bool kron::hasPlainTypes(KsmmOp op) {
  Type element = kron::getElementType(op.getInit());
  return (element.isF32() || element.isF16() || element.isBF16()) &&
         op.getPrecision() != Precision::Ieee &&
         kron::getElementType(op.getInput()) == element &&
         kron::getElementType(op.getWeights()) == element;
}

/// Whether `op` has d > 1 products, with the batch last, and adds nothing: then
/// X and Y of each t are matrices.
static bool hasMatrices(KsmmOp op) {
  return op.getPattern()[3] > 1 && op.getLayout() == Layout::BatchLast &&
         isBareProduct(op) && !op.getAddend();
}

/// Whether one group of a 16-bit type is large enough for that: also with a
/// side of 96 beside a longer one; of two products it has to be much longer,
/// and their K.
static bool isLargeFor16Bit(KsmmOp op) {
  Type element = kron::getElementType(op.getInit());
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t b = pattern[1], c = pattern[2], d = pattern[3];
  if (!(element.isF16() || element.isBF16()) || pattern[0] != 1 ||
      b < kWeightSplits.side16Bit || c < kWeightSplits.side16Bit)
    return false;
  return d > 2 ? b * c >= kWeightSplits.area16Bit
               : c >= kWeightSplits.largeSide &&
                     b * c >= kWeightSplits.areaOfTwo16Bit;
}

/// Whether `op` is one of large weights (a, b, c, d) and matrices whose
/// products the GPU has better kernels for, if there are many rows.
static bool isManyProducts(KsmmOp op) {
  if (!hasMatrices(op))
    return false;
  if (isLargeFor16Bit(op))
    return true;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  bool areFewGroups =
      pattern[0] == 1 ||
      (pattern[0] <= kWeightSplits.mostGroups &&
       pattern[1] * pattern[2] * pattern[3] >= kWeightSplits.manyOfGroup);
  return areFewGroups && pattern[1] >= kWeightSplits.largeSide &&
         pattern[2] >= kWeightSplits.largeSide;
}

/// Whether cuBLAS is faster at products of this type.
static bool isFastByCublas(KsmmOp op) {
  Type element = kron::getElementType(op.getInit());
  return element.isF16() || element.isBF16() ||
         (element.isF32() && op.getPrecision() == Precision::TF32);
}

/// Whether the products of all groups of `op` are launched t by t.
static bool isSlicedByT(KsmmOp op) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  bool hasBlocks = pattern[1] >= kWeightSplits.largeSide ||
                   pattern[1] * pattern[2] >= kWeightSplits.manyOfT;
  if (pattern[0] == 1 || !hasBlocks || !hasMatrices(op) || !hasPlainTypes(op) ||
      op.getPlanAttr() || isManyProducts(op))
    return false;
  int64_t rows = getShapedType(op.getInit()).getDimSize(1);
  if (ShapedType::isDynamic(rows))
    rows = kNominalRows;
  int64_t bytes =
      kron::getElementType(op.getInit()).getIntOrFloatBitWidth() / 8;
  return rows * pattern[0] * (pattern[1] + pattern[2]) * bytes >=
         (isFastByCublas(op) ? kWeightSplits.launchBytes16Bit
                             : kWeightSplits.launchBytes);
}

/// Whether the products of `op` are faster if the weights of each t lie
/// together: cuBLAS takes them then, and kernels read whole sectors.
static bool needsCopyByProducts(KsmmOp op) {
  if (isSlicedByT(op) || (isFastByCublas(op) && isManyProducts(op)))
    return true;
  if (!hasMatrices(op) || !hasPlainTypes(op))
    return false;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t group = pattern[1] * pattern[2] * pattern[3];
  Type element = kron::getElementType(op.getInit());
  // Others find what shares a sector in the cache.
  if (pattern[3] * element.getIntOrFloatBitWidth() / 8 <
      kWeightSplits.shortSegmentBytes)
    return group >= kWeightSplits.manyWeights;
  return pattern[0] * group > kWeightSplits.manyWeights ||
         (group >= kWeightSplits.manyOfGroup && isManyProducts(op));
}

/// Lets `op`, on memrefs, use a copy of its weights [a, b, c, d], or [a, c, b,
/// d] that are used as T, which lies in memory as [a, d, b, c] with rows that
/// start at multiples of kSegmentBytes.
static void copyByProducts(IRRewriter &rewriter, KsmmOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value weights = op.getWeights();
  SmallVector<int64_t, 4> pattern = op.getPattern();
  Type element = kron::getElementType(weights);
  int64_t run = kSegmentBytes * 8 / element.getIntOrFloatBitWidth();
  SmallVector<int64_t> sizes{pattern[0], pattern[3], pattern[1], pattern[2]};
  SmallVector<int64_t> shape(sizes), zeros(4, 0), ones(4, 1);
  shape.back() = llvm::alignTo(shape.back(), run);
  Value buffer = createBuffer(rewriter, loc, shape, /*sizes=*/{}, element,
                              /*onTensors=*/false);
  Value copy = buffer;
  if (shape != sizes)
    copy = memref::SubViewOp::create(rewriter, loc, buffer, zeros, sizes, ones);
  bool isTransposed = op.getTransWeights() != Transpose::N;
  int64_t first = isTransposed ? 2 : 1, second = isTransposed ? 1 : 2;
  linalg::TransposeOp::create(rewriter, loc, weights, copy,
                              ArrayRef<int64_t>{0, 3, first, second});
  auto back = AffineMapAttr::get(AffineMap::getPermutationMap(
      ArrayRef<unsigned>{0, 2, 3, 1}, rewriter.getContext()));
  Value view = memref::TransposeOp::create(rewriter, loc, copy, back);
  rewriter.modifyOpInPlace(op, [&] {
    op.getWeightsMutable().assign(view);
    op.setTransWeights(Transpose::N);
  });
  rewriter.setInsertionPointAfter(op);
  releaseBuffer(rewriter, loc, buffer);
}

/// Size N of a slice of `op`: all or an equal part of it, as much as wgmma
/// takes. 0 if it is not worth that.
static int64_t getSliceResults(KsmmOp op) {
  Type element = kron::getElementType(op.getInit());
  if (!element.isF32() || op.getPrecision() != Precision::Full ||
      op.getPlanAttr() || hasKernelOf8(op) || !isManyProducts(op))
    return 0;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  if (pattern[2] > kWeightSplits.mostOfSlice ||
      pattern[2] < kWeightSplits.leastOfSlice || pattern[2] % 8 != 0)
    return 0;
  for (int64_t sizeN = kWeightSplits.mostOfSlice;
       sizeN >= kWeightSplits.leastOfSlice; sizeN -= 8)
    if (pattern[1] % sizeN == 0 &&
        pattern[0] * pattern[1] / sizeN * pattern[3] <=
            kWeightSplits.mostSlices)
      return sizeN;
  return 0;
}

/// Enters a loop on the host: its counter.
static Value enterLoop(IRRewriter &rewriter, Location loc, int64_t end,
                       int64_t step) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto loop =
      scf::ForOp::create(rewriter, loc, number(0), number(end), number(step));
  rewriter.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

/// `count` rows of a matrix, `stride` apart.
static Value sliceRows(IRRewriter &rewriter, Location loc, Value array,
                       Value first, int64_t count, int64_t stride) {
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  OpFoldResult columns = memref::getMixedSize(rewriter, loc, array, 1);
  OpFoldResult offsets[] = {first, zero};
  OpFoldResult sizes[] = {rewriter.getIndexAttr(count), columns};
  OpFoldResult strides[] = {rewriter.getIndexAttr(stride), one};
  return memref::SubViewOp::create(rewriter, loc, array, offsets, sizes,
                                   strides);
}

/// A copy of `op` on other arrays, which replaces it.
static KsmmOp cloneOn(IRRewriter &rewriter, KsmmOp op, Value input,
                      Value weights, Value init) {
  auto product = cast<KsmmOp>(rewriter.clone(*op));
  rewriter.modifyOpInPlace(product, [&] {
    product.getInputMutable().assign(input);
    product.getWeightsMutable().assign(weights);
    product.getInitMutable().assign(init);
  });
  rewriter.eraseOp(op);
  return product;
}

/// Replaces `op` by a loop over its groups, whose body is one of them: the new
/// operation.
static KsmmOp sliceGroups(IRRewriter &rewriter, KsmmOp op) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  if (pattern[0] == 1)
    return op;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value group = enterLoop(rewriter, loc, pattern[0], 1);
  auto slice = [&](Value array, int64_t rows) {
    Value count = arith::ConstantIndexOp::create(rewriter, loc, rows);
    Value first = arith::MulIOp::create(rewriter, loc, group, count);
    return sliceRows(rewriter, loc, array, first, rows, 1);
  };
  Value input = slice(op.getInput(), pattern[2] * pattern[3]);
  Value init = slice(op.getInit(), pattern[1] * pattern[3]);
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets(4, zero), strides(4, one), sizes{one};
  for (int64_t size : getShapedType(op.getWeights()).getShape().drop_front())
    sizes.push_back(rewriter.getIndexAttr(size));
  offsets.front() = group;
  Value weights = memref::SubViewOp::create(rewriter, loc, op.getWeights(),
                                            offsets, sizes, strides);
  return cloneOn(rewriter, op, input, weights, init);
}

/// Replaces `op` by a loop over t, whose body has the products of all groups
/// that belong to it: the new operation.
static KsmmOp sliceByT(IRRewriter &rewriter, KsmmOp op) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value t = enterLoop(rewriter, loc, pattern[3], 1);
  // Row i of X belongs to product i mod d.
  Value input = sliceRows(rewriter, loc, op.getInput(), t,
                          pattern[0] * pattern[2], pattern[3]);
  Value init = sliceRows(rewriter, loc, op.getInit(), t,
                         pattern[0] * pattern[1], pattern[3]);
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{zero, zero, zero, t}, strides(4, one);
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : getShapedType(op.getWeights()).getShape().drop_back())
    sizes.push_back(rewriter.getIndexAttr(size));
  sizes.push_back(one);
  Value weights = memref::SubViewOp::create(rewriter, loc, op.getWeights(),
                                            offsets, sizes, strides);
  return cloneOn(rewriter, op, input, weights, init);
}

/// Replaces `op`, of one group, by loops over t and over blocks of `sizeN`,
/// whose bodies are the dense product of a slice: the new operation.
static KsmmOp sliceProducts(IRRewriter &rewriter, KsmmOp op, int64_t sizeN) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t products = pattern[3];
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value t = enterLoop(rewriter, loc, products, 1);
  Value first = enterLoop(rewriter, loc, pattern[1], sizeN);
  Value count = arith::ConstantIndexOp::create(rewriter, loc, products);
  Value start = arith::MulIOp::create(rewriter, loc, first, count);
  start = arith::AddIOp::create(rewriter, loc, start, t);
  // Row i of X belongs to product i mod d.
  Value input =
      sliceRows(rewriter, loc, op.getInput(), t, pattern[2], products);
  Value init = sliceRows(rewriter, loc, op.getInit(), start, sizeN, products);
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{zero, first, zero, t};
  SmallVector<OpFoldResult> sizes{one, rewriter.getIndexAttr(sizeN),
                                  rewriter.getIndexAttr(pattern[2]), one};
  SmallVector<OpFoldResult> strides(4, one);
  Value weights = memref::SubViewOp::create(rewriter, loc, op.getWeights(),
                                            offsets, sizes, strides);
  return cloneOn(rewriter, op, input, weights, init);
}

//===----------------------------------------------------------------------===//
// From tensors to memrefs
//===----------------------------------------------------------------------===//

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

/// Whether the arrays of `op`, on tensors, are known. A plan may say of it
/// that it is one fused region with others.
static bool canUseMemRefs(KsmmOp op) {
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

/// Replaces `op`, on tensors, by one on the memrefs that these will be.
static KsmmOp moveToMemRefs(IRRewriter &rewriter, KsmmOp op) {
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

//===----------------------------------------------------------------------===//
// All ways
//===----------------------------------------------------------------------===//

/// Rows come in multiples of that, so that cuBLAS takes columns of them.
static int64_t getRowUnit(KsmmOp op) {
  return op.getLayout() == Layout::BatchLast ? 8 : 1;
}

/// Rows from which on, in multiples of the unit, the products of `op` are
/// arranged anew; 0 if they never are.
static int64_t getLeastRows(KsmmOp op) {
  if (int64_t rows = getLeastSplitRows(op))
    return rows;
  if (needsCopyByProducts(op))
    return kWeightSplits.manyRows;
  return getSliceResults(op) ? kWeightSplits.rowsOfSlice : 0;
}

/// `op`, on memrefs of many rows, or what replaces it.
static KsmmOp arrangeProducts(IRRewriter &rewriter, KsmmOp op) {
  if (op.getLayout() == Layout::BatchFirst)
    return splitProducts(rewriter, op);
  int64_t sizeN = getSliceResults(op);
  bool isByT = isSlicedByT(op);
  copyByProducts(rewriter, op);
  if (isByT)
    return sliceByT(rewriter, op);
  if (isFastByCublas(op) || sizeN)
    op = sliceGroups(rewriter, op);
  return sizeN ? sliceProducts(rewriter, op, sizeN) : op;
}

/// Two copies of `op`, on memrefs, of which a run takes the first one for as
/// many rows as it should have.
static std::pair<KsmmOp, KsmmOp> chooseByRows(IRRewriter &rewriter, KsmmOp op,
                                              int64_t leastRows) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value rows = memref::DimOp::create(rewriter, loc, op.getInit(),
                                     1 - op.getFeatureDim());
  Value rest;
  if (int64_t unit = getRowUnit(op); unit > 1)
    rest = arith::RemUIOp::create(rewriter, loc, rows, number(unit));
  Value isMany = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge,
                                       rows, number(leastRows));
  if (rest) {
    Value isEven = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, rest, number(0));
    isMany = arith::AndIOp::create(rewriter, loc, isMany, isEven);
  }
  auto branches =
      scf::IfOp::create(rewriter, loc, isMany, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branches.thenBlock());
  auto many = cast<KsmmOp>(rewriter.clone(*op));
  rewriter.setInsertionPointToStart(branches.elseBlock());
  auto others = cast<KsmmOp>(rewriter.clone(*op));
  rewriter.eraseOp(op);
  return {many, others};
}

/// Gives the matrices of `op`, which are memrefs, the sizes that its pattern
/// and each other say that they have: views of their parts name these.
static void castToKnownShapes(IRRewriter &rewriter, KsmmOp op) {
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

SmallVector<KsmmOp> kron::arrangeForGPU(IRRewriter &rewriter, KsmmOp op) {
  // What takes weights as they lie.
  auto leave = [&](KsmmOp op) {
    if (needsTransposedCopy(op))
      transposeWeights(rewriter, op);
    return op;
  };
  bool splits = getLeastSplitRows(op) > 0;
  bool isTransposed = !splits && isFasterTransposed(op);
  int64_t least = getLeastRows(op);
  int64_t rows = getShapedType(op.getInit()).getDimSize(1 - op.getFeatureDim());
  bool isOpen = ShapedType::isDynamic(rows);
  if (!isTransposed &&
      (!least || (!isOpen && (rows < least || rows % getRowUnit(op) != 0))))
    return {leave(op)};
  if (isOnTensors(op.getInit())) {
    if (!canUseMemRefs(op))
      return {leave(op)};
    op = moveToMemRefs(rewriter, op);
  }
  castToKnownShapes(rewriter, op);
  if ((isTransposed || splits) && !hasDenseRows(op))
    return {leave(op)};
  if (isTransposed)
    return transposeRows(rewriter, op);
  if (!isOpen)
    return {arrangeProducts(rewriter, op)};
  auto [many, others] = chooseByRows(rewriter, op, least);
  return {arrangeProducts(rewriter, many), leave(others)};
}
