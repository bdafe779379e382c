//===- DecomposeBiasGradient.cpp - kron.bias_grad to linalg ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The sum over the batch reads every element once; what matters is that
// neighbours are added up side by side. Where the batch is first these are the
// features, and pieces of the batch can be summed up apart. Where it is last
// they are positions of the batch: every so-many-th one belongs to the same
// piece. The pieces of a feature are added up in their order.
//
// Strided pieces have every so-many-th position wherever the batch is, the
// remainder included: one operation sums them up, another one adds the sums up.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "GradientStore.h"
#include "kron/Dialect/Kron/Transforms/Decompose.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
class BiasGradient {
public:
  BiasGradient(IRRewriter &rewriter, BiasGradOp op,
               const BiasGradientForm &form)
      : rewriter(rewriter), op(op), loc(op.getLoc()), form(form),
        onTensors(isOnTensors(op.getInit())), batchFirst(op.getBatchDim() == 0),
        features(cast<ShapedType>(op.getInit().getType()).getDimSize(0)),
        accumulator(getAccumulatorType(kron::getElementType(op.getInit()))) {}

  /// Whether the sum is what is to be stored.
  bool isSumItself() {
    return features > 0 && kron::getAlpha(op).isOne() &&
           kron::getBeta(op).isZero() &&
           kron::getElementType(op.getInit()) == accumulator;
  }
  /// The sum in an array of the accumulator's type.
  Value emitSum();
  /// The sum in the destination, of strided pieces.
  Value emitSumInPlace();

private:
  Value fillZeros(Value buffer);
  Value createZeros(ArrayRef<int64_t> shape);
  Value sliceBatch(OpFoldResult first, OpFoldResult count);
  Value reduce(Value array, ArrayRef<int64_t> loops, int64_t reduced,
               Value sum);
  Value splitBatch(OpFoldResult whole, OpFoldResult perPiece, int64_t pieces);
  Value addPieces(Value sum, OpFoldResult whole, OpFoldResult perPiece,
                  int64_t pieces);
  Value sumStrided(int64_t pieces);
  Value addStrided(Value buffer);

  IRRewriter &rewriter;
  BiasGradOp op;
  Location loc;
  BiasGradientForm form;
  bool onTensors, batchFirst;
  int64_t features;
  Type accumulator;
};
} // namespace

Value BiasGradient::createZeros(ArrayRef<int64_t> shape) {
  return fillZeros(
      createBuffer(rewriter, loc, shape, /*sizes=*/{}, accumulator, onTensors));
}

Value BiasGradient::fillZeros(Value buffer) {
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

/// Adds all positions of the batch but a remainder to `sum`: `perPiece` of each
/// of the pieces.
Value BiasGradient::addPieces(Value sum, OpFoldResult whole,
                              OpFoldResult perPiece, int64_t pieces) {
  if (pieces == 1)
    return reduce(op.getInput(), {0, 1}, /*reduced=*/0, sum);
  Value array = splitBatch(whole, perPiece, pieces);
  Value sums = batchFirst ? createZeros({pieces, features})
                          : createZeros({features, pieces});
  sums = reduce(array, {0, 1, 2}, /*reduced=*/1, sums);
  sum = batchFirst ? reduce(sums, {1, 0}, /*reduced=*/1, sum)
                   : reduce(sums, {0, 1}, /*reduced=*/1, sum);
  releaseBuffer(rewriter, loc, sums);
  return sum;
}

/// Sums of the positions p, p + pieces, p + 2 * pieces, .. for each of the
/// pieces p: those next to each other are read at the same time.
Value BiasGradient::sumStrided(int64_t pieces) {
  Value input = op.getInput();
  Value size = emitDimSize(rewriter, loc, input, op.getBatchDim());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value last = arith::SubIOp::create(rewriter, loc, size, constant(1));
  Value stride = constant(pieces);
  Value steps = arith::CeilDivUIOp::create(rewriter, loc, size, stride);
  Value zero = emitZero(rewriter, loc, accumulator);
  // It says how many steps there are, and is not read.
  Value range = sliceBatch(rewriter.getIndexAttr(0), steps);
  Value sums = batchFirst ? createZeros({pieces, features})
                          : createZeros({features, pieces});
  int64_t pieceDim = batchFirst ? 0 : 1;
  auto dim = [&](int64_t number) { return rewriter.getAffineDimExpr(number); };
  AffineExpr step = dim(2), feature = dim(1 - pieceDim);
  SmallVector<AffineExpr> from{step, feature};
  if (!batchFirst)
    std::swap(from[0], from[1]);
  AffineMap maps[] = {AffineMap::get(3, 0, from, op.getContext()),
                      AffineMap::get(3, 0, {dim(0), dim(1)}, op.getContext())};
  SmallVector<utils::IteratorType> iterators(3, utils::IteratorType::parallel);
  iterators[2] = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      rewriter, loc, onTensors ? TypeRange(sums.getType()) : TypeRange(), range,
      sums, maps, iterators,
      [&](OpBuilder &builder, Location, ValueRange args) {
        auto index = [&](int64_t number) -> Value {
          return linalg::IndexOp::create(builder, loc, number);
        };
        Value first = arith::MulIOp::create(builder, loc, index(2), stride);
        Value row = arith::AddIOp::create(builder, loc, first, index(pieceDim));
        Value exists = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ult, row, size);
        Value place = arith::MinUIOp::create(builder, loc, row, last);
        SmallVector<Value> position{place, index(1 - pieceDim)};
        if (!batchFirst)
          std::swap(position[0], position[1]);
        Value term =
            onTensors
                ? Value(
                      tensor::ExtractOp::create(builder, loc, input, position))
                : Value(memref::LoadOp::create(builder, loc, input, position));
        term = emitConversion(builder, loc, term, accumulator);
        term = arith::SelectOp::create(builder, loc, exists, term, zero);
        linalg::YieldOp::create(builder, loc,
                                emitAdd(builder, loc, args[1], term));
      });
  return onTensors ? generic.getResult(0) : sums;
}

