//===- DecomposeBiasGradient.cpp - kron.bias_grad to linalg ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The sum over the batch reads every element once; what matters is that
// neighbours are added up side by side. Where the batch is first these are the
// features, and pieces of the batch are summed up apart where there are too few
// of them for all threads: always on a GPU. Where it is last they are positions
// of the batch: every so-many-th one belongs to the same piece. The pieces of a
// feature are added up in their order.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "DecomposeFactorGradient.h"
#include "DecomposeGradient.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::kron;

/// Threads that keep a GPU busy, and the most pieces there; pieces that a CPU
/// has in a register, or its threads share: of more features they share these,
/// and of a small batch pieces would take longer than they save.
static constexpr int64_t kBusyThreads = int64_t(1) << 17;
static constexpr int64_t kMostPieces = 1024;
static constexpr int64_t kLanes = 16;
static constexpr int64_t kManyFeatures = 4096, kSmallBatch = 256;

namespace {
class BiasGradient {
public:
  BiasGradient(IRRewriter &rewriter, BiasGradOp op, bool onGPU)
      : rewriter(rewriter), op(op), loc(op.getLoc()), onGPU(onGPU),
        onTensors(isOnTensors(op.getInit())), batchFirst(op.getBatchDim() == 0),
        features(cast<ShapedType>(op.getInit().getType()).getDimSize(0)),
        accumulator(getAccumulatorType(kron::getElementType(op.getInit()))) {}

  Value emitSum();

private:
  int64_t choosePieces();
  Value createZeros(ArrayRef<int64_t> shape);
  Value sliceBatch(OpFoldResult first, OpFoldResult count);
  Value reduce(Value array, ArrayRef<int64_t> loops, int64_t reduced,
               Value sum);
  Value splitBatch(OpFoldResult whole, OpFoldResult perPiece, int64_t pieces);
  Value addPieces(Value sum, OpFoldResult whole, OpFoldResult perPiece,
                  int64_t pieces);

  IRRewriter &rewriter;
  BiasGradOp op;
  Location loc;
  bool onGPU, onTensors, batchFirst;
  int64_t features;
  Type accumulator;
};
} // namespace

int64_t BiasGradient::choosePieces() {
  if (!onGPU) {
    int64_t batch =
        cast<ShapedType>(op.getInput().getType()).getDimSize(op.getBatchDim());
    bool isSmall = !ShapedType::isDynamic(batch) && batch < kSmallBatch;
    return batchFirst && (features >= kManyFeatures || isSmall) ? 1 : kLanes;
  }
  int64_t pieces = 32;
  while (pieces < kMostPieces && 2 * pieces * features <= kBusyThreads)
    pieces *= 2;
  return pieces;
}

Value BiasGradient::createZeros(ArrayRef<int64_t> shape) {
  Value buffer =
      createBuffer(rewriter, loc, shape, /*sizes=*/{}, accumulator, onTensors);
  Value zero = emitZero(rewriter, loc, accumulator);
  auto fill = linalg::FillOp::create(rewriter, loc, zero, buffer);
  return onTensors ? fill.getResult(0) : buffer;
}

