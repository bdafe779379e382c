//===- MmaRegion.cpp - What kernels of mma.sync take ----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Types and axes of a fused region, whatever its plan says.
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/MmaPlan.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::kron;

/// Rows or columns of a factor, at most.
static constexpr int64_t kLargestFactor = 256;
/// The widest access of a thread.
static constexpr int64_t kVectorBytes = 16;

static ShapedType getShape(Value value) {
  return cast<ShapedType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::optional<std::string> describeTypes(FusedOp fused,
                                                MmaRegion &region) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  region.inputType = getElementType(fused.getInputs().front());
  region.outputType = getElementType(fused.getInit());
  region.factorType = getElementType(products.front().getFactor());
  bool ieee = false, tf32 = false;
  for (ModeProductOp product : products) {
    ShapedType factor = getShape(product.getFactor());
    if (factor.getElementType() != region.factorType)
      return "factors have different element types";
    for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
      if (axis >= 0 && factor.getDimSize(dim) != 1)
        return "a factor varies along an axis";
    Precision precision = product.getPrecision();
    ieee |= precision == Precision::Ieee;
    tf32 |= precision == Precision::TF32;
  }
  auto isNarrow = [](Type type) { return type.isF16() || type.isBF16(); };
  auto isReal32 = [&](Type type) { return type.isF32() || isNarrow(type); };
  if (region.factorType.isF64()) {
    region.math = MmaMath::F64;
    region.type = region.factorType;
    if (region.inputType != region.type || region.outputType != region.type)
      return "arrays have another element type than the factors";
    return std::nullopt;
  }
  if (!isReal32(region.factorType) || !isReal32(region.inputType) ||
      !isReal32(region.outputType))
    return "the element type is no real floating-point type of up to 64 bits";
  if (ieee)
    return "products of IEEE precision are not available to matrix "
           "instructions of 32-bit values";
  region.type = Float32Type::get(fused.getContext());
  region.math =
      tf32 || isNarrow(region.factorType) ? MmaMath::TF32 : MmaMath::SplitTF32;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Whether dimension `outer` of `array` continues where `inner` ends.
static bool continues(Value array, unsigned outer, unsigned inner) {
  ShapedType type = getShape(array);
  auto memref = dyn_cast<MemRefType>(array.getType());
  if (outer + 1 == inner && (!memref || memref.getLayout().isIdentity()))
    return true;
  SmallVector<int64_t> strides = getKnownStrides(array);
  int64_t size = type.getDimSize(inner);
  if (ShapedType::isDynamic(strides[outer]) ||
      ShapedType::isDynamic(strides[inner]) || ShapedType::isDynamic(size))
    return false;
  return strides[outer] == strides[inner] * size;
}

/// The dimension of the input that is `axis` of the fused region.
static unsigned getInputDim(FusedOp fused, unsigned axis) {
  ArrayRef<int64_t> permutation =
      fused.getInputPermutation().value_or(ArrayRef<int64_t>());
  return permutation.empty() ? axis : permutation[axis];
}

static bool isCollapsible(FusedOp fused, unsigned outer, unsigned inner) {
  Value input = fused.getInputs().front();
  for (unsigned axis : {outer, inner})
    if (getShape(input).getDimSize(getInputDim(fused, axis)) !=
        getShape(fused.getInit()).getDimSize(axis))
      return false;
  if (!continues(input, getInputDim(fused, outer), getInputDim(fused, inner)) ||
      !continues(fused.getInit(), outer, inner))
    return false;
  Value addend = fused.getModeProducts().back().getAddend();
  if (!addend)
    return true;
  unsigned number = cast<BlockArgument>(addend).getArgNumber();
  return continues(fused->getOperand(number), outer, inner);
}

static void collectAxes(FusedOp fused, MmaRegion &region) {
  ShapedType type = getShape(fused.getInit());
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  bool joins = false;
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    MmaDim dim;
    dim.axes.push_back(axis);
    for (ModeProductOp product : products)
      if (product.getAxis() == axis)
        dim.product = product;
    if (dim.product) {
      ShapedType factor = getShape(dim.product.getFactor());
      dim.sizeK = factor.getDimSize(dim.product.getContractedFactorDim());
      dim.sizeN = factor.getDimSize(dim.product.getResultingFactorDim());
      region.axes.push_back(dim);
      joins = false;
      continue;
    }
    if (type.getDimSize(axis) == 1)
      continue;
    if (joins && isCollapsible(fused, region.axes.back().axes.back(), axis))
      region.axes.back().axes.push_back(axis);
    else
      region.axes.push_back(dim);
    joins = true;
  }
}

