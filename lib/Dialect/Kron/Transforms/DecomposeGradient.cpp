//===- DecomposeGradient.cpp - kron.ksmm_grad to mode products ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// With X viewed as [i, n, k, t], whatever the layout is, the sum over the batch
//
//   D[i, j, k, t] = sum_n G[n, i, j, t] * X[i, n, k, t]
//
// is a mode product along n whose factor G varies with i and t. Mode products
// have factors of known size, so the batch is cut into blocks. What does not
// depend on the batch is of the size of D: it starts as beta * Z, and every
// block adds to it. f16 and bf16 are summed in an array of f32.
//
// Weights that blocks i or inner positions t share are summed up slice by
// slice: one block, and as many t as stay in the cache.
//
// The other form, of pieces of the batch side by side, is in
// GradientPieces.cpp.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "GradientDecomposer.h"
#include "GradientStore.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::kron;

Value kron::emitGradientStore(IRRewriter &rewriter, ScaledOpInterface op,
                              Value sum, bool scalesSum, Value init) {
  Location loc = op.getLoc();
  Scale alpha = kron::getAlpha(op), beta = kron::getBeta(op);
  bool onTensors = isOnTensors(init);
  Type element = kron::getElementType(init);
  Type accumulator = getAccumulatorType(element);
  bool isInPlace = op.getAddendValue() == op.getInitValue();
  Value addend = isInPlace ? Value() : op.getAddendValue();
  if (!sum && beta.isZero()) {
    Value zero = emitZero(rewriter, loc, element);
    auto fill = linalg::FillOp::create(rewriter, loc, zero, init);
    return onTensors ? fill.getResult(0) : init;
  }
  if (!sum && beta.isOne() && !addend)
    return init;

  ArrayRef<int64_t> shape = cast<ShapedType>(init.getType()).getShape();
  SmallVector<Value> inputs;
  if (sum)
    inputs.push_back(sum);
  if (addend && !beta.isZero())
    inputs.push_back(castToShape(rewriter, loc, addend, shape));
  return emitElementwise(
      rewriter, loc, inputs, init, [&](OpBuilder &builder, ValueRange args) {
        Value result = sum ? args.front() : Value();
        if (sum && scalesSum)
          result = emitScaled(builder, loc, alpha, result);
        if (!beta.isZero()) {
          Value z = addend ? args.drop_back().back() : args.back();
          z = emitConversion(builder, loc, z, accumulator);
          z = emitScaled(builder, loc, beta, z);
          result = result ? emitAdd(builder, loc, result, z) : z;
        }
        return emitConversion(builder, loc, result, element);
      });
}

GradientDecomposer::GradientDecomposer(IRRewriter &rewriter, KsmmGradOp op,
                                       const GradientForm &form)
    : rewriter(rewriter), op(op), form(form), isByPieces(form.pieces > 0),
      onTensors(isOnTensors(op.getInit())), loc(op.getLoc()),
      element(kron::getElementType(op.getInit())),
      accumulator(getAccumulatorType(element)), a(op.getPattern()[0]),
      b(op.getPattern()[1]), c(op.getPattern()[2]), d(op.getPattern()[3]),
      slicedA(form.slicedA), slicedD(form.slicedD), batchDim(op.getBatchDim()),
      batch(cast<ShapedType>(op.getInput().getType()).getDimSize(batchDim)),
      init(op.getInit()) {
  if (ShapedType::isDynamic(batch))
    batch = cast<ShapedType>(op.getGrad().getType()).getDimSize(batchDim);
}

/// `array` of a * middle * d features.
Value GradientDecomposer::castFeatures(Value array, int64_t middle) {
  SmallVector<int64_t> shape(cast<ShapedType>(array.getType()).getShape());
  shape[1 - batchDim] = a * middle * d;
  return castToShape(rewriter, loc, array, shape);
}

//===----------------------------------------------------------------------===//
// What is done once
//===----------------------------------------------------------------------===//

/// beta * Z, plus `product` if there is one, in the destination.
Value GradientDecomposer::emitStore(Value product) {
  // Blocks have alpha already.
  return emitGradientStore(rewriter, op, product, /*scalesSum=*/isByPieces,
                           init);
}

Value GradientDecomposer::createZeros(ArrayRef<int64_t> shape) {
  Value buffer =
      createBuffer(rewriter, loc, shape, /*sizes=*/{}, accumulator, onTensors);
  Value zero = emitZero(rewriter, loc, accumulator);
  auto fill = linalg::FillOp::create(rewriter, loc, zero, buffer);
  return onTensors ? fill.getResult(0) : buffer;
}

Value GradientDecomposer::emitBatchSize() {
  if (ShapedType::isDynamic(batch))
    return emitDimSize(rewriter, loc, input, batchDim);
  return arith::ConstantIndexOp::create(rewriter, loc, batch);
}