Value BiasGradient::sliceBatch(OpFoldResult first, OpFoldResult count) {
  SmallVector<OpFoldResult> offsets(2, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(2, rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes(2, rewriter.getIndexAttr(features));
  offsets[op.getBatchDim()] = first;
  sizes[op.getBatchDim()] = count;
  if (onTensors)
    return tensor::ExtractSliceOp::create(rewriter, loc, op.getInput(), offsets,
                                          sizes, strides);
  return memref::SubViewOp::create(rewriter, loc, op.getInput(), offsets, sizes,
                                   strides);
}

/// Adds `array`, whose dimensions run over the loops `loops`, to `sum`, whose
/// dimensions are all loops but `reduced`.
Value BiasGradient::reduce(Value array, ArrayRef<int64_t> loops,
                           int64_t reduced, Value sum) {
  int64_t count = loops.size();
  SmallVector<AffineExpr> from, to;
  SmallVector<utils::IteratorType> iterators(count,
                                             utils::IteratorType::parallel);
  iterators[reduced] = utils::IteratorType::reduction;
  for (int64_t loop : loops)
    from.push_back(rewriter.getAffineDimExpr(loop));
  for (int64_t loop = 0; loop < count; ++loop)
    if (loop != reduced)
      to.push_back(rewriter.getAffineDimExpr(loop));
  AffineMap maps[] = {AffineMap::get(count, 0, from, op.getContext()),
                      AffineMap::get(count, 0, to, op.getContext())};
  auto generic = linalg::GenericOp::create(
      rewriter, loc, onTensors ? TypeRange(sum.getType()) : TypeRange(), array,
      sum, maps, iterators, [&](OpBuilder &builder, Location, ValueRange args) {
        Value term = emitConversion(builder, loc, args[0], accumulator);
        linalg::YieldOp::create(builder, loc,
                                emitAdd(builder, loc, args[1], term));
      });
  return onTensors ? generic.getResult(0) : sum;
}

/// The first positions of the batch, `perPiece` of each of the pieces.
Value BiasGradient::splitBatch(OpFoldResult whole, OpFoldResult perPiece,
                               int64_t pieces) {
  Value array = sliceBatch(rewriter.getIndexAttr(0), whole);
  int64_t known = getConstantIntValue(perPiece).value_or(ShapedType::kDynamic);
  OpFoldResult count = rewriter.getIndexAttr(pieces);
  OpFoldResult all = rewriter.getIndexAttr(features);
  SmallVector<int64_t> shape{pieces, known, features};
  SmallVector<OpFoldResult> sizes{count, perPiece, all};
  SmallVector<ReassociationIndices> groups{{0, 1}, {2}};
  if (!batchFirst) {
    shape = {features, known, pieces};
    sizes = {all, perPiece, count};
    groups = {{0}, {1, 2}};
  }
  if (onTensors)
    return tensor::ExpandShapeOp::create(
        rewriter, loc,
        RankedTensorType::get(shape, kron::getElementType(array)), array,
        groups, sizes);
  return memref::ExpandShapeOp::create(rewriter, loc, shape, array, groups,
                                       sizes);
}

/// Adds all positions of the batch but a rest to `sum`: `perPiece` of each of
/// the pieces.
Value BiasGradient::addPieces(Value sum, OpFoldResult whole,
                              OpFoldResult perPiece, int64_t pieces) {
  if (pieces == 1)
    return reduce(op.getInput(), {0, 1}, /*reduced=*/0, sum);
  Value array = splitBatch(whole, perPiece, pieces);
  Value sums = batchFirst ? createZeros({pieces, features})
                          : createZeros({features, pieces});
  // A thread adds up on its own; vector lanes lie side by side.
  if (onGPU)
    sums = reduce(array, {0, 2, 1}, /*reduced=*/2, sums);
  else
    sums = reduce(array, {0, 1, 2}, /*reduced=*/1, sums);
  sum = batchFirst ? reduce(sums, {1, 0}, /*reduced=*/1, sum)
                   : reduce(sums, {0, 1}, /*reduced=*/1, sum);
  releaseBuffer(rewriter, loc, sums);
  return sum;
}

Value BiasGradient::emitSum() {
  // Views of an array without elements do not verify.
  if (features == 0)
    return createZeros({features});
  int64_t pieces = choosePieces();
  int64_t known =
      cast<ShapedType>(op.getInput().getType()).getDimSize(op.getBatchDim());
  OpFoldResult whole, perPiece, rest;
  if (ShapedType::isDynamic(known)) {
    Value size = emitDimSize(rewriter, loc, op.getInput(), op.getBatchDim());
    Value count = arith::ConstantIndexOp::create(rewriter, loc, pieces);
    Value each = arith::DivUIOp::create(rewriter, loc, size, count);
    Value all = arith::MulIOp::create(rewriter, loc, each, count);
    perPiece = each;
    whole = all;
    rest = Value(arith::SubIOp::create(rewriter, loc, size, all));
  } else {
    perPiece = rewriter.getIndexAttr(known / pieces);
    whole = rewriter.getIndexAttr(known / pieces * pieces);
    rest = rewriter.getIndexAttr(known % pieces);
  }
  Value sum = createZeros({features});
  if (!isConstantIntValue(whole, 0))
    sum = addPieces(sum, whole, perPiece, pieces);
  if (pieces == 1 || isConstantIntValue(rest, 0))
    return sum;
  Value array = sliceBatch(whole, rest);
  return batchFirst ? reduce(array, {1, 0}, /*reduced=*/1, sum)
                    : reduce(array, {0, 1}, /*reduced=*/1, sum);
}

void kron::decomposeBiasGradient(IRRewriter &rewriter, BiasGradOp op,
                                 bool onGPU) {
  rewriter.setInsertionPoint(op);
  Value sum;
  if (!kron::getAlpha(op).isZero())
    sum = BiasGradient(rewriter, op, onGPU).emitSum();
  Value result =
      emitGradientStore(rewriter, op, sum, /*scalesSum=*/true, op.getInit());
  if (isOnTensors(op.getInit())) {
    rewriter.replaceOp(op, result);
    return;
  }
  if (sum)
    releaseBuffer(rewriter, op.getLoc(), sum);
  rewriter.eraseOp(op);
}
