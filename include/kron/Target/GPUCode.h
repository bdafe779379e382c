//===- GPUCode.h - From a gpu.module to PTX and cubins ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// PTX is made in this process by LLVM. A cubin is PTX that `ptxas` of a CUDA
// toolkit has assembled; without one, the driver does that when it loads the
// code.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_GPUCODE_H
#define KRON_TARGET_GPUCODE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace llvm {
class GlobalVariable;
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir::kron {

/// A GPU to compile for.
struct GPUChip {
  /// What plans are made for (kron/Machine/GPUMachine.h): "h200", "sm_90a".
  std::string machine;
  /// The architecture as LLVM and ptxas name it: "sm_90a".
  std::string name;
  /// Compute capability times ten: 90.
  int32_t capability = 0;
  /// Whether its code runs on no other capability (the "a").
  bool isExact = false;

  /// The chip of the machine called `name`; an error if there is none.
  static llvm::Expected<GPUChip> parse(StringRef name);
};

/// The code of a gpu.module, or of one of its kernels, for one chip.
struct GPUCode {
  GPUChip chip;
  /// The kernel; empty: all kernels and variables that have no code of their
  /// own.
  std::string kernel;
  std::string ptx;
  /// Empty if it was not assembled.
  std::string cubin;
};

/// LLVM IR of `gpuModule`, whose functions are in the LLVM and NVVM dialects,
/// for `chip`; null after diagnostics.
std::unique_ptr<llvm::Module> translateGPUModule(gpu::GPUModuleOp gpuModule,
                                                 const GPUChip &chip,
                                                 llvm::LLVMContext &context);

/// Optimizes `module` for `chip` (`optLevel` 0: not) and prints it as PTX.
llvm::Expected<std::string> emitPTX(llvm::Module &module, const GPUChip &chip,
                                    unsigned optLevel);

struct GPUCodeOptions {
  /// Code for each kernel, and for the variables if there are any.
  bool separatesKernels = true;
  /// Assemble, if ptxas is there.
  bool assembles = true;
  /// As of `emitPTX`.
  unsigned optLevel = 2;
  /// Threads that compile kernels, at most.
  unsigned numThreads = 1;
};

/// Compiles `gpuModule` for `chip`, kernels on as many threads as the options
/// say, and removes it; failure after diagnostics.
FailureOr<std::vector<GPUCode>> compileGPUModule(gpu::GPUModuleOp gpuModule,
                                                 const GPUChip &chip,
                                                 const GPUCodeOptions &options);

/// Path of ptxas: $KRON_PTXAS, in bin of $CUDA_PATH or $CUDA_HOME, on PATH, or
/// in /usr/local/cuda/bin; empty if there is none.
std::string findAssembler();

/// What the ptxas at `path` makes of `ptx` for `chip`.
llvm::Expected<std::string> assemblePTX(StringRef path, StringRef ptx,
                                        const GPUChip &chip);

/// Adds the variable `name`, an array with a KronCudaModule
/// (kron/Runtime/IRInterface.h) for each of `codes`, which are for one chip,
/// and one without images at its end. Host code finds them there, which says
/// `kron_cuda_module.KERNEL`, without a kernel for variables.
llvm::GlobalVariable *addCudaModules(llvm::Module &module,
                                     ArrayRef<GPUCode> codes, StringRef name);

} // namespace mlir::kron

#endif // KRON_TARGET_GPUCODE_H
