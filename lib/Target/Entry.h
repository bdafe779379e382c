//===- Entry.h - Kernels as the runtime sees them ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_TARGET_ENTRY_H
#define KRON_LIB_TARGET_ENTRY_H

#include "kron/Target/Manifest.h"
#include "llvm/IR/Module.h"

namespace mlir::kron {

/// One version of a kernel: what KronVersion has.
struct KernelVersion {
  KronIsa isa;
  std::string entryName;
  int64_t sharedBytes;
  int64_t threadBytes;
  /// Global variable of its KronCudaModule; empty for the CPU.
  std::string cudaModule = {};
};

/// Adds `void entryName(const KronArray *)`, which unpacks its arrays into the
/// arguments of `callee`, the lowered function of `kernel`.
llvm::Function *addEntry(llvm::Module &module, const KernelManifest &kernel,
                         llvm::Function *callee, StringRef entryName);

/// Adds the constant `kron_kernel_<name>`.
llvm::GlobalVariable *addKernelConstant(llvm::Module &module,
                                        const KernelManifest &kernel,
                                        ArrayRef<KernelVersion> versions);

/// Adds `KronStatus <name>(const KronArray *, ...)`, which launches `constant`
/// with default options; for `KRON_TARGET_CUDA` `KronStatus <name>_cuda(const
/// KronArray *, ..., int32_t device, void *stream)`.
void addCFunction(llvm::Module &module, const KernelManifest &kernel,
                  llvm::GlobalVariable *constant, KronTarget target);

} // namespace mlir::kron

#endif // KRON_LIB_TARGET_ENTRY_H
