//===- KronVerifyNamed.cpp - Verifiers of the named operations --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// kron.mkm, kron.kmm and kron.batched share one verifier, which the roles of
// their axes parameterise; tags such as `mkm_c3` name the constraint of the
// operation's description that a check belongs to.
//
//===----------------------------------------------------------------------===//

#include "KronShapes.h"
#include "KronVerify.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// kron.mkm, kron.kmm, kron.batched: factors
//===----------------------------------------------------------------------===//

/// mkm_c1, kmm_c1, batched_c1: number, ranks and sizes of the factors.
template <typename OpTy> static LogicalResult verifyFactors(OpTy op) {
  OperandRange factors = op.getFactors();
  if (factors.empty())
    return op.emitOpError("expects at least one factor, but got none");
  std::optional<ArrayAttr> transposes = op.getTransFactors();
  if (transposes && transposes->size() != factors.size())
    return op.emitOpError("expects trans_factors to have ")
           << factors.size() << " entries, one per factor, but got "
           << transposes->size();
  for (auto [index, factor] : llvm::enumerate(factors)) {
    auto shape = cast<ShapedType>(factor.getType()).getShape();
    if (shape.size() < 2)
      return op.emitOpError("expects factor ")
             << index + 1 << " to have a rank of at least 2, but got "
             << shape.size();
    if (llvm::is_contained(shape.take_back(2), 0))
      return op.emitOpError("expects factor ")
             << index + 1 << " to have at least 1 row and 1 column, but got "
             << factor.getType();
  }
  return success();
}

static LogicalResult verifyCoreRanks(Operation *op) {
  auto scaled = cast<ScaledOpInterface>(op);
  int64_t coreRank = getCoreRank(op);
  for (const NamedArray &array :
       {NamedArray{"the input", scaled.getInputValue()},
        NamedArray{"the outs", scaled.getInitValue()}})
    if (getRank(array.value) < coreRank)
      return op->emitOpError("expects ")
             << array.name << " to have a rank of at least " << coreRank
             << ", but got " << getRank(array.value);
  return success();
}

//===----------------------------------------------------------------------===//
// kron.mkm, kron.kmm, kron.batched: products of the factors' sizes
//===----------------------------------------------------------------------===//

/// "rows" or "columns" of op(F), whichever `forResult` asks for.
static StringRef getSideName(Operation *op, bool forResult) {
  bool contractsColumns = !isa<MkmOp>(op);
  return contractsColumns != forResult ? "columns" : "rows";
}

/// Contracted or resulting sizes of `axis`, multiplied: mkm_c3, kmm_c3,
/// batched_c3.
static LogicalResult verifyAxisSize(Operation *op, const CoreAxis &axis,
                                    bool forResult,
                                    SmallVectorImpl<int64_t> &initShape) {
  auto scaled = cast<ScaledOpInterface>(op);
  StringRef side = getSideName(op, forResult);
  SmallVector<int64_t> sizes;
  for (unsigned i = 0; i < axis.numFactors; ++i) {
    unsigned index = axis.firstFactor + i;
    auto [contracted, resulting] = getMatrixDims(op, index);
    sizes.push_back(getDimSize(scaled.getFactorValues()[index],
                               forResult ? resulting : contracted));
  }
  std::optional<int64_t> product = multiplySizes(sizes);
  if (!product)
    return op->emitOpError("expects the product of the factor ")
           << side << " to fit 63 bits";

  std::string why =
      axis.numFactors == 1
          ? ("the " + side + " of factor " + Twine(axis.firstFactor + 1)).str()
          : ("the product of the factor " + side).str();
  if (forResult) {
    refineSize(initShape[axis.initDim], *product);
    return verifyDim(op, {"the outs", scaled.getInitValue()}, axis.initDim,
                     *product, why);
  }
  return verifyDim(op, {"the input", scaled.getInputValue()}, axis.inputDim,
                   *product, why);
}

