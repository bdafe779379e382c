//===- PadInnermost.cpp - Fused regions on padded copies ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// X and the factor of the padded axis are copied into arrays of zeros, and what
// the products of these have in the places of Y is copied to Y.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Transforms/PadInnermost.h"
#include "ArrayViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

bool kron::canPadInnermost(FusedOp fused) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  Type element = kron::getElementType(fused.getInit());
  if (isa<ComplexType>(element) || fused.getEpilogue() ||
      !kron::getBeta(products.back()).isZero())
    return false;
  Value alpha = products.back().getAlpha();
  if (alpha && alpha.getParentBlock() == &fused.getBody().front())
    return false;
  return llvm::all_of(fused->getOperands(), [&](Value array) {
    auto type = dyn_cast<ShapedType>(array.getType());
    return !type ||
           (type.hasStaticShape() && kron::getElementType(array) == element);
  });
}

namespace {

class Padder {
public:
  Padder(RewriterBase &rewriter, FusedOp fused, const InnermostPadding &padding)
      : rewriter(rewriter), fused(fused), loc(fused.getLoc()), padding(padding),
        products(fused.getModeProducts()) {
    // Zeros are NaN behind an infinity of another factor, and must not be
    // summed up then: the axis is contracted first.
    auto *contracting =
        llvm::find_if(products, [&](ModeProductOp op) { return isPadded(op); });
    if (contracting != products.end())
      std::rotate(products.begin(), contracting, std::next(contracting));
  }

  FusedOp run();

private:
  bool isPadded(ModeProductOp product) const {
    return static_cast<int64_t>(product.getAxis()) == padding.axis;
  }
  Value getPart(Value array, ArrayRef<int64_t> shape);
  Value copyToZeros(Value array, ArrayRef<int64_t> shape,
                    ArrayRef<int64_t> permutation);
  Value padInput();
  Value padFactor(ModeProductOp product);
  Value buildProducts(OpBuilder &builder, ValueRange args);
  void storeResult(FusedOp padded);

  RewriterBase &rewriter;
  FusedOp fused;
  Location loc;
  InnermostPadding padding;
  /// In their new order.
  SmallVector<ModeProductOp> products;
  /// New arrays.
  SmallVector<Value> buffers;
};

} // namespace

