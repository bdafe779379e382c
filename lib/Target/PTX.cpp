//===- PTX.cpp - From a gpu.module to PTX -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/GPUMachine.h"
#include "kron/Target/GPUCode.h"
#include "kron/Target/Translate.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

llvm::Expected<GPUChip> GPUChip::parse(StringRef name) {
  llvm::Expected<GPUMachine> machine = parseGPUMachine(name);
  if (!machine)
    return machine.takeError();
  GPUChip chip;
  chip.machine = name.str();
  chip.name = machine->arch;
  chip.capability = machine->computeCapability;
  // Code for a family ("f") is taken to run on this capability alone, too.
  chip.isExact = !llvm::isDigit(machine->arch.back());
  return chip;
}

/// The version of PTX: the least that has what emitters use on `chip`, since
/// drivers take no version newer than themselves.
static StringRef getFeatures(const GPUChip &chip) {
  if (chip.capability == 88 || chip.capability == 110)
    return "+ptx90";
  if (chip.capability >= 103 || StringRef(chip.name).ends_with("f"))
    return "+ptx88";
  return chip.capability >= 90 ? "+ptx86" : "+ptx80";
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createGPUMachine(const GPUChip &chip) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  std::string problem;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return createStringError(problem);
  // Less than Aggressive saves a tenth of LLVM's time, but not all that ptxas
  // leaves: kmm f32 8^4 spilled 64 bytes instead of 24.
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip.name, getFeatures(chip), llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("no code generator for " + chip.name);
  return machine;
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

std::unique_ptr<llvm::Module>
kron::translateGPUModule(gpu::GPUModuleOp gpuModule, const GPUChip &chip,
                         llvm::LLVMContext &context) {
  MLIRContext &mlirContext = *gpuModule.getContext();
  registerBuiltinDialectTranslation(mlirContext);
  registerGPUDialectTranslation(mlirContext);
  registerLLVMDialectTranslation(mlirContext);
  registerNVVMDialectTranslation(mlirContext);
  auto machine = createGPUMachine(chip);
  if (!machine) {
    gpuModule.emitError(llvm::toString(machine.takeError()));
    return nullptr;
  }
  std::unique_ptr<llvm::Module> module =
      translateToLLVMIR(gpuModule, context, gpuModule.getName());
  if (!module)
    return nullptr;
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  return module;
}

/// Kernels come with loops, unrolling and vectors chosen; what is left are the
/// traces of building them piece by piece.
static constexpr llvm::StringLiteral kKernelPipeline =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-mssa(licm),early-cse)";

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgsccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgsccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgsccs, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, kKernelPipeline));
  passes.run(module, modules);
}

llvm::Expected<std::string>
kron::emitPTX(llvm::Module &module, const GPUChip &chip, unsigned optLevel) {
  auto machine = createGPUMachine(chip);
  if (!machine)
    return machine.takeError();
  if (optLevel > 0)
    optimize(module, **machine);
  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return createStringError("LLVM cannot emit PTX");
  passes.run(module);
  return ptx.str().str();
}