static LogicalResult verifyCoreAxes(Operation *op,
                                    SmallVectorImpl<int64_t> &initShape) {
  auto scaled = cast<ScaledOpInterface>(op);
  for (const CoreAxis &axis : getCoreAxes(op)) {
    if (axis.numFactors == 0) {
      int64_t size = getDimSize(scaled.getInputValue(), axis.inputDim);
      refineSize(initShape[axis.initDim], size);
      if (failed(verifyDim(op, {"the outs", scaled.getInitValue()},
                           axis.initDim, size, "the size in the input")))
        return failure();
      continue;
    }
    if (failed(verifyAxisSize(op, axis, /*forResult=*/false, initShape)) ||
        failed(verifyAxisSize(op, axis, /*forResult=*/true, initShape)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// kron.mkm, kron.kmm, kron.batched: batch
//===----------------------------------------------------------------------===//

/// An array with batch dimensions, which come first.
struct BatchedArray {
  NamedArray array;
  int64_t batchRank;
};

static SmallVector<BatchedArray> getBatchedArrays(ScaledOpInterface op) {
  SmallVector<BatchedArray> arrays;
  for (const NamedArray &array : getNamedArrays(op)) {
    if (array.value == op.getInitValue() && array.name == "the outs")
      break;
    int64_t coreRank = arrays.empty() ? getCoreRank(op) : 2;
    arrays.push_back({array, getRank(array.value) - coreRank});
  }
  return arrays;
}

/// mkm_c4, kmm_c4, batched_c4: NumPy broadcasting, where a dynamic size counts
/// as equal to whatever it meets.
static LogicalResult verifyBatch(ScaledOpInterface op,
                                 SmallVectorImpl<int64_t> &initShape) {
  SmallVector<BatchedArray> arrays = getBatchedArrays(op);
  NamedArray init{"the outs", op.getInitValue()};
  int64_t batchRank = 0;
  for (const BatchedArray &batched : arrays)
    batchRank = std::max(batchRank, batched.batchRank);
  if (failed(verifyRank(op, init, batchRank + getCoreRank(op))))
    return failure();

  for (int64_t dim = 0; dim < batchRank; ++dim) {
    int64_t size = 1;
    for (auto &[array, arrayBatchRank] : arrays) {
      int64_t arrayDim = dim + arrayBatchRank - batchRank;
      int64_t arraySize = arrayDim < 0 ? 1 : getDimSize(array.value, arrayDim);
      if (arraySize == 1)
        continue;
      if (size == 1 || ShapedType::isDynamic(size))
        size = arraySize;
      else if (failed(
                   verifyDim(op, array, arrayDim, size,
                             "the batch size of the arrays before it, or 1")))
        return failure();
    }
    refineSize(initShape[dim], size);
    if (failed(verifyDim(op, init, dim, size,
                         "the size that the batch dimensions broadcast to")))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// kron.mkm, kron.kmm, kron.batched
//===----------------------------------------------------------------------===//

template <typename OpTy> static LogicalResult verifyProduct(OpTy op) {
  if (failed(verifyScaledOp(op)) ||
      failed(verifySameElements(op)) || // mkm_c2, kmm_c2, batched_c2
      failed(verifyFactors(op)) ||      // mkm_c1, kmm_c1, batched_c1
      failed(verifyCoreRanks(op)))
    return failure();
  SmallVector<int64_t> initShape = getShape(op.getInit());
  if (failed(verifyBatch(op, initShape)) ||  // mkm_c4, kmm_c4, batched_c4
      failed(verifyCoreAxes(op, initShape))) // mkm_c3, kmm_c3, batched_c3
    return failure();
  // mkm_c5, kmm_c5, batched_c5
  return verifyShapeOfInit(op, {"the addend", op.getAddend()}, initShape);
}

LogicalResult MkmOp::verify() { return verifyProduct(*this); }
LogicalResult KmmOp::verify() { return verifyProduct(*this); }
LogicalResult BatchedOp::verify() { return verifyProduct(*this); }

//===----------------------------------------------------------------------===//
// kron.ksmm, kron.ksmm_grad
//===----------------------------------------------------------------------===//

/// ksmm_c1, ksmm_grad_c1: `array` is shaped as a pattern.
static LogicalResult verifyPattern(Operation *op, const NamedArray &array) {
  if (failed(verifyRank(op, array, 4)))
    return failure();
  for (unsigned dim = 0; dim < 4; ++dim)
    if (getDimSize(array.value, dim) == 0)
      return op->emitOpError("expects every dimension of ")
             << array.name << " to be at least 1, but got "
             << array.value.getType();
  return success();
}

/// ksmm_c3: batch and features of the input and the destination.
static LogicalResult verifyKsmmShapes(KsmmOp op,
                                      SmallVectorImpl<int64_t> &initShape) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t a = pattern[0], b = pattern[1], c = pattern[2], d = pattern[3];
  // Both fit: the weights have at least as many elements.
  int64_t inputFeatures = *multiplySizes({a, c, d});
  int64_t initFeatures = *multiplySizes({a, b, d});
  NamedArray input{"the input", op.getInput()};
  NamedArray init{"the outs", op.getInit()};
  bool isTransposed = op.getTransInput() != Transpose::N;
  unsigned inputBatchDim = isTransposed ? op.getFeatureDim() : op.getBatchDim();
  if (failed(verifyRank(op, input, 2)) || failed(verifyRank(op, init, 2)) ||
      failed(verifyDim(op, input, 1 - inputBatchDim, inputFeatures,
                       "the product a*c*d of the pattern")) ||
      failed(verifyDim(op, init, op.getFeatureDim(), initFeatures,
                       "the product a*b*d of the pattern")) ||
      failed(verifyDim(op, init, op.getBatchDim(),
                       getDimSize(op.getInput(), inputBatchDim),
                       "the batch of the input")))
    return failure();
  refineSize(initShape[op.getFeatureDim()], initFeatures);
  refineSize(initShape[op.getBatchDim()],
             getDimSize(op.getInput(), inputBatchDim));
  return success();
}

LogicalResult KsmmOp::verify() {
  if (failed(verifyScaledOp(*this)) ||
      failed(verifySameElements(*this)) || // ksmm_c2
      (getScaleAttr() &&
       failed(verifyScalar(*this, "scale", getScaleAttr(), getInit()))))
    return failure();
  // ksmm_c1
  if (failed(verifyPattern(*this, {"the weights", getWeights()})))
    return failure();

  SmallVector<int64_t> initShape = getShape(getInit());
  if (failed(verifyKsmmShapes(*this, initShape)) || // ksmm_c3
                                                    // ksmm_c5
      failed(verifyActivation(*this, getActivation(), getInit())))
    return failure();
  // ksmm_c4
  if (failed(
          verifyShapeOfInit(*this, {"the addend", getAddend()}, initShape)) ||
      failed(
          verifyShapeOfInit(*this, {"the residual", getResidual()}, initShape)))
    return failure();
  if (!getBias())
    return success();
  NamedArray bias{"the bias", getBias()};
  if (failed(verifyRank(*this, bias, 1)))
    return failure();
  return verifyDim(*this, bias, 0, initShape[getFeatureDim()],
                   "the features of the outs");
}

/// ksmm_grad_c3: batch and features of the input and the gradient.
static LogicalResult verifyGradientShapes(KsmmGradOp op) {
  ArrayRef<int64_t> pattern = op.getPattern();
  int64_t a = pattern[0], b = pattern[1], c = pattern[2], d = pattern[3];
  // Both fit: the gradient of the weights has at least as many elements.
  int64_t inputFeatures = *multiplySizes({a, c, d});
  int64_t gradFeatures = *multiplySizes({a, b, d});
  NamedArray input{"the input", op.getInput()};
  NamedArray grad{"the gradient", op.getGrad()};
  if (failed(verifyRank(op, input, 2)) || failed(verifyRank(op, grad, 2)) ||
      failed(verifyDim(op, input, op.getFeatureDim(), inputFeatures,
                       "the product a*c*d of the pattern")) ||
      failed(verifyDim(op, grad, op.getFeatureDim(), gradFeatures,
                       "the product a*b*d of the pattern")))
    return failure();
  return verifyDim(op, grad, op.getBatchDim(),
                   getDimSize(op.getInput(), op.getBatchDim()),
                   "the batch of the input");
}

/// ksmm_grad_c1: the pattern where weights are shared.
static LogicalResult verifyProductPattern(KsmmGradOp op) {
  std::optional<ArrayRef<int64_t>> pattern = op.getProductPattern();
  if (!pattern)
    return success();
  if (pattern->size() != 4)
    return op.emitOpError("expects product_pattern to have 4 entries, but got ")
           << pattern->size();
  for (auto [dim, size] : llvm::enumerate(*pattern)) {
    if (size < 1)
      return op.emitOpError("expects entry ")
             << dim << " of product_pattern to be at least 1, but got " << size;
    bool canBeShared = dim == 0 || dim == 3;
    if (canBeShared && getDimSize(op.getInit(), dim) == 1)
      continue;
    if (failed(verifyDim(op, {"the outs", op.getInit()}, dim, size,
                         canBeShared ? "as in product_pattern, or 1"
                                     : "as in product_pattern")))
      return failure();
  }
  return success();
}

LogicalResult KsmmGradOp::verify() {
  if (failed(verifyScaledOp(*this)) ||
      failed(verifySameElements(*this)) ||                     // ksmm_grad_c2
      failed(verifyPattern(*this, {"the outs", getInit()})) || // ksmm_grad_c1
      failed(verifyProductPattern(*this)) ||
      failed(verifyGradientShapes(*this))) // ksmm_grad_c3
    return failure();
  // ksmm_grad_c4
  return verifyShapeOfInit(*this, {"the addend", getAddend()},
                           getShape(getInit()));
}

//===----------------------------------------------------------------------===//
// kron.factor_grad, kron.bias_grad
//===----------------------------------------------------------------------===//

/// factor_grad_c1: number, ranks and sizes of the factors.
static LogicalResult verifyOtherFactors(FactorGradOp op) {
  int64_t count = op.getFactors().size() + 1, index = op.getIndex();
  if (index < 0 || index >= count)
    return op.emitOpError("expects index to be from 0 to ")
           << count - 1 << ", but got " << index;
  std::optional<ArrayAttr> transposes = op.getTransFactors();
  if (transposes && static_cast<int64_t>(transposes->size()) != count - 1)
    return op.emitOpError("expects trans_factors to have ")
           << count - 1 << " entries, one per other factor, but got "
           << transposes->size();
  SmallVector<NamedArray> matrices{{"the outs", op.getInit()}};
  for (auto [number, factor] : llvm::enumerate(op.getFactors()))
    matrices.push_back({"other factor " + std::to_string(number + 1), factor});
  for (const NamedArray &matrix : matrices) {
    if (failed(verifyRank(op, matrix, 2)))
      return failure();
    if (llvm::is_contained(getShape(matrix.value), 0))
      return op.emitOpError("expects ")
             << matrix.name << " to have at least 1 row and 1 column, but got "
             << matrix.value.getType();
  }
  return success();
}

/// factor_grad_c3: the features of X and G.
static LogicalResult verifyGradientFeatures(FactorGradOp op) {
  SmallVector<int64_t> contracted, resulting;
  for (auto [p, q] : op.getFactorShapes()) {
    contracted.push_back(p);
    resulting.push_back(q);
  }
  std::optional<int64_t> inputs = multiplySizes(contracted);
  std::optional<int64_t> results = multiplySizes(resulting);
  if (!inputs || !results)
    return op.emitOpError("expects the product of the sizes of the factors to "
                          "fit 63 bits");
  unsigned dim = op.getFeatureDim();
  if (failed(verifyDim(op, {"the input", op.getInput()}, dim, *inputs,
                       "the product of what the factors contract")))
    return failure();
  return verifyDim(op, {"the gradient", op.getGrad()}, dim, *results,
                   "the product of what the factors result in");
}

LogicalResult FactorGradOp::verify() {
  if (failed(verifyScaledOp(*this)) ||
      failed(verifySameElements(*this)) || // factor_grad_c2
      failed(verifyOtherFactors(*this)))   // factor_grad_c1
    return failure();
  // factor_grad_c4
  NamedArray input{"the input", getInput()}, grad{"the gradient", getGrad()};
  if (getRank(getInput()) < 2)
    return emitOpError(
               "expects the input to have a rank of at least 2, but got ")
           << getRank(getInput());
  if (failed(verifyRank(*this, grad, getRank(getInput()))))
    return failure();
  for (unsigned dim = 0, rank = getRank(getInput()); dim < rank; ++dim)
    if (dim != getFeatureDim() &&
        failed(verifyDim(*this, grad, dim, getDimSize(getInput(), dim),
                         "the size in the input")))
      return failure();
  if (failed(verifyGradientFeatures(*this))) // factor_grad_c3
    return failure();
  // factor_grad_c5
  return verifyShapeOfInit(*this, {"the addend", getAddend()},
                           getShape(getInit()));
}

LogicalResult BiasGradOp::verify() {
  NamedArray grad{"the gradient", getInput()}, init{"the outs", getInit()};
  if (failed(verifyScaledOp(*this)) ||
      failed(verifySameElements(*this)) || // bias_grad_c1
      failed(verifyRank(*this, grad, 2)) ||
      failed(verifyRank(*this, init, 1)) ||
      failed(verifyDim(*this, init, 0, // bias_grad_c2
                       getDimSize(getInput(), getFeatureDim()),
                       "the features of the gradient")))
    return failure();
  // bias_grad_c3
  if (failed(verifyShapeOfInit(*this, {"the addend", getAddend()},
                               getShape(getInit()))))
    return failure();
  // bias_grad_c4
  if (Attribute plan = getPlanAttr())
    return emitOpError("expects no plan, since no fused region is made of it, "
                       "but got ")
           << plan;
  return success();
}

//===----------------------------------------------------------------------===//
// kron.quantize
//===----------------------------------------------------------------------===//

LogicalResult QuantizeOp::verify() {
  NamedArray scales{"the scales", getScales()};
  NamedArray arrays[] = {
      {"the input", getInput()}, {"the outs", getInit()}, scales};
  if (failed(verifyArrayKinds(*this, arrays)))
    return failure();
  // quantize_c1
  if (failed(verifyShapeOfInit(*this, arrays[0], getShape(getInit()))))
    return failure();
  int64_t rank = getRank(getInput()), batchRank = getRank(getScales());
  if (batchRank >= rank)
    return emitOpError("expects the scales to have a rank of less than ")
           << rank << ", that of the input, but got " << batchRank;
  // quantize_c2
  for (int64_t dim = 0; dim < batchRank; ++dim) {
    unsigned inputDim = getFirstBatchDim() + dim;
    if (failed(verifyDim(*this, scales, dim, getDimSize(getInput(), inputDim),
                         "the size of dimension " + Twine(inputDim) +
                             " of the input")))
      return failure();
  }
  // quantize_c3
  Type expected = getAccumulatorType(getElementType(getInput()));
  Type type = getElementType(getScales());
  if (type != expected)
    return emitOpError("expects the scales to have element type ")
           << expected << " for an input of " << getElementType(getInput())
           << ", but got " << type;
  // quantize_c4
  if (GPUPlanAttr plan = getPlanAttr();
      plan && plan.getKernel() != GPUKernel::Quantize &&
      plan.getKernel() != GPUKernel::Auto)
    return emitOpError("expects a plan of kernel quantize, but got ")
           << stringifyGPUKernel(plan.getKernel());
  return success();
}
