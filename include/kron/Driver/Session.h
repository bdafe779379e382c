//===- Session.h - The compiler as programs use it --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What every program that compiles is over: command lines, the Python package,
// libkron_compiler.
//
//   Session session;
//   session.useHost(kronGetNumThreads());
//   session.addDefaultRecords();
//   auto source = session.parse(text, &llvm::errs());
//   if (!source)
//     return source.takeError();
//   FailureOr<JITModule> kernels = session.load((*source)->get());
//   if (failed(kernels))
//     return (*source)->getError();
//   kronLaunch(kernels->lookup("f"), ...);
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_SESSION_H
#define KRON_DRIVER_SESSION_H

#include "kron/Mapping/Tuning/Record.h"
#include "kron/Target/JIT.h"
#include "kron/Target/RecordedPlans.h"
#include "kron/Target/SourceModule.h"

namespace mlir::kron {

/// What a module becomes where it is not loaded at once.
struct ObjectCode {
  /// The contents of an object file.
  std::string code;
  std::vector<KernelManifest> kernels;
  CompileTimes times;
};

/// Contexts for modules, the machines that they are compiled for, and how.
///
/// A copy has the same contexts and may be for other machines. Functions that
/// are const may be called by several threads at once, on modules that differ.
/// What they take are modules of the session's or of its copies; where they
/// fail, diagnostics of the module say why. While they run, fork() waits.
class Session {
public:
  Session();

  //===--------------------------------------------------------------------===//
  // Machines
  //===--------------------------------------------------------------------===//

  /// This processor and no GPU, for kernels on `numThreads` threads, as far as
  /// tuning records are concerned; 0: not known. `vectorBits` other than 0 take
  /// the place of its own. One that kron does not know is measured at its first
  /// use; `warnings` says what of that does not count.
  void useHost(int32_t numThreads, int64_t vectorBits = 0,
               llvm::raw_ostream &warnings = llvm::nulls());

  /// A version for each of the processors that LLVM calls `names`; "native" is
  /// this one, and "portable" takes the place of all with those of
  /// getPortableProcessors.
  llvm::Error useProcessors(ArrayRef<std::string> names);

  /// The GPUs `names`, beside the processors: SKUs, architectures, or files of
  /// a calibration.
  llvm::Error addGPUs(ArrayRef<std::string> names);

  /// The GPUs of this machine with these numbers and no processor. Plans are
  /// for what is kept of the first one's rates, or for the GPU called `name` if
  /// that is not empty. `warnings` says what was ignored.
  llvm::Error useGPUs(ArrayRef<int32_t> numbers, StringRef name,
                      llvm::raw_ostream &warnings);

  /// No version but the first: for what all have in common.
  void keepFirstVersion();

  bool isForGPU() const { return !options.gpuChips.empty(); }

  //===--------------------------------------------------------------------===//
  // Options
  //===--------------------------------------------------------------------===//

  /// Tuning records of `files`, behind those that are there; an error for the
  /// first that cannot be read.
  llvm::Error addRecords(ArrayRef<std::string> files);
  /// Those that are used if nothing else is said.
  void addDefaultRecords();

  /// How to compile, with GPUs and records.
  CodegenOptions &getOptions() { return options; }
  const CodegenOptions &getOptions() const { return options; }

  //===--------------------------------------------------------------------===//
  // Modules
  //===--------------------------------------------------------------------===//

  using Source = llvm::Expected<std::unique_ptr<SourceModule>>;

  /// A file ("-": standard input). Diagnostics go to standard error.
  Source read(StringRef path) const;
  /// A text. Diagnostics go to `stream`; without one they are collected.
  Source parse(StringRef text, llvm::raw_ostream *stream = nullptr) const;
  /// What `build` makes, once it is verified. Diagnostics are collected.
  Source build(SourceModule::Build build) const;

  //===--------------------------------------------------------------------===//
  // Compiling
  //===--------------------------------------------------------------------===//

  /// The last processor, or the last GPU if there is none, as tuning records
  /// call it.
  RecordTarget getRecordTarget() const;

  /// Turns a module into the LLVM dialect for that machine, or with `planOnly`
  /// into fused regions and their plans.
  LogicalResult lower(ModuleOp module, bool planOnly = false) const;

  /// What `lower` runs, as text.
  std::string getPipeline() const;

  /// LLVM IR of all versions, and GPU code.
  FailureOr<CompiledModule> translate(ModuleOp module,
                                      llvm::LLVMContext &context) const;
  FailureOr<ObjectCode> compile(ModuleOp module) const;
  /// Kernels in memory: those for the GPUs if there are any, else for the
  /// processor.
  FailureOr<JITModule> load(ModuleOp module) const;

  /// What the records change in code.
  RecordedPlans getRecordedPlans(ModuleOp module) const;

private:
  std::shared_ptr<ContextPool> contexts;
  std::vector<Processor> processors;
  CodegenOptions options;
};

} // namespace mlir::kron

#endif // KRON_DRIVER_SESSION_H
