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

Value FusedCodeBuilder::copyFactor(const FactorCopy &copy) {
  StepArray to = copy.to;
  to.base = runtime.allocateShared(outer, copy.elements);
  if (copy.pairedDim >= 0)
    emitPairCopy(outer, {copy.sizes, static_cast<unsigned>(copy.pairedDim),
                         copy.from, to, vectorBits});
  else
    emitTileCopy(outer, {copy.sizes, copy.from, to, {}, {}, vectorBits});
  return to.base;
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
  StepArray from{factor.array.base, {}}, to;
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
void FusedCodeBuilder::packMatrixTiles(unsigned index, StepLayout step,
                                       PlannedStep &planned) {
  if (choices.steps[index].transposesFactor) {
    moveFactorAxes(index);
    // In the order of the step's axes, which may be moved.
    step.factor = getPlanned(index).factor;
  }
  planned.packed = getAmxFactor(step, planned.factorSizes);
  // Elements of bf16, of which the emitter's hold two.
  Value base = runtime.allocateShared(
      outer, llvm::divideCeil(planned.packed.elements, 2));
  emitAmxPacking(outer, step, planned.factorSizes, planned.packed, base);
  arrays.factors[index].array.base = base;
}

Value FusedCodeBuilder::packFactor(const StepLayout &step,
                                   const PlannedStep &planned) {
  Value base = runtime.allocateShared(outer, planned.packed.elements);
  emitPacking(outer, step, planned.factorSizes, planned.packed, base);
  return base;
}
