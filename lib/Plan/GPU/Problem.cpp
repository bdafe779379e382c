//===- Problem.cpp - What one fused region computes -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/Problem.h"
#include "kron/Machine/NominalSizes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::kron;

static int64_t getBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * getBytes(complex.getElementType());
  return type.getIntOrFloatBitWidth() / 8;
}

int64_t Problem::getElementBytes() const { return getBytes(element); }

int64_t Problem::getChipBytes() const {
  return getBytes(getAccumulatorType(element));
}

int64_t Problem::getColumns(int64_t segmentBytes) const {
  int64_t columns = std::max<int64_t>(segmentBytes / getElementBytes(), 1);
  if (inner < 0)
    return columns;
  return std::min(inner, columns);
}

int64_t Problem::getRows(int64_t segmentBytes) const {
  return readsTranspose ? std::max<int64_t>(segmentBytes / getElementBytes(), 1)
                        : 1;
}

int64_t Problem::getSegmentBytes(int64_t columns) const {
  // A tile footprint that takes all of `inner` is contiguous over the trailing
  // axes too.
  if (inner == columns)
    columns *= trailing;
  return columns * getElementBytes();
}

int64_t Problem::getLargestFactorSize() const {
  int64_t size = 1;
  for (const ProblemFactor &factor : factors)
    size = std::max({size, factor.sizeK, factor.sizeN});
  return size;
}

int64_t Problem::getSmallestFactorSize() const {
  int64_t size = std::numeric_limits<int64_t>::max();
  for (const ProblemFactor &factor : factors)
    size = std::min({size, factor.sizeK, factor.sizeN});
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

/// Positions of the innermost axes that `factors`, which contract the axes
/// `contracted`, neither contract nor vary over; -1 if not known.
static int64_t countInnerRows(ArrayRef<int64_t> shape,
                              const llvm::SmallBitVector &contracted,
                              ArrayRef<ProblemFactor> factors) {
  int64_t rows = 1;
  for (int64_t axis = shape.size() - 1; axis >= 0; --axis) {
    auto varies = [&](const ProblemFactor &factor) {
      return llvm::is_contained(factor.varyingAxes, axis);
    };
    if (contracted[axis] || llvm::any_of(factors, varies))
      break;
    if (ShapedType::isDynamic(shape[axis]))
      return -1;
    rows *= shape[axis];
  }
  return rows;
}

Problem kron::describeProblem(Type element, Precision precision,
                              ArrayRef<int64_t> shape,
                              ArrayRef<ProblemFactor> factors,
                              bool readsAddend) {
  Problem problem;
  problem.element = element;
  problem.precision = precision;
  problem.factors.assign(factors.begin(), factors.end());
  problem.readsAddend = readsAddend;

  llvm::SmallBitVector contracted(shape.size());
  SmallVector<int64_t> sizes(shape);
  for (const ProblemFactor &factor : factors) {
    if (!contracted[factor.axis]) {
      sizes[factor.axis] = factor.sizeK;
      problem.rowInput *= factor.sizeK;
    }
    contracted.set(factor.axis);
  }
  problem.trailing = countTrailing(sizes, contracted);

  int64_t row = problem.rowInput;
  problem.rowLargest = row;
  for (const ProblemFactor &factor : factors) {
    row = row / factor.sizeK * factor.sizeN;
    problem.rowMultiplyAdds += double(row) * factor.sizeK;
    problem.rowLargest = std::max(problem.rowLargest, row);
  }
  problem.rowOutput = row;

  problem.innermostInput = problem.innermostOutput = sizes.back();
  for (const ProblemFactor &factor : factors)
    if (factor.axis + 1 == static_cast<int64_t>(sizes.size()))
      problem.innermostOutput = factor.sizeN;
  int last = contracted.find_last();
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    bool isInner = static_cast<int>(axis) > last;
    if (ShapedType::isDynamic(size)) {
      problem.hasDynamicSize = true;
      if (isInner)
        problem.inner = -1;
      continue;
    }
    problem.inputElements *= size;
    if (isInner && problem.inner >= 0)
      problem.inner *= size;
  }
  if (problem.hasDynamicSize)
    problem.inputElements = std::max(problem.inputElements, kNominalElements);
  problem.outputElements =
      problem.inputElements / problem.rowInput * problem.rowOutput;
  problem.innerRows = countInnerRows(sizes, contracted, factors);
  return problem;
}

/// The axis that the input's innermost one becomes; -1 if nothing is permuted.
static int64_t getContiguousAxis(ArrayRef<int64_t> permutation) {
  const auto *innermost =
      llvm::find(permutation, static_cast<int64_t>(permutation.size()) - 1);
  return innermost == permutation.end() ? -1 : innermost - permutation.begin();
}

