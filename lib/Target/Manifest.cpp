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

static std::optional<KronType> getKronType(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    if (part.isF32())
      return KRON_C32;
    if (part.isF64())
      return KRON_C64;
    return part.isF80() ? std::optional(KRON_C80) : std::nullopt;
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
  if (type.isF64())
    return KRON_F64;
  return type.isF32() ? std::optional(KRON_F32) : std::nullopt;
}

StringRef kron::getTypeName(KronType type) {
  static constexpr llvm::StringLiteral names[] = {
      "f32", "f64",          "f16",          "bf16", "i32",
      "i64", "complex<f32>", "complex<f64>", "f80",  "complex<f80>",
      "i8",  "f8E4M3FN",     "f8E5M2"};
  static_assert(std::size(names) == KRON_NUM_TYPES, "one name per KronType");
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

static std::optional<KronAccess> getAccess(StringRef name) {
  return llvm::StringSwitch<std::optional<KronAccess>>(name)
      .Case("read", KRON_READ)
      .Case("write", KRON_WRITE)
      .Case("readwrite", KRON_READ_WRITE)
      .Default(std::nullopt);
}

/// Reads an entry of `kron.args`; none if it is not one.
static std::optional<ArgManifest> readArg(Attribute attr) {
  auto attrs = dyn_cast<DictionaryAttr>(attr);
  if (!attrs)
    return std::nullopt;
  auto type = attrs.getAs<TypeAttr>("type");
  auto name = attrs.getAs<StringAttr>("name");
  auto accessName = attrs.getAs<StringAttr>("access");
  if (!type || !name || !accessName)
    return std::nullopt;
  auto memref = dyn_cast<MemRefType>(type.getValue());
  std::optional<KronType> element =
      getKronType(memref ? memref.getElementType() : type.getValue());
  std::optional<KronAccess> access = getAccess(accessName.getValue());
  if (!element || !access)
    return std::nullopt;
  ArgManifest arg;
  arg.name = name.str();
  arg.type = *element;
  arg.access = *access;
  arg.isScalar = !memref;
  arg.contiguity = 0;
  if (!memref)
    return arg;
  auto symbols = attrs.getAs<DenseI32ArrayAttr>("symbols");
  if (!symbols || symbols.size() != memref.getRank())
    return std::nullopt;
  arg.contiguity = getContiguity(memref);
  for (int64_t size : memref.getShape())
    arg.sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  llvm::append_range(arg.symbols, symbols.asArrayRef());
  return arg;
}

/// The bytes that attribute `name` says, 0 if it is not there; none if it says
/// no such number.
static std::optional<int64_t> getBytes(Operation *op, StringRef name) {
  Attribute attr = op->getAttr(name);
  if (!attr)
    return 0;
  auto bytes = dyn_cast<IntegerAttr>(attr);
  if (!bytes || !bytes.getType().isSignlessInteger(64) || bytes.getInt() < 0)
    return std::nullopt;
  return bytes.getInt();
}

/// Reads what is known of `func`; none after an error.
static std::optional<KernelManifest> readKernel(LLVM::LLVMFuncOp func,
                                                ArrayAttr args) {
  KernelManifest kernel;
  kernel.name = func.getName();
  for (auto [number, attr] : llvm::enumerate(args)) {
    std::optional<ArgManifest> arg = readArg(attr);
    if (!arg) {
      func.emitOpError("expects entry ")
          << number
          << " of kron.args to have name, type, access and a symbol for every "
             "dimension, but got "
          << attr;
      return std::nullopt;
    }
    kernel.args.push_back(std::move(*arg));
  }
  for (auto [name, bytes] :
       {std::pair("kron.shared_bytes", &kernel.sharedBytes),
        std::pair("kron.thread_bytes", &kernel.threadBytes)}) {
    std::optional<int64_t> value = getBytes(func, name);
    if (!value) {
      func.emitOpError("expects ")
          << name << " to be an i64 of at least 0, but got "
          << func->getAttr(name);
      return std::nullopt;
    }
    *bytes = *value;
  }
  return kernel;
}

FailureOr<std::vector<KernelManifest>>
kron::getKernelManifests(ModuleOp module) {
  std::vector<KernelManifest> kernels;
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    Attribute attr = func->getAttr("kron.args");
    if (!attr)
      continue;
    auto args = dyn_cast<ArrayAttr>(attr);
    if (!args) {
      func.emitOpError("expects kron.args to be a list, but got ") << attr;
      return failure();
    }
    std::optional<KernelManifest> kernel = readKernel(func, args);
    if (!kernel)
      return failure();
    WalkResult found = func.walk([](LLVM::CallOp call) {
      return call.getCallee() == "kronRtAllocate" ? WalkResult::interrupt()
                                                  : WalkResult::advance();
    });
    kernel->allocates = found.wasInterrupted();
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}