/// The sum of the whole batch in `buffer`.
Value BiasGradient::addStrided(Value buffer) {
  Value sums = sumStrided(form.pieces), sum = fillZeros(buffer);
  sum = batchFirst ? reduce(sums, {1, 0}, /*reduced=*/1, sum)
                   : reduce(sums, {0, 1}, /*reduced=*/1, sum);
  releaseBuffer(rewriter, loc, sums);
  return sum;
}

Value BiasGradient::emitSumInPlace() { return addStrided(op.getInit()); }

Value BiasGradient::emitSum() {
  // Views of an array without elements do not verify.
  if (features == 0)
    return createZeros({features});
  if (form.isStrided)
    return addStrided(createBuffer(rewriter, loc, {features}, /*sizes=*/{},
                                   accumulator, onTensors));
  int64_t pieces = form.pieces;
  int64_t known =
      cast<ShapedType>(op.getInput().getType()).getDimSize(op.getBatchDim());
  OpFoldResult whole, perPiece, remainder;
  if (ShapedType::isDynamic(known)) {
    Value size = emitDimSize(rewriter, loc, op.getInput(), op.getBatchDim());
    Value count = arith::ConstantIndexOp::create(rewriter, loc, pieces);
    Value each = arith::DivUIOp::create(rewriter, loc, size, count);
    Value all = arith::MulIOp::create(rewriter, loc, each, count);
    perPiece = each;
    whole = all;
    remainder = Value(arith::SubIOp::create(rewriter, loc, size, all));
  } else {
    perPiece = rewriter.getIndexAttr(known / pieces);
    whole = rewriter.getIndexAttr(known / pieces * pieces);
    remainder = rewriter.getIndexAttr(known % pieces);
  }
  Value sum = createZeros({features});
  if (!isConstantIntValue(whole, 0))
    sum = addPieces(sum, whole, perPiece, pieces);
  if (pieces == 1 || isConstantIntValue(remainder, 0))
    return sum;
  Value array = sliceBatch(whole, remainder);
  return batchFirst ? reduce(array, {1, 0}, /*reduced=*/1, sum)
                    : reduce(array, {0, 1}, /*reduced=*/1, sum);
}

void kron::decomposeBiasGradient(IRRewriter &rewriter, BiasGradOp op,
                                 const BiasGradientForm &form) {
  rewriter.setInsertionPoint(op);
  BiasGradient gradient(rewriter, op, form);
  Value sum, result;
  if (form.isStrided && gradient.isSumItself()) {
    result = gradient.emitSumInPlace();
  } else {
    if (!kron::getAlpha(op).isZero())
      sum = gradient.emitSum();
    result =
        emitGradientStore(rewriter, op, sum, /*scalesSum=*/true, op.getInit());
  }
  if (isOnTensors(op.getInit())) {
    rewriter.replaceOp(op, result);
    return;
  }
  if (sum)
    releaseBuffer(rewriter, op.getLoc(), sum);
  rewriter.eraseOp(op);
}
