//===- Arrays.cpp - What types say of the arrays of an operation -*- C++ -*-==//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/Arrays.h"

using namespace mlir;
using namespace mlir::kron;

Type kron::getStorageType(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return VectorType::get({2}, complex.getElementType());
  // The LLVM dialect has no floats of 8 bits.
  if (isFloat8(element))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

int64_t kron::getElementBytes(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * getElementBytes(complex.getElementType());
  return element.getIntOrFloatBitWidth() / 8;
}

SmallVector<Value> kron::getArrays(ScaledOpInterface op) {
  SmallVector<Value> arrays(op.getFactorValues());
  arrays.append({op.getInputValue(), op.getInitValue()});
  return arrays;
}

static bool isEmpty(Value array) {
  return llvm::is_contained(cast<ShapedType>(array.getType()).getShape(), 0);
}

bool kron::hasEmptyArray(ScaledOpInterface op) {
  return llvm::any_of(getArrays(op), isEmpty);
}

bool kron::hasEmptyArray(FusedOp fused) {
  return llvm::any_of(fused.getModeProducts(), [](ModeProductOp product) {
    return hasEmptyArray(cast<ScaledOpInterface>(product.getOperation()));
  });
}

std::optional<std::string> kron::getDynamicShapeReason(ScaledOpInterface op) {
  if (auto gradient = dyn_cast<KsmmGradOp>(*op)) {
    if (!cast<ShapedType>(gradient.getInit().getType()).hasStaticShape())
      return "the pattern has dynamic sizes";
    return std::nullopt;
  }
  if (auto gradient = dyn_cast<BiasGradOp>(*op)) {
    if (!cast<ShapedType>(gradient.getInit().getType()).hasStaticShape())
      return "the features have a dynamic size";
    return std::nullopt;
  }
  if (auto gradient = dyn_cast<FactorGradOp>(*op))
    return gradient.hasKnownShapes()
               ? std::nullopt
               : std::optional<std::string>(
                     "factors or axes have dynamic sizes");
  for (Value factor : op.getFactorValues())
    if (!cast<ShapedType>(factor.getType()).hasStaticShape())
      return "a factor has a dynamic shape";
  // Named operations have been viewed as arrays whose axes the factors say.
  if (auto product = dyn_cast<ModeProductOp>(*op))
    for (Value array : {product.getInput(), product.getInit()})
      if (cast<ShapedType>(array.getType()).isDynamicDim(product.getAxis()))
        return "the contracted axis has a dynamic size";
  return std::nullopt;
}

SmallVector<int64_t> kron::getKnownStrides(Value array,
                                           ArrayRef<int64_t> permutation) {
  auto type = cast<ShapedType>(array.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (auto memref = dyn_cast<MemRefType>(type)) {
    if (failed(memref.getStridesAndOffset(strides, offset)))
      strides.assign(type.getRank(), ShapedType::kDynamic);
  } else {
    strides.assign(type.getRank(), ShapedType::kDynamic);
    int64_t stride = 1;
    for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
      strides[axis] = stride;
      bool known = !ShapedType::isDynamic(stride) && !type.isDynamicDim(axis);
      stride = known ? stride * type.getDimSize(axis) : ShapedType::kDynamic;
    }
  }
  if (permutation.empty())
    return strides;
  SmallVector<int64_t> permuted;
  for (int64_t axis : permutation)
    permuted.push_back(strides[axis]);
  return permuted;
}
