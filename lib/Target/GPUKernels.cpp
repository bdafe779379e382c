//===- GPUKernels.cpp - Code of the kernels of a gpu.module -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Each kernel becomes a module of its own: threads compile them side by side,
// and a driver assembles those that are launched, which of the plans of a
// #kron.dispatch is one.
//
//===----------------------------------------------------------------------===//

#include "kron/Target/GPUCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ThreadPool.h"
#include <optional>

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Adds to `part` copies of what `op` names of `whole`, and of what these name.
static void copyNamed(Operation *op, gpu::GPUModuleOp whole,
                      gpu::GPUModuleOp part) {
  op->walk([&](Operation *user) {
    FlatSymbolRefAttr name;
    if (auto address = dyn_cast<LLVM::AddressOfOp>(user))
      name = address.getGlobalNameAttr();
    else if (auto call = dyn_cast<LLVM::CallOp>(user))
      name = call.getCalleeAttr();
    if (!name || part.lookupSymbol(name.getAttr()))
      return;
    if (Operation *named = whole.lookupSymbol(name.getAttr()))
      copyNamed(OpBuilder::atBlockBegin(part.getBody()).clone(*named), whole,
                part);
  });
}

/// Whether host code can ask for the address of a variable of `module`.
static bool hasVariables(gpu::GPUModuleOp module) {
  return llvm::any_of(
      module.getOps<LLVM::GlobalOp>(), [](LLVM::GlobalOp global) {
        return global.getAddrSpace() !=
               static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
      });
}

/// Moves each kernel of `whole` into a gpu.module of its name behind it.
static SmallVector<gpu::GPUModuleOp> separate(gpu::GPUModuleOp whole) {
  auto isKernel = [](LLVM::LLVMFuncOp function) {
    return function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
  };
  OpBuilder builder(whole->getContext());
  builder.setInsertionPointAfter(whole);
  SmallVector<gpu::GPUModuleOp> parts;
  for (auto kernel : llvm::make_early_inc_range(llvm::make_filter_range(
           whole.getOps<LLVM::LLVMFuncOp>(), isKernel))) {
    auto part =
        gpu::GPUModuleOp::create(builder, kernel.getLoc(), kernel.getName());
    kernel->moveBefore(part.getBody(), part.getBody()->end());
    copyNamed(kernel, whole, part);
    parts.push_back(part);
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
/// A module of LLVM that no other thread touches.
struct Part {
  GPUCode code;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::string problem;
};
} // namespace

/// Fills in the code of `part`, or its problem.
static void compile(Part &part, StringRef assembler, unsigned optLevel) {
  auto ptx = emitPTX(*part.module, part.code.chip, optLevel);
  if (!ptx) {
    part.problem = llvm::toString(ptx.takeError());
    return;
  }
  part.code.ptx = std::move(*ptx);
  if (assembler.empty())
    return;
  auto cubin = assemblePTX(assembler, part.code.ptx, part.code.chip);
  if (!cubin)
    part.problem = llvm::toString(cubin.takeError());
  else
    part.code.cubin = std::move(*cubin);
}

/// Compiles `modules`, each as soon as its LLVM IR is there.
static LogicalResult compile(ArrayRef<gpu::GPUModuleOp> modules,
                             const GPUCodeOptions &options,
                             MutableArrayRef<Part> parts) {
  std::string assembler = options.assembles ? findAssembler() : "";
  unsigned numThreads = std::min<size_t>(parts.size(), options.numThreads);
  llvm::ThreadPoolStrategy strategy = llvm::hardware_concurrency(numThreads);
  strategy.Limit = true;
  std::optional<llvm::DefaultThreadPool> threads;
  if (numThreads > 1)
    threads.emplace(strategy);
  for (size_t i = 0; i < parts.size(); ++i) {
    Part &part = parts[i];
    part.module = translateGPUModule(modules[i], part.code.chip, part.context);
    if (!part.module)
      return failure();
    auto emit = [&part, &assembler, &options] {
      compile(part, assembler, options.optLevel);
    };
    if (threads)
      threads->async(emit);
    else
      emit();
  }
  return success();
}

FailureOr<std::vector<GPUCode>>
kron::compileGPUModule(gpu::GPUModuleOp gpuModule, const GPUChip &chip,
                       const GPUCodeOptions &options) {
  SmallVector<gpu::GPUModuleOp> modules;
  if (options.separatesKernels)
    modules = separate(gpuModule);
  const size_t numKernels = modules.size();
  if (!options.separatesKernels || hasVariables(gpuModule))
    modules.push_back(gpuModule);
  std::vector<Part> parts(modules.size());
  for (auto [index, part] : llvm::enumerate(parts)) {
    part.code.chip = chip;
    if (index < numKernels)
      part.code.kernel = modules[index].getName().str();
  }
  if (failed(compile(modules, options, parts)))
    return failure();
  std::vector<GPUCode> codes;
  for (Part &part : parts) {
    if (!part.problem.empty())
      return gpuModule.emitError(part.problem);
    codes.push_back(std::move(part.code));
  }
  for (gpu::GPUModuleOp module : ArrayRef(modules).take_front(numKernels))
    module.erase();
  gpuModule.erase();
  return codes;
}
