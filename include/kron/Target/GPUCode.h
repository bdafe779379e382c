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

/// The code of a gpu.module for one chip.
struct GPUCode {
  GPUChip chip;
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

/// Path of ptxas: $KRON_PTXAS, in bin of $CUDA_PATH or $CUDA_HOME, on PATH, or
/// in /usr/local/cuda/bin; empty if there is none.
std::string findAssembler();

/// What the ptxas at `path` makes of `ptx` for `chip`.
llvm::Expected<std::string> assemblePTX(StringRef path, StringRef ptx,
                                        const GPUChip &chip);

/// Adds the variable `name`, a KronCudaModule (kron/Runtime/IRInterface.h) with
/// all forms of `code`.
llvm::GlobalVariable *addCudaModule(llvm::Module &module, const GPUCode &code,
                                    StringRef name);

} // namespace mlir::kron

#endif // KRON_TARGET_GPUCODE_H
