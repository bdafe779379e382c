//===- DecomposeFactorGradient.cpp - Gradients by dense factors -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The gradient by factor k is a sum over all axes of X and G but those of the
// factor, once the other factors are applied: to X those that shrink it, to G,
// transposed, those that would make X longer. What is left,
//
//   D[p, q] = sum over o, i of X[o, p, i] * G[o, q, i]
//
// is the gradient by sparse weights of pattern (o, P, Q, i) that all o and i
// share. Of those the ones next to the rows in memory are rows themselves.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "GradientStore.h"
#include "kron/Dialect/Kron/Transforms/Decompose.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::kron;

static ArrayRef<int64_t> getShapeOf(Value array) {
  return cast<ShapedType>(array.getType()).getShape();
}

/// The product of `sizes`; kDynamic if one is.
static int64_t multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product = ShapedType::isDynamic(size) || ShapedType::isDynamic(product)
                  ? ShapedType::kDynamic
                  : product * size;
  return product;
}

static Value collapse(OpBuilder &builder, Location loc, Value array,
                      ArrayRef<ReassociationIndices> reassociation) {
  if (reassociation.size() == getShapeOf(array).size())
    return array;
  if (isOnTensors(array))
    return tensor::CollapseShapeOp::create(builder, loc, array, reassociation);
  return memref::CollapseShapeOp::create(builder, loc, array, reassociation);
}

//===----------------------------------------------------------------------===//
// Shared weights as rows
//===----------------------------------------------------------------------===//

/// `array` with its features split into `outer` and the rest, of which the part
/// next to the batch becomes a part of that. Null if that needs a copy.
static Value moveToBatch(OpBuilder &builder, Location loc, Value array,
                         unsigned batchDim, int64_t outer, int64_t inner) {
  ArrayRef<int64_t> shape = getShapeOf(array);
  ArrayView view;
  view.groups.assign(2, {outer, inner});
  view.groups[batchDim] = {shape[batchDim]};
  SmallVector<ReassociationIndices> merged{{0, 1}, {2}};
  if (batchDim == 1)
    merged = {{0}, {1, 2}};
  if (auto type = dyn_cast<MemRefType>(array.getType())) {
    SmallVector<ReassociationIndices> parts{{0}, {1, 2}};
    if (batchDim == 1)
      parts = {{0, 1}, {2}};
    FailureOr<MemRefType> expanded = memref::ExpandShapeOp::computeExpandedType(
        type, view.getExpandedShape(), parts);
    if (failed(expanded) ||
        !memref::CollapseShapeOp::isGuaranteedCollapsible(*expanded, merged))
      return nullptr;
  }
  return collapse(builder, loc, expandView(builder, loc, array, view), merged);
}

void kron::mergeShared(IRRewriter &rewriter, KsmmGradOp op) {
  SmallVector<int64_t> pattern(op.getPattern());
  int64_t a = pattern[0], b = pattern[1], c = pattern[2], d = pattern[3];
  unsigned batchDim = op.getBatchDim();
  bool isShared = batchDim == 0 ? op.sharesBlocks() : op.sharesInner();
  if (!isShared || ShapedType::isDynamicShape(getShapeOf(op.getInit())))
    return;
  rewriter.setInsertionPoint(op);
  auto move = [&](Value array, int64_t middle) {
    return batchDim == 0 ? moveToBatch(rewriter, op.getLoc(), array, batchDim,
                                       a, middle * d)
                         : moveToBatch(rewriter, op.getLoc(), array, batchDim,
                                       a * middle, d);
  };
  Value input = move(op.getInput(), c), grad = move(op.getGrad(), b);
  if (!input || !grad)
    return;
  pattern[batchDim == 0 ? 0 : 3] = 1;
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(input);
    op.getGradMutable().assign(grad);
    if (ArrayRef(pattern) == getShapeOf(op.getInit()))
      op.removeProductPatternAttr();
    else
      op.setProductPattern(pattern);
  });
}

