//===- LLVMIR.h - From a module to LLVM IR with kernels ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The part of code generation that ahead-of-time and in-memory compilation
// share: the pass pipeline once per processor, translation, LLVM's optimizer,
// and what libkron_runtime needs around the code (entries, manifests).
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_LLVMIR_H
#define KRON_TARGET_LLVMIR_H

#include "kron/Machine/Processor.h"
#include "kron/Target/GPUCode.h"
#include "kron/Target/Manifest.h"
#include "mlir/Support/LLVM.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::kron {

/// This machine, with all its features.
Processor getHostProcessor();

/// The x86-64-v2, v3 and v4 processors of a kernel that chooses at run time,
/// and v4 with matrix tiles; the host where it has another architecture.
std::vector<Processor> getPortableProcessors();

/// The processor that LLVM calls `name` ("native": the host; "x86-64-v4-amx":
/// x86-64-v4 with matrix tiles), of this machine's architecture or, where its
/// code generator is there, of AArch64 ("neoverse-v2"; "aarch64": any); an
/// error if there is none.
llvm::Expected<Processor> getNamedProcessor(StringRef name);

/// Those that have `names`, in their order: of one architecture, and one alone
/// of one that the runtime does not tell processors of apart.
llvm::Expected<std::vector<Processor>>
getNamedProcessors(ArrayRef<std::string> names);

/// A target machine for position-independent code of `processor`.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const Processor &processor);

/// Any processor of the architecture `triple`; empty: of this machine's.
Processor getBaseline(StringRef triple = "");

struct CodegenOptions {
  /// Everything through --convert-kron-to-linalg.
  bool reference = false;
  /// Compute in the next wider type (--kron-widen).
  bool widen = false;
  /// Emit the C function of every kernel, beside its KronKernel constant.
  bool emitCFunctions = true;
  /// GPU chips to compile for, beside the processors: "sm_80", "sm_90a", ...
  std::vector<std::string> gpuChips;
  /// Dense products may be calls of cuBLAS where that is faster.
  bool allowsCublas = true;
  /// Kernels fill shared memory with NaN when they start, for tests.
  bool poisonsSharedMemory = false;
  /// Assemble GPU code, if ptxas is there; or else the driver does.
  bool assembleGPUCode = true;
  /// GPU code in a module for each kernel, and not in one for all.
  bool separatesKernels = true;
  /// Files of tuning records whose plans operations get where they were made
  /// on the processor or GPU that code is compiled for.
  std::vector<std::string> records;
  /// Threads that kernels will run on, for records; 0: not known.
  int64_t numThreads = 0;
  /// Threads that compile kernels of GPUs; 0: as many as compute.
  unsigned numCompileThreads = 0;
  /// Level of LLVM's optimizer, 0 to 3.
  unsigned optLevel = 2;
};

/// Milliseconds that the parts of compilation took.
struct CompileTimes {
  double passes = 0, optimizer = 0, codegen = 0;
  /// From a gpu.module to PTX or cubins.
  double gpu = 0;
  double getTotal() const { return passes + optimizer + codegen + gpu; }
};

struct CompiledModule {
  std::unique_ptr<llvm::Module> llvmModule;
  std::vector<KernelManifest> kernels;
  /// For one chip of the options after the other.
  std::vector<GPUCode> gpuCode;
  CompileTimes times;
};

/// Compiles a copy of `module` for each of `processors` and each GPU chip of
/// the options. The result defines `kron_kernel_<name>` for every public
/// function, everything else is internal (but for the C functions, if asked
/// for). Diagnostics say what failed.
FailureOr<CompiledModule> compileToLLVMIR(ModuleOp module,
                                          ArrayRef<Processor> processors,
                                          const CodegenOptions &options,
                                          llvm::LLVMContext &context);

} // namespace mlir::kron

#endif // KRON_TARGET_LLVMIR_H
