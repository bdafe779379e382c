//===- Compiler.cpp - C interface of libkron_compiler -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Compiler/Compiler.h"
#include "kron/Conversion/RowMajor.h"
#include "kron/Driver/Calibrate.h"
#include "kron/Driver/Measure.h"
#include "kron/Driver/Session.h"
#include "kron/Machine/CacheFolder.h"
#include "kron/Target/ForkGuard.h"
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

/// Whose contexts all calls use. Never released: other threads may compile when
/// the process ends.
static const Session &getSession() {
  static const auto *session = new Session;
  return *session;
}

static SmallVector<std::string> split(const char *text, char separator) {
  SmallVector<StringRef> parts;
  StringRef(text).split(parts, separator, /*MaxSplit=*/-1,
                        /*KeepEmpty=*/false);
  return llvm::map_to_vector(parts, [](StringRef part) { return part.str(); });
}

/// A session for what is asked for.
static llvm::Expected<Session> configure(const KronCompileOptions &request,
                                         llvm::raw_ostream &log) {
  Session session = getSession();
  session.useHost(kronGetNumThreads(), /*vectorBits=*/0, log);
  CodegenOptions &options = session.getOptions();
  options.reference = request.reference;
  options.widen = request.widen;
  options.poisonsSharedMemory = request.poisonSharedMemory;
  if (request.records)
    llvm::append_range(options.records, split(request.records, ':'));
  else
    session.addDefaultRecords();
  if (llvm::Error error = session.addGPUs(split(request.gpuChips, ',')))
    return std::move(error);
  return session;
}

static KronProgram *compile(StringRef text, const KronCompileOptions &request) {
  llvm::raw_string_ostream log(compileLog);
  if (std::string problem = getCacheProblem(); !problem.empty())
    log << problem << "\n";
  auto session = configure(request, log);
  if (!session) {
    log << llvm::toString(session.takeError());
    return nullptr;
  }
  auto source = session->parse(text, &log);
  if (!source) {
    llvm::consumeError(source.takeError());
    return nullptr;
  }
  if (request.rowMajor)
    markRowMajor((*source)->get());
  auto compiled = session->load((*source)->get());
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
