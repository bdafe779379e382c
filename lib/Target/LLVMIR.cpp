//===- LLVMIR.cpp - From a module to LLVM IR with kernels -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/LLVMIR.h"
#include "Entry.h"
#include "kron/CodeGen/CPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Conversion/Passes.h"
#include "kron/Mapping/Tuning/Record.h"
#include "kron/Target/PipelineOptions.h"
#include "kron/Target/Translate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <chrono>
#include <cstdlib>

using namespace mlir;
using namespace mlir::kron;

namespace {

/// Adds the time since its construction to a sum of milliseconds.
class Stopwatch {
public:
  explicit Stopwatch(double &sum) : sum(sum) {}
  ~Stopwatch() {
    sum +=
        std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  double &sum;
  Clock::time_point start = Clock::now();
};

/// Compiles versions of one module and links them.
class ModuleCompiler {
public:
  ModuleCompiler(ModuleOp source, const CodegenOptions &options,
                 llvm::LLVMContext &context)
      : source(source), options(options), context(context) {}

  LogicalResult addVersion(const Processor &processor);
  LogicalResult addGPUVersion(const GPUChip &chip);
  FailureOr<CompiledModule> finish();

private:
  FailureOr<OwningOpRef<ModuleOp>>
  lower(function_ref<void(PassManager &, const CodegenOptions &)> populate);
  FailureOr<OwningOpRef<ModuleOp>> runPasses(const Processor &processor);
  FailureOr<OwningOpRef<ModuleOp>> runGPUPasses(const GPUChip &chip);
  FailureOr<std::vector<GPUCode>> compileKernels(ModuleOp module,
                                                 const GPUChip &chip);
  LogicalResult link(std::unique_ptr<llvm::Module> module,
                     std::vector<KernelManifest> manifests);
  FailureOr<std::unique_ptr<llvm::Module>>
  translate(ModuleOp module, llvm::TargetMachine &machine,
            const Processor &processor);
  void addEntries(llvm::Module &module, const Processor &processor,
                  ArrayRef<KernelManifest> manifests,
                  StringRef cudaModule = "");
  void optimize(llvm::Module &module, llvm::TargetMachine &machine);

  ModuleOp source;
  const CodegenOptions &options;
  llvm::LLVMContext &context;
  CompiledModule result;
  /// What the versions run on; empty: this machine.
  std::string triple;
  /// Per kernel.
  std::vector<std::vector<KernelVersion>> versions;
  unsigned numVersions = 0;
};

} // namespace

/// Stores of bf16 values become stores of their bits, so that the selects which
/// round them are between integers. LLVM would round vectors of bf16 selects
/// once more, through a compiler library newer than Debian 12's.
static void storeBitsOfBF16(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || !store->getValueOperand()->getType()->isBFloatTy())
      continue;
    llvm::IRBuilder<> builder(store);
    store->setOperand(0, builder.CreateBitCast(store->getValueOperand(),
                                               builder.getInt16Ty()));
  }
}

namespace {
/// Finds out whether passes depend on tuning records: an operation has got the
/// plan of one, or they could not be read.
class RecordWatch : public PassInstrumentation {
public:
  explicit RecordWatch(bool &depends) : depends(depends) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (appliesRecords(pass))
      numWithoutPlan = countTunable(op);
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    depends |= appliesRecords(pass) && countTunable(op) < numWithoutPlan;
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    depends |= appliesRecords(pass);
  }

private:
  static bool appliesRecords(Pass *pass) {
    return pass->getArgument() == "kron-apply-records";
  }
  static unsigned countTunable(Operation *root) {
    unsigned count = 0;
    root->walk([&](Operation *op) { count += isTunable(op); });
    return count;
  }

  bool &depends;
  unsigned numWithoutPlan = 0;
};
} // namespace

/// Whether modules are verified after each pass, as suites want it: of kernels
/// that takes as long as several passes. Passes that bring in what users write,
/// plans and records, verify by themselves.
static bool verifiesEachPass() {
  const char *value = std::getenv("KRON_VERIFY_EACH");
  return value && *value && StringRef(value) != "0";
}