//===----------------------------------------------------------------------===//
// kron.factor_grad
//===----------------------------------------------------------------------===//

namespace {
class FactorGradient {
public:
  FactorGradient(IRRewriter &rewriter, FactorGradOp op);

  KsmmGradOp run();

private:
  int64_t getKnown(unsigned dim);
  ArrayView getView(ArrayRef<int64_t> features);
  Chain getChain(bool onInput);
  Value apply(bool onInput);
  ArrayView getAxes(int64_t middle);
  void choosePattern(ArrayRef<Value> arrays);
  Value makeMatrix(Value array, int64_t middle);
  KsmmGradOp createGradient(Value input, Value grad);

  IRRewriter &rewriter;
  FactorGradOp op;
  Location loc;
  /// Whether the product was kron.mkm.
  bool isRight;
  /// P and Q of all factors.
  SmallVector<std::pair<int64_t, int64_t>> shapes;
  SmallVector<int64_t> batch;
  int64_t rows = 1;
  /// Elements outside and inside of the factor's axis, but for M and the batch.
  int64_t outside = 1, inside = 1;
  /// Whether what is outside of the axis becomes the rows, and the first axis
  /// that is of the second dimension then.
  bool batchFirst = true;
  int64_t split = 1;
  SmallVector<int64_t> pattern;
  SmallVector<Value> buffers;
};
} // namespace

FactorGradient::FactorGradient(IRRewriter &rewriter, FactorGradOp op)
    : rewriter(rewriter), op(op), loc(op.getLoc()),
      isRight(op.getLayout() == Layout::BatchFirst),
      shapes(op.getFactorShapes()) {
  int64_t batchRank = getShapeOf(op.getInput()).size() - 2;
  for (int64_t dim = 0; dim < batchRank; ++dim)
    batch.push_back(getKnown(dim));
  rows = getKnown(op.getRowsDim());
  for (auto [position, shape] : llvm::enumerate(shapes)) {
    int64_t size = std::min(shape.first, shape.second);
    if (position < op.getIndex())
      outside *= size;
    else if (position > op.getIndex())
      inside *= size;
  }
}

/// A size that X and G have in common.
int64_t FactorGradient::getKnown(unsigned dim) {
  int64_t size = getShapeOf(op.getInput())[dim];
  return ShapedType::isDynamic(size) ? getShapeOf(op.getGrad())[dim] : size;
}

//===----------------------------------------------------------------------===//
// The other factors
//===----------------------------------------------------------------------===//

/// An array with its features split.
ArrayView FactorGradient::getView(ArrayRef<int64_t> features) {
  ArrayView view;
  for (int64_t size : batch)
    view.groups.push_back({size});
  if (isRight)
    view.groups.push_back({rows});
  view.groups.emplace_back(features);
  if (!isRight)
    view.groups.push_back({rows});
  return view;
}

/// The other factors that are applied to X, or to G.
Chain FactorGradient::getChain(bool onInput) {
  constexpr int64_t p = ModeProductOp::kContracted;
  constexpr int64_t q = ModeProductOp::kResulting;
  Chain chain;
  chain.precision = op.getPrecision();
  SmallVector<int64_t> before, after;
  bool isComplex = isa<ComplexType>(kron::getElementType(op.getInit()));
  for (auto [position, shape] : llvm::enumerate(shapes)) {
    auto [from, to] = shape;
    bool applies = position != op.getIndex() && (to <= from) == onInput;
    before.push_back(onInput ? from : to);
    after.push_back(applies ? std::min(from, to) : before.back());
    if (!applies)
      continue;
    unsigned number = position - (position > op.getIndex());
    Transpose transpose = op.getFactorTranspose(number);
    ChainStep step;
    step.factor = op.getFactors()[number];
    step.factorShape = llvm::to_vector(getShapeOf(step.factor));
    // To G it is applied transposed.
    bool contractsFirst = isRight == (transpose == Transpose::N);
    step.factorDims = {p, q};
    if (contractsFirst != onInput)
      std::swap(step.factorDims[0], step.factorDims[1]);
    step.axis = batch.size() + (isRight ? 1 : 0) + position;
    // The result of these products is conjugated as X or G is.
    bool conjugate = transpose == Transpose::C;
    if (!onInput)
      conjugate ^= op.getConjInput() != op.getConjGrad();
    step.conjugate = conjugate && isComplex;
    chain.steps.push_back(std::move(step));
  }
  chain.input = getView(before);
  chain.output = getView(after);
  orderSteps(chain);
  return chain;
}

