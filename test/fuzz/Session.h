//===- Session.h - Modules in the fuzzers -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_FUZZ_SESSION_H
#define KRON_FUZZ_SESSION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include <map>
#include <optional>

namespace mlir::kron::fuzz {

/// A context in which modules are parsed and passes run, with what has been
/// said about errors.
class Session {
public:
  Session();
  ~Session();

  MLIRContext *getContext() { return context.get(); }

  /// Parses text or bytecode, without verifying it; null after an error.
  OwningOpRef<ModuleOp> parse(StringRef source);

  /// Whether `op` verifies. A module that does not has to be told why.
  bool isValid(Operation *op);

  /// A module that verifies is printed; that text has to parse again to a
  /// module that is printed in the same way.
  void checkRoundTrip(ModuleOp module);

  /// Runs the passes that the name of `module` chooses; false after an error.
  /// Passes that fail have to say so, and those that do not fail have to leave
  /// a module that verifies. What is lowered to the LLVM dialect has to become
  /// LLVM IR that verifies, too.
  bool runPasses(ModuleOp module);

  /// Calls `work`, which must not fail without a diagnostic; false if it
  /// failed.
  bool mustExplain(const Twine &what, llvm::function_ref<LogicalResult()> work);

private:
  struct Instrumentation;

  PassManager &getPasses(StringRef name);
  void checkLLVMIR(ModuleOp module);

  std::unique_ptr<MLIRContext> context;
  std::optional<ScopedDiagnosticHandler> diagnostics;
  std::map<StringRef, std::unique_ptr<PassManager>> passes;
  uint64_t numErrors = 0;
  std::string lastError;
};

/// A new session every few hundred inputs: contexts keep all types and
/// attributes that were ever made.
class SessionPool {
public:
  Session &get();

private:
  std::unique_ptr<Session> session;
  unsigned uses = 0;
};

/// `module` as text, as users write it or (`generic`) without any operation's
/// own form, which works for modules that do not verify.
std::string printModule(ModuleOp module, bool generic);

} // namespace mlir::kron::fuzz

#endif // KRON_FUZZ_SESSION_H
