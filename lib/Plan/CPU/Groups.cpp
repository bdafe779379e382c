//===- Groups.cpp - Mode products that are applied as one -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/CPUPlan.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether axes [first, first + count) of `array` can be walked as one.
static bool isCollapsible(Value array, unsigned first, unsigned count,
                          ArrayRef<int64_t> permutation) {
  auto type = dyn_cast<MemRefType>(array.getType());
  auto axisOf = [&](unsigned axis) {
    return permutation.empty() ? axis : permutation[axis];
  };
  if (!type)
    return permutation.empty();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (unsigned axis = first; axis + 1 < first + count; ++axis) {
    int64_t outer = strides[axisOf(axis)], inner = strides[axisOf(axis + 1)];
    int64_t size = type.getDimSize(axisOf(axis + 1));
    if (ShapedType::isDynamic(outer) || ShapedType::isDynamic(inner) ||
        ShapedType::isDynamic(size) || outer != inner * size)
      return false;
  }
  return true;
}

StepGroup kron::startGroup(ModeProductOp product) {
  StepGroup group;
  group.axis = product.getAxis();
  group.sizeK = getArrayType(product.getFactor())
                    .getDimSize(product.getContractedFactorDim());
  group.sizeN = getArrayType(product.getFactor())
                    .getDimSize(product.getResultingFactorDim());
  group.products.push_back(product);
  return group;
}

std::optional<StepGroup> kron::joinGroup(FusedOp fused, const StepGroup &group,
                                         ModeProductOp next, bool isFirst,
                                         bool isLast) {
  StepGroup other = startGroup(next);
  unsigned end = group.axis + group.products.size();
  bool outside = other.axis + 1 == group.axis;
  if (!outside && other.axis != end)
    return std::nullopt;
  auto isPlain = [](ModeProductOp product) {
    return getArrayType(product.getFactor()).getRank() == 2;
  };
  // What is conjugated between two factors is not one product of them.
  if (next.getConjInput() || !isPlain(next) ||
      !llvm::all_of(group.products, isPlain))
    return std::nullopt;
  unsigned first = std::min(group.axis, other.axis);
  unsigned count = group.products.size() + 1;
  ArrayRef<int64_t> permutation =
      fused.getInputPermutation().value_or(ArrayRef<int64_t>());
  if (isFirst &&
      !isCollapsible(fused.getInputs().front(), first, count, permutation))
    return std::nullopt;
  if (isLast && !isCollapsible(fused.getInit(), first, count, {}))
    return std::nullopt;
  if (isLast && next.getAddend()) {
    auto argument = cast<BlockArgument>(next.getAddend());
    if (!isCollapsible(fused->getOperand(argument.getArgNumber()), first, count,
                       {}))
      return std::nullopt;
  }
  StepGroup joined = group;
  joined.sizeK *= other.sizeK;
  joined.sizeN *= other.sizeN;
  joined.axis = first;
  joined.products.insert(
      outside ? joined.products.begin() : joined.products.end(), next);
  return joined;
}
