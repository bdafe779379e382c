//===- FusedPacking.cpp - Factors as kernels load them ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Factors are used as they lie, converted, or packed: before the body into the
// workspace that threads share, or by every tile into its thread's scratch.
//
//===----------------------------------------------------------------------===//

#include "AmxPacking.h"
#include "FusedBuilder.h"
#include "PairCopy.h"
#include "TileCopy.h"

using namespace mlir;
using namespace mlir::kron;

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
                                            const StageGroup &group) {
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
void FusedCodeBuilder::convertFactor(unsigned index) {
  FactorArray &factor = arrays.factors[index];
  SmallVector<FactorDim> dims = getFactorDims(factor, plan.groups[index]);

  int64_t elements = 1;
  SmallVector<Int> sizes;
  StageArray from{factor.array.base, {}, factor.array.element};
  for (const FactorDim &dim : dims) {
    sizes.push_back(dim.size);
    from.strides.push_back(*dim.stride);
    elements *= dim.size;
  }
  StageArray to{runtime.allocateShared(outer, elements), {}};
  for (const FactorDim &dim : dims) {
    elements /= dim.size;
    *dim.stride = elements;
    to.strides.push_back(elements);
  }
  emitTileCopy(outer, {sizes, from, to, {}, {}, vectorBits});
  factor.array.base = to.base;
  factor.array.element = nullptr;
}

/// Replaces the only factor by pairs along p, as which it is read where it lies
/// if p is contiguous and nothing starts within one.
void FusedCodeBuilder::pairFactor() {
  FactorArray &factor = arrays.factors.front();
  SmallVector<FactorDim> dims = getFactorDims(factor, plan.groups.front());
  StageArray from{factor.array.base, {}, factor.array.element};
  factor.array.element = nullptr;
  Int *strideK = &factor.array.strideK;
  bool isPaired = llvm::all_of(dims, [&](const FactorDim &dim) {
    return dim.stride == strideK
               ? dim.stride->is(1)
               : dim.stride->isConstant() && dim.stride->getConstant() % 2 == 0;
  });
  if (isPaired) {
    for (const FactorDim &dim : dims)
      if (dim.stride != strideK)
        *dim.stride = dim.stride->getConstant() / 2;
    return;
  }
  PairCopy copy{{}, 0, from, {}, vectorBits};
  int64_t elements = 1;
  for (const FactorDim &dim : dims) {
    bool isK = dim.stride == strideK;
    if (isK)
      copy.axis = copy.sizes.size();
    copy.sizes.push_back(dim.size);
    copy.from.strides.push_back(*dim.stride);
    elements *= isK ? dim.size / 2 : dim.size;
  }
  copy.to.base = runtime.allocateShared(outer, elements);
  for (const FactorDim &dim : dims) {
    elements /= dim.stride == strideK ? dim.size / 2 : dim.size;
    *dim.stride = elements;
    copy.to.strides.push_back(elements);
  }
  emitPairCopy(outer, copy);
  factor.array.base = copy.to.base;
}

/// Replaces a factor of 16 bits by a copy with p inside of q and both inside of
/// all axes.
void FusedCodeBuilder::moveFactorAxes(unsigned index) {
  FactorArray &factor = arrays.factors[index];
  SmallVector<Int> sizes(factor.sizes.begin(), factor.sizes.end());
  SmallVector<Int *> strides;
  for (Int &stride : factor.array.strides)
    strides.push_back(&stride);
  sizes.append({plan.groups[index].sizeN, plan.groups[index].sizeK});
  strides.append({&factor.array.resultStride, &factor.array.strideK});
  Emitter halves(builder, loc, builder.getI16Type());
  StageArray from{factor.array.base, {}}, to;
  int64_t elements = 1;
  to.strides.assign(sizes.size(), 0);
  for (Int *stride : strides)
    from.strides.push_back(*stride);
  for (int dim = sizes.size() - 1; dim >= 0; --dim) {
    if (sizes[dim].is(1))
      continue;
    *strides[dim] = to.strides[dim] = elements;
    elements *= sizes[dim].getConstant();
  }
  // The emitter's elements are twice as large.
  to.base = runtime.allocateShared(outer, llvm::divideCeil(elements, 2));
  emitTileCopy(halves, {sizes, from, to, {}, {}, vectorBits});
  factor.array.base = to.base;
}

/// Packs a factor for matrix tiles.
void FusedCodeBuilder::packTiles(unsigned index, Stage stage,
                                 PlannedStage &planned) {
  // From so many elements on a transposition is faster than to pick them.
  constexpr int64_t kManyElements = 16;
  int contiguous = -1;
  const FactorArray &factor = arrays.factors[index];
  for (auto [axis, stride] : llvm::enumerate(factor.array.strides))
    if (stride.is(1))
      contiguous = axis;
  if (contiguous >= 0 && factor.sizes[contiguous] >= kManyElements) {
    moveFactorAxes(index);
    // Only single factors vary, whose axes are those of the op.
    stage.factor = factor.array;
  }
  planned.packs = true;
  planned.packed = getAmxFactor(stage, planned.factorSizes);
  // Elements of bf16, of which the emitter's hold two.
  Value base = runtime.allocateShared(
      outer, llvm::divideCeil(planned.packed.elements, 2));
  emitAmxPacking(outer, stage, planned.factorSizes, planned.packed, base);
  arrays.factors[index].array.base = base;
}

bool FusedCodeBuilder::isFactorUsedOnce() const {
  if (plan.groups.size() != 1 || plan.groups.front().products.size() != 1 ||
      plan.rowsInLanes || rowsOutside)
    return false;
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

/// Whether tiles pack the part of a factor that they use: it varies over
/// positions that are tiles of their own, and all of their rows, or enough of
/// them to pay for it, go through it at once; and each part is one block of
/// memory. So threads share that work, and what is packed stays in the cache of
/// the one that uses it.
bool FusedCodeBuilder::canPackInBody(const PlannedStage &planned) const {
  constexpr int64_t kManyRows = 256;
  if (plan.groups.size() != 1 || plan.groups.front().products.size() != 1 ||
      plan.rowsInLanes || rowsOutside || !plan.views.empty())
    return false;
  const StageFactor &factor = arrays.factors.front().array;
  auto isInside = [](Int inner, Int outer) {
    return inner.isConstant() && outer.isConstant() &&
           inner.getConstant() < outer.getConstant();
  };
  bool varies = false, isOnce = true;
  int64_t elements = planned.packed.elements;
  for (auto [axis, role] : llvm::enumerate(plan.roles)) {
    int64_t own = planned.factorSizes[axis];
    Int size = arrays.sizes[axis];
    if (role == AxisRole::Grid && own > 1) {
      if (!isInside(factor.strideK, factor.strides[axis]) ||
          !isInside(factor.resultStride, factor.strides[axis]))
        return false;
      varies = true;
      elements = elements / own * plan.getStep(axis, tileSize);
    } else if (role == AxisRole::Grid) {
      isOnce &= size.is(1);
    } else if (role == AxisRole::Tiled) {
      isOnce &= size.isConstant() && size.getConstant() <= tileSize;
    }
  }
  bool hasManyRows = plan.tiledAxis >= 0 && tileSize >= kManyRows;
  return varies && (isOnce || hasManyRows) &&
         elements * outer.getElementBytes() <=
             getBudget(choices, choices.steps.front()).l2Bytes;
}

void FusedCodeBuilder::packFactor(unsigned index,
                                  function_ref<Stage(unsigned)> getPlanned) {
  Stage stage = getPlanned(index);
  PlannedStage planned;
  SmallVector<Int> factorSizes;
  for (int64_t size : arrays.factors[index].sizes)
    factorSizes.push_back(size);
  for (Int size : collapse(factorSizes, plan.groups[index]))
    planned.factorSizes.push_back(size.getConstant());
  // As `moveRowsInside` moves the axes of the step.
  if (plan.rowsInLanes)
    std::rotate(planned.factorSizes.begin() + plan.tiledAxis,
                planned.factorSizes.begin() + plan.tiledAxis + 1,
                planned.factorSizes.end());
  if (rowsOutside)
    std::rotate(planned.factorSizes.begin(), planned.factorSizes.end() - 1,
                planned.factorSizes.end());
  planned.usesTiles = usesTiles(stage);
  if (planned.usesTiles) {
    packTiles(index, stage, planned);
    stages.push_back(planned);
    return;
  }
  planned.packs = needsPacking(stage);
  if (!planned.packs && isConverted(stage.factor.element) &&
      (choices.steps[index].convertsFactor || !canConvertFactor(stage))) {
    convertFactor(index);
    stage = getPlanned(index);
    planned.packs = needsPacking(stage);
  }
  if (planned.packs) {
    planned.packed = getPackedFactor(stage, planned.factorSizes);
    planned.packsInBody = canPackInBody(planned);
  }
  if (planned.packsInBody) {
    for (auto [axis, size] : llvm::enumerate(planned.factorSizes))
      if (plan.roles[axis] == AxisRole::Grid)
        size = std::min(size, plan.getStep(axis, tileSize));
    planned.packed = getPackedFactor(stage, planned.factorSizes);
    packedElements = llvm::alignTo(planned.packed.elements,
                                   kLineBytes / outer.getElementBytes());
  } else if (planned.packs) {
    Value base = runtime.allocateShared(outer, planned.packed.elements);
    emitPacking(outer, stage, planned.factorSizes, planned.packed, base);
    arrays.factors[index].array.base = base;
    arrays.factors[index].array.element = nullptr;
  }
  stageScratchElements =
      std::max(stageScratchElements, getScratchElements(stage));
  stages.push_back(planned);
}
