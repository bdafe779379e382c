//===- JIT.cpp - Compilation in memory --------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/JIT.h"
#include "kron/Runtime/IRInterface.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include <chrono>

using namespace mlir;
using namespace mlir::kron;

JITModule::JITModule() = default;
JITModule::JITModule(JITModule &&) = default;
JITModule::~JITModule() {
  for (const KronKernel *kernel : addresses)
    for (int32_t i = 0; i < kernel->numVersions; ++i)
      // As addCudaModules ends them.
      for (KronCudaModule *code = kernel->versions[i].cuda;
           code && code->numImages; ++code)
        kronRtCudaUnload(code);
}

/// A JIT whose code finds the runtime (kronRt*) and the C library in this
/// process.
static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
createJIT(llvm::orc::LLJITBuilder &builder) {
  auto jit = builder.create();
  if (!jit)
    return jit.takeError();
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  return jit;
}

static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
createJIT(const Processor &processor, std::unique_ptr<llvm::Module> module,
          std::unique_ptr<llvm::LLVMContext> context) {
  llvm::orc::JITTargetMachineBuilder machine(module->getTargetTriple());
  machine.setCPU(processor.cpu);
  machine.addFeatures(
      llvm::SubtargetFeatures(processor.features).getFeatures());
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(std::move(machine));
  auto jit = createJIT(builder);
  if (!jit)
    return jit.takeError();
  if (llvm::Error error = (*jit)->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    return std::move(error);
  return jit;
}

FailureOr<JITModule> JITModule::compile(ModuleOp module,
                                        const Processor &processor,
                                        const CodegenOptions &options) {
  auto context = std::make_unique<llvm::LLVMContext>();
  CodegenOptions jitOptions = options;
  jitOptions.emitCFunctions = false;
  // The driver assembles what runs at once, and keeps it for the next time.
  jitOptions.assembleGPUCode = false;
  ArrayRef<Processor> processors = processor;
  if (!options.gpuChips.empty())
    processors = {};
  FailureOr<CompiledModule> compiled =
      compileToLLVMIR(module, processors, jitOptions, *context);
  if (failed(compiled))
    return failure();
  JITModule result;
  result.kernels = std::move(compiled->kernels);
  result.times = compiled->times;
  auto fail = [&](llvm::Error error) {
    return emitError(module.getLoc(), "cannot load the compiled module: ")
           << llvm::toString(std::move(error));
  };
  auto start = std::chrono::steady_clock::now();
  auto jit =
      createJIT(processor, std::move(compiled->llvmModule), std::move(context));
  if (!jit)
    return fail(jit.takeError());
  result.jit = std::move(*jit);
  for (const KernelManifest &kernel : result.kernels) {
    auto address = result.jit->lookup("kron_kernel_" + kernel.name);
    if (!address)
      return fail(address.takeError());
    result.addresses.push_back(address->toPtr<const KronKernel *>());
  }
  result.times.codegen = std::chrono::duration<double, std::milli>(
                             std::chrono::steady_clock::now() - start)
                             .count();
  return std::move(result);
}

const KronKernel *JITModule::lookup(StringRef name) const {
  for (auto [kernel, address] : llvm::zip(kernels, addresses))
    if (kernel.name == name)
      return address;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

LoadedObject::LoadedObject() = default;
LoadedObject::LoadedObject(LoadedObject &&) = default;
LoadedObject::~LoadedObject() = default;

/// An error if `object` is code of another architecture than this machine's.
static llvm::Error checkArchitecture(StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, "kron"));
  if (!file)
    return file.takeError();
  llvm::Triple host(llvm::sys::getDefaultTargetTriple());
  if ((*file)->getArch() == host.getArch())
    return llvm::Error::success();
  return llvm::createStringError(
      "expects code of " + host.getArchName() + ", but got code of " +
      llvm::Triple::getArchTypeName((*file)->getArch()) +
      ", which this machine does not run");
}

llvm::Expected<LoadedObject> LoadedObject::create(StringRef object,
                                                  ArrayRef<std::string> names) {
  // Initialises the host's target, which a JIT needs even for machine code.
  if (auto machine = createTargetMachine(getBaseline()); !machine)
    return machine.takeError();
  if (llvm::Error error = checkArchitecture(object))
    return std::move(error);
  llvm::orc::LLJITBuilder builder;
  auto jit = createJIT(builder);
  if (!jit)
    return jit.takeError();
  if (llvm::Error error = (*jit)->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, "kron")))
    return std::move(error);
  LoadedObject result;
  result.jit = std::move(*jit);
  for (const std::string &name : names) {
    auto address = result.jit->lookup("kron_kernel_" + name);
    if (!address)
      return address.takeError();
    result.kernels.emplace_back(name, address->toPtr<const KronKernel *>());
  }
  return std::move(result);
}

const KronKernel *LoadedObject::lookup(StringRef name) const {
  for (const auto &[kernelName, address] : kernels)
    if (kernelName == name)
      return address;
  return nullptr;
}