/// `sum` added up over what it has of blocks and inner positions that share
/// their weights, as the destination is shaped.
Value GradientDecomposer::sumShared(Value sum) {
  ArrayRef<int64_t> shape = cast<ShapedType>(sum.getType()).getShape();
  bool reducesBlocks = op.sharesBlocks() && shape[0] > 1;
  bool reducesInner = op.sharesInner() && shape[3] > 1;
  if (!reducesBlocks && !reducesInner)
    return sum;
  SmallVector<int64_t> order, kept;
  SmallVector<AffineExpr> from(4), to;
  ArrayView view;
  if (!reducesBlocks)
    order.push_back(0);
  order.append({1, 2});
  if (!reducesInner)
    order.push_back(3);
  for (int64_t dim : order) {
    kept.push_back(shape[dim]);
    view.groups.push_back({shape[dim]});
    from[dim] = rewriter.getAffineDimExpr(to.size());
    to.push_back(from[dim]);
  }
  if (reducesBlocks)
    view.groups.front().insert(view.groups.front().begin(), 1);
  if (reducesInner)
    view.groups.back().push_back(1);
  SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), kept.size(), utils::IteratorType::parallel);
  for (int64_t dim = 0, next = kept.size(); dim < 4; ++dim)
    if (!from[dim])
      from[dim] = rewriter.getAffineDimExpr(next++);

  AffineMap maps[] = {AffineMap::get(4, 0, from, op.getContext()),
                      AffineMap::get(4, 0, to, op.getContext())};
  Value total = createZeros(kept);
  buffers.push_back(total);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, onTensors ? TypeRange(total.getType()) : TypeRange(), sum,
      total, maps, iterators,
      [&](OpBuilder &builder, Location, ValueRange args) {
        linalg::YieldOp::create(builder, loc,
                                emitAdd(builder, loc, args[1], args[0]));
      });
  if (onTensors)
    total = generic.getResult(0);
  return expandView(rewriter, loc, total, view);
}

void GradientDecomposer::run() {
  rewriter.setInsertionPoint(op);
  SmallVector<int64_t> shape{op.sharesBlocks() ? 1 : a, b, c,
                             op.sharesInner() ? 1 : d};
  init = castToShape(rewriter, loc, init, shape);
  input = castFeatures(op.getInput(), c);
  grad = castFeatures(op.getGrad(), b);

  Value result;
  SmallVector<int64_t> slice{slicedA, b, c, slicedD};
  if (kron::getAlpha(op).isZero()) {
    result = emitStore(/*product=*/nullptr);
  } else if (accumulator == element && !isByPieces && slice == shape) {
    result = emitSlices(emitStore(/*product=*/nullptr));
  } else {
    Value sum = isByPieces ? emitSumOfPieces() : emitSlices(createZeros(slice));
    buffers.push_back(sum);
    result = emitStore(sumShared(sum));
    for (Value buffer : buffers)
      releaseBuffer(rewriter, loc, buffer);
  }

  if (!onTensors) {
    rewriter.eraseOp(op);
    return;
  }
  Type type = op->getResult(0).getType();
  if (result.getType() != type)
    result = tensor::CastOp::create(rewriter, loc, type, result);
  rewriter.replaceOp(op, result);
}

//===----------------------------------------------------------------------===//
// Slices of shared weights
//===----------------------------------------------------------------------===//

/// `body` of the first of every `step` numbers below `end`; of none if `step`
/// is all.
Value GradientDecomposer::emitLoop(
    int64_t end, int64_t step, Value sum,
    function_ref<Value(Value first, Value sum)> body) {
  if (step == end)
    return body(Value(), sum);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto loop = scf::ForOp::create(
      rewriter, loc, constant(0), constant(end), constant(step),
      onTensors ? ValueRange(sum) : ValueRange(),
      [&](OpBuilder &builder, Location, Value first, ValueRange carried) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(builder.getInsertionBlock(),
                                   builder.getInsertionPoint());
        Value updated = body(first, onTensors ? carried.front() : sum);
        scf::YieldOp::create(rewriter, loc,
                             onTensors ? ValueRange(updated) : ValueRange());
      });
  return onTensors ? loop.getResult(0) : sum;
}

/// `sum`, of the shape of a slice, plus those of all slices.
Value GradientDecomposer::emitSlices(Value sum) {
  return emitLoop(a, slicedA, sum, [&](Value block, Value sum) {
    firstBlock = block;
    return emitLoop(d, slicedD, sum, [&](Value inner, Value sum) {
      firstInner = inner;
      return emitSum(sum);
    });
  });
}

//===----------------------------------------------------------------------===//
// Blocks of the batch
//===----------------------------------------------------------------------===//

