//===- PackedFactor.cpp - How a packed factor lies --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/LoopNest.h"

using namespace mlir;
using namespace mlir::kron;

PackedFactor kron::getPackedFactor(const StageLayout &stage,
                                   ArrayRef<int64_t> factorSizes) {
  LoopNest nest = getLoopNest(stage);
  // What lanes run over, if it is not only q.
  const LoopAxis *lanes = nest.inner.empty() ? nullptr : &nest.inner.back();
  PackedFactor packed;
  StageMapping mapping = getMapping(stage, nest);
  bool isFibre = mapping == StageMapping::Fibre;
  if (mapping == StageMapping::Inner &&
      getBroadcastPacking(stage, nest) == BroadcastPacking::Streams) {
    // The group is the inner part of the axis that lanes run over.
    packed.strideK = nest.group;
    packed.resultStride = stage.sizeK * nest.group;
    packed.elements = stage.sizeN * packed.resultStride;
  } else if (auto tiles = getRemainderTiles(*stage.step); !tiles.empty()) {
    packed.strideK = stage.sizeN;
    packed.resultStride = 1;
    packed.elements =
        llvm::alignTo(stage.sizeK * stage.sizeN, getMaxLanes(stage));
    packed.groupedSize = lanes->size.getConstant();
    for (RemainderTile tile : tiles) {
      packed.remainderGroups.push_back({tile.group, packed.elements});
      packed.elements += stage.sizeK * getGroupedRowElements(stage, tile.group);
    }
  } else if (mapping == StageMapping::Inner) {
    lanes = nullptr;
    // In the order in which p and q lie already.
    bool pInside = stage.factor.strideK.getConstant() <
                   stage.factor.resultStride.getConstant();
    packed.strideK = pInside ? 1 : stage.sizeN;
    packed.resultStride = pInside ? stage.sizeK : 1;
    packed.elements = stage.sizeK * stage.sizeN;
  } else {
    packed.resultStride = lanes ? lanes->size.getConstant() : 1;
    packed.strideK = packed.resultStride * stage.sizeN;
  }
  if (isFibre) {
    // Every q once for each of the fibres that share a vector.
    if (!keepsFibres(stage))
      packed.resultStride *= getNumFibres(stage, nest);
    auto [lanesOfVector, perVector] = getFibreLanes(stage, packed.resultStride);
    packed.vectorLanes = lanesOfVector;
    packed.vectorResults = perVector;
    // Whole cache lines, so that the last vector of a row can be loaded
    // unmasked.
    packed.strideK = llvm::alignTo(packed.getRowElements(stage.sizeN), 16);
  }
  if (mapping != StageMapping::Inner)
    packed.elements = packed.strideK * stage.sizeK;
  if (isFibre) {
    packed.panelLanes = getPanelLanes(stage, nest);
    packed.sharingRows = stage.step->sharingRows;
  }
  if (packed.panelLanes) {
    packed.strideK = packed.panelLanes;
    packed.elements =
        stage.sizeK *
        llvm::alignTo(packed.getRowElements(stage.sizeN), packed.panelLanes);
  }
  packed.strides.assign(stage.sizes.size(), 0);
  if (nest.isSplit) {
    packed.splitStride = packed.elements;
    packed.elements *= nest.outer.back().size.getConstant();
  }
  for (unsigned axis = stage.sizes.size(); axis-- > 0;) {
    if (axis == stage.axis || factorSizes[axis] == 1 ||
        (lanes && lanes->contains(axis)))
      continue;
    packed.strides[axis] = packed.elements;
    packed.elements *= factorSizes[axis];
  }
  return packed;
}