/// Runs the passes that `populate` adds on a copy of the source. Where a plan
/// of tuning records is none for its operation, a warning says why, and the
/// copy is lowered without records.
FailureOr<OwningOpRef<ModuleOp>> ModuleCompiler::lower(
    function_ref<void(PassManager &, const CodegenOptions &)> populate) {
  bool dependsOnRecords = false;
  auto run = [&](const CodegenOptions &options) -> OwningOpRef<ModuleOp> {
    OwningOpRef<ModuleOp> lowered(source.clone());
    PassManager pm(source.getContext());
    pm.enableVerifier(verifiesEachPass());
    if (options.widen)
      pm.addPass(createKronWiden());
    populate(pm, options);
    if (!options.records.empty())
      pm.addInstrumentation(std::make_unique<RecordWatch>(dependsOnRecords));
    return succeeded(pm.run(*lowered)) && succeeded(verify(*lowered))
               ? std::move(lowered)
               : nullptr;
  };
  std::string problem;
  if (!options.records.empty() && !options.reference) {
    std::vector<Diagnostic> errors;
    {
      ScopedDiagnosticHandler collect(
          source.getContext(), [&](Diagnostic &diagnostic) {
            if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
              return failure();
            errors.push_back(std::move(diagnostic));
            return success();
          });
      if (OwningOpRef<ModuleOp> lowered = run(options))
        return lowered;
    }
    if (!dependsOnRecords) {
      for (Diagnostic &error : errors)
        source.getContext()->getDiagEngine().emit(std::move(error));
      return failure();
    }
    if (!errors.empty())
      problem = errors.front().str();
  }
  CodegenOptions withoutRecords = options;
  withoutRecords.records.clear();
  OwningOpRef<ModuleOp> lowered = run(withoutRecords);
  if (!lowered)
    return failure();
  if (!problem.empty())
    emitWarning(source.getLoc(), "no tuning record is used: ") << problem;
  return lowered;
}

FailureOr<OwningOpRef<ModuleOp>>
ModuleCompiler::runPasses(const Processor &processor) {
  return lower([&](PassManager &pm, const CodegenOptions &options) {
    CPUPipelineOptions pipeline;
    setOptions(pipeline, processor, options);
    populateKronCPUPipeline(pm, pipeline);
  });
}

FailureOr<std::unique_ptr<llvm::Module>>
ModuleCompiler::translate(ModuleOp module, llvm::TargetMachine &machine,
                          const Processor &processor) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> translated =
      translateToLLVMIR(module, context, "kron");
  if (!translated)
    return failure();
  translated->setTargetTriple(machine.getTargetTriple());
  translated->setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : *translated) {
    if (function.isDeclaration())
      continue;
    storeBitsOfBF16(function);
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setDSOLocal(true);
    function.addFnAttr("target-cpu", processor.cpu);
    if (!processor.features.empty())
      function.addFnAttr("target-features", processor.features);
    // Some processors prefer narrower vectors than the plan chose.
    function.addFnAttr("prefer-vector-width",
                       std::to_string(processor.vectorBits));
  }
  for (llvm::GlobalVariable &global : translated->globals())
    if (!global.isDeclaration())
      global.setLinkage(llvm::GlobalValue::InternalLinkage);
  return translated;
}

void ModuleCompiler::addEntries(llvm::Module &module,
                                const Processor &processor,
                                ArrayRef<KernelManifest> manifests,
                                StringRef cudaModule) {
  std::string suffix = "." + std::to_string(numVersions);
  for (auto [index, manifest] : llvm::enumerate(manifests)) {
    llvm::Function *function = module.getFunction(manifest.name);
    function->setName("kron." + manifest.name + suffix);
    std::string entryName = "kron.entry." + manifest.name + suffix;
    llvm::Function *entry = addEntry(module, manifest, function, entryName);
    entry->addFnAttrs(
        llvm::AttrBuilder(context, function->getAttributes().getFnAttrs()));
    // The version table of the linked module refers to it.
    entry->setLinkage(llvm::GlobalValue::ExternalLinkage);
    versions[index].push_back({processor.isa, entryName, manifest.sharedBytes,
                               manifest.threadBytes, cudaModule.str()});
  }
}

/// Explicit kernels need common subexpressions and loop invariants out of the
/// way; measured, the whole pipeline makes them no faster and takes ten times
/// as long.
static constexpr llvm::StringLiteral kernelPipeline =
    "function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(licm))";

