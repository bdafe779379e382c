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
// A GPU has a thread per element of D, which are too few to keep it busy:
// pieces of the batch are summed up by threads of their own, and then in their
// order, so that the result is the same every time.
//
//===----------------------------------------------------------------------===//

#include "DecomposeGradient.h"
#include "ArrayViews.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::kron;

/// Rows that one pass takes: as many as stay in the cache, then what is left.
static constexpr int64_t kBlockRows[] = {64, 8, 1};
/// The same for a D of many elements, which every pass reads and writes, unless
/// so many of them are neighbours that a row needs much of the cache.
static constexpr int64_t kLargeBlockRows[] = {128, 16, 1};
static constexpr int64_t kLargeElements = 1 << 15;
static constexpr int64_t kLongNeighbours = 8;

/// Threads that keep a GPU busy, the most pieces, and the fewest rows of one.
static constexpr int64_t kBusyThreads = int64_t(1) << 19;
static constexpr int64_t kMostPieces = 64;
static constexpr int64_t kLeastRows = 16;

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
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              rewriter.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> iterators(shape.size(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, onTensors ? TypeRange(init.getType()) : TypeRange(),
      inputs, init, maps, iterators,
      [&](OpBuilder &builder, Location, ValueRange args) {
        Value result = sum ? args.front() : Value();
        if (sum && scalesSum)
          result = emitScaled(builder, loc, alpha, result);
        if (!beta.isZero()) {
          Value z = addend ? args.drop_back().back() : args.back();
          z = emitConversion(builder, loc, z, accumulator);
          z = emitScaled(builder, loc, beta, z);
          result = result ? emitAdd(builder, loc, result, z) : z;
        }
        linalg::YieldOp::create(builder, loc,
                                emitConversion(builder, loc, result, element));
      });
  return onTensors ? generic.getResult(0) : init;
}

namespace {
class GradientDecomposer {
public:
  GradientDecomposer(IRRewriter &rewriter, KsmmGradOp op, bool onGPU);

  void run();

private:
  Value castFeatures(Value array, int64_t middle);
  Value emitStore(Value product);
  Value sumShared(Value product);
  Value createZeros(ArrayRef<int64_t> shape);
  Value emitBatchSize();

  // On a CPU.
  void chooseSlices();
  Value emitLoop(int64_t end, int64_t step, Value sum,
                 function_ref<Value(Value first, Value sum)> body);
  Value emitSlices(Value sum);
  Value emitSum(Value sum);
  Value viewBlock(OpBuilder &builder, Value array, Value first, int64_t rows,
                  int64_t middle);
  Value viewSlice(OpBuilder &builder, Value block, int64_t rows,
                  int64_t middle);
  Value emitBlock(OpBuilder &builder, Value first, int64_t rows, Value sum);

  // On a GPU.
  Value putBatchFirst(Value array);
  int64_t choosePieces();
  Value emitPieces();
  Value emitSumOfPieces();
  Value viewRows(Value array, OpFoldResult first, OpFoldResult count,
                 int64_t pieces, int64_t middle);
  Value emitProducts(Value sum, OpFoldResult first, OpFoldResult count,
                     int64_t pieces);
  Value addPieces(Value sum, Value pieces);
  Value emitReduction(ValueRange inputs, Value sum, ArrayRef<AffineMap> maps,
                      function_ref<Value(OpBuilder &, ValueRange)> getTerm);

  IRRewriter &rewriter;
  KsmmGradOp op;
  bool onGPU, onTensors;
  Location loc;
  Type element, accumulator;
  /// The pattern, of which one slice at a time is summed up on a CPU: a and d
  /// of the slice, and where it begins, if it is not all.
  int64_t a, b, c, d, slicedA, slicedD;
  Value firstBlock, firstInner;
  /// Dimension of the batch in the input and the gradient, and its size,
  /// kDynamic if unknown.
  unsigned batchDim;
  int64_t batch;
  Value input, grad, init;
  /// To be released behind the operation.
  SmallVector<Value> buffers;
};
} // namespace

