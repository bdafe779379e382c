//===- KronVerify.cpp - Checks that kron verifiers share --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "KronVerify.h"
#include "KronShapes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace mlir::kron;

SmallVector<NamedArray> kron::getNamedArrays(ScaledOpInterface op) {
  SmallVector<NamedArray> arrays;
  bool isBiasGrad = isa<BiasGradOp>(op);
  arrays.push_back(
      {isBiasGrad ? "the gradient" : "the input", op.getInputValue()});
  if (auto gradient = dyn_cast<FactorGradOp>(op.getOperation())) {
    arrays.push_back({"the gradient", gradient.getGrad()});
    for (auto [index, factor] : llvm::enumerate(gradient.getFactors()))
      arrays.push_back({"other factor " + std::to_string(index + 1), factor});
  } else if (isa<KsmmOp>(op)) {
    arrays.push_back({"the weights", op.getFactorValues()[0]});
  } else if (isa<KsmmGradOp>(op)) {
    arrays.push_back({"the gradient", op.getFactorValues()[0]});
  } else if (isa<ModeProductOp>(op)) {
    arrays.push_back({"the factor", op.getFactorValues()[0]});
  } else {
    for (auto [index, factor] : llvm::enumerate(op.getFactorValues()))
      arrays.push_back({"factor " + std::to_string(index + 1), factor});
  }
  arrays.push_back({"the outs", op.getInitValue()});
  if (op.getAddendValue())
    arrays.push_back({"the addend", op.getAddendValue()});
  if (auto ksmm = dyn_cast<KsmmOp>(op.getOperation())) {
    if (ksmm.getBias())
      arrays.push_back({"the bias", ksmm.getBias()});
    if (ksmm.getResidual())
      arrays.push_back({"the residual", ksmm.getResidual()});
  }
  return arrays;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Whether the static sizes of an array alone leave it in what a processor can
/// address, so that arithmetic on its offsets does not overflow.
static bool isAddressable(ShapedType type) {
  constexpr int64_t limit = int64_t(1) << 56;
  SmallVector<int64_t> sizes(
      llvm::make_filter_range(type.getShape(), [](int64_t size) {
        return !ShapedType::isDynamic(size);
      }));
  if (llvm::is_contained(sizes, 0))
    return true;
  std::optional<int64_t> elements = multiplySizes(sizes);
  Type element = type.getElementType();
  int64_t bytes = 1;
  if (auto complex = dyn_cast<ComplexType>(element))
    bytes = complex.getElementType().getIntOrFloatBitWidth() / 4;
  else
    bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return elements && *elements <= limit / bytes;
}

LogicalResult kron::verifyArrayKinds(Operation *op,
                                     ArrayRef<NamedArray> arrays) {
  bool isTensor = isa<TensorType>(arrays.front().value.getType());
  for (const NamedArray &array : arrays) {
    if (isa<TensorType>(array.value.getType()) != isTensor)
      return op->emitOpError("expects all arrays to be tensors or all to be "
                             "memrefs, but got ")
             << arrays.front().value.getType() << " for " << arrays.front().name
             << " and " << array.value.getType() << " for " << array.name;
    if (getRank(array.value) > maxRank)
      return op->emitOpError("expects ")
             << array.name << " to have a rank of at most " << maxRank
             << ", but got " << getRank(array.value);
    auto type = cast<ShapedType>(array.value.getType());
    if (!isAddressable(type))
      return op->emitOpError("expects ")
             << array.name << " to have at most 2^56 bytes, but got " << type;
  }
  return success();
}

/// Inputs of 8 bits, beside which all others have the type of the result.
static LogicalResult verifyFloat8Elements(KsmmOp op) {
  Type element = getElementType(op.getInit());
  bool isInput8 = isFloat8(getElementType(op.getInput()));
  if (!isa<FloatType>(element))
    return op.emitOpError("expects the outs to have floating-point elements "
                          "beside ")
           << (isInput8 ? "an input of " : "weights of ")
           << getElementType(isInput8 ? op.getInput() : op.getWeights())
           << ", but got " << element;
  for (const NamedArray &array : getNamedArrays(op)) {
    Type type = getElementType(array.value);
    bool mayBe8 =
        array.value == op.getInput() || array.value == op.getWeights();
    if (type == element || (mayBe8 && isFloat8(type)))
      continue;
    return op.emitOpError("expects ")
           << array.name << " to have element type " << element
           << " as the outs" << (mayBe8 ? ", f8E4M3FN or f8E5M2" : "")
           << ", but got " << type;
  }
  return success();
}

/// Sums of 16 bits may be left in the type that they are added up in.
static LogicalResult verifyBiasElements(BiasGradOp op) {
  Type element = getElementType(op.getInput()),
       accumulator = getAccumulatorType(element);
  Type result = getElementType(op.getInit());
  if (result != element && result != accumulator) {
    InFlightDiagnostic error =
        op.emitOpError("expects the outs to have element type ");
    error << element;
    if (accumulator != element)
      error << " or " << accumulator;
    return error << " as the gradient, but got " << result;
  }
  Value addend = op.getAddend();
  if (!addend || getElementType(addend) == result)
    return success();
  return op.emitOpError("expects the addend to have element type ")
         << result << " as the outs, but got " << getElementType(addend);
}

LogicalResult kron::verifySameElements(ScaledOpInterface op) {
  Type element = getElementType(op.getInputValue());
  if (auto gradient = dyn_cast<BiasGradOp>(op.getOperation()))
    return verifyBiasElements(gradient);
  if (auto sparse = dyn_cast<KsmmOp>(op.getOperation()))
    if (isFloat8(element) || isFloat8(getElementType(sparse.getWeights())))
      return verifyFloat8Elements(sparse);
  for (const NamedArray &array : getNamedArrays(op))
    if (getElementType(array.value) != element)
      return op.emitOpError("expects ")
             << array.name << " to have element type " << element
             << " as the input, but got " << getElementType(array.value);
  return success();
}

static LogicalResult verifyScalarType(Operation *op, StringRef name, Type type,
                                      Value init) {
  Type expected = getAccumulatorType(getElementType(init));
  if (type == expected)
    return success();
  return op->emitOpError("expects ")
         << name << " to have type " << expected << ", but got " << type;
}

LogicalResult kron::verifyScalar(Operation *op, StringRef name, TypedAttr attr,
                                 Value init) {
  if (!isa<FloatAttr, IntegerAttr, complex::NumberAttr>(attr))
    return op->emitOpError("expects ")
           << name << " to be a number, but got " << attr;
  return verifyScalarType(op, name, attr.getType(), init);
}

LogicalResult kron::verifyActivation(Operation *op, Activation activation,
                                     Value init) {
  Type element = getElementType(init);
  if (activation == Activation::Identity || isa<FloatType>(element))
    return success();
  bool takesIntegers = activation == Activation::Relu;
  if (takesIntegers && element.isInteger())
    return success();
  return op->emitOpError("expects ")
         << (takesIntegers ? "real" : "floating-point")
         << " elements for activation " << stringifyActivation(activation)
         << ", but got " << element;
}

static LogicalResult verifyScale(ScaledOpInterface op, StringRef name,
                                 Value value, TypedAttr attr) {
  if (value && attr)
    return op.emitOpError("expects ")
           << name << " to be an operand or a constant, but got both";
  if (value)
    return verifyScalarType(op, name, value.getType(), op.getInitValue());
  return attr ? verifyScalar(op, name, attr, op.getInitValue()) : success();
}

LogicalResult kron::verifyScaledOp(ScaledOpInterface op) {
  if (failed(verifyArrayKinds(op, getNamedArrays(op))) ||
      failed(verifyScale(op, "alpha", op.getAlphaValue(),
                         op.getStaticAlphaAttr())) ||
      failed(
          verifyScale(op, "beta", op.getBetaValue(), op.getStaticBetaAttr())))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult kron::verifyRank(Operation *op, const NamedArray &array,
                               int64_t rank) {
  if (getRank(array.value) == rank)
    return success();
  return op->emitOpError("expects ") << array.name << " to have rank " << rank
                                     << ", but got " << getRank(array.value);
}

LogicalResult kron::verifyDim(Operation *op, const NamedArray &array,
                              unsigned dim, int64_t expected,
                              const Twine &why) {
  int64_t size = getDimSize(array.value, dim);
  if (size == expected || ShapedType::isDynamic(size) ||
      ShapedType::isDynamic(expected))
    return success();
  return op->emitOpError("expects dimension ")
         << dim << " of " << array.name << " to be " << expected << ", " << why
         << ", but got " << size;
}

LogicalResult kron::verifyShapeOfInit(Operation *op, const NamedArray &array,
                                      ArrayRef<int64_t> initShape) {
  if (!array.value)
    return success();
  if (failed(verifyRank(op, array, initShape.size())))
    return failure();
  for (auto [dim, size] : llvm::enumerate(initShape))
    if (failed(verifyDim(op, array, dim, size, "the size in the outs")))
      return failure();
  return success();
}

SmallVector<int64_t> kron::getShape(Value array) {
  return llvm::to_vector(cast<ShapedType>(array.getType()).getShape());
}

void kron::refineSize(int64_t &size, int64_t known) {
  if (ShapedType::isDynamic(size))
    size = known;
}