void ModuleCompiler::optimize(llvm::Module &module,
                              llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgsccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  // Skips functions that are marked optnone.
  llvm::StandardInstrumentations instrumentations(module.getContext(), false);
  instrumentations.registerCallbacks(callbacks, &modules);
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = false;
  // The emitters unroll what is worth it; finding that out for the resulting
  // loops took more than half of the optimizer's time.
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgsccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgsccs, modules);

  auto markKernels = [&](bool skip) {
    for (llvm::Function &function : module) {
      if (!function.hasFnAttribute(kKernelFunctionAttr))
        continue;
      for (auto attr :
           {llvm::Attribute::OptimizeNone, llvm::Attribute::NoInline})
        skip ? function.addFnAttr(attr) : function.removeFnAttr(attr);
    }
  };
  static const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  markKernels(/*skip=*/true);
  builder.buildPerModuleDefaultPipeline(levels[options.optLevel])
      .run(module, modules);
  markKernels(/*skip=*/false);
  modules.clear();
  llvm::ModulePassManager lean;
  llvm::cantFail(builder.parsePassPipeline(lean, kernelPipeline));
  lean.run(module, modules);
}

LogicalResult ModuleCompiler::addVersion(const Processor &processor) {
  triple = processor.triple;
  auto machine = createTargetMachine(processor);
  if (!machine)
    return emitError(source.getLoc(), llvm::toString(machine.takeError()));
  std::vector<KernelManifest> manifests;
  std::unique_ptr<llvm::Module> module;
  {
    Stopwatch watch(result.times.passes);
    auto lowered = runPasses(processor);
    if (failed(lowered))
      return failure();
    auto kernels = getKernelManifests(**lowered);
    if (failed(kernels))
      return failure();
    manifests = std::move(*kernels);
    auto translated = translate(**lowered, **machine, processor);
    if (failed(translated))
      return failure();
    module = std::move(*translated);
  }
  versions.resize(manifests.size());
  addEntries(*module, processor, manifests);
  {
    Stopwatch watch(result.times.optimizer);
    optimize(*module, **machine);
  }
  return link(std::move(module), std::move(manifests));
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

FailureOr<OwningOpRef<ModuleOp>>
ModuleCompiler::runGPUPasses(const GPUChip &chip) {
  return lower([&](PassManager &pm, const CodegenOptions &options) {
    GPUPipelineOptions pipeline;
    setOptions(pipeline, chip, options);
    populateKronGPUPipeline(pm, pipeline);
  });
}

/// Compiles the gpu.module of `module` and removes it. No kernel, no code.
FailureOr<std::vector<GPUCode>>
ModuleCompiler::compileKernels(ModuleOp module, const GPUChip &chip) {
  Stopwatch watch(result.times.gpu);
  std::vector<GPUCode> codes;
  if (auto gpuModule = module.lookupSymbol<gpu::GPUModuleOp>(kGPUModuleName)) {
    unsigned numThreads = options.numCompileThreads ? options.numCompileThreads
                                                    : kronGetNumThreads();
    auto compiled =
        compileGPUModule(gpuModule, chip,
                         {options.separatesKernels, options.assembleGPUCode,
                          options.optLevel, numThreads});
    if (failed(compiled))
      return failure();
    codes = std::move(*compiled);
  }
  // Says what GPU the version is for.
  if (codes.empty())
    codes.emplace_back().chip = chip;
  return codes;
}

LogicalResult ModuleCompiler::addGPUVersion(const GPUChip &chip) {
  // For entries that launch on a GPU, beside versions for processors.
  Processor processor = getBaseline(triple);
  processor.isa = KRON_ISA_CUDA;
  auto machine = createTargetMachine(processor);
  if (!machine)
    return emitError(source.getLoc(), llvm::toString(machine.takeError()));
  FailureOr<OwningOpRef<ModuleOp>> lowered;
  {
    Stopwatch watch(result.times.passes);
    lowered = runGPUPasses(chip);
    if (failed(lowered))
      return failure();
  }
  FailureOr<std::vector<GPUCode>> codes = compileKernels(**lowered, chip);
  if (failed(codes))
    return failure();
  auto manifests = getKernelManifests(**lowered);
  if (failed(manifests))
    return failure();
  auto translated = translate(**lowered, **machine, processor);
  if (failed(translated))
    return failure();
  llvm::Module &module = **translated;
  std::string name = "kron.cuda_module." + std::to_string(numVersions);
  addCudaModules(module, *codes, name);
  versions.resize(manifests->size());
  addEntries(module, processor, *manifests, name);
  {
    Stopwatch watch(result.times.optimizer);
    optimize(module, **machine);
  }
  llvm::move(*codes, std::back_inserter(result.gpuCode));
  return link(std::move(*translated), std::move(*manifests));
}

//===----------------------------------------------------------------------===//
// All versions together
//===----------------------------------------------------------------------===//

LogicalResult ModuleCompiler::link(std::unique_ptr<llvm::Module> module,
                                   std::vector<KernelManifest> manifests) {
  if (numVersions++ == 0) {
    result.kernels = std::move(manifests);
    result.llvmModule = std::move(module);
    return success();
  }
  for (auto [kernel, manifest] : llvm::zip(result.kernels, manifests))
    kernel.allocates |= manifest.allocates;
  if (llvm::Linker::linkModules(*result.llvmModule, std::move(module)))
    return emitError(source.getLoc(),
                     "cannot link the versions of this module");
  return success();
}

FailureOr<CompiledModule> ModuleCompiler::finish() {
  llvm::Module &module = *result.llvmModule;
  for (auto [kernel, kernelVersions] : llvm::zip(result.kernels, versions)) {
    llvm::GlobalVariable *constant =
        addKernelConstant(module, kernel, kernelVersions);
    for (const KernelVersion &version : kernelVersions) {
      module.getFunction(version.entryName)
          ->setLinkage(llvm::GlobalValue::InternalLinkage);
      if (!version.cudaModule.empty())
        module.getNamedGlobal(version.cudaModule)
            ->setLinkage(llvm::GlobalValue::InternalLinkage);
    }
    if (!options.emitCFunctions)
      continue;
    for (KronTarget target : {KRON_TARGET_CPU, KRON_TARGET_CUDA}) {
      if (target == KRON_TARGET_CUDA && options.gpuChips.empty())
        continue;
      std::string name = kernel.name;
      if (target == KRON_TARGET_CUDA)
        name += "_cuda";
      if (module.getNamedValue(name))
        return emitError(source.getLoc(), "expects function '")
               << name << "' not to have the name of a library function";
      addCFunction(module, kernel, constant, target);
    }
  }
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream))
    return emitError(source.getLoc(), "generated invalid LLVM IR: ") << problem;
  return std::move(result);
}

