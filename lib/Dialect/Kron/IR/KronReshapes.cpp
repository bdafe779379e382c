//===- KronReshapes.cpp - Chains whose axes are regrouped -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::kron;

SmallVector<Operation *> kron::getInputReshapes(ModeProductOp product) {
  SmallVector<Operation *> reshapes;
  Operation *op = product.getInput().getDefiningOp();
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
    reshapes.push_back(op);
    op = op->getOperand(0).getDefiningOp();
  }
  std::reverse(reshapes.begin(), reshapes.end());
  return reshapes;
}

bool kron::isRegrouped(ArrayRef<ModeProductOp> products) {
  return llvm::any_of(products.drop_front(), [](ModeProductOp product) {
    return !getInputReshapes(product).empty();
  });
}

bool kron::isRegrouped(FusedOp fused) {
  return isRegrouped(fused.getModeProducts());
}

/// Whether the first, or the last, group of `reshape` is one axis.
static bool keepsEnd(Operation *reshape, bool isFirst) {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape);
  auto groups =
      collapse ? collapse.getReassociationIndices()
               : cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices();
  return !groups.empty() &&
         (isFirst ? groups.front() : groups.back()).size() == 1;
}

/// Whether no factor touches axis `axis` of `product`, whose rank is `rank`,
/// and all its other sizes are known.
static bool keepsRows(ModeProductOp product, int64_t axis, int64_t rank) {
  auto factor = cast<ShapedType>(product.getFactor().getType());
  if (static_cast<int64_t>(product.getAxis()) == axis ||
      !factor.hasStaticShape())
    return false;
  for (auto [dim, role] : llvm::enumerate(product.getFactorDims()))
    if (role == axis && factor.getDimSize(dim) != 1)
      return false;
  for (Value value : {product.getInput(), product.getInit()}) {
    auto type = cast<ShapedType>(value.getType());
    if (type.getRank() != rank)
      return false;
    for (int64_t other = 0; other < rank; ++other)
      if (other != axis && type.isDynamicDim(other))
        return false;
  }
  return true;
}

std::optional<unsigned>
kron::getRegroupedRows(ArrayRef<ModeProductOp> products) {
  ModeProductOp last = products.back();
  int64_t rank = cast<ShapedType>(last.getInit().getType()).getRank();
  for (bool isFirst : {true, false}) {
    int64_t axis = isFirst ? 0 : rank - 1;
    auto keeps = [&](ModeProductOp product) {
      return keepsRows(product, axis, rank) &&
             (product == products.front() ||
              llvm::all_of(getInputReshapes(product), [&](Operation *reshape) {
                return keepsEnd(reshape, isFirst);
              }));
    };
    if (llvm::all_of(products, keeps))
      return axis;
  }
  return std::nullopt;
}

/// Axes of the input of `op` that stretch from 1 to the size they have in its
/// result.
static SmallVector<int64_t> getStretchedAxes(ModeProductOp op) {
  auto input = cast<ShapedType>(op.getInput().getType());
  auto result = cast<ShapedType>(op.getInit().getType());
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < input.getRank(); ++axis)
    if (axis != static_cast<int64_t>(op.getAxis()) &&
        input.getDimSize(axis) == 1 && result.getDimSize(axis) != 1)
      axes.push_back(axis);
  return axes;
}

size_t kron::countForOneFusedOp(ArrayRef<ModeProductOp> products) {
  llvm::SmallDenseSet<int64_t> contracted, stretched;
  bool isRegrouped = false;
  for (size_t index = 0; index < products.size(); ++index) {
    ModeProductOp op = products[index];
    SmallVector<int64_t> axes = getStretchedAxes(op);
    // What lies before the first one is no matter of the kron.fused.
    isRegrouped |= index > 0 && !getInputReshapes(op).empty();
    bool clashes = stretched.contains(op.getAxis()) ||
                   llvm::any_of(axes, [&](int64_t axis) {
                     return contracted.contains(axis);
                   });
    contracted.insert(op.getAxis());
    stretched.insert(axes.begin(), axes.end());
    if (clashes || (isRegrouped && !stretched.empty()))
      return index;
  }
  return products.size();
}
