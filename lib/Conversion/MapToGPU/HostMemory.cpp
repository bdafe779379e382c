//===- HostMemory.cpp - Arrays that host code makes -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::kron;

/// A row-major memref of `type` at `pointer`; `sizes` are i64.
static Value buildMemRef(OpBuilder &builder, Location loc, MemRefType type,
                         Value pointer, ArrayRef<Value> sizes) {
  LLVMTypeConverter converter(builder.getContext());
  auto descriptor =
      MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), value);
  };
  descriptor.setAllocatedPtr(builder, loc, pointer);
  descriptor.setAlignedPtr(builder, loc, pointer);
  descriptor.setOffset(builder, loc, number(0));
  Value stride = number(1);
  for (int64_t axis = type.getRank(); axis-- > 0;) {
    descriptor.setSize(builder, loc, axis, sizes[axis]);
    descriptor.setStride(builder, loc, axis, stride);
    if (axis > 0)
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[axis]);
  }
  Value value = descriptor;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

/// All sizes of an array of `type`, whose dynamic ones are `dynamic`.
static SmallVector<Value> getSizes(OpBuilder &builder, Location loc,
                                   MemRefType type, ValueRange dynamic) {
  SmallVector<Value> sizes;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(arith::ConstantIntOp::create(builder, loc, size, 64));
      continue;
    }
    sizes.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(), dynamic.front()));
    dynamic = dynamic.drop_front();
  }
  return sizes;
}

/// The bytes of an array; -1, which the runtime refuses, if they exceed 2^63.
static Value buildBytes(OpBuilder &builder, Location loc, MemRefType type,
                        ArrayRef<Value> sizes) {
  int64_t known = kron::getElementBytes(type.getElementType());
  SmallVector<Value> factors;
  bool overflows = false;
  for (auto [size, value] : llvm::zip(type.getShape(), sizes)) {
    if (ShapedType::isDynamic(size))
      factors.push_back(value);
    else
      overflows |= __builtin_mul_overflow(known, size, &known);
  }
  Value bytes =
      arith::ConstantIntOp::create(builder, loc, overflows ? -1 : known, 64);
  if (overflows)
    return bytes;
  auto pair = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {builder.getI64Type(), builder.getI1Type()});
  Value refused = arith::ConstantIntOp::create(builder, loc, -1, 64);
  Value anyOverflow;
  for (Value factor : factors) {
    Value product =
        LLVM::SMulWithOverflowOp::create(builder, loc, pair, bytes, factor);
    bytes = LLVM::ExtractValueOp::create(builder, loc, product, 0);
    Value flag = LLVM::ExtractValueOp::create(builder, loc, product, 1);
    anyOverflow = anyOverflow
                      ? arith::OrIOp::create(builder, loc, anyOverflow, flag)
                      : flag;
  }
  if (!anyOverflow)
    return bytes;
  return arith::SelectOp::create(builder, loc, anyOverflow, refused, bytes);
}

static LogicalResult moveAllocation(memref::AllocOp op) {
  MemRefType type = op.getType();
  if (!type.getLayout().isIdentity())
    return op.emitOpError("cannot be GPU memory: expects a row-major array "
                          "without gaps, but got ")
           << type;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> sizes = getSizes(builder, loc, type, op.getDynamicSizes());
  Value bytes = buildBytes(builder, loc, type, sizes);
  Value pointer =
      buildCudaWorkspace(builder, loc, op->getParentOfType<ModuleOp>(), bytes);
  op.replaceAllUsesWith(buildMemRef(builder, loc, type, pointer, sizes));
  op.erase();
  return success();
}

static void moveDeallocation(memref::DeallocOp op) {
  OpBuilder builder(op);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(
      builder, op.getLoc(), op.getMemref());
  address = arith::IndexCastOp::create(builder, op.getLoc(),
                                       builder.getI64Type(), address);
  Value pointer = LLVM::IntToPtrOp::create(
      builder, op.getLoc(), LLVM::LLVMPointerType::get(op.getContext()),
      address);
  buildCudaRelease(builder, op.getLoc(), op->getParentOfType<ModuleOp>(),
                   pointer);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The elements of `values` in a row; complex ones as pairs.
static DenseElementsAttr flatten(DenseElementsAttr values) {
  Type element = values.getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  if (!complex)
    return values.reshape(
        RankedTensorType::get({values.getNumElements()}, element));
  Type part = complex.getElementType();
  SmallVector<APFloat> parts;
  for (std::complex<APFloat> value : values.getValues<std::complex<APFloat>>())
    parts.append({value.real(), value.imag()});
  auto type = RankedTensorType::get({static_cast<int64_t>(parts.size())}, part);
  return DenseElementsAttr::get(type, parts);
}

/// Puts the constant array `global` into the code of the GPU too.
static LogicalResult copyConstant(memref::GlobalOp global,
                                  gpu::GPUModuleOp gpuModule) {
  if (gpuModule.lookupSymbol(global.getSymName()))
    return success();
  auto values =
      dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr());
  if (!values || !global.getConstant())
    return global.emitOpError(
        "cannot be GPU memory: expects a constant with its elements");
  values = flatten(values);
  OpBuilder builder = OpBuilder::atBlockBegin(gpuModule.getBody());
  constexpr unsigned globalSpace = 1;
  constexpr int64_t alignment = 256;
  LLVM::GlobalOp::create(builder, global.getLoc(),
                         LLVM::LLVMArrayType::get(values.getElementType(),
                                                  values.getNumElements()),
                         /*isConstant=*/true, LLVM::Linkage::External,
                         global.getSymName(), values, alignment, globalSpace);
  return success();
}

static LogicalResult moveConstant(memref::GetGlobalOp op,
                                  gpu::GPUModuleOp gpuModule) {
  auto module = op->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<memref::GlobalOp>(op.getName());
  if (failed(copyConstant(global, gpuModule)))
    return failure();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> sizes = getSizes(builder, loc, op.getType(), {});
  Value pointer = buildCudaGlobal(builder, loc, module, op.getName());
  op.replaceAllUsesWith(
      buildMemRef(builder, loc, op.getType(), pointer, sizes));
  op.erase();
  return success();
}

bool kron::isHostArray(Value array) {
  Type element = getElementTypeOrSelf(array.getType());
  return element.isIndex() || element.isInteger(1);
}

/// `op` allocates, releases or is a constant, and is gone afterwards.
static LogicalResult moveOp(Operation *op, gpu::GPUModuleOp gpuModule) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return moveAllocation(alloc);
  if (auto constant = dyn_cast<memref::GetGlobalOp>(op))
    return moveConstant(constant, gpuModule);
  moveDeallocation(cast<memref::DeallocOp>(op));
  return success();
}

LogicalResult kron::moveMemory(func::FuncOp function,
                               gpu::GPUModuleOp gpuModule) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::DeallocOp, memref::GetGlobalOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    Value array = op->getNumResults() ? op->getResult(0) : op->getOperand(0);
    if (!isHostArray(array) && failed(moveOp(op, gpuModule)))
      return failure();
  }
  return success();
}