/// The number of positions of `axes`, or dynamic.
static int64_t getStaticSize(FusedOp fused, ArrayRef<unsigned> axes) {
  int64_t product = 1;
  for (unsigned axis : axes) {
    int64_t size = getShape(fused.getInit()).getDimSize(axis);
    if (ShapedType::isDynamic(size))
      return size;
    product *= size;
  }
  return product;
}

/// Finds the axes of rows and of columns.
static void describeTile(FusedOp fused, MmaRegion &region) {
  unsigned first = 0;
  while (!region.axes[first].product)
    ++first;
  region.hasColumns = !region.axes.back().product;
  if (region.hasColumns)
    region.numColumns = getStaticSize(fused, region.axes.back().axes);
  SmallVector<int64_t> strides = getKnownStrides(fused.getInputs().front());
  unsigned turned = 0;
  while (turned < first &&
         strides[getInputDim(fused, region.axes[turned].axes.back())] != 1)
    ++turned;
  region.turnsRows = !region.hasColumns && turned < first;
  region.rowAxis = region.turnsRows ? turned : int(first) - 1;
  if (region.rowAxis >= 0)
    region.numRows = getStaticSize(fused, region.axes[region.rowAxis].axes);
  for (const MmaDim &axis : region.axes) {
    int64_t size = axis.product ? 1 : getStaticSize(fused, axis.axes);
    bool isKnown = !ShapedType::isDynamic(size) &&
                   !ShapedType::isDynamic(region.numPositions);
    region.numPositions =
        isKnown ? region.numPositions * size : ShapedType::kDynamic;
  }
}

/// Whether elements of `array` lie in chunks of `chunk` along `inner`, as far
/// as that is known.
static bool liesInChunks(Value array, const MmaDim &inner, int64_t chunk) {
  ArrayRef<int64_t> shape = getShape(array).getShape();
  for (auto [axis, stride] : llvm::enumerate(getKnownStrides(array))) {
    if (axis == inner.axes.back() ? stride != 1
                                  : shape[axis] != 1 && stride % chunk != 0 &&
                                        !ShapedType::isDynamic(stride))
      return false;
  }
  return true;
}

/// Finds out how results can be stored.
static void describeResult(FusedOp fused, MmaRegion &region) {
  const MmaDim &inner =
      region.turnsRows ? region.axes[region.rowAxis] : region.axes.back();
  int64_t size = inner.product ? inner.sizeN : getStaticSize(fused, inner.axes);
  ModeProductOp last = fused.getModeProducts().back();
  auto fits = [&](int64_t chunk) {
    return (ShapedType::isDynamic(size) || size % chunk == 0) &&
           liesInChunks(fused.getInit(), inner, chunk) &&
           (!last.getAddend() ||
            liesInChunks(fused.getOperandOf(last.getAddend()), inner, chunk));
  };
  int64_t chunk = kVectorBytes / getElementBytes(region.outputType);
  while (chunk > 1 && !fits(chunk))
    chunk /= 2;
  region.storedTogether = chunk;
}

int64_t MmaPlan::getStoredTogether() const {
  return getPowerDivisor(dims.back().sizeN, storedTogether);
}

bool MmaPlan::storesVectors() const {
  return getStoredTogether() * getElementBytes(outputType) == kVectorBytes;
}

int64_t MmaRegion::getFootprint() const {
  constexpr int64_t kMost = int64_t(1) << 62;
  int64_t elements = 1;
  for (const MmaDim &axis : axes)
    elements = std::min(kMost / kLargestFactor, elements) *
               std::max(axis.sizeK, axis.sizeN);
  return elements;
}

std::variant<MmaRegion, std::string> kron::describeMma(FusedOp fused) {
  if (std::optional<std::string> reason = getBareReason(fused))
    return *reason;
  MmaRegion region;
  if (std::optional<std::string> reason = describeTypes(fused, region))
    return *reason;
  llvm::SmallDenseSet<int64_t> contracted;
  for (ModeProductOp product : fused.getModeProducts())
    if (!contracted.insert(product.getAxis()).second)
      return "an axis is contracted more than once";
  collectAxes(fused, region);
  for (const MmaDim &axis : region.axes)
    if (axis.product && std::max(axis.sizeK, axis.sizeN) > kLargestFactor)
      return "a factor has more than 256 rows or columns";
  Value input = fused.getInputs().front();
  region.isDense = llvm::all_of(
      llvm::seq<unsigned>(1, getShape(input).getRank()),
      [&](unsigned dim) { return continues(input, dim - 1, dim); });
  SmallVector<int64_t> strides = getKnownStrides(input);
  for (MmaDim &axis : region.axes)
    axis.stride = strides[getInputDim(fused, axis.axes.back())];
  describeTile(fused, region);
  describeResult(fused, region);
  return region;
}