/// X, or G, with its factors applied.
Value FactorGradient::apply(bool onInput) {
  Value array = onInput ? op.getInput() : op.getGrad();
  Chain chain = getChain(onInput);
  if (chain.steps.empty())
    return array;
  SmallVector<int64_t> shape(getShapeOf(array));
  SmallVector<Value> sizes;
  for (auto [dim, group] : llvm::enumerate(chain.output.groups)) {
    shape[dim] = multiply(group);
    if (ShapedType::isDynamic(shape[dim]))
      sizes.push_back(emitDimSize(rewriter, loc, array, dim));
  }
  bool onTensors = isOnTensors(array);
  Value buffer = createBuffer(rewriter, loc, shape, sizes,
                              kron::getElementType(array), onTensors);
  Value destination = expandView(rewriter, loc, buffer, chain.output);
  SmallVector<Value> inputs{expandView(rewriter, loc, array, chain.input)};
  for (const ChainStep &step : chain.steps)
    inputs.push_back(step.factor);
  if (onTensors) {
    Value result =
        emitChain(rewriter, loc, chain, inputs.front(),
                  ArrayRef(inputs).drop_front(), destination, ChainScaling());
    return collapseView(rewriter, loc, result, chain.output);
  }
  buffers.push_back(buffer);
  createFusedOp(rewriter, loc, inputs, destination, /*inputPermutation=*/{},
                Attribute(), [&](OpBuilder &builder, ValueRange args) {
                  return emitChain(builder, loc, chain, args.front(),
                                   args.drop_front().drop_back(), args.back(),
                                   ChainScaling());
                });
  return buffer;
}

//===----------------------------------------------------------------------===//
// The sum over everything but one axis
//===----------------------------------------------------------------------===//

/// The axes of X (G) with the other factors applied, of which the factor's has
/// the size `middle`. There is one before the features.
ArrayView FactorGradient::getAxes(int64_t middle) {
  ArrayView view = getView({outside, middle, inside});
  if (!isRight && batch.empty())
    view.groups.front().insert(view.groups.front().begin(), 1);
  return view;
}

static SmallVector<ReassociationIndices> splitInTwo(int64_t rank,
                                                    int64_t split) {
  SmallVector<ReassociationIndices> groups(2);
  for (int64_t axis = 0; axis < rank; ++axis)
    groups[axis < split ? 0 : 1].push_back(axis);
  return groups;
}

/// Rows are what lies outside of the axis, or what lies inside: whichever is
/// longer, since sums are kept for all of the other, and may be unknown.
void FactorGradient::choosePattern(ArrayRef<Value> arrays) {
  int64_t batchSize = multiply(batch);
  int64_t outer = multiply({batchSize, isRight ? rows : 1, outside});
  int64_t inner = multiply({inside, isRight ? 1 : rows});
  int64_t rank = getAxes(1).getExpandedShape().size();
  auto isView = [&](Value array) {
    auto type = dyn_cast<MemRefType>(array.getType());
    return !type || type.getLayout().isIdentity();
  };
  batchFirst = ShapedType::isDynamic(outer) ||
               (ShapedType::isStatic(inner) &&
                (inner <= outer || (isRight && !llvm::all_of(arrays, isView))));
  if (batchFirst) {
    split = isRight ? batch.size() + 1 : std::max<int64_t>(batch.size(), 1);
    pattern = {outside, 0, 0, inner};
    return;
  }
  split = rank - 1;
  pattern = {isRight ? outer : multiply({batchSize, outside}), 0, 0,
             isRight ? 1 : inside};
}