/// The first positions of `array`, `shape` of them.
Value Padder::getPart(Value array, ArrayRef<int64_t> shape) {
  SmallVector<OpFoldResult> offsets(shape.size(), rewriter.getIndexAttr(0)),
      strides(shape.size(), rewriter.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(rewriter.getContext(), shape);
  if (isOnTensors(array))
    return tensor::ExtractSliceOp::create(rewriter, loc, array, offsets, sizes,
                                          strides);
  return memref::SubViewOp::create(rewriter, loc, array, offsets, sizes,
                                   strides);
}

/// A new array of `shape` with the elements of `array`, whose axes come in the
/// order of `permutation` if that has any, and zeros behind them.
Value Padder::copyToZeros(Value array, ArrayRef<int64_t> shape,
                          ArrayRef<int64_t> permutation) {
  Type element = kron::getElementType(array);
  bool onTensors = isOnTensors(array);
  Value buffer = buffers.emplace_back(
      createBuffer(rewriter, loc, shape, /*sizes=*/{}, element, onTensors));
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(element));
  auto fill = linalg::FillOp::create(rewriter, loc, zero, buffer);
  Value zeros = onTensors ? fill->getResult(0) : buffer;
  SmallVector<int64_t> copied(getShapedType(array).getShape());
  if (!permutation.empty())
    copied = applyPermutation(copied, permutation);
  Value source = array;
  if (!permutation.empty() || !onTensors) {
    Value part = getPart(zeros, copied);
    Operation *copy =
        permutation.empty()
            ? linalg::CopyOp::create(rewriter, loc, array, part).getOperation()
            : linalg::TransposeOp::create(rewriter, loc, array, part,
                                          permutation);
    if (onTensors)
      source = copy->getResult(0);
  }
  if (!onTensors)
    return buffer;
  SmallVector<OpFoldResult> offsets(shape.size(), rewriter.getIndexAttr(0)),
      strides(shape.size(), rewriter.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(rewriter.getContext(), copied);
  return tensor::InsertSliceOp::create(rewriter, loc, source, zeros, offsets,
                                       sizes, strides);
}

Value Padder::padInput() {
  Value input = fused.getInputs().front();
  SmallVector<int64_t> shape(
      cast<ShapedType>(fused.getBody().getArgument(0).getType()).getShape());
  SmallVector<int64_t> permutation;
  if (fused.getInputPermutation())
    permutation = llvm::to_vector(*fused.getInputPermutation());
  if (permutation.empty() && shape[padding.axis] == padding.input)
    return input;
  shape[padding.axis] = padding.input;
  return copyToZeros(input, shape, permutation);
}

/// The factor of `product`, with rows and columns for the padded axis.
Value Padder::padFactor(ModeProductOp product) {
  Value factor = fused.getOperandOf(product.getFactor());
  if (!isPadded(product))
    return factor;
  SmallVector<int64_t> shape(getShapedType(factor).getShape());
  shape[product.getContractedFactorDim()] = padding.input;
  shape[product.getResultingFactorDim()] = padding.output;
  return copyToZeros(factor, shape, /*permutation=*/{});
}

Value Padder::buildProducts(OpBuilder &builder, ValueRange args) {
  Value value = args.front();
  SmallVector<int64_t> shape(getShapedType(value).getShape());
  for (auto [number, op, scaled] :
       llvm::enumerate(products, fused.getModeProducts())) {
    Value init = args.back();
    int64_t axis = op.getAxis();
    shape[axis] = isPadded(op) ? padding.output
                               : getShapedType(op.getInit()).getDimSize(axis);
    if (number + 1 < products.size())
      init = tensor::EmptyOp::create(builder, loc, shape,
                                     kron::getElementType(op.getInit()));
    value =
        ModeProductOp::create(
            builder, op.getLoc(), TypeRange(init.getType()), value,
            args[1 + number], scaled.getAlpha(), scaled.getBeta(),
            /*addend=*/Value(), init, axis, op.getFactorDims(),
            op.getConjInput(), op.getConjFactor(), scaled.getStaticAlphaAttr(),
            scaled.getStaticBetaAttr(), op.getPrecision(), /*plan=*/nullptr)
            .getResult(0);
  }
  return value;
}

/// Copies what `padded` has for the result there, if that is another array.
void Padder::storeResult(FusedOp padded) {
  Value init = fused.getInit();
  bool onTensors = isOnTensors(init);
  if (padded.getInit() != init) {
    Value result = onTensors ? padded->getResult(0) : padded.getInit();
    auto copy = linalg::CopyOp::create(
        rewriter, loc, getPart(result, getShapedType(init).getShape()), init);
    rewriter.replaceOp(fused, copy->getResults());
  } else {
    rewriter.replaceOp(fused, padded->getResults());
  }
  for (Value buffer : buffers)
    releaseBuffer(rewriter, loc, buffer);
}

FusedOp Padder::run() {
  rewriter.setInsertionPoint(fused);
  SmallVector<Value> inputs{padInput()};
  for (ModeProductOp product : products)
    inputs.push_back(padFactor(product));
  Value init = fused.getInit();
  SmallVector<int64_t> shape(getShapedType(init).getShape());
  if (shape[padding.axis] != padding.output) {
    shape[padding.axis] = padding.output;
    init = buffers.emplace_back(createBuffer(rewriter, loc, shape, /*sizes=*/{},
                                             kron::getElementType(init),
                                             isOnTensors(init)));
  }
  FusedOp padded = createFusedOp(rewriter, loc, inputs, init,
                                 /*inputPermutation=*/{}, fused.getPlanAttr(),
                                 [&](OpBuilder &builder, ValueRange args) {
                                   return buildProducts(builder, args);
                                 });
  storeResult(padded);
  return padded;
}

FusedOp kron::padInnermost(RewriterBase &rewriter, FusedOp fused,
                           const InnermostPadding &padding) {
  return Padder(rewriter, fused, padding).run();
}
