//===- DecomposeProduct.cpp - Products to mode products -------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Chain.h says which mode products a named operation is. Here the operands are
// viewed and the chain is built and, behind it, the kron.epilogue that
// kron.ksmm may have. A bias alone, or a residual alone, can be the Z of the
// product instead.
//
// Two things make the epilogue read a buffer of its own instead of working in
// place on the destination: f16 and bf16, whose product must not be rounded
// before it, and a residual that is the destination. Z is then added to that
// buffer, in its type.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "kron/Dialect/Kron/Transforms/Decompose.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

/// The factor of `step` without the dimensions that the step drops.
static Value viewFactor(OpBuilder &builder, Location loc,
                        const ChainStep &step) {
  ShapedType type = getShapedType(step.factor);
  if (type.getShape() == ArrayRef(step.factorShape))
    return step.factor;
  if (auto tensorType = dyn_cast<RankedTensorType>(type))
    return tensor::createCanonicalRankReducingExtractSliceOp(
        builder, loc, step.factor, tensorType.clone(step.factorShape));
  return memref::createCanonicalRankReducingSubViewOp(builder, loc, step.factor,
                                                      step.factorShape);
}

//===----------------------------------------------------------------------===//
// Rewriting one operation
//===----------------------------------------------------------------------===//

namespace {
/// What follows the product: Y = scale * activation(v + bias) + residual.
struct Epilogue {
  Value bias;
  /// The axes of the destination's view that the bias runs over.
  SmallVector<int64_t> biasAxes;
  Activation activation = Activation::Identity;
  TypedAttr scale;
  Value residual;
};

class Decomposer {
public:
  Decomposer(IRRewriter &rewriter, ScaledOpInterface op,
             const ProductForm &form)
      : rewriter(rewriter), op(op), form(form), loc(op.getLoc()),
        chain(describeChain(op, form.halvesFirst)),
        element(kron::getElementType(op.getInitValue())),
        accumulator(getAccumulatorType(element)) {}

  /// Replaces the operation.
  void run();

private:
  void widenInputs();
  void viewDestination();
  void viewEpilogue(KsmmOp sparse);
  Value broadcastBias();
  Value emitProduct(Value destination, bool addsZ);
  Value emitProductOnTensors(Value destination, const ChainScaling &scaling);
  void emitProductOnMemrefs(Value destination, const ChainScaling &scaling);
  Value emitZeroProduct();
  Value emitWithEpilogue();
  Value emitBuffered(bool isZero);
  Value emitScaledAddend(Value product, Value destination);
  Value emitEpilogue(Value v, Value destination);

  IRRewriter &rewriter;
  ScaledOpInterface op;
  ProductForm form;
  Location loc;
  Chain chain;
  Type element;
  Type accumulator;

  /// The input, and what of it and the factors was widened to a buffer.
  Value input;
  SmallVector<Value> widened;
  /// The destination and Z, viewed; Z is null where it is the destination.
  Value init;
  Value addend;
  /// Whether Z is the epilogue, and counts once.
  bool addsEpilogue = false;
  Epilogue epilogue;
  bool hasEpilogue = false;
};
} // namespace

/// `array` with its elements in `type`, in a buffer of its own.
static Value widen(OpBuilder &builder, Location loc, Value array, Type type) {
  Value buffer = createBufferLike(builder, loc, array, type);
  return emitElementwise(
      builder, loc, array, buffer, [&](OpBuilder &inside, ValueRange args) {
        return emitConversion(inside, loc, args.front(), type);
      });
}

/// Replaces an input and weights of 8 bits by arrays of the result's type,
/// unless they are to stay.
void Decomposer::widenInputs() {
  input = op.getInputValue();
  if (form.keepsFloat8)
    return;
  auto widenIf8 = [&](Value &array) {
    if (!isFloat8(kron::getElementType(array)))
      return;
    array = widen(rewriter, loc, array, element);
    widened.push_back(array);
  };
  widenIf8(input);
  for (ChainStep &step : chain.steps)
    widenIf8(step.factor);
}

void Decomposer::viewDestination() {
  init = expandView(rewriter, loc, op.getInitValue(), chain.output);
  bool readsAddend = !kron::getBeta(op).isZero() && op.getAddendValue() &&
                     op.getAddendValue() != op.getInitValue();
  if (readsAddend)
    addend = expandView(rewriter, loc, op.getAddendValue(), chain.output);
}

