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

/// Whether dimension `dim` of `array` and the next one are one in memory.
static bool liesWithoutGaps(Value array, int64_t dim) {
  auto type = dyn_cast<MemRefType>(array.getType());
  if (!type)
    return true;
  SmallVector<ReassociationIndices> dims;
  for (int64_t other = 0; other < type.getRank(); ++other) {
    if (other != dim + 1)
      dims.emplace_back();
    dims.back().push_back(other);
  }
  return memref::CollapseShapeOp::isGuaranteedCollapsible(type, dims);
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
  Value getPart(Value array, ArrayRef<int64_t> shape,
                ArrayRef<int64_t> offsets);
  Value putPart(Value part, Value array, ArrayRef<int64_t> offsets);
  Value fillZeros(Value array);
  Value fillBehind(Value array, ArrayRef<int64_t> shape);
  Value copyToZeros(Value array, ArrayRef<int64_t> shape,
                    ArrayRef<int64_t> permutation);
  SmallVector<ReassociationIndices>
  groupAxes(Value input, ArrayRef<int64_t> permutation) const;
  Value copyTransposed(Value input, ArrayRef<int64_t> shape,
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

/// `shape` positions of `array` from `offsets` on.
Value Padder::getPart(Value array, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> offsets) {
  MLIRContext *context = rewriter.getContext();
  SmallVector<OpFoldResult> strides(shape.size(), rewriter.getIndexAttr(1)),
      first = getAsIndexOpFoldResult(context, offsets),
      sizes = getAsIndexOpFoldResult(context, shape);
  if (isOnTensors(array))
    return tensor::ExtractSliceOp::create(rewriter, loc, array, first, sizes,
                                          strides);
  return memref::SubViewOp::create(rewriter, loc, array, first, sizes, strides);
}

/// `array` with `part`, which `getPart` of it became, in its place.
Value Padder::putPart(Value part, Value array, ArrayRef<int64_t> offsets) {
  if (!isOnTensors(array))
    return array;
  MLIRContext *context = rewriter.getContext();
  ArrayRef<int64_t> shape = getShapedType(part).getShape();
  SmallVector<OpFoldResult> strides(shape.size(), rewriter.getIndexAttr(1));
  return tensor::InsertSliceOp::create(
      rewriter, loc, part, array, getAsIndexOpFoldResult(context, offsets),
      getAsIndexOpFoldResult(context, shape), strides);
}

/// `array` full of zeros.
Value Padder::fillZeros(Value array) {
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(kron::getElementType(array)));
  auto fill = linalg::FillOp::create(rewriter, loc, zero, array);
  return isOnTensors(array) ? fill->getResult(0) : array;
}

/// `array` with zeros behind its first positions, `shape` of them, along the
/// dimension that has more.
Value Padder::fillBehind(Value array, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> behind(getShapedType(array).getShape());
  SmallVector<int64_t> offsets(shape.size(), 0);
  for (auto [offset, size, taken] : llvm::zip_equal(offsets, behind, shape))
    if (size != taken) {
      offset = taken;
      size -= taken;
      return putPart(fillZeros(getPart(array, behind, offsets)), array,
                     offsets);
    }
  return array;
}

/// A new array of `shape` with the elements of `array`, whose axes come in the
/// order of `permutation` if that has any, and zeros behind them.
Value Padder::copyToZeros(Value array, ArrayRef<int64_t> shape,
                          ArrayRef<int64_t> permutation) {
  Type element = kron::getElementType(array);
  bool onTensors = isOnTensors(array);
  SmallVector<int64_t> copied(getShapedType(array).getShape());
  SmallVector<int64_t> offsets(shape.size(), 0);
  Value buffer = buffers.emplace_back(
      createBuffer(rewriter, loc, shape, /*sizes=*/{}, element, onTensors));
  if (!permutation.empty()) {
    copied = applyPermutation(copied, permutation);
    Value zeros = fillBehind(buffer, copied);
    auto copy = linalg::TransposeOp::create(
        rewriter, loc, array, getPart(zeros, copied, offsets), permutation);
    return putPart(onTensors ? copy->getResult(0) : Value(), zeros, offsets);
  }
  // Kernels that copy in order write the zeros, too.
  Value zeros = fillZeros(buffer);
  if (onTensors)
    return putPart(array, zeros, offsets);
  linalg::CopyOp::create(rewriter, loc, array, getPart(zeros, copied, offsets));
  return buffer;
}

/// The axes of `permutation` in order. Those that are neighbours in `input`,
/// too, and are not padded are one for a copy, whose squares are larger then.
SmallVector<ReassociationIndices>
Padder::groupAxes(Value input, ArrayRef<int64_t> permutation) const {
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis = 0, rank = permutation.size(); axis < rank; ++axis) {
    bool continues = axis > 0 &&
                     permutation[axis] == permutation[axis - 1] + 1 &&
                     padding.axis != axis && padding.axis != axis - 1;
    if (!continues || !liesWithoutGaps(input, permutation[axis - 1]))
      groups.emplace_back();
    groups.back().push_back(axis);
  }
  return groups;
}

/// The same as `copyToZeros` of `input` by squares of as many axes as lie as
/// one.
Value Padder::copyTransposed(Value input, ArrayRef<int64_t> shape,
                             ArrayRef<int64_t> permutation) {
  SmallVector<ReassociationIndices> groups = groupAxes(input, permutation);
  auto order = llvm::to_vector(llvm::seq<int64_t>(groups.size()));
  llvm::sort(order, [&](int64_t lhs, int64_t rhs) {
    return permutation[groups[lhs].front()] < permutation[groups[rhs].front()];
  });
  ArrayView stored, copied;
  for (int64_t group : order)
    stored.groups.push_back(llvm::map_to_vector(groups[group], [&](int64_t a) {
      return getShapedType(input).getDimSize(permutation[a]);
    }));
  for (const ReassociationIndices &group : groups)
    copied.groups.push_back(
        llvm::map_to_vector(group, [&](int64_t axis) { return shape[axis]; }));
  SmallVector<int64_t> sizes =
      llvm::map_to_vector(copied.groups, [](ArrayRef<int64_t> group) {
        return computeProduct(group);
      });
  Value buffer = copyToZeros(collapseView(rewriter, loc, input, stored), sizes,
                             invertPermutationVector(order));
  return expandView(rewriter, loc, buffer, copied);
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
  return permutation.empty() ? copyToZeros(input, shape, permutation)
                             : copyTransposed(input, shape, permutation);
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
    ArrayRef<int64_t> sizes = getShapedType(init).getShape();
    SmallVector<int64_t> offsets(sizes.size(), 0);
    auto copy = linalg::CopyOp::create(rewriter, loc,
                                       getPart(result, sizes, offsets), init);
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
