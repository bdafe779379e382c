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

bool kron::isCublasElement(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return isa<Float32Type, Float64Type>(complex.getElementType());
  return isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(element);
}

bool kron::addsWithCublas(Type element) {
  return !isa<Float16Type, BFloat16Type>(element);
}

static bool mayBeOne(int64_t stride) {
  return stride == 1 || ShapedType::isDynamic(stride);
}

namespace {
/// The axes of an array that `fused` reads or writes.
struct ArrayAxes {
  ArrayRef<int64_t> shape;
  /// Nothing of a tensor: it will be row-major.
  std::optional<SmallVector<int64_t>> strides;
  bool isPermuted;

  /// Whether position 0 of `outer` + 1 may follow the last one of `inner`,
  /// which is the next one that is longer than 1 if it `isNext`.
  bool mayBeOneAxis(int64_t outer, int64_t inner, bool isNext) const {
    bool isKnown = strides && !ShapedType::isDynamic((*strides)[outer]) &&
                   !ShapedType::isDynamic((*strides)[inner]) &&
                   !ShapedType::isDynamic(shape[inner]);
    if (!isKnown)
      return isNext && !isPermuted;
    return (*strides)[outer] == (*strides)[inner] * shape[inner];
  }
};
} // namespace

/// The other axes of `fused` than that of K and `batch`, those that may be one
/// in memory together.
static SmallVector<SmallVector<int64_t, 2>> groupAxes(FusedOp fused,
                                                      ArrayRef<int64_t> shape,
                                                      int64_t axisK,
                                                      ArrayRef<int64_t> batch) {
  auto inputShape =
      cast<ShapedType>(fused.getBody().getArgument(0).getType()).getShape();
  const ArrayAxes arrays[] = {
      {shape, getInputStrides(fused), fused.getInputPermutation().has_value()},
      {shape, getMemRefStrides(fused.getInit()), /*isPermuted=*/false}};
  // An input of one row may stand for many.
  auto isStretched = [&](int64_t axis) {
    return inputShape[axis] != shape[axis];
  };
  SmallVector<SmallVector<int64_t, 2>> groups;
  bool isNext = false;
  for (int64_t axis = 0, rank = shape.size(); axis < rank; ++axis) {
    if (axis == axisK || llvm::is_contained(batch, axis)) {
      isNext = false;
      continue;
    }
    if (shape[axis] == 1)
      continue;
    if (groups.empty() || isStretched(groups.back().back()) ||
        isStretched(axis) || !llvm::all_of(arrays, [&](const ArrayAxes &array) {
          return array.mayBeOneAxis(groups.back().back(), axis, isNext);
        }))
      groups.emplace_back();
    groups.back().push_back(axis);
    isNext = true;
  }
  return groups;
}

/// Sorts the axes; why that is not possible, or nothing.
static std::optional<std::string> sortAxes(FusedOp fused, CublasPlan &axes) {
  ProblemFactor factor = describeFactor(fused.getModeProducts().front());
  SmallVector<int64_t> shape = getResultShape(fused.getModeProducts().back());
  axes.sizeK = factor.axis;
  if (factor.varyingAxes.size() > 1)
    return "the factor varies on more than one axis";
  llvm::append_range(axes.batch, factor.varyingAxes);
  SmallVector<SmallVector<int64_t, 2>> groups =
      groupAxes(fused, shape, axes.sizeK, axes.batch);
  if (groups.size() > (axes.batch.empty() ? 2 : 1))
    return "there are more than two axes beside the contracted one";
  auto strides = getInputStrides(fused);
  // What lies innermost must be a matrix's; else the longer one is.
  auto getRank = [&](ArrayRef<int64_t> group) {
    bool isInnermost = strides && (*strides)[group.back()] == 1;
    double size = 1;
    for (int64_t axis : group)
      size *= ShapedType::isDynamic(shape[axis])
                  ? std::numeric_limits<double>::infinity()
                  : shape[axis];
    return std::pair(isInnermost, size);
  };
  if (groups.size() == 2) {
    if (getRank(groups[1]) < getRank(groups[0]))
      std::swap(groups[0], groups[1]);
    axes.batch = groups.front();
  }
  if (!groups.empty())
    axes.rows = groups.back();
  return std::nullopt;
}

/// Whether strides that are known let cuBLAS see matrices: along one of two
/// axes each, neighbours are neighbours in memory.
static bool hasSegments(FusedOp fused, const CublasPlan &axes) {
  auto isSegment = [&](std::optional<SmallVector<int64_t>> strides) {
    return !strides || mayBeOne((*strides)[axes.sizeK]) ||
           (!axes.rows.empty() && mayBeOne((*strides)[axes.rows.back()]));
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

/// Whether what is conjugated may be transposed too, which is the only way that
/// cuBLAS conjugates: by columns, its product is op(X) op(F) if rows of the
/// result are neighbours in memory, else that of the transposes.
static bool conjugatesTransposed(FusedOp fused, const CublasPlan &axes) {
  ModeProductOp product = fused.getModeProducts().front();
  auto init = getMemRefStrides(fused.getInit());
  if (!init || ShapedType::isDynamic((*init)[axes.sizeK]))
    return true;
  bool isByRows = axes.rows.empty() || (*init)[axes.rows.back()] != 1;
  if (auto strides = getInputStrides(fused);
      strides && product.getConjInput() && !axes.rows.empty() &&
      ((*strides)[axes.rows.back()] == 1) != isByRows)
    return false;
  auto factor = getMemRefStrides(fused.getOperandOf(product.getFactor()));
  return !factor || !product.getConjFactor() ||
         ((*factor)[product.getContractedFactorDim()] == 1) == isByRows;
}

std::variant<CublasPlan, std::string> kron::readCublasPlan(FusedOp fused) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (products.size() != 1)
    return "there is more than one factor";
  if (fused.getEpilogue())
    return "there is an epilogue";
  ModeProductOp product = products.front();
  Type element = getElementType(fused.getInit());
  if (!isCublasElement(element))
    return "elements are not f32, f64, f16, bf16 or complex of f32 or "
           "f64";
  if (getElementType(fused.getInputs().front()) != element ||
      getElementType(product.getFactor()) != element)
    return "arrays have different element types";
  if (!getBeta(product).isZero() && product.getAddend() &&
      fused.getOperandOf(product.getAddend()) != fused.getInit())
    return "another array than the result is added";
  if (!addsWithCublas(element) && !getBeta(product).isZero())
    return "cuBLAS rounds products of 16 bits before it adds to them";
  CublasPlan plan;
  if (auto reason = sortAxes(fused, plan))
    return *reason;
  if (!hasSegments(fused, plan))
    return "neither rows nor columns of a matrix are neighbours in memory";
  if (isa<ComplexType>(element) && !conjugatesTransposed(fused, plan))
    return "a matrix is conjugated but not transposed";
  return plan;
}
