//===- OrderUnitAxes.cpp - Permutations that move nothing -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Transforms/OrderUnitAxes.h"
#include "ArrayViews.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::kron;

/// Dimensions of `shape`, those of one position together with the one before
/// them, the first ones with the one behind.
static SmallVector<ReassociationIndices> groupUnits(ArrayRef<int64_t> shape) {
  SmallVector<ReassociationIndices> groups{{}};
  bool hasMore = false;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size != 1 && hasMore)
      groups.emplace_back();
    hasMore |= size != 1;
    groups.back().push_back(dim);
  }
  return groups;
}

/// Whether the axes of `shape` that have more than one position come in order.
static bool movesUnitsOnly(ArrayRef<int64_t> permutation,
                           ArrayRef<int64_t> shape) {
  int64_t last = -1;
  return llvm::all_of(permutation, [&](int64_t dim) {
    if (shape[dim] == 1)
      return true;
    return std::exchange(last, dim) < dim;
  });
}

void kron::orderUnitAxes(RewriterBase &rewriter, FusedOp fused) {
  std::optional<ArrayRef<int64_t>> permutation = fused.getInputPermutation();
  Value input = fused.getInputs().front();
  auto type = cast<ShapedType>(input.getType());
  if (!permutation || !type.hasStaticShape() ||
      !movesUnitsOnly(*permutation, type.getShape()))
    return;
  SmallVector<int64_t> shape = applyPermutation(type.getShape(), *permutation);
  SmallVector<ReassociationIndices> groups = groupUnits(type.getShape()),
                                    ordered = groupUnits(shape);
  Location loc = fused.getLoc();
  rewriter.setInsertionPoint(fused);
  Value view;
  if (isOnTensors(input)) {
    view = tensor::CollapseShapeOp::create(rewriter, loc, input, groups);
    view = tensor::ExpandShapeOp::create(
        rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
        view, ordered);
  } else {
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(
            cast<MemRefType>(type), groups))
      return;
    view = memref::CollapseShapeOp::create(rewriter, loc, input, groups);
    view = memref::ExpandShapeOp::create(rewriter, loc, shape, view, ordered);
  }
  rewriter.modifyOpInPlace(fused, [&] {
    fused->setOperand(0, view);
    fused.removeInputPermutationAttr();
  });
}
