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

struct CPUPipelineOptions;

/// One processor to compile for.
struct Processor {
  /// LLVM's name and extra features ("+avx512f,..."), e.g. of the host.
  std::string cpu;
  std::string features;
  /// Width of its vector registers.
  int64_t vectorBits;
  /// What the runtime checks before it runs this version.
  KronIsa isa;
  /// Caches of one core, which tiles are cut for.
  int64_t l1Bytes = 32768;
  int64_t l2Bytes = 1048576;
  /// Bytes of input and result from which storing past the caches pays; 0:
  /// never.
  int64_t streamBytes = 0;
  /// The same for results that are stored a few columns at a time.
  int64_t streamColumnsBytes = 0;
  /// Bytes of every row that tiles of columns take while the second-level cache
  /// holds them; 0: two vectors.
  int64_t columnBytes = 0;
  /// Bytes of a tile of small rows.
  int64_t rowTileBytes = 4096;
  /// Whether it has matrix tiles for bf16 (AMX) that this kernel may use.
  bool hasMatrixTiles = false;
  /// Whether it adds up products of pairs of bf16 (AVX512-BF16) as fast as it
  /// multiplies and adds numbers of f32.
  bool hasPairProducts = false;
  /// Whether it shuffles within 128 bits while it multiplies and adds, two of
  /// 512 bits a cycle each.
  bool hasFastShuffles = false;
};

/// This machine, with all its features.
Processor getHostProcessor();

/// The x86-64-v2, v3 and v4 processors of a kernel that chooses at run time,
/// and v4 with matrix tiles; the host where it has another architecture.
std::vector<Processor> getPortableProcessors();

/// The processor that LLVM calls `name` ("native": the host; "x86-64-v4-amx":
/// x86-64-v4 with matrix tiles); an error if there is none.
llvm::Expected<Processor> getNamedProcessor(StringRef name);

/// Gives `pipeline` what its passes ask about `processor`.
void setProcessor(CPUPipelineOptions &pipeline, const Processor &processor);

/// A target machine for position-independent code of the host's architecture.
/// `processor` may be null: baseline.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const Processor *processor);

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
  /// Per chip of the options.
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
