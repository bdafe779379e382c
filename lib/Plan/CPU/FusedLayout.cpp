//===- FusedLayout.cpp - Buffers and steps of a kron.fused ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/FusedLayout.h"
#include "kron/Plan/CPU/AmxMapping.h"
#include "kron/Plan/CPU/LoopNest.h"

using namespace mlir;
using namespace mlir::kron;

FactorArray kron::describeJointFactor(const StepGroup &group, unsigned rank) {
  FactorArray joint;
  joint.array.strideK = group.sizeN;
  joint.array.resultStride = 1;
  joint.array.strides.assign(rank, 0);
  joint.sizes.assign(rank, 1);
  return joint;
}

LayoutArrays kron::describeArrays(FusedOp fused, const CPUPlan &plan) {
  LayoutArrays arrays;
  for (int64_t size : getArrayType(fused.getInit()).getShape())
    arrays.sizes.push_back(ShapedType::isDynamic(size) ? Int::open()
                                                       : Int(size));
  arrays.input =
      describeArray(fused.getInputs().front(),
                    fused.getInputPermutation().value_or(ArrayRef<int64_t>()));
  stretchInput(fused, arrays.input);
  arrays.init = describeArray(fused.getInit());
  ModeProductOp last = fused.getModeProducts().back();
  arrays.adds = !getBeta(last).isZero();
  if (arrays.adds)
    arrays.addend = last.getAddend()
                        ? describeArray(fused.getOperandOf(last.getAddend()))
                        : arrays.init;
  arrays.hasEpilogue = static_cast<bool>(fused.getEpilogue());
  for (const StepGroup &group : plan.groups) {
    ModeProductOp product = group.products.front();
    arrays.factors.push_back(
        group.products.size() > 1
            ? describeJointFactor(group, arrays.sizes.size())
            : arrangeFactor(
                  fused, product,
                  describeArray(fused.getOperandOf(product.getFactor()))));
  }
  return arrays;
}

FusedLayout::FusedLayout(FusedOp fused, const CPUChoices &choices)
    : fused(fused), element(getStorageType(
                        getAccumulatorType(getElementType(fused.getInit())))),
      choices(choices), vectorBits(choices.vectorBits),
      plan(std::get<CPUPlan>(describeCPUPlan(fused, choices))),
      tileSize(getTileSize(fused, plan, choices)),
      sections(getSections(plan, choices)) {}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Replaces the axes of a group by one.
SmallVector<Int> kron::collapse(const SmallVector<Int> &values,
                                const StepGroup &group) {
  if (values.empty())
    return values;
  SmallVector<Int> result(values);
  unsigned extra = group.products.size() - 1;
  result.erase(result.begin() + group.axis,
               result.begin() + group.axis + extra);
  return result;
}

static StepArray collapseArray(const StepArray &array, const StepGroup &group) {
  return {array.base, collapse(array.strides, group), array.element};
}

/// Moves axis `rows`, which lies outside, to the inner end, where it is in the
/// buffers. All of its `tileSize` positions are computed, even if the input has
/// fewer left: what the others hold is never copied out.
static void moveRowsInside(StepLayout &step, unsigned rows, int64_t tileSize) {
  step.sizes[rows] = tileSize;
  for (SmallVector<Int> *values :
       {&step.sizes, &step.source.strides, &step.destination.strides,
        &step.addend.strides, &step.factor.strides})
    if (!values->empty())
      std::rotate(values->begin() + rows, values->begin() + rows + 1,
                  values->end());
  --step.axis;
}

/// Moves the innermost axis, the rows, to the outer end, where it is in the
/// buffers.
static void moveRowsOutside(StepLayout &step) {
  for (SmallVector<Int> *values :
       {&step.sizes, &step.source.strides, &step.destination.strides,
        &step.addend.strides, &step.factor.strides})
    if (!values->empty())
      std::rotate(values->begin(), values->end() - 1, values->end());
  ++step.axis;
}

/// Takes `tiled`, an axis of a size that is not known, and those inside of it
/// for one, of `elements`, if they are continuous in all arrays: lanes run over
/// all of them.
static void mergeTiledAxis(StepLayout &step, unsigned tiled, Int elements) {
  if (step.sizes[tiled].isConstant() || step.axis > tiled)
    return;
  int64_t inside = 1;
  auto isContinuous = [&](unsigned axis) {
    return step.source.strides[axis].is(inside) &&
           step.destination.strides[axis].is(inside) &&
           (!step.adds || step.addend.strides[axis].is(inside)) &&
           getStride(step.factor.strides, axis).is(0);
  };
  for (unsigned axis = step.sizes.size() - 1; axis > tiled; --axis) {
    Int size = step.sizes[axis];
    if (!size.isConstant() || (!size.is(1) && !isContinuous(axis)))
      return;
    inside *= size.getConstant();
  }
  if (inside <= 1 || !isContinuous(tiled))
    return;
  for (unsigned axis = tiled + 1; axis < step.sizes.size(); ++axis)
    step.sizes[axis] = 1;
  step.sizes[tiled] = elements;
  step.source.strides[tiled] = step.destination.strides[tiled] = 1;
  if (step.adds)
    step.addend.strides[tiled] = 1;
  step.mostInner *= inside;
}

