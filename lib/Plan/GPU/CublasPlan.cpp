//===- CublasPlan.cpp - Dense products by cuBLAS ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/CublasPlan.h"

using namespace mlir;
using namespace mlir::kron;

std::optional<SmallVector<int64_t>> kron::getMemRefStrides(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  return strides;
}

/// Strides of the input along the axes of `fused`.
static std::optional<SmallVector<int64_t>> getInputStrides(FusedOp fused) {
  auto strides = getMemRefStrides(fused.getInputs().front());
  auto permutation = fused.getInputPermutation();
  if (!strides || !permutation)
    return strides;
  SmallVector<int64_t> permuted;
  for (int64_t dim : *permutation)
    permuted.push_back((*strides)[dim]);
  return permuted;
}

static bool mayBeOne(int64_t stride) {
  return stride == 1 || ShapedType::isDynamic(stride);
}

/// Sorts the axes; why that is not possible, or nothing.
static std::optional<std::string> sortAxes(FusedOp fused, CublasPlan &axes) {
  ProblemFactor factor = describeFactor(fused.getModeProducts().front());
  SmallVector<int64_t> shape = getResultShape(fused.getModeProducts().back());
  axes.sizeK = factor.axis;
  if (factor.varyingAxes.size() > 1)
    return "the factor varies on more than one axis";
  if (!factor.varyingAxes.empty())
    axes.batch = factor.varyingAxes.front();
  auto strides = getInputStrides(fused);
  auto isBetter = [&](int64_t axis) {
    // What lies innermost must be a matrix's; else the longer one is.
    if (axes.rows < 0 || (strides && (*strides)[axis] == 1))
      return true;
    if (ShapedType::isDynamic(shape[axes.rows]) ||
        (strides && (*strides)[axes.rows] == 1))
      return false;
    return ShapedType::isDynamic(shape[axis]) || shape[axis] > shape[axes.rows];
  };
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (int64_t(axis) == axes.sizeK || int64_t(axis) == axes.batch || size == 1)
      continue;
    int64_t other = axis;
    if (isBetter(axis))
      std::swap(other, axes.rows);
    if (other >= 0 && axes.batch >= 0)
      return "there are more than two axes beside the contracted one";
    if (other >= 0)
      axes.batch = other;
  }
  return std::nullopt;
}

/// Whether strides that are known let cuBLAS see matrices: along one of two
/// axes each, neighbours are neighbours in memory.
static bool hasSegments(FusedOp fused, const CublasPlan &axes) {
  auto isSegment = [&](std::optional<SmallVector<int64_t>> strides) {
    return !strides || mayBeOne((*strides)[axes.sizeK]) ||
           (axes.rows >= 0 && mayBeOne((*strides)[axes.rows]));
  };
  ModeProductOp product = fused.getModeProducts().front();
  bool hasFactorSegment = true;
  if (auto strides =
          getMemRefStrides(fused.getOperandOf(product.getFactor()))) {
    hasFactorSegment = false;
    for (auto [stride, role] : llvm::zip(*strides, product.getFactorDims()))
      hasFactorSegment |= role < 0 && mayBeOne(stride);
  }
  return hasFactorSegment && isSegment(getInputStrides(fused)) &&
         isSegment(getMemRefStrides(fused.getInit()));
}

std::variant<CublasPlan, std::string> kron::readCublasPlan(FusedOp fused) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (products.size() != 1)
    return "there is more than one factor";
  if (fused.getEpilogue())
    return "there is an epilogue";
  ModeProductOp product = products.front();
  Type element = getElementType(fused.getInit());
  if (!isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(element))
    return "elements are not f32, f64, f16 or bf16";
  if (getElementType(fused.getInputs().front()) != element ||
      getElementType(product.getFactor()) != element)
    return "arrays have different element types";
  if (!getBeta(product).isZero() && product.getAddend() &&
      fused.getOperandOf(product.getAddend()) != fused.getInit())
    return "another array than the result is added";
  CublasPlan plan;
  if (auto reason = sortAxes(fused, plan))
    return *reason;
  if (!hasSegments(fused, plan))
    return "neither rows nor columns of a matrix are neighbours in memory";
  return plan;
}
