//===- SourceModule.h - A module out of a text or file ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where compiling begins: a module with its context and what is said about it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_SOURCEMODULE_H
#define KRON_TARGET_SOURCEMODULE_H

#include "kron/Target/ContextPool.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>
#include <string>

namespace mlir {
class Diagnostic;
class ScopedDiagnosticHandler;
class SourceMgrDiagnosticHandler;
} // namespace mlir

namespace mlir::kron {

/// A parsed file or text, or a module that was built, in a context of a pool
/// that is its own as long as it lives. Until then diagnostics about it are
/// printed with the lines of the source, or collected. One thread at a time
/// uses it.
class SourceModule {
public:
  using Pool = std::shared_ptr<ContextPool>;
  using Build = function_ref<OwningOpRef<ModuleOp>(MLIRContext *)>;

  /// Reads `path` ("-": standard input). Diagnostics go to standard error.
  static llvm::Expected<std::unique_ptr<SourceModule>> read(Pool pool,
                                                            StringRef path);

  /// Parses `text`. All diagnostics go to `stream`, which has to live as long;
  /// without one they are collected.
  static llvm::Expected<std::unique_ptr<SourceModule>>
  parse(Pool pool, StringRef text, llvm::raw_ostream *stream = nullptr);

  /// Verifies the module that `build` makes. Diagnostics are collected.
  static llvm::Expected<std::unique_ptr<SourceModule>> build(Pool pool,
                                                             Build build);
  ~SourceModule();

  ModuleOp get() { return *module; }

  /// The error of what has failed with diagnostics: diagnosedError() where they
  /// have been printed, else the collected errors, or `otherwise` if there are
  /// none.
  llvm::Error getError(StringRef otherwise = "compilation failed") const;

  /// Remarks that have been collected, each on lines of its own as "line 3:
  /// message" and, indented, its notes.
  const std::string &getRemarks() const { return remarks; }

  /// Messages of warnings that have been collected, each once: they tell of
  /// tuning records, not of lines of the source.
  ArrayRef<std::string> getWarnings() const { return warnings; }

private:
  SourceModule(Pool pool, llvm::raw_ostream *stream);
  static llvm::Expected<std::unique_ptr<SourceModule>>
  parse(Pool pool, std::unique_ptr<llvm::MemoryBuffer> text,
        llvm::raw_ostream *stream);
  void collect(Diagnostic &diagnostic);

  Pool pool;
  // Each is released before those above it, which it refers to.
  std::unique_ptr<MLIRContext> context;
  llvm::SourceMgr sourceManager;
  std::string errors, remarks;
  std::vector<std::string> warnings;
  /// One of them.
  std::unique_ptr<SourceMgrDiagnosticHandler> printer;
  std::unique_ptr<ScopedDiagnosticHandler> collector;
  OwningOpRef<ModuleOp> module;
};

/// An error with nothing to say, since diagnostics have been printed.
llvm::Error diagnosedError();

} // namespace mlir::kron

#endif // KRON_TARGET_SOURCEMODULE_H
