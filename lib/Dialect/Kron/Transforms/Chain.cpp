//===- Chain.cpp - Named operations as chains of mode products ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Factors on different axes commute, so their order is free. Applying factor j,
// of P_j x Q_j, to an array of S elements costs S*Q_j multiply-adds and leaves
// S*Q_j/P_j elements. Of two neighbours, j before k is cheaper iff
//
//   Q_j + Q_j/P_j * Q_k  <  Q_k + Q_k/P_k * Q_j
//   1/Q_k + 1/P_j        <  1/Q_j + 1/P_k        (divided by Q_j * Q_k)
//   1/P_j - 1/Q_j        <  1/P_k - 1/Q_k
//
// The size S and what follows are the same either way, and each side of the
// last line belongs to one factor: sorting by 1/P - 1/Q is optimal. Note that
// sorting by Q/P is not: 2x1 (-1/2) goes before 64x4 (-15/64).
//
// Where multiply-adds of the first factor count half, the others are still in
// that order, and each is tried as the first one.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::kron;

static ArrayRef<int64_t> getShapeOf(Value array) {
  return cast<ShapedType>(array.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ArrayView::getExpandedShape() const {
  SmallVector<int64_t> shape;
  for (ArrayRef<int64_t> group : groups)
    shape.append(group.begin(), group.end());
  return shape;
}

SmallVector<int64_t> ArrayView::getShape() const {
  SmallVector<int64_t> expanded = getExpandedShape();
  if (permutation.empty())
    return expanded;
  SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(expanded[axis]);
  return shape;
}

/// Gives the view `count` more axes of size 1 at the front.
static void prependUnitAxes(ArrayView &view, unsigned count) {
  SmallVector<int64_t> &front = view.groups.front();
  front.insert(front.begin(), count, 1);
}

/// Appends every dimension of `range` as an axis of its own.
static void appendDims(ArrayView &view, ArrayRef<int64_t> range) {
  for (int64_t size : range)
    view.groups.push_back({size});
}

//===----------------------------------------------------------------------===//
// The named operations
//===----------------------------------------------------------------------===//

/// Sets what the dimensions of a step's factor run over: `dims` as factor_dims,
/// less those of size 1 that would name another axis. A factor with P or Q of 1
/// keeps all: upstream lowers a rank-reducing view that keeps one dimension of
/// size 1 and drops another by guessing which.
static void setFactorDims(ChainStep &step, ArrayRef<int64_t> dims) {
  ArrayRef<int64_t> shape = getShapeOf(step.factor);
  auto isMatrixDimOfSizeOne = [&](auto dimAndSize) {
    return std::get<0>(dimAndSize) < 0 && std::get<1>(dimAndSize) == 1;
  };
  bool keepsAll =
      llvm::any_of(llvm::zip_equal(dims, shape), isMatrixDimOfSizeOne);
  for (auto [dim, size] : llvm::zip_equal(dims, shape)) {
    if (dim >= 0 && size == 1 && !keepsAll)
      continue;
    step.factorDims.push_back(dim);
    step.factorShape.push_back(size);
  }
}

/// The step of factor `index` of a kron.mkm, kron.kmm or kron.batched, whose
/// factors' batch dimensions are aligned at the right of `batchRank` axes.
template <typename OpTy>
static ChainStep describeStep(OpTy op, unsigned index, unsigned batchRank,
                              int64_t axis) {
  ChainStep step;
  step.factor = op.getFactors()[index];
  step.axis = axis;
  step.conjugate = op.getFactorTranspose(index) == Transpose::C &&
                   isa<ComplexType>(kron::getElementType(step.factor));
  SmallVector<int64_t> dims;
  unsigned factorBatchRank = getShapeOf(step.factor).size() - 2;
  for (unsigned dim = 0; dim < factorBatchRank; ++dim)
    dims.push_back(batchRank - factorBatchRank + dim);
  // kron.mkm multiplies by rows, the others by columns.
  bool transposed = op.getFactorTranspose(index) != Transpose::N;
  bool contractsRows = std::is_same_v<OpTy, MkmOp> != transposed;
  constexpr int64_t p = ModeProductOp::kContracted;
  constexpr int64_t q = ModeProductOp::kResulting;
  dims.append({contractsRows ? p : q, contractsRows ? q : p});
  setFactorDims(step, dims);
  return step;
}

/// Views of kron.mkm and kron.kmm: the batch, then the rows axis M and the axes
/// of the factors in the order that the operation and op(X) say.
static void describeMatrixViews(Chain &chain, ArrayRef<int64_t> input,
                                ArrayRef<int64_t> output, bool factorsLast,
                                bool transposed, ArrayRef<int64_t> contracted,
                                ArrayRef<int64_t> resulting) {
  int64_t batchRank = output.size() - 2, inputBatchRank = input.size() - 2;
  int64_t numFactors = contracted.size();

  appendDims(chain.output, output.take_front(batchRank));
  if (factorsLast)
    appendDims(chain.output, output[batchRank]);
  chain.output.groups.emplace_back(resulting);
  if (!factorsLast)
    appendDims(chain.output, output.back());

  bool storedFactorsLast = factorsLast != transposed;
  appendDims(chain.input, input.take_front(inputBatchRank));
  if (storedFactorsLast)
    appendDims(chain.input, input[inputBatchRank]);
  chain.input.groups.emplace_back(contracted);
  if (!storedFactorsLast)
    appendDims(chain.input, input.back());
  prependUnitAxes(chain.input, batchRank - inputBatchRank);

  if (!transposed)
    return;
  chain.input.permutation =
      llvm::to_vector(llvm::seq<int64_t>(batchRank + numFactors + 1));
  auto matrixAxes = chain.input.permutation.begin() + batchRank;
  // The axes of the matrix: M moves across the factors' axes.
  std::rotate(matrixAxes, matrixAxes + (storedFactorsLast ? 1 : numFactors),
              chain.input.permutation.end());
}

/// Views of kron.batched: one axis per dimension.
static void describeBatchedViews(Chain &chain, ArrayRef<int64_t> input,
                                 ArrayRef<int64_t> output, bool transposed,
                                 ArrayRef<int64_t> contracted,
                                 ArrayRef<int64_t> resulting) {
  unsigned numFactors = contracted.size();
  appendDims(chain.output, output.drop_back(numFactors));
  appendDims(chain.output, resulting);
  appendDims(chain.input, input.drop_back(numFactors));
  SmallVector<int64_t> stored(contracted);
  if (transposed)
    std::reverse(stored.begin(), stored.end());
  appendDims(chain.input, stored);
  prependUnitAxes(chain.input, output.size() - input.size());
  if (!transposed)
    return;
  chain.input.permutation = llvm::to_vector(llvm::seq<int64_t>(output.size()));
  std::reverse(chain.input.permutation.end() - numFactors,
               chain.input.permutation.end());
}

/// Views of kron.kmm with one column: those of kron.mkm with one row, so that
/// the elements along the last factor's axis are neighbours.
static void describeColumnViews(Chain &chain, ArrayRef<int64_t> input,
                                ArrayRef<int64_t> output, bool transposed,
                                ArrayRef<int64_t> contracted,
                                ArrayRef<int64_t> resulting) {
  int64_t batchRank = output.size() - 2, inputBatchRank = input.size() - 2;
  auto setGroups = [&](ArrayView &view, ArrayRef<int64_t> batch,
                       ArrayRef<int64_t> sizes, bool storedAsRow) {
    appendDims(view, batch);
    SmallVector<int64_t> axes(sizes);
    if (storedAsRow)
      appendDims(view, 1);
    else
      axes.insert(axes.begin(), 1);
    view.groups.push_back(std::move(axes));
    view.dropsLast = !storedAsRow;
  };
  setGroups(chain.output, output.take_front(batchRank), resulting, false);
  setGroups(chain.input, input.take_front(inputBatchRank), contracted,
            transposed);
  prependUnitAxes(chain.input, batchRank - inputBatchRank);
}

template <typename OpTy> static void describeProduct(OpTy op, Chain &chain) {
  constexpr bool isBatched = std::is_same_v<OpTy, BatchedOp>;
  constexpr bool isMkm = std::is_same_v<OpTy, MkmOp>;
  ArrayRef<int64_t> input = getShapeOf(op.getInput());
  ArrayRef<int64_t> output = getShapeOf(op.getInit());
  bool transposed = op.getTransInput() != Transpose::N;
  unsigned numFactors = op.getFactors().size();
  unsigned batchRank = output.size() - (isBatched ? numFactors : 2);
  bool isColumn = std::is_same_v<OpTy, KmmOp> && output.back() == 1;

  SmallVector<int64_t> contracted, resulting;
  for (unsigned index = 0; index < numFactors; ++index) {
    auto [p, q] = op.getFactorShape(index);
    contracted.push_back(p);
    resulting.push_back(q);
    int64_t axis = batchRank + (isMkm || isColumn ? 1 : 0) + index;
    chain.steps.push_back(describeStep(op, index, batchRank, axis));
  }
  if constexpr (isBatched)
    describeBatchedViews(chain, input, output, transposed, contracted,
                         resulting);
  else if (isColumn)
    describeColumnViews(chain, input, output, transposed, contracted,
                        resulting);
  else
    describeMatrixViews(chain, input, output, isMkm, transposed, contracted,
                        resulting);
}

/// Identity factors need no step; one step has to be left.
static void dropIdentities(Chain &chain) {
  auto isIdentity = [](const ChainStep &step) {
    return isIdentityFactor(step.factor);
  };
  if (llvm::all_of(chain.steps, isIdentity))
    chain.steps.truncate(1);
  else
    llvm::erase_if(chain.steps, isIdentity);
}

/// A Kronecker-sparse factor of pattern (a, b, c, d): X is [n, a, c, d] or
/// [a, c, d, n], contracted along c; the factor varies with a and d.
static void describeSparse(KsmmOp op, Chain &chain) {
  ArrayRef<int64_t> input = getShapeOf(op.getInput());
  ArrayRef<int64_t> output = getShapeOf(op.getInit());
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t a = pattern[0], b = pattern[1], c = pattern[2], d = pattern[3];
  bool batchFirst = op.getLayout() == Layout::BatchFirst;
  bool transposed = op.getTransInput() != Transpose::N;

  auto setGroups = [](ArrayView &view, bool batchFirst, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> features) {
    if (batchFirst)
      appendDims(view, shape.front());
    view.groups.emplace_back(features);
    if (!batchFirst)
      appendDims(view, shape.back());
  };
  setGroups(chain.output, batchFirst, output, {a, b, d});
  setGroups(chain.input, batchFirst != transposed, input, {a, c, d});
  if (transposed)
    chain.input.permutation = batchFirst ? SmallVector<int64_t>{3, 0, 1, 2}
                                         : SmallVector<int64_t>{1, 2, 3, 0};

  ChainStep step;
  step.factor = op.getWeights();
  int64_t first = batchFirst ? 1 : 0;
  step.axis = first + 1;
  step.conjugate = op.getTransWeights() == Transpose::C &&
                   isa<ComplexType>(kron::getElementType(step.factor));
  constexpr int64_t p = ModeProductOp::kContracted;
  constexpr int64_t q = ModeProductOp::kResulting;
  bool weightsTransposed = op.getTransWeights() != Transpose::N;
  setFactorDims(step, {first, weightsTransposed ? p : q,
                       weightsTransposed ? q : p, first + 2});
  chain.steps.push_back(std::move(step));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {
/// The sizes that decide where a step goes.
struct StepCost {
  int64_t contracted = 1;
  /// Q, times what the step stretches the array by where X has a batch axis of
  /// size 1: the elements per contracted ones that the step leaves.
  int64_t resulting = 1;
};
} // namespace

static StepCost getCost(const ChainStep &step, ArrayRef<int64_t> inputShape) {
  StepCost cost;
  for (auto [dim, size] : llvm::zip_equal(step.factorDims, step.factorShape)) {
    if (dim == ModeProductOp::kContracted)
      cost.contracted = size;
    else if (dim == ModeProductOp::kResulting || inputShape[dim] == 1)
      cost.resulting *= size;
  }
  return cost;
}

/// Negative, 0 or positive as 1/P - 1/Q of `lhs` is below, equal to or above
/// that of `rhs`, in exact arithmetic: the fractions are (Q - P) / (P * Q).
static int compareCosts(const StepCost &lhs, const StepCost &rhs) {
  using Wide = __int128;
  Wide left = Wide(lhs.resulting - lhs.contracted) * rhs.contracted;
  Wide right = Wide(rhs.resulting - rhs.contracted) * lhs.contracted;
  left *= rhs.resulting;
  right *= lhs.resulting;
  return (left > right) - (left < right);
}

/// Multiply-adds per element of the input, of which those of the first step
/// count half, if step `first` goes before the others, which keep their order.
static double getCostOfFirst(ArrayRef<StepCost> costs, size_t first) {
  double elements = double(costs[first].resulting) / costs[first].contracted;
  double total = 0.5 * costs[first].resulting;
  for (auto [index, cost] : llvm::enumerate(costs)) {
    if (index == first)
      continue;
    total += elements * cost.resulting;
    elements *= double(cost.resulting) / cost.contracted;
  }
  return total;
}

/// Sorts the steps as the head of this file says; equals keep the last axis
/// first, so that the array is contiguous in what the first steps read.
void kron::orderSteps(Chain &chain, bool halvesFirst) {
  SmallVector<int64_t> inputShape = chain.input.getShape();
  llvm::sort(chain.steps, [&](const ChainStep &lhs, const ChainStep &rhs) {
    int order =
        compareCosts(getCost(lhs, inputShape), getCost(rhs, inputShape));
    return order ? order < 0 : lhs.axis > rhs.axis;
  });
  if (!halvesFirst)
    return;
  auto costs = llvm::map_to_vector(chain.steps, [&](const ChainStep &step) {
    return getCost(step, inputShape);
  });
  size_t best = 0;
  for (size_t first = 1; first < costs.size(); ++first)
    if (getCostOfFirst(costs, first) < getCostOfFirst(costs, best))
      best = first;
  auto begin = chain.steps.begin();
  std::rotate(begin, begin + best, begin + best + 1);
}

template <typename OpTy> static void describeCommon(OpTy op, Chain &chain) {
  chain.conjugateInput = op.getTransInput() == Transpose::C &&
                         isa<ComplexType>(kron::getElementType(op.getInput()));
  chain.precision = op.getPrecision();
  chain.plan = op.getPlanAttr();
}

Chain kron::describeChain(ScaledOpInterface op, bool halvesFirst) {
  Chain chain;
  llvm::TypeSwitch<Operation *>(op)
      .Case<MkmOp, KmmOp, BatchedOp>([&](auto product) {
        describeCommon(product, chain);
        describeProduct(product, chain);
        dropIdentities(chain);
      })
      .Case([&](KsmmOp sparse) {
        describeCommon(sparse, chain);
        describeSparse(sparse, chain);
      });
  bool isIeee = chain.precision == Precision::Ieee;
  orderSteps(chain, halvesFirst && !isIeee &&
                        kron::getElementType(op.getInitValue()).isBF16());
  return chain;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// Turns `shape`, that of the array before `step`, into the one after it.
static void advanceShape(SmallVectorImpl<int64_t> &shape,
                         const ChainStep &step) {
  for (auto [dim, size] : llvm::zip_equal(step.factorDims, step.factorShape)) {
    if (dim == ModeProductOp::kResulting)
      shape[step.axis] = size;
    else if (dim >= 0 && shape[dim] == 1)
      shape[dim] = size;
  }
}

/// An uninitialized tensor with the sizes of `init` where `shape` is dynamic.
static Value createEmptyLike(OpBuilder &builder, Location loc,
                             ArrayRef<int64_t> shape, Type element,
                             Value init) {
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      sizes.push_back(tensor::DimOp::create(builder, loc, init, dim));
  return tensor::EmptyOp::create(builder, loc, shape, element, sizes);
}

Value kron::emitChain(OpBuilder &builder, Location loc, const Chain &chain,
                      Value input, ValueRange factors, Value init,
                      const ChainScaling &scaling) {
  Type accumulator = getAccumulatorType(kron::getElementType(init));
  SmallVector<int64_t> shape = chain.input.getShape();
  // Axes that no factor contracts have the size of the result's, which may be
  // known where the input's is not.
  for (auto [size, initSize] : llvm::zip_equal(shape, getShapeOf(init)))
    if (ShapedType::isDynamic(size))
      size = initSize;

  Value value = input;
  for (auto [index, step] : llvm::enumerate(chain.steps)) {
    bool isLast = index + 1 == chain.steps.size();
    advanceShape(shape, step);
    ChainScaling applied = isLast ? scaling : ChainScaling();
    Value destination =
        isLast ? init : createEmptyLike(builder, loc, shape, accumulator, init);
    auto product = ModeProductOp::create(
        builder, loc, TypeRange(destination.getType()), value, factors[index],
        applied.alpha, applied.beta, applied.addend, destination,
        static_cast<uint64_t>(step.axis), step.factorDims,
        /*conj_input=*/index == 0 && chain.conjugateInput,
        /*conj_factor=*/step.conjugate, applied.staticAlpha, applied.staticBeta,
        chain.precision, isLast ? chain.plan : nullptr);
    value = product.getResult(0);
  }
  return value;
}

FusedOp
kron::createFusedOp(OpBuilder &builder, Location loc, ValueRange inputs,
                    Value init, ArrayRef<int64_t> inputPermutation,
                    Attribute plan,
                    llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  bool onTensors = isa<TensorType>(init.getType());
  SmallVector<Type> argTypes;
  for (Value operand :
       llvm::concat<Value>(llvm::to_vector(inputs), SmallVector<Value>{init})) {
    SmallVector<int64_t> shape(getShapeOf(operand));
    if (argTypes.empty() && !inputPermutation.empty())
      shape = applyPermutation(shape, inputPermutation);
    argTypes.push_back(
        RankedTensorType::get(shape, kron::getElementType(operand)));
  }
  DenseI64ArrayAttr permutation;
  if (!inputPermutation.empty())
    permutation = builder.getDenseI64ArrayAttr(inputPermutation);
  SmallVector<Type> results;
  if (onTensors)
    results.push_back(init.getType());
  auto fused =
      FusedOp::create(builder, loc, results, inputs, init, permutation, plan);

  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locs(argTypes.size(), loc);
  Block *block = builder.createBlock(&fused.getBody(), {}, argTypes, locs);
  Value result = body(builder, block->getArguments());
  YieldOp::create(builder, loc, result);
  return fused;
}