void Decomposer::viewEpilogue(KsmmOp sparse) {
  hasEpilogue = true;
  epilogue.activation = sparse.getActivation();
  epilogue.scale = sparse.getScaleAttr();
  if (sparse.getResidual())
    epilogue.residual =
        expandView(rewriter, loc, sparse.getResidual(), chain.output);
  if (!sparse.getBias())
    return;
  unsigned featureDim = sparse.getFeatureDim();
  ArrayView biasView;
  biasView.groups.push_back(chain.output.groups[featureDim]);
  epilogue.bias = expandView(rewriter, loc, sparse.getBias(), biasView);
  for (unsigned index = 0; index < 3; ++index)
    epilogue.biasAxes.push_back(featureDim + index);
}

/// The bias as an array like the destination, with strides of 0 along the rows.
Value Decomposer::broadcastBias() {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, epilogue.bias);
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(rewriter, loc, init);
  SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> own = metadata.getConstifiedMixedStrides();
  for (auto [axis, stride] : llvm::zip_equal(epilogue.biasAxes, own))
    strides[axis] = stride;
  return memref::ReinterpretCastOp::create(
      rewriter, loc, metadata.getBaseBuffer(),
      metadata.getConstifiedMixedOffset(), sizes, strides);
}

/// The chain on open tensors; a transposed input is left to --kron-fuse.
Value Decomposer::emitProductOnTensors(Value destination,
                                       const ChainScaling &scaling) {
  Value input = expandView(rewriter, loc, this->input, chain.input);
  if (!chain.input.permutation.empty()) {
    SmallVector<OpFoldResult> sizes = applyPermutation(
        tensor::getMixedSizes(rewriter, loc, input), chain.input.permutation);
    Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                          kron::getElementType(input));
    input = linalg::TransposeOp::create(rewriter, loc, input, empty,
                                        chain.input.permutation)
                ->getResult(0);
  }
  SmallVector<Value> factors;
  for (const ChainStep &step : chain.steps)
    factors.push_back(viewFactor(rewriter, loc, step));
  return emitChain(rewriter, loc, chain, input, factors, destination, scaling);
}

/// The chain in a kron.fused, which holds what is between its factors.
void Decomposer::emitProductOnMemrefs(Value destination,
                                      const ChainScaling &scaling) {
  SmallVector<Value> inputs{expandView(rewriter, loc, input, chain.input)};
  for (const ChainStep &step : chain.steps)
    inputs.push_back(viewFactor(rewriter, loc, step));
  if (scaling.addend)
    inputs.push_back(scaling.addend);
  Attribute plan = std::exchange(chain.plan, nullptr);
  createFusedOp(rewriter, loc, inputs, destination, chain.input.permutation,
                plan, [&](OpBuilder &builder, ValueRange args) {
                  ChainScaling inner = scaling;
                  if (inner.addend)
                    inner.addend = args[inputs.size() - 1];
                  return emitChain(builder, loc, chain, args.front(),
                                   args.slice(1, chain.steps.size()),
                                   args.back(), inner);
                });
}

/// alpha times the product in `destination` and, if `addsZ`, beta * Z. Returns
/// where the result is.
Value Decomposer::emitProduct(Value destination, bool addsZ) {
  ChainScaling scaling;
  scaling.alpha = op.getAlphaValue();
  scaling.staticAlpha = op.getStaticAlphaAttr();
  if (addsZ) {
    scaling.beta = op.getBetaValue();
    scaling.staticBeta = addsEpilogue ? kron::getScalarAttr(accumulator, 1.0)
                                      : op.getStaticBetaAttr();
    scaling.addend = addend;
  }
  if (isOnTensors(init))
    return emitProductOnTensors(destination, scaling);
  emitProductOnMemrefs(destination, scaling);
  return destination;
}