/// Rows `first` to `first + rows` of `array`, as [rows, a, middle, d] or
/// [a, middle, d, rows]; without d if it is 1, since vector lanes run over the
/// innermost axis.
Value GradientDecomposer::viewBlock(OpBuilder &builder, Value array,
                                    Value first, int64_t rows, int64_t middle) {
  SmallVector<OpFoldResult> offsets(2, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes(2, builder.getIndexAttr(a * middle * d));
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  offsets[batchDim] = first;
  sizes[batchDim] = builder.getIndexAttr(rows);
  Value block;
  if (onTensors)
    block = tensor::ExtractSliceOp::create(builder, loc, array, offsets, sizes,
                                           strides);
  else
    block =
        memref::SubViewOp::create(builder, loc, array, offsets, sizes, strides);
  ArrayView view;
  view.groups.assign(2, {a, middle});
  if (d > 1)
    view.groups[0].push_back(d);
  view.groups[1] = view.groups[0];
  view.groups[batchDim] = {rows};
  block = expandView(builder, loc, block, view);
  return firstBlock || firstInner ? viewSlice(builder, block, rows, middle)
                                  : block;
}

/// The slice of `block`, a view of rows, that is being summed up.
Value GradientDecomposer::viewSlice(OpBuilder &builder, Value block,
                                    int64_t rows, int64_t middle) {
  SmallVector<OpFoldResult> sizes{builder.getIndexAttr(slicedA),
                                  builder.getIndexAttr(middle)};
  if (d > 1)
    sizes.push_back(builder.getIndexAttr(slicedD));
  sizes.insert(batchDim == 0 ? sizes.begin() : sizes.end(),
               builder.getIndexAttr(rows));
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  if (firstBlock)
    offsets[batchDim == 0 ? 1 : 0] = firstBlock;
  if (firstInner)
    offsets[batchDim == 0 ? 3 : 2] = firstInner;
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  if (onTensors)
    return tensor::ExtractSliceOp::create(builder, loc, block, offsets, sizes,
                                          strides);
  return memref::SubViewOp::create(builder, loc, block, offsets, sizes,
                                   strides);
}

/// Adds the product of one block to `sum`.
Value GradientDecomposer::emitBlock(OpBuilder &builder, Value first,
                                    int64_t rows, Value sum) {
  bool batchFirst = batchDim == 0;
  constexpr int64_t p = ModeProductOp::kContracted;
  constexpr int64_t q = ModeProductOp::kResulting;
  SmallVector<int64_t> permutation, factorDims{0, q};
  if (d > 1)
    factorDims.push_back(3);
  if (batchFirst) {
    permutation = {1, 0, 2};
    factorDims.insert(factorDims.begin(), p);
  } else {
    permutation = {0, static_cast<int64_t>(factorDims.size()), 1};
    factorDims.push_back(p);
  }
  if (d > 1)
    permutation.push_back(batchFirst ? 3 : 2);

  Value inputs[] = {viewBlock(builder, input, first, rows, c),
                    viewBlock(builder, grad, first, rows, b)};
  bool isComplex = isa<ComplexType>(element);
  FusedOp fused = createFusedOp(
      builder, loc, inputs, sum, permutation, op.getPlanAttr(),
      [&](OpBuilder &body, ValueRange args) -> Value {
        auto product = ModeProductOp::create(
            body, loc, TypeRange(args.back().getType()), args[0], args[1],
            op.getAlpha(), /*beta=*/Value(), /*addend=*/Value(), args.back(),
            /*axis=*/uint64_t(1), factorDims, op.getConjInput() && isComplex,
            op.getConjGrad() && isComplex, op.getStaticAlphaAttr(),
            kron::getScalarAttr(accumulator, 1.0), op.getPrecision(),
            Attribute());
        return product.getResult(0);
      });
  return onTensors ? fused->getResult(0) : sum;
}

/// `sum`, shaped as the pattern, plus the products of all blocks.
Value GradientDecomposer::emitSum(Value sum) {
  ArrayView view;
  view.groups = {{slicedA}, {b}, {c}};
  if (d > 1)
    view.groups.push_back({slicedD});
  else
    view.groups.back().push_back(1);
  Value whole = sum;
  sum = collapseView(rewriter, loc, sum, view);

  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value size = emitBatchSize();
  Value first = constant(0);
  int64_t done = 0;
  for (int64_t rows : form.blockRows) {
    Value end = size;
    if (!ShapedType::isDynamic(batch)) {
      if (batch - done < rows)
        continue;
      done = batch / rows * rows;
      end = constant(done);
    } else if (rows > 1) {
      Value blocks =
          arith::DivUIOp::create(rewriter, loc, size, constant(rows));
      end = arith::MulIOp::create(rewriter, loc, blocks, constant(rows));
    }
    auto loop = scf::ForOp::create(
        rewriter, loc, first, end, constant(rows),
        onTensors ? ValueRange(sum) : ValueRange(),
        [&](OpBuilder &builder, Location, Value row, ValueRange carried) {
          Value updated =
              emitBlock(builder, row, rows, onTensors ? carried.front() : sum);
          scf::YieldOp::create(builder, loc,
                               onTensors ? ValueRange(updated) : ValueRange());
        });
    if (onTensors)
      sum = loop.getResult(0);
    first = end;
  }
  return onTensors ? expandView(rewriter, loc, sum, view) : whole;
}

void kron::decomposeGradient(IRRewriter &rewriter, KsmmGradOp op,
                             const GradientForm &form) {
  GradientDecomposer(rewriter, op, form).run();
}
