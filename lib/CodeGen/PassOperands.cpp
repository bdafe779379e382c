//===- PassOperands.cpp - Arrays that a kron.pass works on ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/PassOperands.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

Type kron::getStorageType(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return VectorType::get({2}, complex.getElementType());
  // The LLVM dialect has no numbers of 8 bits.
  if (isFloat8(element))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

int64_t kron::getElementBytes(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * getElementBytes(complex.getElementType());
  return element.getIntOrFloatBitWidth() / 8;
}

std::optional<std::string> kron::getDynamicShapeReason(ScaledOpInterface op) {
  if (auto gradient = dyn_cast<KsmmGradOp>(*op)) {
    if (!cast<ShapedType>(gradient.getInit().getType()).hasStaticShape())
      return "the pattern has dynamic sizes";
    return std::nullopt;
  }
  if (auto gradient = dyn_cast<BiasGradOp>(*op)) {
    if (!cast<ShapedType>(gradient.getInit().getType()).hasStaticShape())
      return "the features have a dynamic size";
    return std::nullopt;
  }
  if (auto gradient = dyn_cast<FactorGradOp>(*op))
    return gradient.hasKnownShapes()
               ? std::nullopt
               : std::optional<std::string>(
                     "factors or axes have dynamic sizes");
  for (Value factor : op.getFactorValues())
    if (!cast<ShapedType>(factor.getType()).hasStaticShape())
      return "a factor has a dynamic shape";
  // Named operations have been viewed as arrays whose axes the factors say.
  if (auto product = dyn_cast<ModeProductOp>(*op))
    for (Value array : {product.getInput(), product.getInit()})
      if (cast<ShapedType>(array.getType()).isDynamicDim(product.getAxis()))
        return "the contracted axis has a dynamic size";
  return std::nullopt;
}

static Int toInt(Emitter &emitter, OpFoldResult number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return *constant;
  OpBuilder &builder = emitter.builder;
  return Int(arith::IndexCastOp::create(
      builder, emitter.loc, builder.getI64Type(), cast<Value>(number)));
}

StageArray kron::getPassArray(Emitter &emitter, Value memref,
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
  StageArray array{own.offsetPointer(pointer, offset), {}, own.element};
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  for (unsigned axis = 0; axis < strides.size(); ++axis)
    array.strides.push_back(toInt(
        emitter, strides[permutation.empty() ? axis : permutation[axis]]));
  return array;
}

/// The operand of the pass behind an argument of its region.
static Value getOperandOf(PassOp pass, Value regionValue) {
  return pass->getOperand(cast<BlockArgument>(regionValue).getArgNumber());
}

FactorArray kron::getPassFactor(Emitter &emitter, PassOp pass,
                                ModeProductOp product) {
  StageArray array =
      getPassArray(emitter, getOperandOf(pass, product.getFactor()));
  auto shape = cast<ShapedType>(product.getFactor().getType()).getShape();
  int64_t rank = cast<ShapedType>(pass.getInit().getType()).getRank();
  FactorArray factor;
  factor.array.base = array.base;
  factor.array.element = array.element;
  factor.array.strides.assign(rank, 0);
  factor.sizes.assign(rank, 1);
  for (auto [dim, axis] : llvm::enumerate(product.getFactorDims())) {
    if (axis == ModeProductOp::kContracted) {
      factor.array.depthStride = array.strides[dim];
    } else if (axis == ModeProductOp::kResulting) {
      factor.array.resultStride = array.strides[dim];
    } else if (shape[dim] != 1) {
      factor.array.strides[axis] = array.strides[dim];
      factor.sizes[axis] = shape[dim];
    }
  }
  return factor;
}

static SmallVector<Int> getSizes(Emitter &emitter, Value memref) {
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

static StageArray getInput(Emitter &emitter, PassOp pass) {
  ArrayRef<int64_t> permutation =
      pass.getInputPermutation().value_or(ArrayRef<int64_t>());
  StageArray input =
      getPassArray(emitter, pass.getInputs().front(), permutation);
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  auto shape =
      cast<ShapedType>(products.front().getInput().getType()).getShape();
  // An axis of size 1 may stretch, unless it is contracted: then its stride is
  // that of the contracted axis of a group that it ends.
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1 && llvm::none_of(products, [&](ModeProductOp product) {
          return product.getAxis() == axis;
        }))
      input.strides[axis] = 0;
  return input;
}

static PassEpilogue getPassEpilogue(Emitter &emitter, PassOp pass,
                                    EpilogueOp op) {
  PassEpilogue epilogue;
  epilogue.activation = op.getActivation();
  epilogue.scale = op.getScaleAttr();
  if (op.getResidual())
    epilogue.residual =
        getPassArray(emitter, getOperandOf(pass, op.getResidual()));
  if (!op.getBias())
    return epilogue;
  StageArray bias = getPassArray(emitter, getOperandOf(pass, op.getBias()));
  int64_t rank = cast<ShapedType>(pass.getInit().getType()).getRank();
  epilogue.bias = {bias.base, SmallVector<Int>(rank, 0), bias.element};
  for (auto [axis, stride] : llvm::zip_equal(op.getBiasAxes(), bias.strides))
    epilogue.bias.strides[axis] = stride;
  return epilogue;
}

/// `operation`, a tensor.dim or tensor.extract in the region of `pass`, on the
/// memref behind the argument `array`; null if that is no argument.
static Value hoistRead(OpBuilder &builder, PassOp pass, Operation &operation,
                       Value array, ValueRange indices) {
  auto argument = dyn_cast<BlockArgument>(array);
  if (!argument || argument.getOwner() != &pass.getBody().front())
    return Value();
  Location loc = operation.getLoc();
  Value memref = getOperandOf(pass, array);
  auto permutation = pass.getInputPermutation();
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

LogicalResult kron::hoistPassScalars(OpBuilder &builder, PassOp pass) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(pass);
  Block &block = pass.getBody().front();
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
      operation.moveBefore(pass);
      continue;
    }
    if (Value value = hoistRead(builder, pass, operation, array, others)) {
      operation.getResult(0).replaceAllUsesWith(value);
      operation.erase();
    }
  }
  ModeProductOp last = pass.getModeProducts().back();
  for (auto [name, scalar] :
       {std::pair("alpha", last.getAlpha()), std::pair("beta", last.getBeta())})
    if (scalar && isInside(scalar))
      return last.emitOpError("expects ")
             << name << " to depend on arguments of the region only";
  return success();
}

PassOperands kron::getPassOperands(Emitter &emitter, PassOp pass) {
  PassOperands operands;
  operands.sizes = getSizes(emitter, pass.getInit());
  operands.input = getInput(emitter, pass);
  operands.init = getPassArray(emitter, pass.getInit());
  ModeProductOp last = pass.getModeProducts().back();
  operands.alpha = getAlpha(last);
  operands.beta = getBeta(last);
  if (!operands.beta.isZero())
    operands.addend =
        last.getAddend()
            ? getPassArray(emitter, getOperandOf(pass, last.getAddend()))
            : operands.init;
  if (EpilogueOp epilogue = pass.getEpilogue())
    operands.epilogue = getPassEpilogue(emitter, pass, epilogue);
  return operands;
}
