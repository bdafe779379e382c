//===- FusedOperands.cpp - Arrays that a kron.fused works on ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/FusedOperands.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

static Int toInt(Emitter &emitter, OpFoldResult number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return *constant;
  OpBuilder &builder = emitter.builder;
  return Int(arith::IndexCastOp::create(
      builder, emitter.loc, builder.getI64Type(), cast<Value>(number)));
}

StepArray kron::getFusedArray(Emitter &emitter, Value memref,
                              ArrayRef<int64_t> permutation) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
  Int offset = toInt(emitter, metadata.getConstifiedMixedOffset());
  // In elements of this array: those of a factor may be narrower than others.
  Emitter own(
      builder, loc,
      getStorageType(cast<MemRefType>(memref.getType()).getElementType()));
  StepArray array{own.offsetPointer(pointer, offset), {}, own.element};
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  for (unsigned axis = 0; axis < strides.size(); ++axis)
    array.strides.push_back(toInt(
        emitter, strides[permutation.empty() ? axis : permutation[axis]]));
  return array;
}

FactorArray kron::getFusedFactor(Emitter &emitter, FusedOp fused,
                                 ModeProductOp product) {
  return arrangeFactor(
      fused, product,
      getFusedArray(emitter, fused.getOperandOf(product.getFactor())));
}

SmallVector<Int> kron::getArraySizes(Emitter &emitter, Value memref) {
  OpBuilder &builder = emitter.builder;
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<Int> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      sizes.push_back(type.getDimSize(axis));
      continue;
    }
    Value index = arith::ConstantIndexOp::create(builder, emitter.loc, axis);
    Value size = memref::DimOp::create(builder, emitter.loc, memref, index);
    sizes.push_back(toInt(emitter, size));
  }
  return sizes;
}

static StepArray getInput(Emitter &emitter, FusedOp fused) {
  ArrayRef<int64_t> permutation =
      fused.getInputPermutation().value_or(ArrayRef<int64_t>());
  StepArray input =
      getFusedArray(emitter, fused.getInputs().front(), permutation);
  stretchInput(fused, input);
  return input;
}

static FusedEpilogue getFusedEpilogue(Emitter &emitter, FusedOp fused,
                                      EpilogueOp op) {
  FusedEpilogue epilogue;
  epilogue.activation = op.getActivation();
  epilogue.scale = op.getScaleAttr();
  if (op.getResidual())
    epilogue.residual =
        getFusedArray(emitter, fused.getOperandOf(op.getResidual()));
  if (!op.getBias())
    return epilogue;
  StepArray bias = getFusedArray(emitter, fused.getOperandOf(op.getBias()));
  int64_t rank = cast<ShapedType>(fused.getInit().getType()).getRank();
  epilogue.bias = {bias.base, SmallVector<Int>(rank, 0), bias.element};
  for (auto [axis, stride] : llvm::zip_equal(op.getBiasAxes(), bias.strides))
    epilogue.bias.strides[axis] = stride;
  return epilogue;
}

FusedOperands kron::getFusedOperands(Emitter &emitter, FusedOp fused) {
  FusedOperands operands;
  operands.sizes = getArraySizes(emitter, fused.getInit());
  operands.input = getInput(emitter, fused);
  operands.init = getFusedArray(emitter, fused.getInit());
  ModeProductOp last = fused.getModeProducts().back();
  operands.alpha = getAlpha(last);
  operands.beta = getBeta(last);
  if (!operands.beta.isZero())
    operands.addend =
        last.getAddend()
            ? getFusedArray(emitter, fused.getOperandOf(last.getAddend()))
            : operands.init;
  if (EpilogueOp epilogue = fused.getEpilogue())
    operands.epilogue = getFusedEpilogue(emitter, fused, epilogue);
  return operands;
}
