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
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

bool kron::canPadInnermost(FusedOp fused) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  Type element = kron::getElementType(fused.getInit());
  if (fused.getEpilogue() || !kron::getBeta(products.back()).isZero())
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
      : rewriter(rewriter), fused(fused), loc(fused.getLoc()),
        padding(padding) {}

  FusedOp run();

private:
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

/// The factor of `product`: with rows and columns for the padded axis, or with
/// longer rows in memory.
Value Padder::padFactor(ModeProductOp product) {
  Value factor = fused.getOperandOf(product.getFactor());
  SmallVector<int64_t> shape(getShapedType(factor).getShape());
  int64_t &sizeK = shape[product.getContractedFactorDim()],
          &sizeN = shape[product.getResultingFactorDim()];
  if (static_cast<int64_t>(product.getAxis()) == padding.axis) {
    sizeK = padding.input;
    sizeN = padding.output;
    return copyToZeros(factor, shape, /*permutation=*/{});
  }
  if (std::max(sizeK, sizeN) <= padding.keptSide ||
      shape.back() % padding.unit == 0)
    return factor;
  SmallVector<int64_t> padded(shape);
  padded.back() = llvm::alignTo(padded.back(), padding.unit);
  return getPart(copyToZeros(factor, padded, /*permutation=*/{}), shape);
}

Value Padder::buildProducts(OpBuilder &builder, ValueRange args) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  Value value = args.front();
  bool isContracted = false;
  for (auto [number, op] : llvm::enumerate(products)) {
    Value init = args.back();
    isContracted |= static_cast<int64_t>(op.getAxis()) == padding.axis;
    if (number + 1 < products.size()) {
      SmallVector<int64_t> shape(getShapedType(op.getInit()).getShape());
      shape[padding.axis] = isContracted ? padding.output : padding.input;
      init = tensor::EmptyOp::create(builder, loc, shape,
                                     kron::getElementType(op.getInit()));
    }
    value = ModeProductOp::create(
                builder, op.getLoc(), TypeRange(init.getType()), value,
                args[1 + number], op.getAlpha(), op.getBeta(),
                /*addend=*/Value(), init, op.getAxis(), op.getFactorDims(),
                op.getConjInput(), op.getConjFactor(), op.getStaticAlphaAttr(),
                op.getStaticBetaAttr(), op.getPrecision(), /*plan=*/nullptr)
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
  for (ModeProductOp product : fused.getModeProducts())
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
