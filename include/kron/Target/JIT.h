//===- JIT.h - Compilation in memory ----------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_JIT_H
#define KRON_TARGET_JIT_H

#include "kron/Target/LLVMIR.h"

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::kron {

/// The kernels of a module, compiled for this machine or its GPU. They stay
/// valid as long as this object.
class JITModule {
public:
  /// Compiles `module` (which stays as it is): for the GPU chips of the options
  /// if there are any, else for `processor`, which is that of this machine.
  /// Diagnostics say what failed.
  static FailureOr<JITModule> compile(ModuleOp module,
                                      const Processor &processor,
                                      const CodegenOptions &options);
  JITModule(JITModule &&);
  ~JITModule();

  /// The kernel of function `name`, for kronLaunch; null if there is none.
  const KronKernel *lookup(StringRef name) const;
  ArrayRef<KernelManifest> getKernels() const { return kernels; }
  const CompileTimes &getTimes() const { return times; }

private:
  JITModule();

  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<KernelManifest> kernels;
  std::vector<const KronKernel *> addresses;
  CompileTimes times;
};

/// The kernels of an object file that was compiled on a machine like this one,
/// e.g. out of a cache. They stay valid as long as this object.
class LoadedObject {
public:
  /// Loads `object` (the contents of an object file), which defines the kernels
  /// `names`.
  static llvm::Expected<LoadedObject> create(StringRef object,
                                             ArrayRef<std::string> names);
  LoadedObject(LoadedObject &&);
  ~LoadedObject();

  /// The kernel of function `name`, for kronLaunch; null if there is none.
  const KronKernel *lookup(StringRef name) const;

private:
  LoadedObject();

  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<std::pair<std::string, const KronKernel *>> kernels;
};

} // namespace mlir::kron

#endif // KRON_TARGET_JIT_H