/// beta * Z, added to `product` in place if there is one; else in
/// `destination`. Returns the result on tensors.
Value Decomposer::emitScaledAddend(Value product, Value destination) {
  Value z = addend ? addend : init;
  Value outs = product ? product : destination;
  SmallVector<Value> inputs;
  if (z != outs)
    inputs.push_back(z);
  return emitElementwise(
      rewriter, loc, inputs, outs, [&](OpBuilder &builder, ValueRange args) {
        Value v =
            emitScaled(builder, loc, kron::getBeta(op),
                       emitConversion(builder, loc, args.front(), accumulator));
        if (product)
          v = emitAdd(builder, loc, args.back(), v);
        return emitConversion(builder, loc, v, kron::getElementType(outs));
      });
}

/// scale * activation(v + bias) + residual in `destination`. Returns the result
/// on tensors.
Value Decomposer::emitEpilogue(Value v, Value destination) {
  SmallVector<Type> results;
  if (isOnTensors(destination))
    results.push_back(destination.getType());
  auto end = EpilogueOp::create(
      rewriter, loc, results, v, epilogue.bias, epilogue.residual, destination,
      epilogue.biasAxes, epilogue.activation, epilogue.scale);
  return isOnTensors(destination) ? end->getResult(0) : Value();
}

/// The epilogue of alpha times the product (nothing if `isZero`) plus beta * Z
/// in a buffer of the accumulation type.
Value Decomposer::emitBuffered(bool isZero) {
  bool addsZ = !kron::getBeta(op).isZero();
  Value buffer = createBufferLike(rewriter, loc, init, accumulator);
  Value v;
  if (!isZero) {
    v = emitProduct(buffer, /*addsZ=*/false);
  } else if (!addsZ) {
    auto fill = linalg::FillOp::create(
        rewriter, loc, emitZero(rewriter, loc, accumulator), buffer);
    v = isOnTensors(buffer) ? fill.getResult(0) : buffer;
  }
  if (addsZ)
    v = emitScaledAddend(v, buffer);
  Value result = emitEpilogue(v, init);
  releaseBuffer(rewriter, loc, buffer);
  return result;
}

/// alpha is the constant 0: neither the input nor a factor is read.
Value Decomposer::emitZeroProduct() {
  if (hasEpilogue)
    return emitBuffered(/*isZero=*/true);
  if (!kron::getBeta(op).isZero())
    return emitScaledAddend(/*product=*/nullptr, init);
  Value zero = emitZero(rewriter, loc, element);
  auto fill = linalg::FillOp::create(rewriter, loc, zero, init);
  return isOnTensors(init) ? fill.getResult(0) : Value();
}

Value Decomposer::emitWithEpilogue() {
  bool needsBuffer = accumulator != element;
  if (auto sparse = dyn_cast<KsmmOp>(op.getOperation()))
    needsBuffer |=
        !isOnTensors(init) && sparse.getResidual() == op.getInitValue();
  if (needsBuffer)
    return emitBuffered(/*isZero=*/false);
  Value v = emitProduct(init, /*addsZ=*/true);
  return emitEpilogue(v, v);
}

void Decomposer::run() {
  rewriter.setInsertionPoint(op);
  viewDestination();
  if (!kron::getAlpha(op).isZero())
    widenInputs();
  auto sparse = dyn_cast<KsmmOp>(op.getOperation());
  if (sparse && sparse.hasEpilogue())
    viewEpilogue(sparse);

  Value result;
  if (sparse && form.addsEpilogue) {
    if (epilogue.bias)
      addend = broadcastBias();
    else if (sparse.getResidual() != op.getInitValue())
      addend = epilogue.residual;
    addsEpilogue = true;
    result = emitProduct(init, /*addsZ=*/true);
  } else if (kron::getAlpha(op).isZero())
    result = emitZeroProduct();
  else if (hasEpilogue)
    result = emitWithEpilogue();
  else
    result = emitProduct(init, /*addsZ=*/true);

  for (Value buffer : widened)
    releaseBuffer(rewriter, loc, buffer);
  if (!isOnTensors(init)) {
    rewriter.eraseOp(op);
    return;
  }
  result = collapseView(rewriter, loc, result, chain.output);
  Type type = op->getResult(0).getType();
  if (result.getType() != type)
    result = tensor::CastOp::create(rewriter, loc, type, result);
  rewriter.replaceOp(op, result);
}

void kron::decomposeProduct(IRRewriter &rewriter, ScaledOpInterface op,
                            const ProductForm &form) {
  Decomposer(rewriter, op, form).run();
}
