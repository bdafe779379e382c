//===- PackedFactor.cpp - How a packed factor lies --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/LoopNest.h"

using namespace mlir;
using namespace mlir::kron;

PackedFactor kron::getPackedFactor(const StepLayout &step,
                                   ArrayRef<int64_t> factorSizes) {
  LoopNest nest = getLoopNest(step);
  // What lanes run over, if it is not only q.
  const LoopAxis *lanes = nest.inner.empty() ? nullptr : &nest.inner.back();
  PackedFactor packed;
  StepMapping mapping = getMapping(step, nest);
  bool isFibre = mapping == StepMapping::Fibre;
  if (mapping == StepMapping::Inner &&
      getBroadcastPacking(step, nest) == BroadcastPacking::Streams) {
    // The group is the inner part of the axis that lanes run over.
    packed.strideK = nest.group;
    packed.resultStride = step.sizeK * nest.group;
    packed.elements = step.sizeN * packed.resultStride;
  } else if (auto tiles = getRemainderTiles(*step.choices); !tiles.empty()) {
    packed.strideK = step.sizeN;
    packed.resultStride = 1;
    packed.elements = llvm::alignTo(step.sizeK * step.sizeN, getMaxLanes(step));
    packed.groupedSize = lanes->size.getConstant();
    for (RemainderTile tile : tiles) {
      packed.remainderGroups.push_back({tile.group, packed.elements});
      packed.elements += step.sizeK * getGroupedRowElements(step, tile.group);
    }
  } else if (mapping == StepMapping::Inner) {
    lanes = nullptr;
    // In the order in which p and q lie already.
    bool pInside = step.factor.strideK.getConstant() <
                   step.factor.resultStride.getConstant();
    packed.strideK = pInside ? 1 : step.sizeN;
    packed.resultStride = pInside ? step.sizeK : 1;
    packed.elements = step.sizeK * step.sizeN;
  } else {
    packed.resultStride = lanes ? lanes->size.getConstant() : 1;
    packed.strideK = packed.resultStride * step.sizeN;
  }
  if (isFibre) {
    // Every q once for each of the fibres that share a vector.
    if (!keepsFibres(step))
      packed.resultStride *= getNumFibres(step, nest);
    auto [lanesOfVector, perVector] = getFibreLanes(step, packed.resultStride);
    packed.vectorLanes = lanesOfVector;
    packed.vectorResults = perVector;
    // Whole cache lines, so that the last vector of a row can be loaded
    // unmasked.
    packed.strideK = llvm::alignTo(packed.getRowElements(step.sizeN), 16);
  }
  if (mapping != StepMapping::Inner)
    packed.elements = packed.strideK * step.sizeK;
  if (isFibre) {
    packed.panelLanes = getPanelLanes(step, nest);
    packed.sharingRows = step.choices->sharingRows;
  }
  if (packed.panelLanes) {
    packed.strideK = packed.panelLanes;
    packed.elements =
        step.sizeK *
        llvm::alignTo(packed.getRowElements(step.sizeN), packed.panelLanes);
  }
  packed.strides.assign(step.sizes.size(), 0);
  if (nest.isSplit) {
    packed.splitStride = packed.elements;
    packed.elements *= nest.outer.back().size.getConstant();
  }
  for (unsigned axis = step.sizes.size(); axis-- > 0;) {
    if (axis == step.axis || factorSizes[axis] == 1 ||
        (lanes && lanes->contains(axis)))
      continue;
    packed.strides[axis] = packed.elements;
    packed.elements *= factorSizes[axis];
  }
  return packed;
}
