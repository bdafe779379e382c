//===- Session.cpp - The compiler as programs use it ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Session.h"
#include "kron/Driver/Calibrate.h"
#include "kron/Mapping/Tuning/RecordFile.h"
#include "kron/Target/ForkGuard.h"
#include "kron/Target/Output.h"
#include "kron/Target/PipelineOptions.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

Session::Session() : contexts(std::make_shared<ContextPool>()) {}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

void Session::useHost(int32_t numThreads, int64_t vectorBits,
                      llvm::raw_ostream &warnings) {
  ForkGuard guard;
  Processor host = getHostProcessor();
  calibrateAtFirstUse(host, warnings);
  if (vectorBits)
    host.vectorBits = vectorBits;
  processors = {std::move(host)};
  options.gpuChips.clear();
  options.numThreads = numThreads;
}

llvm::Error Session::useProcessors(ArrayRef<std::string> names) {
  ForkGuard guard;
  bool isPortable = llvm::is_contained(names, "portable");
  if (isPortable && names.size() > 1)
    return createStringError("expects 'portable' alone, but got '" +
                             llvm::join(names, ",") + "'");
  auto named = getNamedProcessors(isPortable ? ArrayRef<std::string>() : names);
  if (!named)
    return named.takeError();
  processors = isPortable ? getPortableProcessors() : std::move(*named);
  options.numThreads = 0;
  return llvm::Error::success();
}

llvm::Error Session::addGPUs(ArrayRef<std::string> names) {
  for (const std::string &name : names) {
    auto resolved = resolveGPUName(name);
    if (!resolved)
      return resolved.takeError();
    if (auto chip = GPUChip::parse(*resolved); !chip)
      return chip.takeError();
    options.gpuChips.push_back(std::move(*resolved));
  }
  return llvm::Error::success();
}

/// An error unless `gpus` are there and have one compute capability.
static llvm::Error checkCapabilities(ArrayRef<int32_t> gpus) {
  std::optional<KronCudaProperties> common;
  for (int32_t number : gpus) {
    KronCudaProperties properties;
    if (kronGetCudaProperties(number, &properties) != KRON_SUCCESS)
      return createStringError(kronGetLastError());
    if (common && common->capability != properties.capability)
      return createStringError(
          llvm::formatv("expects GPUs of one compute capability, but GPU {0} "
                        "has {1} and GPU {2} has {3}",
                        gpus.front(), common->capability, number,
                        properties.capability)
              .str());
    if (!common)
      common = properties;
  }
  return llvm::Error::success();
}

llvm::Error Session::useGPUs(ArrayRef<int32_t> numbers, StringRef name,
                             llvm::raw_ostream &warnings) {
  ForkGuard guard;
  if (llvm::Error error = checkCapabilities(numbers))
    return error;
  std::string chosen = name.str();
  if (chosen.empty()) {
    auto own = getGPUName(numbers.front(), warnings);
    if (!own)
      return own.takeError();
    chosen = std::move(*own);
  }
  processors.clear();
  options.gpuChips.clear();
  return addGPUs(chosen);
}

void Session::keepFirstVersion() {
  options.gpuChips.resize(processors.empty() ? 1 : 0);
  if (!processors.empty())
    processors = {processors.front()};
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

llvm::Error Session::addRecords(ArrayRef<std::string> files) {
  if (llvm::Error error = checkRecordFiles(files))
    return error;
  llvm::append_range(options.records, files);
  return llvm::Error::success();
}

void Session::addDefaultRecords() {
  llvm::append_range(options.records,
                     getDefaultRecordFiles(options.numThreads));
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

Session::Source Session::read(StringRef path) const {
  return SourceModule::read(contexts, path);
}

Session::Source Session::parse(StringRef text,
                               llvm::raw_ostream *stream) const {
  return SourceModule::parse(contexts, text, stream);
}

Session::Source Session::build(SourceModule::Build build) const {
  return SourceModule::build(contexts, build);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

RecordTarget Session::getRecordTarget() const {
  if (!processors.empty())
    return kron::getRecordTarget(processors.back(), options.numThreads);
  // Its name was parsed when it was added.
  return kron::getRecordTarget(
      llvm::cantFail(parseGPUMachine(options.gpuChips.back())));
}

/// Calls `use` with the options of the pipeline for the last processor, or the
/// last GPU if there is none.
template <typename Use>
static void choosePipeline(ArrayRef<Processor> processors,
                           const CodegenOptions &options, Use use) {
  if (!processors.empty()) {
    CPUPipelineOptions pipeline;
    setOptions(pipeline, processors.back(), options);
    use(pipeline);
    return;
  }
  GPUPipelineOptions pipeline;
  setOptions(pipeline, llvm::cantFail(GPUChip::parse(options.gpuChips.back())),
             options);
  use(pipeline);
}

static void populate(OpPassManager &pm, const CPUPipelineOptions &pipeline) {
  populateKronCPUPipeline(pm, pipeline);
}
static void populate(OpPassManager &pm, const GPUPipelineOptions &pipeline) {
  populateKronGPUPipeline(pm, pipeline);
}

LogicalResult Session::lower(ModuleOp module, bool planOnly) const {
  ForkGuard guard;
  PassManager pm(module.getContext());
  choosePipeline(processors, options, [&](auto &pipeline) {
    pipeline.planOnly = planOnly;
    populate(pm, pipeline);
  });
  return pm.run(module);
}

std::string Session::getPipeline() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << (processors.empty() ? "kron-gpu-pipeline" : "kron-cpu-pipeline");
  choosePipeline(processors, options,
                 [&](auto &pipeline) { pipeline.print(stream); });
  return text;
}

FailureOr<CompiledModule> Session::translate(ModuleOp module,
                                             llvm::LLVMContext &context) const {
  ForkGuard guard;
  return compileToLLVMIR(module, processors, options, context);
}

FailureOr<ObjectCode> Session::compile(ModuleOp module) const {
  ForkGuard guard;
  llvm::LLVMContext context;
  FailureOr<CompiledModule> compiled = translate(module, context);
  if (failed(compiled))
    return failure();
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  auto code =
      emitMachineCode(*compiled->llvmModule, llvm::CodeGenFileType::ObjectFile);
  if (!code)
    return emitError(module.getLoc(), llvm::toString(code.takeError()));
  compiled->times.codegen =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return ObjectCode{std::move(*code), std::move(compiled->kernels),
                    compiled->times};
}

FailureOr<JITModule> Session::load(ModuleOp module) const {
  ForkGuard guard;
  return JITModule::compile(
      module, processors.empty() ? getHostProcessor() : processors.back(),
      options);
}

RecordedPlans Session::getRecordedPlans(ModuleOp module) const {
  ForkGuard guard;
  return kron::getRecordedPlans(module, processors, options);
}