/// Whether neighbouring elements of an input whose axes are permuted (none if
/// empty) lie along an axis outside of all that `factors` contract.
static bool isTransposed(ArrayRef<int64_t> permutation,
                         ArrayRef<ProblemFactor> factors) {
  int64_t axis = getContiguousAxis(permutation);
  return axis >= 0 && llvm::all_of(factors, [&](const ProblemFactor &factor) {
           return axis < factor.axis;
         });
}

/// Whether they lie along an axis that `factors` contract, but the innermost
/// one of the result is none of these.
static bool isAcrossColumns(ArrayRef<int64_t> permutation,
                            ArrayRef<ProblemFactor> factors) {
  auto isContracted = [&](int64_t axis) {
    return llvm::any_of(factors, [&](const ProblemFactor &factor) {
      return factor.axis == axis;
    });
  };
  return isContracted(getContiguousAxis(permutation)) &&
         !isContracted(static_cast<int64_t>(permutation.size()) - 1);
}

ProblemFactor kron::describeFactor(ModeProductOp product) {
  auto type = cast<ShapedType>(product.getFactor().getType());
  ProblemFactor factor;
  factor.axis = product.getAxis();
  for (auto [dim, role] : llvm::enumerate(product.getFactorDims())) {
    int64_t size = type.getDimSize(dim);
    if (role == ModeProductOp::kContracted) {
      factor.sizeK = size;
    } else if (role == ModeProductOp::kResulting) {
      factor.sizeN = size;
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

Problem kron::describeProblem(FusedOp fused) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  ModeProductOp last = products.back();
  // Sizes of the result, but for the contracted axes: they are known where an
  // axis of size 1 is stretched, and may be known where the input's are not.
  SmallVector<int64_t> shape = getResultShape(last);
  SmallVector<ProblemFactor> factors;
  for (ModeProductOp product : products)
    factors.push_back(describeFactor(product));
  Problem problem = describeProblem(kron::getElementType(fused.getInit()),
                                    last.getPrecision(), shape, factors,
                                    !kron::getBeta(last).isZero());
  ArrayRef<int64_t> permutation =
      fused.getInputPermutation().value_or(ArrayRef<int64_t>());
  problem.hasFloat8 = llvm::any_of(fused.getInputs(), [](Value array) {
    return isFloat8(kron::getElementType(array));
  });
  if (EpilogueOp epilogue = fused.getEpilogue()) {
    problem.hasEpilogue = true;
    problem.readsResidual = bool(epilogue.getResidual());
  }
  describeInput(problem, permutation, shape);
  return problem;
}

/// Elements of contracted axes that lie side by side in an array whose axes,
/// the outermost first, are `axes`, before (`isInput`) or after the products.
static int64_t countFibreSegment(ArrayRef<int64_t> axes,
                                 ArrayRef<ProblemFactor> factors,
                                 bool isInput) {
  int64_t elements = 1;
  for (int64_t axis : llvm::reverse(axes)) {
    // Of several factors on an axis, the first one takes the input.
    int64_t size = 0;
    for (const ProblemFactor &factor : factors)
      if (factor.axis == axis && !(isInput && size > 0))
        size = isInput ? factor.sizeK : factor.sizeN;
    if (size == 0)
      break;
    elements *= size;
  }
  return elements;
}

void kron::describeInput(Problem &problem, ArrayRef<int64_t> permutation,
                         ArrayRef<int64_t> shape) {
  problem.readsTranspose = isTransposed(permutation, problem.factors);
  problem.readsColumns = isAcrossColumns(permutation, problem.factors);
  if (problem.readsColumns)
    problem.fibreSegment =
        countFibreSegment(invertPermutationVector(permutation), problem.factors,
                          /*isInput=*/true);
  if (!problem.readsTranspose)
    return;
  problem.fibreSegment = countFibreSegment(
      llvm::to_vector(llvm::seq<int64_t>(permutation.size())), problem.factors,
      /*isInput=*/false);
  int64_t rows = shape[getContiguousAxis(permutation)];
  problem.turnedRows = ShapedType::isDynamic(rows) ? -1 : rows;
}

/// Factors that vary on no axis have other kernels up to this size.
static constexpr int64_t kLargestOther = 128;
bool kron::isSparse(const Problem &problem) {
  return problem.factors.size() == 1 &&
         (problem.hasEpilogue || problem.hasFloat8 ||
          !problem.factors.front().varyingAxes.empty() ||
          problem.getLargestFactorSize() > kLargestOther);
}
