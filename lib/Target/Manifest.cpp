//===- Manifest.cpp - What is known of compiled kernels ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/Manifest.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::kron;

static KronType getKronType(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    return part.isF32() ? KRON_C32 : part.isF64() ? KRON_C64 : KRON_C80;
  }
  if (type.isInteger(8))
    return KRON_I8;
  if (isa<Float8E4M3FNType>(type))
    return KRON_F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return KRON_F8E5M2;
  if (type.isInteger(32))
    return KRON_I32;
  if (type.isInteger(64) || type.isIndex())
    return KRON_I64;
  if (type.isF16())
    return KRON_F16;
  if (type.isBF16())
    return KRON_BF16;
  if (type.isF80())
    return KRON_F80;
  return type.isF64() ? KRON_F64 : KRON_F32;
}

StringRef kron::getTypeName(KronType type) {
  static constexpr llvm::StringLiteral names[] = {
      "f32", "f64",          "f16",          "bf16", "i32",
      "i64", "complex<f32>", "complex<f64>", "f80",  "complex<f80>",
      "i8",  "f8E4M3FN",     "f8E5M2"};
  return names[type];
}

/// KronArgInfo::contiguity of arrays of `type`.
static int32_t getContiguity(MemRefType type) {
  if (type.getLayout().isIdentity() ||
      memref::isStaticShapeAndContiguousRowMajor(type))
    return 2;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 2;
  return !strides.empty() && strides.back() == 1 ? 1 : 0;
}

static ArgManifest readArg(DictionaryAttr attrs) {
  Type type = attrs.getAs<TypeAttr>("type").getValue();
  ArgManifest arg;
  arg.name = attrs.getAs<StringAttr>("name").str();
  arg.access = llvm::StringSwitch<KronAccess>(
                   attrs.getAs<StringAttr>("access").getValue())
                   .Case("read", KRON_READ)
                   .Case("write", KRON_WRITE)
                   .Default(KRON_READ_WRITE);
  auto memref = dyn_cast<MemRefType>(type);
  arg.isScalar = !memref;
  arg.contiguity = 0;
  if (!memref) {
    arg.type = getKronType(type);
    return arg;
  }
  arg.type = getKronType(memref.getElementType());
  arg.contiguity = getContiguity(memref);
  for (int64_t size : memref.getShape())
    arg.sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  llvm::append_range(arg.symbols,
                     attrs.getAs<DenseI32ArrayAttr>("symbols").asArrayRef());
  return arg;
}

static int64_t getBytes(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

std::vector<KernelManifest> kron::getKernelManifests(ModuleOp module) {
  std::vector<KernelManifest> kernels;
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    auto args = func->getAttrOfType<ArrayAttr>("kron.args");
    if (!args)
      continue;
    KernelManifest kernel;
    kernel.name = func.getName();
    for (auto arg : args.getAsRange<DictionaryAttr>())
      kernel.args.push_back(readArg(arg));
    kernel.sharedBytes = getBytes(func, "kron.shared_bytes");
    kernel.threadBytes = getBytes(func, "kron.thread_bytes");
    WalkResult found = func.walk([](LLVM::CallOp call) {
      return call.getCallee() == "kronRtAllocate" ? WalkResult::interrupt()
                                                  : WalkResult::advance();
    });
    kernel.allocates = found.wasInterrupted();
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}