StepLayout FusedLayout::describeStep(const LayoutArrays &arrays, unsigned index,
                                     const FusedWindow &window,
                                     const StepArray &source,
                                     const StepArray &destination) const {
  const StepGroup &group = plan.groups[index];
  StepLayout step;
  step.axis = group.axis;
  step.sizeK = group.sizeK;
  step.sizeN = group.sizeN;
  step.sizes = collapse(getSizes(window, index), group);
  step.usualRows = plan.tiledAxis < 0 ? 0 : tileSize;
  step.mostInner = choices.tile;
  step.source = collapseArray(source, group);
  step.destination = collapseArray(destination, group);
  step.factor = arrays.factors[index].array;
  step.factor.strides = collapse(step.factor.strides, group);
  if (index + 1 == plan.groups.size() && !copiesOut) {
    step.adds = arrays.adds;
    step.addend = collapseArray(arrays.addend, group);
  }
  step.isFactorUsedOnce = isFactorUsedOnce();
  step.isInPlace = isInPlace() && plan.groups.size() == 1 && !copiesIn;
  step.isSourceBuffer = index || copiesIn;
  step.isSourceConjugate =
      llvm::any_of(group.products, [](ModeProductOp product) {
        return product.getConjInput();
      });
  // Joint factors are conjugated while they are multiplied out.
  step.isFactorConjugate =
      group.products.size() == 1 &&
      llvm::any_of(group.products, [](ModeProductOp product) {
        return product.getConjFactor();
      });
  step.hasPairs = hasPairs && index == 0;
  if (step.hasPairs)
    step.sizeK = llvm::divideCeil(step.sizeK, 2);
  Type input = getArrays().input.element;
  step.mayPair = plan.groups.size() == 1 && group.products.size() == 1 &&
                 input && input.isBF16() && mayMultiplyBy(kPairProducts);
  step.elementBytes = getElementBytes();
  step.elementParts = isa<VectorType>(element) ? 2 : 1;
  step.vectorBits = vectorBits;
  step.given = &choices;
  step.choices = &choices.steps[index];
  if (plan.rowsInLanes)
    moveRowsInside(step, plan.tiledAxis, tileSize);
  if (rowsOutside)
    moveRowsOutside(step);
  // Axes that only one group sees, which are those of the window.
  if (plan.tiledAxis >= 0 && plan.groups.size() == 1 && !plan.rowsInLanes &&
      !rowsOutside && group.products.size() == 1)
    mergeTiledAxis(step, plan.tiledAxis, window.tiledElements);
  return step;
}

bool FusedLayout::mayMultiplyBy(int64_t means) const {
  return choices.matrixTiles == means &&
         getPairsReason(fused, vectorBits).empty();
}

bool FusedLayout::usesTiles(const StepLayout &step) const {
  return mayMultiplyBy(kMatrixTiles) && step.choices->usesTiles &&
         getAmxMapping(step) != AmxMapping::None;
}

bool FusedLayout::isFactorUsedOnce() const {
  if (plan.groups.size() != 1 || plan.groups.front().products.size() != 1 ||
      plan.rowsInLanes || rowsOutside)
    return false;
  const LayoutArrays &arrays = getArrays();
  bool varies = false;
  for (auto [axis, role] : llvm::enumerate(plan.roles)) {
    bool isShared = arrays.factors.front().array.strides[axis].is(0);
    Int size = arrays.sizes[axis];
    if (role == AxisRole::Grid) {
      if (isShared && !size.is(1))
        return false;
      varies |= !isShared;
    } else if (role == AxisRole::Tiled && isShared) {
      if (!size.isConstant() || size.getConstant() > tileSize)
        return false;
    }
  }
  return varies;
}

