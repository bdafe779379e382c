//===- StepArrays.cpp - Arrays as a step sees them --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/StepArrays.h"

using namespace mlir;
using namespace mlir::kron;

StepArray kron::describeArray(Value array, ArrayRef<int64_t> permutation) {
  StepArray described{Value(), {}, getStorageType(getElementType(array))};
  for (int64_t stride : getKnownStrides(array, permutation))
    described.strides.push_back(ShapedType::isDynamic(stride) ? Int::open()
                                                              : Int(stride));
  return described;
}

FactorArray kron::arrangeFactor(FusedOp fused, ModeProductOp product,
                                const StepArray &array) {
  auto shape = cast<ShapedType>(product.getFactor().getType()).getShape();
  int64_t rank = cast<ShapedType>(fused.getInit().getType()).getRank();
  FactorArray factor;
  factor.array.base = array.base;
  factor.array.element = array.element;
  factor.array.strides.assign(rank, 0);
  factor.sizes.assign(rank, 1);
  for (auto [dim, axis] : llvm::enumerate(product.getFactorDims())) {
    if (axis == ModeProductOp::kContracted) {
      factor.array.strideK = array.strides[dim];
    } else if (axis == ModeProductOp::kResulting) {
      factor.array.resultStride = array.strides[dim];
    } else if (shape[dim] != 1) {
      factor.array.strides[axis] = array.strides[dim];
      factor.sizes[axis] = shape[dim];
    }
  }
  return factor;
}

void kron::stretchInput(FusedOp fused, StepArray &input) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  auto shape =
      cast<ShapedType>(products.front().getInput().getType()).getShape();
  // An axis of size 1 may stretch, unless it is contracted: then its stride is
  // that of the contracted axis of a group that it ends.
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1 && llvm::none_of(products, [&](ModeProductOp product) {
          return product.getAxis() == axis;
        }))
      input.strides[axis] = 0;
}
