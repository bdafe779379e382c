//===- Output.h - Files that kronc writes -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_OUTPUT_H
#define KRON_TARGET_OUTPUT_H

#include "kron/Target/Manifest.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class raw_ostream;
} // namespace llvm

namespace mlir::kron {

/// Writes a file, replacing `path` only when all of it is written; standard
/// output for "-". Of a link, the file that it leads to is replaced. What is no
/// regular file, such as a device or a FIFO, is opened and written. The error
/// names the file.
llvm::Error writeFile(StringRef path,
                      llvm::function_ref<void(llvm::raw_ostream &)> write,
                      bool isExecutable = false);

/// `module` as an object or as assembly. Changes the module.
llvm::Expected<std::string> emitMachineCode(llvm::Module &module,
                                            llvm::CodeGenFileType type);

/// Links `object` (the contents of an object file) into the shared library
/// `path` with the compiler or linker on PATH. The library finds
/// libkron_runtime in `runtimeFolder`. `path` is written only when linking
/// succeeds.
llvm::Error linkSharedLibrary(StringRef object, StringRef path,
                              StringRef runtimeFolder);

/// The folder of libkron_runtime for a tool at `toolPath`: beside the tool's
/// own.
llvm::Expected<std::string> findRuntimeFolder(StringRef toolPath);

/// Declarations of `kernels` for C and C++, `withGPU` also of the functions
/// that launch them on a GPU. `stem` is the name of their source file without
/// extension.
void writeHeader(llvm::raw_ostream &stream, ArrayRef<KernelManifest> kernels,
                 StringRef stem, bool withGPU);

} // namespace mlir::kron

#endif // KRON_TARGET_OUTPUT_H