int64_t FusedLayout::countPackedInTile(const PlannedStep &planned) const {
  if (plan.groups.size() != 1 || plan.groups.front().products.size() != 1 ||
      plan.rowsInLanes || rowsOutside || !plan.views.empty())
    return 0;
  const StepFactor &factor = getArrays().factors.front().array;
  auto isInside = [](Int inner, Int outer) {
    return inner.isConstant() && outer.isConstant() &&
           inner.getConstant() < outer.getConstant();
  };
  bool varies = false;
  int64_t elements = planned.packed.elements;
  for (auto [axis, role] : llvm::enumerate(plan.roles)) {
    int64_t own = planned.factorSizes[axis];
    if (role != AxisRole::Grid || own == 1)
      continue;
    if (!isInside(factor.strideK, factor.strides[axis]) ||
        !isInside(factor.resultStride, factor.strides[axis]))
      return 0;
    varies = true;
    elements = elements / own * plan.getStep(axis, tileSize);
  }
  return varies ? elements : 0;
}

int64_t FusedLayout::getContiguousSize(unsigned index) const {
  const FactorArray &factor = getArrays().factors[index];
  int64_t size = 0;
  for (auto [axis, stride] : llvm::enumerate(factor.array.strides))
    if (stride.is(1))
      size = factor.sizes[axis];
  return size;
}

//===----------------------------------------------------------------------===//
// Copies of factors
//===----------------------------------------------------------------------===//

namespace {
/// A dimension of a factor.
struct FactorDim {
  int64_t size;
  Int *stride;
  size_t number;
};
} // namespace

/// The dimensions of the factor of `group` in the order in which they lie in
/// memory, outer ones first, those of unknown strides among them.
static SmallVector<FactorDim> getFactorDims(FactorArray &factor,
                                            const StepGroup &group) {
  SmallVector<FactorDim> dims;
  for (auto [size, stride] : llvm::zip(factor.sizes, factor.array.strides))
    if (size != 1)
      dims.push_back({size, &stride, dims.size()});
  dims.push_back({group.sizeK, &factor.array.strideK, dims.size()});
  dims.push_back({group.sizeN, &factor.array.resultStride, dims.size()});
  auto getOrder = [](const FactorDim &dim) {
    Int stride = *dim.stride;
    return std::make_pair(
        stride.isConstant() ? -stride.getConstant() : INT64_MIN, dim.number);
  };
  llvm::sort(dims, [&](const FactorDim &lhs, const FactorDim &rhs) {
    return getOrder(lhs) < getOrder(rhs);
  });
  return dims;
}

/// Replaces the factor of a group by a copy in the type that is computed with,
/// its dimensions in the order in which they lie in memory.
void FusedLayout::convertFactor(unsigned index) {
  FactorArray &factor = getArrays().factors[index];
  SmallVector<FactorDim> dims = getFactorDims(factor, plan.groups[index]);
  FactorCopy copy;
  copy.from = {factor.array.base, {}, factor.array.element};
  for (const FactorDim &dim : dims) {
    copy.sizes.push_back(dim.size);
    copy.from.strides.push_back(*dim.stride);
    copy.elements *= dim.size;
  }
  int64_t elements = copy.elements;
  for (const FactorDim &dim : dims) {
    elements /= dim.size;
    *dim.stride = elements;
    copy.to.strides.push_back(elements);
  }
  factor.array.base = copyFactor(copy);
  factor.array.element = nullptr;
}

/// Replaces the first factor by pairs along p, as which it is read where it
/// lies if p is contiguous and nothing starts within one.
void FusedLayout::pairFactor() {
  FactorArray &factor = getArrays().factors.front();
  SmallVector<FactorDim> dims = getFactorDims(factor, plan.groups.front());
  FactorCopy copy;
  copy.from = {factor.array.base, {}, factor.array.element};
  factor.array.element = nullptr;
  Int *strideK = &factor.array.strideK;
  int64_t sizeK = plan.groups.front().sizeK;
  bool isPaired =
      sizeK % 2 == 0 && llvm::all_of(dims, [&](const FactorDim &dim) {
        return dim.stride == strideK ? dim.stride->is(1)
                                     : dim.stride->isConstant() &&
                                           dim.stride->getConstant() % 2 == 0;
      });
  if (isPaired) {
    for (const FactorDim &dim : dims)
      if (dim.stride != strideK)
        *dim.stride = dim.stride->getConstant() / 2;
    return;
  }
  for (const FactorDim &dim : dims) {
    bool isK = dim.stride == strideK;
    if (isK)
      copy.pairedDim = copy.sizes.size();
    copy.sizes.push_back(dim.size);
    copy.from.strides.push_back(*dim.stride);
    copy.elements *= isK ? llvm::divideCeil(sizeK, 2) : dim.size;
  }
  int64_t elements = copy.elements;
  for (const FactorDim &dim : dims) {
    elements /= dim.stride == strideK ? llvm::divideCeil(sizeK, 2) : dim.size;
    *dim.stride = elements;
    copy.to.strides.push_back(elements);
  }
  factor.array.base = copyFactor(copy);
}
