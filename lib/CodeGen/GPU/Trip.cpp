//===- Trip.cpp - What one trip over memory is asked to do ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Trip.h"

using namespace mlir;
using namespace mlir::kron;

/// Elements that an array of unknown size is taken to have.
static constexpr double kNominalElements = 1 << 26;

static int64_t getBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * getBytes(complex.getElementType());
  return type.getIntOrFloatBitWidth() / 8;
}

int64_t Trip::getElementBytes() const { return getBytes(element); }

int64_t Trip::getChipBytes() const {
  return getBytes(getAccumulatorType(element));
}

int64_t Trip::getColumns(int64_t runBytes) const {
  int64_t columns = std::max<int64_t>(runBytes / getElementBytes(), 1);
  if (inner < 0)
    return columns;
  return std::min(inner, columns);
}

int64_t Trip::getRows(int64_t runBytes) const {
  return readsTranspose ? std::max<int64_t>(runBytes / getElementBytes(), 1)
                        : 1;
}

int64_t Trip::getRunBytes(int64_t columns) const {
  // A slab that takes all of `inner` is contiguous over the trailing axes too.
  if (inner == columns)
    columns *= trailing;
  return columns * getElementBytes();
}

int64_t Trip::getLargestFactorSize() const {
  int64_t size = 1;
  for (const TripFactor &factor : factors)
    size = std::max({size, factor.depth, factor.results});
  return size;
}

int64_t Trip::getSmallestFactorSize() const {
  int64_t size = std::numeric_limits<int64_t>::max();
  for (const TripFactor &factor : factors)
    size = std::min({size, factor.depth, factor.results});
  return size;
}

/// Contiguous elements from the last contracted axis outwards, over contracted
/// axes and axes of size 1; what an outermost axis adds (rows that follow each
/// other) counts too.
static int64_t countTrailing(ArrayRef<int64_t> shape,
                             const llvm::SmallBitVector &contracted) {
  int64_t elements = 1;
  int last = contracted.find_last(), first = contracted.find_first();
  for (int axis = last; axis >= 0; --axis) {
    if (ShapedType::isDynamic(shape[axis]))
      return axis < first ? std::max<int64_t>(elements, 1 << 20) : elements;
    if (axis > first && !contracted[axis] && shape[axis] != 1)
      return elements;
    elements *= shape[axis];
  }
  return elements;
}

Trip kron::describeTrip(Type element, Precision precision,
                        ArrayRef<int64_t> shape, ArrayRef<TripFactor> factors,
                        bool readsAddend) {
  Trip trip;
  trip.element = element;
  trip.precision = precision;
  trip.factors.assign(factors.begin(), factors.end());
  trip.readsAddend = readsAddend;

  llvm::SmallBitVector contracted(shape.size());
  SmallVector<int64_t> sizes(shape);
  for (const TripFactor &factor : factors) {
    if (!contracted[factor.axis]) {
      sizes[factor.axis] = factor.depth;
      trip.rowInput *= factor.depth;
    }
    contracted.set(factor.axis);
  }
  trip.trailing = countTrailing(sizes, contracted);

  int64_t row = trip.rowInput;
  trip.rowLargest = row;
  for (const TripFactor &factor : factors) {
    row = row / factor.depth * factor.results;
    trip.rowMultiplyAdds += double(row) * factor.depth;
    trip.rowLargest = std::max(trip.rowLargest, row);
  }
  trip.rowOutput = row;

  trip.innermostInput = trip.innermostOutput = sizes.back();
  for (const TripFactor &factor : factors)
    if (factor.axis + 1 == static_cast<int64_t>(sizes.size()))
      trip.innermostOutput = factor.results;
  int last = contracted.find_last();
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    bool isInner = static_cast<int>(axis) > last;
    if (ShapedType::isDynamic(size)) {
      trip.hasDynamicSize = true;
      if (isInner)
        trip.inner = -1;
      continue;
    }
    trip.inputElements *= size;
    if (isInner && trip.inner >= 0)
      trip.inner *= size;
  }
  if (trip.hasDynamicSize)
    trip.inputElements = std::max(trip.inputElements, kNominalElements);
  trip.outputElements = trip.inputElements / trip.rowInput * trip.rowOutput;
  return trip;
}

/// The axis that the input's innermost one becomes; -1 if nothing is permuted.
static int64_t getContiguousAxis(ArrayRef<int64_t> permutation) {
  const auto *innermost =
      llvm::find(permutation, static_cast<int64_t>(permutation.size()) - 1);
  return innermost == permutation.end() ? -1 : innermost - permutation.begin();
}

bool kron::isTransposed(ArrayRef<int64_t> permutation,
                        ArrayRef<TripFactor> factors) {
  int64_t axis = getContiguousAxis(permutation);
  return axis >= 0 && llvm::all_of(factors, [&](const TripFactor &factor) {
           return axis < factor.axis;
         });
}

bool kron::isAcrossColumns(ArrayRef<int64_t> permutation,
                           ArrayRef<TripFactor> factors) {
  auto isContracted = [&](int64_t axis) {
    return llvm::any_of(
        factors, [&](const TripFactor &factor) { return factor.axis == axis; });
  };
  return isContracted(getContiguousAxis(permutation)) &&
         !isContracted(static_cast<int64_t>(permutation.size()) - 1);
}

TripFactor kron::describeFactor(ModeProductOp product) {
  auto type = cast<ShapedType>(product.getFactor().getType());
  TripFactor factor;
  factor.axis = product.getAxis();
  for (auto [dim, role] : llvm::enumerate(product.getFactorDims())) {
    int64_t size = type.getDimSize(dim);
    if (role == ModeProductOp::kContracted) {
      factor.depth = size;
    } else if (role == ModeProductOp::kResulting) {
      factor.results = size;
    } else if (size != 1) {
      factor.varyingAxes.push_back(role);
      factor.variations *= size;
    }
  }
  return factor;
}

SmallVector<int64_t> kron::getResultShape(ModeProductOp product) {
  SmallVector<int64_t> shape(
      cast<ShapedType>(product.getInit().getType()).getShape());
  auto factor = cast<ShapedType>(product.getFactor().getType());
  for (auto [dim, role] : llvm::enumerate(product.getFactorDims()))
    if (role >= 0 && ShapedType::isDynamic(shape[role]) &&
        factor.getDimSize(dim) != 1)
      shape[role] = factor.getDimSize(dim);
  return shape;
}

Trip kron::describeTrip(PassOp pass) {
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  ModeProductOp last = products.back();
  // Sizes of the result, but for the contracted axes: they are known where an
  // axis of size 1 is stretched, and may be known where the input's are not.
  SmallVector<int64_t> shape = getResultShape(last);
  SmallVector<TripFactor> factors;
  for (ModeProductOp product : products)
    factors.push_back(describeFactor(product));
  Trip trip =
      describeTrip(kron::getElementType(pass.getInit()), last.getPrecision(),
                   shape, factors, !kron::getBeta(last).isZero());
  ArrayRef<int64_t> permutation =
      pass.getInputPermutation().value_or(ArrayRef<int64_t>());
  trip.hasFloat8 = llvm::any_of(pass.getInputs(), [](Value array) {
    return isFloat8(kron::getElementType(array));
  });
  if (EpilogueOp epilogue = pass.getEpilogue()) {
    trip.hasEpilogue = true;
    trip.readsResidual = bool(epilogue.getResidual());
  }
  trip.readsTranspose = isTransposed(permutation, factors);
  trip.readsColumns = isAcrossColumns(permutation, factors);
  return trip;
}
