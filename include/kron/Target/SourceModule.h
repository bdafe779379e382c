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

/// A parsed file or text, or a module that was built. As long as it lives,
/// diagnostics about it are printed with the lines of the source, or collected.
class SourceModule {
public:
  /// Reads `path` ("-": standard input). Diagnostics go to standard error.
  static llvm::Expected<std::unique_ptr<SourceModule>> read(StringRef path);

  /// Parses `text`; all diagnostics go to `stream`, which has to live as long.
  static llvm::Expected<std::unique_ptr<SourceModule>>
  parse(StringRef text, llvm::raw_ostream &stream);

  /// Parses `text` in the context that all of this process share, which spares
  /// loading dialects: that takes longer than compiling a small kernel. There
  /// is one such module at a time: this waits until that of another thread is
  /// gone, and fork() until this one is. To be released by the thread that
  /// made it, which must not ask for a second one before. Diagnostics are
  /// collected.
  static llvm::Expected<std::unique_ptr<SourceModule>>
  parseShared(StringRef text);

  /// The same of the module that `build` makes in that context.
  static llvm::Expected<std::unique_ptr<SourceModule>>
  buildShared(function_ref<OwningOpRef<ModuleOp>(MLIRContext *)> build);
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
  struct Turn;

  SourceModule();
  /// One without a module yet, in the shared context.
  static std::unique_ptr<SourceModule> takeTurn();
  static llvm::Expected<std::unique_ptr<SourceModule>>
  parse(std::unique_ptr<llvm::MemoryBuffer> text, llvm::raw_ostream &stream);
  llvm::Error parseIn(MLIRContext *context,
                      std::unique_ptr<llvm::MemoryBuffer> text);
  void collect(Diagnostic &diagnostic);

  // Each is released before those above it, which it refers to.
  std::unique_ptr<Turn> turn;
  /// Null for the shared one.
  std::unique_ptr<MLIRContext> ownContext;
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