/// Whether anything in `module` is bf16.
static bool hasBF16(ModuleOp module) {
  WalkResult result = module.walk([](Block *block) {
    auto isBF16 = [](Value value) {
      return getElementTypeOrSelf(value).isBF16();
    };
    bool has = llvm::any_of(block->getArguments(), isBF16);
    for (Operation &op : *block)
      has |= llvm::any_of(op.getResults(), isBF16);
    return has ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Whether public functions can become C functions beside each other and in a
/// program, of which a shared library may be part.
static LogicalResult checkCFunctions(ModuleOp module, bool onGPU) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    StringRef name = function.getName();
    if (name == "main")
      return function.emitOpError("expects the name of a C function not to be "
                                  "that of a program's first, but got 'main'");
    auto other = module.lookupSymbol<func::FuncOp>((name + "_cuda").str());
    if (onGPU && other && !other.isPrivate())
      return other.emitOpError("expects the name of a C function not to be "
                               "that of '")
             << name << "' on a GPU, but got '" << other.getName() << "'";
  }
  return success();
}

FailureOr<CompiledModule> kron::compileToLLVMIR(ModuleOp module,
                                                ArrayRef<Processor> processors,
                                                const CodegenOptions &options,
                                                llvm::LLVMContext &context) {
  if (options.emitCFunctions &&
      failed(checkCFunctions(module, /*onGPU=*/!options.gpuChips.empty())))
    return failure();
  if (processors.empty() && options.gpuChips.empty())
    return emitError(
        module.getLoc(),
        "expects a processor or a GPU to compile for, but got none");
  ModuleCompiler compiler(module, options, context);
  for (const Processor &processor : processors) {
    // Without bf16 another version of vectors as wide is as good as the one for
    // matrix tiles.
    auto isAsGood = [&](const Processor &other) {
      return !other.hasMatrixTiles && other.vectorBits >= processor.vectorBits;
    };
    if (processor.hasMatrixTiles && llvm::any_of(processors, isAsGood) &&
        !hasBF16(module))
      continue;
    if (failed(compiler.addVersion(processor)))
      return failure();
  }
  llvm::StringMap<std::string> machines;
  for (StringRef name : options.gpuChips) {
    auto chip = GPUChip::parse(name);
    if (!chip)
      return emitError(module.getLoc(), llvm::toString(chip.takeError()));
    // A GPU tells the runtime its architecture, by which code is chosen.
    auto [other, isFirst] = machines.try_emplace(chip->name, chip->machine);
    if (!isFirst)
      return emitError(module.getLoc(),
                       "expects GPUs of different architectures, but got ")
             << other->second << " and " << name << ", which are both "
             << chip->name;
    if (failed(compiler.addGPUVersion(*chip)))
      return failure();
  }
  return compiler.finish();
}