GradientDecomposer::GradientDecomposer(IRRewriter &rewriter, KsmmGradOp op,
                                       bool onGPU)
    : rewriter(rewriter), op(op), onGPU(onGPU),
      onTensors(isOnTensors(op.getInit())), loc(op.getLoc()),
      element(kron::getElementType(op.getInit())),
      accumulator(getAccumulatorType(element)), a(op.getPattern()[0]),
      b(op.getPattern()[1]), c(op.getPattern()[2]), d(op.getPattern()[3]),
      slicedA(a), slicedD(d), batchDim(op.getBatchDim()),
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
  return emitGradientStore(rewriter, op, product, /*scalesSum=*/onGPU, init);
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
  if (!onGPU)
    chooseSlices();

  Value result;
  SmallVector<int64_t> slice{slicedA, b, c, slicedD};
  if (kron::getAlpha(op).isZero()) {
    result = emitStore(/*product=*/nullptr);
  } else if (accumulator == element && !onGPU && slice == shape) {
    result = emitSlices(emitStore(/*product=*/nullptr));
  } else {
    Value sum = onGPU ? emitSumOfPieces() : emitSlices(createZeros(slice));
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

/// Inner positions that a slice has at most, of weights that all of them share:
/// their sums stay in the cache. Fewer than the least of a vector are not worth
/// a slice.
static constexpr int64_t kMostInner = 64;
static constexpr int64_t kLeastInner = 8;

void GradientDecomposer::chooseSlices() {
  if (op.sharesBlocks())
    slicedA = 1;
  if (!op.sharesInner() || d <= kMostInner)
    return;
  int64_t best = 0;
  for (int64_t size = kLeastInner; size <= kMostInner; ++size) {
    bool isWhole = size % 16 == 0, isBestWhole = best > 0 && best % 16 == 0;
    if (d % size == 0 && isWhole >= isBestWhole)
      best = size;
  }
  if (best > 0)
    slicedD = best;
}

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
  PassOp pass = createPass(
      builder, loc, inputs, sum, permutation, op.getScheduleAttr(),
      [&](OpBuilder &body, ValueRange args) -> Value {
        auto product = ModeProductOp::create(
            body, loc, TypeRange(args.back().getType()), args[0], args[1],
            op.getAlpha(), /*beta=*/Value(), /*addend=*/Value(), args.back(),
            /*axis=*/uint64_t(1), factorDims, op.getConjInput() && isComplex,
            op.getConjGrad() && isComplex, op.getStaticAlphaAttr(),
            kron::getScalarAttr(accumulator, 1.0), op.getPrecision(),
            ScheduleAttr());
        return product.getResult(0);
      });
  return onTensors ? pass->getResult(0) : sum;
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
  bool isLarge =
      slicedA * b * c * slicedD > kLargeElements && slicedD < kLongNeighbours;
  for (int64_t rows : isLarge ? kLargeBlockRows : kBlockRows) {
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

//===----------------------------------------------------------------------===//
// Pieces of the batch
//===----------------------------------------------------------------------===//

/// A copy of `array` with the batch first: neighbouring threads take
/// neighbouring features.
Value GradientDecomposer::putBatchFirst(Value array) {
  SmallVector<int64_t> shape(cast<ShapedType>(array.getType()).getShape());
  std::swap(shape.front(), shape.back());
  SmallVector<Value> sizes;
  if (ShapedType::isDynamic(shape.front()))
    sizes.push_back(emitDimSize(rewriter, loc, array, 1));
  Value copy = createBuffer(rewriter, loc, shape, sizes, element, onTensors);
  auto transpose = linalg::TransposeOp::create(rewriter, loc, array, copy,
                                               ArrayRef<int64_t>{1, 0});
  return onTensors ? transpose->getResult(0) : copy;
}

int64_t GradientDecomposer::choosePieces() {
  int64_t pieces = 1, threads = a * b * c * d;
  auto fits = [&](int64_t count) {
    return count <= kMostPieces && count * threads <= kBusyThreads &&
           (ShapedType::isDynamic(batch) || batch / count >= kLeastRows);
  };
  while (fits(2 * pieces))
    pieces *= 2;
  return pieces;
}

/// `count` rows of `array`, batch first, from `first` on, as [pieces, rows, a,
/// middle, d]; without pieces if there is one.
Value GradientDecomposer::viewRows(Value array, OpFoldResult first,
                                   OpFoldResult count, int64_t pieces,
                                   int64_t middle) {
  SmallVector<OpFoldResult> offsets(2, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes(2, rewriter.getIndexAttr(a * middle * d));
  SmallVector<OpFoldResult> strides(2, rewriter.getIndexAttr(1));
  offsets[0] = first;
  sizes[0] = count;
  Value rows;
  if (onTensors)
    rows = tensor::ExtractSliceOp::create(rewriter, loc, array, offsets, sizes,
                                          strides);
  else
    rows = memref::SubViewOp::create(rewriter, loc, array, offsets, sizes,
                                     strides);
  int64_t known = cast<ShapedType>(rows.getType()).getDimSize(0);
  if (!ShapedType::isDynamic(known))
    known /= pieces;
  ArrayView view;
  view.groups = {{known}, {a, middle, d}};
  if (pieces > 1)
    view.groups.front().insert(view.groups.front().begin(), pieces);
  return expandView(rewriter, loc, rows, view);
}

/// Adds `getTerm` of the elements of `inputs` to `sum`, over the last dimension
/// of `maps`, those of the inputs and of the sum.
Value GradientDecomposer::emitReduction(
    ValueRange inputs, Value sum, ArrayRef<AffineMap> maps,
    function_ref<Value(OpBuilder &, ValueRange)> getTerm) {
  SmallVector<utils::IteratorType> iterators(maps.back().getNumDims(),
                                             utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      rewriter, loc, onTensors ? TypeRange(sum.getType()) : TypeRange(), inputs,
      sum, maps, iterators, [&](OpBuilder &builder, Location, ValueRange args) {
        Value term = getTerm(builder, args);
        linalg::YieldOp::create(builder, loc,
                                emitAdd(builder, loc, args.back(), term));
      });
  return onTensors ? generic.getResult(0) : sum;
}

/// Adds the products of `count` rows from `first` on to `sum`, [pieces, a, b,
/// c, d]; without pieces if there is one.
Value GradientDecomposer::emitProducts(Value sum, OpFoldResult first,
                                       OpFoldResult count, int64_t pieces) {
  MLIRContext *context = op.getContext();
  int64_t begin = pieces > 1 ? 1 : 0, rank = begin + 5;
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims.push_back(rewriter.getAffineDimExpr(dim));
  auto getMap = [&](int64_t middle) {
    SmallVector<AffineExpr> exprs{dims.back(), dims[begin], dims[middle],
                                  dims[begin + 3]};
    if (pieces > 1)
      exprs.insert(exprs.begin(), dims.front());
    return AffineMap::get(rank, 0, exprs, context);
  };
  AffineMap maps[] = {
      getMap(begin + 2), getMap(begin + 1),
      AffineMap::get(rank, 0, ArrayRef(dims).drop_back(), context)};
  Value inputs[] = {viewRows(input, first, count, pieces, c),
                    viewRows(grad, first, count, pieces, b)};
  return emitReduction(
      inputs, sum, maps, [&](OpBuilder &builder, ValueRange args) {
        Value x = emitConversion(builder, loc, args[0], accumulator);
        Value g = emitConversion(builder, loc, args[1], accumulator);
        if (op.getConjInput())
          x = emitConjugate(builder, loc, x);
        if (op.getConjGrad())
          g = emitConjugate(builder, loc, g);
        return emitMul(builder, loc, x, g);
      });
}

/// Adds the sums of all pieces to `sum`, in their order.
Value GradientDecomposer::addPieces(Value sum, Value pieces) {
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim < 5; ++dim)
    dims.push_back(rewriter.getAffineDimExpr(dim));
  SmallVector<AffineExpr> piece{dims[4], dims[0], dims[1], dims[2], dims[3]};
  AffineMap maps[] = {
      AffineMap::get(5, 0, piece, op.getContext()),
      AffineMap::get(5, 0, ArrayRef(dims).drop_back(), op.getContext())};
  return emitReduction(pieces, sum, maps, [](OpBuilder &, ValueRange args) {
    return args.front();
  });
}

Value GradientDecomposer::emitSumOfPieces() {
  if (batchDim == 0)
    return emitPieces();
  input = putBatchFirst(input);
  grad = putBatchFirst(grad);
  batchDim = 0;
  Value sum = emitPieces();
  releaseBuffer(rewriter, loc, grad);
  releaseBuffer(rewriter, loc, input);
  return sum;
}

/// The sum over the batch: that of equal pieces, then of the rows behind them.
Value GradientDecomposer::emitPieces() {
  Value sum = createZeros({a, b, c, d});
  int64_t pieces = choosePieces();
  OpFoldResult begin = rewriter.getIndexAttr(0), end = begin, rest;
  if (ShapedType::isDynamic(batch)) {
    Value size = emitBatchSize();
    Value count = arith::ConstantIndexOp::create(rewriter, loc, pieces);
    Value rows = arith::RemUIOp::create(rewriter, loc, size, count);
    rest = pieces > 1 ? rows : size;
    if (pieces > 1)
      end = Value(arith::SubIOp::create(rewriter, loc, size, rows));
  } else {
    end = rewriter.getIndexAttr(pieces > 1 ? batch / pieces * pieces : 0);
    rest = rewriter.getIndexAttr(pieces > 1 ? batch % pieces : batch);
  }
  if (pieces > 1) {
    Value sums = createZeros({pieces, a, b, c, d});
    sums = emitProducts(sums, begin, end, pieces);
    sum = addPieces(sum, sums);
    releaseBuffer(rewriter, loc, sums);
  }
  if (isConstantIntValue(rest, 0))
    return sum;
  return emitProducts(sum, end, rest, /*pieces=*/1);
}

void kron::decomposeGradient(IRRewriter &rewriter, KsmmGradOp op, bool onGPU) {
  GradientDecomposer(rewriter, op, onGPU).run();
}
