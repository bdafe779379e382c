//===- FusedScalars.cpp - Scalars that a fused region computes ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/FusedOperands.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

/// `operation`, a tensor.dim or tensor.extract in the region of `fused`, on the
/// memref behind the argument `array`; null if that is no argument.
static Value hoistRead(OpBuilder &builder, FusedOp fused, Operation &operation,
                       Value array, ValueRange indices) {
  auto argument = dyn_cast<BlockArgument>(array);
  if (!argument || argument.getOwner() != &fused.getBody().front())
    return Value();
  Location loc = operation.getLoc();
  Value memref = fused.getOperandOf(array);
  auto permutation = fused.getInputPermutation();
  bool isPermuted = permutation && argument.getArgNumber() == 0;
  if (isa<tensor::DimOp>(operation)) {
    std::optional<int64_t> axis = getConstantIntValue(indices.front());
    if (!isPermuted)
      return memref::DimOp::create(builder, loc, memref, indices.front());
    if (!axis || *axis < 0 ||
        *axis >= static_cast<int64_t>(permutation->size()))
      return Value();
    return memref::DimOp::create(builder, loc, memref, (*permutation)[*axis]);
  }
  SmallVector<Value> own(indices);
  if (isPermuted)
    for (auto [axis, index] : llvm::enumerate(indices))
      own[(*permutation)[axis]] = index;
  return memref::LoadOp::create(builder, loc, memref, own);
}

LogicalResult kron::hoistFusedScalars(OpBuilder &builder, FusedOp fused) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(fused);
  Block &block = fused.getBody().front();
  auto isInside = [&](Value value) { return value.getParentBlock() == &block; };
  for (Operation &operation : llvm::make_early_inc_range(block)) {
    Value array;
    if (auto dim = dyn_cast<tensor::DimOp>(operation))
      array = dim.getSource();
    else if (auto extract = dyn_cast<tensor::ExtractOp>(operation))
      array = extract.getTensor();
    ValueRange others = operation.getOperands().drop_front(array ? 1 : 0);
    if (operation.hasTrait<OpTrait::IsTerminator>() ||
        llvm::any_of(operation.getResultTypes(), llvm::IsaPred<ShapedType>) ||
        llvm::any_of(others, isInside))
      continue;
    if (!array) {
      operation.moveBefore(fused);
      continue;
    }
    if (Value value = hoistRead(builder, fused, operation, array, others)) {
      operation.getResult(0).replaceAllUsesWith(value);
      operation.erase();
    }
  }
  ModeProductOp last = fused.getModeProducts().back();
  for (auto [name, scalar] :
       {std::pair("alpha", last.getAlpha()), std::pair("beta", last.getBeta())})
    if (scalar && isInside(scalar))
      return last.emitOpError("expects ")
             << name << " to depend on arguments of the region only";
  return success();
}
