//===- CudaCalls.cpp - Calls from host code into the CUDA runtime ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::kron;

static Type getPointerType(OpBuilder &builder) {
  return LLVM::LLVMPointerType::get(builder.getContext());
}

/// The declaration of runtime function `name` in `module`.
static LLVM::LLVMFuncOp declare(OpBuilder &builder, ModuleOp module,
                                StringRef name, Type result,
                                ArrayRef<Type> inputs) {
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return function;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, inputs));
}

/// The address of the name of a kernel or variable as a C string.
static Value getKernelName(OpBuilder &builder, Location loc, ModuleOp module,
                           StringRef kernel) {
  std::string symbol = (kernel + "_name").str();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    std::string text = kernel.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
    global =
        LLVM::GlobalOp::create(builder, module.getLoc(), type,
                               /*isConstant=*/true, LLVM::Linkage::Internal,
                               symbol, builder.getStringAttr(text));
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

/// The address of what the runtime knows the GPU code of `kernel` by, of
/// variables if it is empty.
static Value getCudaModule(OpBuilder &builder, Location loc, ModuleOp module,
                           StringRef kernel) {
  std::string symbol = (kCudaModuleName + "." + kernel).str();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(
        builder, module.getLoc(), builder.getI8Type(), /*isConstant=*/false,
        LLVM::Linkage::External, symbol, Attribute());
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

/// Stores `params` and builds the array of their addresses. The memory is in
/// the entry block, so that a launch within a loop does not grow the stack.
static Value buildParams(OpBuilder &builder, Location loc, ValueRange params) {
  Type pointer = getPointerType(builder);
  SmallVector<Value> slots;
  Value array;
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.getInsertionBlock();
    auto function = dyn_cast<func::FuncOp>(block->getParentOp());
    if (!function)
      function = block->getParentOp()->getParentOfType<func::FuncOp>();
    builder.setInsertionPointToStart(&function.getBody().front());
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
    for (Value param : params)
      slots.push_back(
          LLVM::AllocaOp::create(builder, loc, pointer, param.getType(), one));
    Value count = arith::ConstantIntOp::create(
        builder, loc, std::max<int64_t>(params.size(), 1), 64);
    array = LLVM::AllocaOp::create(builder, loc, pointer, pointer, count);
  }
  for (auto [index, param] : llvm::enumerate(params)) {
    LLVM::StoreOp::create(builder, loc, param, slots[index]);
    Value entry =
        LLVM::GEPOp::create(builder, loc, pointer, pointer, array,
                            LLVM::GEPArg(static_cast<int32_t>(index)));
    LLVM::StoreOp::create(builder, loc, slots[index], entry);
  }
  return array;
}

void kron::buildCudaLaunch(OpBuilder &builder, Location loc, ModuleOp module,
                           StringRef kernel, Value grid, int32_t block,
                           int32_t cluster, int64_t sharedBytes,
                           ValueRange params) {
  Type pointer = getPointerType(builder);
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  LLVM::LLVMFuncOp launch =
      declare(builder, module, "kronRtCudaLaunch",
              LLVM::LLVMVoidType::get(builder.getContext()),
              {pointer, pointer, i64, i32, i32, i64, pointer, i32});
  auto number = [&](int64_t value, unsigned bits) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, bits);
  };
  Value arguments[] = {getCudaModule(builder, loc, module, kernel),
                       getKernelName(builder, loc, module, kernel),
                       grid,
                       number(block, 32),
                       number(cluster, 32),
                       number(sharedBytes, 64),
                       buildParams(builder, loc, params),
                       number(params.size(), 32)};
  LLVM::CallOp::create(builder, loc, launch, arguments);
}

Value kron::buildCudaNumSMs(OpBuilder &builder, Location loc, ModuleOp module) {
  LLVM::LLVMFuncOp numSMs =
      declare(builder, module, "kronRtCudaNumSMs", builder.getI64Type(), {});
  return LLVM::CallOp::create(builder, loc, numSMs, ValueRange()).getResult();
}

Value kron::buildCudaWorkspace(OpBuilder &builder, Location loc,
                               ModuleOp module, Value bytes) {
  LLVM::LLVMFuncOp workspace =
      declare(builder, module, "kronRtCudaWorkspace", getPointerType(builder),
              builder.getI64Type());
  return LLVM::CallOp::create(builder, loc, workspace, bytes).getResult();
}

void kron::buildCudaRelease(OpBuilder &builder, Location loc, ModuleOp module,
                            Value pointer) {
  LLVM::LLVMFuncOp release = declare(
      builder, module, "kronRtCudaRelease",
      LLVM::LLVMVoidType::get(builder.getContext()), getPointerType(builder));
  LLVM::CallOp::create(builder, loc, release, pointer);
}

Value kron::buildCudaGlobal(OpBuilder &builder, Location loc, ModuleOp module,
                            StringRef name) {
  Type pointer = getPointerType(builder);
  LLVM::LLVMFuncOp global =
      declare(builder, module, "kronRtCudaGlobal", pointer, {pointer, pointer});
  Value arguments[] = {getCudaModule(builder, loc, module, /*kernel=*/""),
                       getKernelName(builder, loc, module, name)};
  return LLVM::CallOp::create(builder, loc, global, arguments).getResult();
}
