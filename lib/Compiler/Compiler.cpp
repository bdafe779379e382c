//===- Compiler.cpp - C interface of libkron_compiler -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Compiler/Compiler.h"
#include "kron/Driver/Calibrate.h"
#include "kron/Driver/Measure.h"
#include "kron/Mapping/Tuning/RecordFile.h"
#include "kron/Target/ForkGuard.h"
#include "kron/Target/JIT.h"
#include "kron/Target/SourceModule.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <chrono>

using namespace mlir;
using namespace mlir::kron;

struct KronProgram {
  explicit KronProgram(JITModule compiled) : compiled(std::move(compiled)) {}

  JITModule compiled;
};

static thread_local std::string compileLog;

static std::vector<std::string> getRecordFiles(const char *names) {
  if (!names)
    return getDefaultRecordFiles(kronGetNumThreads());
  SmallVector<StringRef> files;
  StringRef(names).split(files, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return {files.begin(), files.end()};
}

static KronProgram *compile(StringRef text, const KronCompileOptions &request) {
  llvm::raw_string_ostream log(compileLog);
  auto source = SourceModule::parse(text, log);
  if (!source) {
    llvm::consumeError(source.takeError());
    return nullptr;
  }
  CodegenOptions options;
  options.reference = request.reference;
  options.widen = request.widen;
  options.poisonsSharedMemory = request.poisonSharedMemory;
  options.records = getRecordFiles(request.records);
  options.numThreads = kronGetNumThreads();
  SmallVector<StringRef> chips;
  StringRef(request.gpuChips)
      .split(chips, ',', /*MaxSplit=*/-1,
             /*KeepEmpty=*/false);
  for (StringRef chip : chips)
    options.gpuChips.push_back(chip.str());
  auto compiled =
      JITModule::compile((*source)->get(), getHostProcessor(), options);
  if (failed(compiled))
    return nullptr;
  return new KronProgram(std::move(*compiled));
}

KronProgram *kronCompile(const char *source,
                         const KronCompileOptions *options) {
  ForkGuard guard;
  compileLog.clear();
  if (source)
    return compile(source, options ? *options : KronCompileOptions());
  compileLog = "expects a source, but got NULL";
  return nullptr;
}

const char *kronGetCompileLog(void) { return compileLog.c_str(); }

const KronKernel *kronGetKernel(const KronProgram *program, const char *name) {
  return program->compiled.lookup(name);
}

void kronGetCompileTimes(const KronProgram *program, KronCompileTimes *times) {
  const CompileTimes &own = program->compiled.getTimes();
  *times = {own.passes, own.optimizer, own.codegen, own.gpu};
}

void kronDestroyProgram(KronProgram *program) {
  ForkGuard guard;
  delete program;
}

KronStatus kronGetGpuName(int32_t device, char *name, size_t size) {
  ForkGuard guard;
  KronCudaProperties properties;
  if (KronStatus status = kronGetCudaProperties(device, &properties))
    return status;
  compileLog.clear();
  llvm::raw_string_ostream warnings(compileLog);
  auto found = getGPUName(device, warnings);
  if (!found) {
    compileLog = llvm::toString(found.takeError());
    return KRON_CUDA_ERROR;
  }
  if (!name || found->size() >= size) {
    compileLog = "expects a place for " + llvm::utostr(found->size() + 1) +
                 " bytes of the GPU's name, but got " +
                 (name ? llvm::utostr(size) : std::string("NULL"));
    return KRON_INVALID_ARGUMENT;
  }
  std::copy_n(found->c_str(), found->size() + 1, name);
  return KRON_SUCCESS;
}

void kronMeasureProcessor(KronType type, double bytes, int32_t numThreads,
                          double *flopsPerSecond, double *bytesPerSecond) {
  MachineLimits limits = MachineLimits::measure(type, bytes, numThreads);
  *flopsPerSecond = limits.flopsPerSecond;
  *bytesPerSecond = limits.bytesPerSecond;
}

KronStatus kronMeasureLaunches(const KronKernel *kernel, const KronArray *args,
                               int32_t numArgs,
                               const KronLaunchOptions *options, int32_t count,
                               double *secondsPerLaunch) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  for (int32_t i = 0; i < count; ++i)
    if (KronStatus status = kronLaunch(kernel, args, numArgs, options))
      return status;
  std::chrono::duration<double> spent = Clock::now() - start;
  *secondsPerLaunch = spent.count() / count;
  return KRON_SUCCESS;
}