Value FactorGradient::makeMatrix(Value array, int64_t middle) {
  ArrayView axes = getAxes(middle);
  Value view = expandView(rewriter, loc, array, axes);
  SmallVector<ReassociationIndices> groups =
      splitInTwo(getShapeOf(view).size(), split);
  auto type = dyn_cast<MemRefType>(view.getType());
  if (type && !memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups)) {
    Value copy =
        createBufferLike(rewriter, loc, array, kron::getElementType(array));
    linalg::CopyOp::create(rewriter, loc, array, copy);
    buffers.push_back(copy);
    view = expandView(rewriter, loc, copy, axes);
  }
  return collapse(rewriter, loc, view, groups);
}

KsmmGradOp FactorGradient::createGradient(Value input, Value grad) {
  // D is [P, Q] of kron.mkm: X is what ksmm_grad calls the gradient.
  auto [first, second] = shapes[op.getIndex()];
  bool conjFirst = op.getConjInput(), conjSecond = op.getConjGrad();
  if (isRight) {
    std::swap(input, grad);
    std::swap(conjFirst, conjSecond);
  } else {
    std::swap(first, second);
  }
  pattern[1] = first;
  pattern[2] = second;
  ArrayView view;
  view.groups = {{1, first}, {second, 1}};
  Value init = expandView(rewriter, loc, op.getInit(), view), addend;
  if (op.getAddend())
    addend = op.getAddend() == op.getInit()
                 ? init
                 : expandView(rewriter, loc, op.getAddend(), view);
  DenseI64ArrayAttr productPattern;
  if (ArrayRef(pattern) != getShapeOf(init))
    productPattern = rewriter.getDenseI64ArrayAttr(pattern);
  bool onTensors = isOnTensors(init);
  auto gradient = KsmmGradOp::create(
      rewriter, loc, onTensors ? TypeRange(init.getType()) : TypeRange(), input,
      grad, op.getAlpha(), op.getBeta(), addend, init,
      batchFirst ? Layout::BatchFirst : Layout::BatchLast, productPattern,
      conjFirst, conjSecond, op.getStaticAlphaAttr(), op.getStaticBetaAttr(),
      op.getPrecision(), op.getPlanAttr());
  if (!onTensors) {
    rewriter.eraseOp(op);
    return gradient;
  }
  Value result = collapseView(rewriter, loc, gradient->getResult(0), view);
  rewriter.replaceOp(
      op, castToShape(rewriter, loc, result, getShapeOf(op->getResult(0))));
  return gradient;
}

KsmmGradOp FactorGradient::run() {
  rewriter.setInsertionPoint(op);
  Value input = apply(/*onInput=*/true), grad = apply(/*onInput=*/false);
  choosePattern({input, grad});
  auto [p, q] = shapes[op.getIndex()];
  input = makeMatrix(input, p);
  grad = makeMatrix(grad, q);
  KsmmGradOp gradient = createGradient(input, grad);
  rewriter.setInsertionPointAfter(gradient);
  for (Value buffer : buffers)
    releaseBuffer(rewriter, loc, buffer);
  return gradient;
}

KsmmGradOp kron::decomposeFactorGradient(IRRewriter &rewriter,
                                         FactorGradOp op) {
  auto isEmpty = [](Value array) {
    return llvm::is_contained(getShapeOf(array), 0);
  };
  if (!kron::getAlpha(op).isZero() && !isEmpty(op.getInput()) &&
      !isEmpty(op.getGrad()))
    return FactorGradient(rewriter, op).run();
  rewriter.setInsertionPoint(op);
  Value result = emitGradientStore(rewriter, op, /*sum=*/nullptr,
                                   /*scalesSum=*/false, op.getInit());
  if (isOnTensors(op.getInit()))
    rewriter.replaceOp(op, result);
  else
    rewriter.eraseOp(op);
  return nullptr;
}
