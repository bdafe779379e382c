//===- Session.h - A source file being compiled or run ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the tools share: reading a module with diagnostics like a compiler's,
// and running one of its kernels on arrays.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_SESSION_H
#define KRON_DRIVER_SESSION_H

#include "kron/Driver/HostArray.h"
#include "kron/Target/JIT.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir {
class SourceMgrDiagnosticHandler;
} // namespace mlir

namespace mlir::kron {

/// A parsed file or text. Diagnostics go to a stream (of a file: standard
/// error) with file and line.
class SourceModule {
public:
  /// Reads `path` ("-": standard input), and gives operations the plans of
  /// the tuning record `record` (`--kron-apply-record`) if that is not empty.
  /// Fails with nothing to say where diagnostics have been printed already.
  static llvm::Expected<std::unique_ptr<SourceModule>>
  read(StringRef path, StringRef record = "");

  /// Parses `text`; all diagnostics go to `stream`, which has to live as long.
  static llvm::Expected<std::unique_ptr<SourceModule>>
  parse(StringRef text, llvm::raw_ostream &stream);
  ~SourceModule();

  ModuleOp get() { return *module; }

private:
  SourceModule();
  static llvm::Expected<std::unique_ptr<SourceModule>>
  parse(std::unique_ptr<llvm::MemoryBuffer> text, llvm::raw_ostream &stream);
  llvm::Error applyRecord(StringRef file);

  std::unique_ptr<MLIRContext> context;
  llvm::SourceMgr sourceManager;
  std::unique_ptr<SourceMgrDiagnosticHandler> diagnostics;
  OwningOpRef<ModuleOp> module;
};

/// An error for which diagnostics have been printed.
llvm::Error diagnosedError();

/// The arrays of one call of `kernel`, in the order of its arguments.
struct CallArguments {
  std::vector<HostArray> arrays;

  /// Reads inputs from `specs` (one per argument that is read, in order) and
  /// allocates the others. `outShapes` overrides the shapes of the latter, by
  /// their number.
  static llvm::Expected<CallArguments> create(
      const KernelManifest &kernel, ArrayRef<std::string> specs,
      const std::vector<std::pair<unsigned, std::vector<int64_t>>> &outShapes);

  /// A copy with every array in the next wider type.
  llvm::Expected<CallArguments> widen() const;

  llvm::Error launch(const KronKernel *kernel, int32_t numThreads);
};

/// Numbers of the arguments that `kernel` writes.
std::vector<unsigned> getWrittenArgs(const KernelManifest &kernel);

/// How two arrays differ, the second one being more precise.
struct Difference {
  double maxAbs, relativeL2, bound;
  /// Also false where one has a NaN and the other has not.
  bool isWithinBound;
};
Difference compare(const HostArray &actual, const HostArray &reference);

} // namespace mlir::kron

#endif // KRON_DRIVER_SESSION_H
