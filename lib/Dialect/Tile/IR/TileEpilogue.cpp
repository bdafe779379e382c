//===- TileEpilogue.cpp - Rules of what stores do beside storing ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "kron/Dialect/Tile/IR/TileColumns.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

bool tile::hasEpilogue(StoreOp op) {
  return op.getBias() || op.getResidual() || op.getScaleAttr() ||
         op.getActivation() != Activation::Identity;
}

LogicalResult tile::verifyNoEpilogue(StoreOp op, StringRef what) {
  // store_c10
  return hasEpilogue(op) ? op.emitOpError("expects no epilogue of ") << what
                         : success();
}

LogicalResult tile::verifyEpilogue(StoreOp op) {
  Type element = op.getView().getType().getElementType();
  if (!hasEpilogue(op))
    return success();
  for (Value array : {op.getBias(), op.getResidual()})
    if (array && cast<ViewType>(array.getType()).getElementType() != element)
      // store_c10
      return op.emitOpError("expects an epilogue's arrays of ")
             << element << ", as are stored, but got " << array.getType();
  Activation activation = op.getActivation();
  bool isReal = element.isIntOrFloat();
  bool isSmooth =
      activation == Activation::Gelu || activation == Activation::Silu;
  if ((activation != Activation::Identity && !isReal) ||
      (isSmooth && !isa<FloatType>(element)))
    return op.emitOpError("expects real elements for an activation, and floats "
                          "for gelu and silu, but got ")
           << element;
  if (op.getScaleAttr() && op.getScaleAttr().getType() != getSumType(element))
    return op.emitOpError("expects a scale of type ")
           << getSumType(element) << ", but got " << op.getScaleAttr();
  auto fragment = dyn_cast<FragmentType>(op.getSource().getType());
  if (op.getRows() || (fragment && hasWarpBoxes(fragment)))
    return op.emitOpError("expects an epilogue of a box that is stored element "
                          "by element");
  for (Value array : {op.getBias(), op.getResidual()})
    if (array && cast<ViewType>(array.getType()).getShape() !=
                     op.getView().getType().getShape())
      return op.emitOpError("expects an epilogue's arrays of the sizes of ")
             << op.getView().getType() << ", but got " << array.getType();
  return success();
}
