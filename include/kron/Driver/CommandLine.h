//===- CommandLine.h - What command lines say of a run ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Options that kron-run and kron-tune share: which function, on which machine,
// with which arrays.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_COMMANDLINE_H
#define KRON_DRIVER_COMMANDLINE_H

#include "kron/Driver/Session.h"
#include "llvm/Support/CommandLine.h"
#include <optional>

namespace mlir::kron {

/// Outputs by number, and their shapes.
using OutputShapes = std::vector<std::pair<unsigned, std::vector<int64_t>>>;

/// The options themselves.
struct CallOptions {
  explicit CallOptions(llvm::cl::OptionCategory &category);

  llvm::cl::opt<std::string> entry;
  llvm::cl::list<std::string> args;
  llvm::cl::list<std::string> outShapes;
  llvm::cl::opt<std::string> target;
  llvm::cl::opt<int> threads;

  std::vector<std::string> getArgs() const;

  /// --threads, or the runtime's.
  int32_t getNumThreads() const;

  /// An error if --threads is given and not positive.
  llvm::Error checkThreads() const;

  /// --out-shape "NUMBER:SHAPE".
  llvm::Expected<OutputShapes> parseOutShapes() const;
};

/// Makes the function `entry`, or the only public one if that is empty, the
/// only public one, so that no time goes into compiling the others.
llvm::Error selectEntry(ModuleOp module, StringRef entry);

/// The GPU of --target "cuda[:NUMBER]"; none for "cpu".
llvm::Expected<std::optional<int32_t>> parseGpuTarget(StringRef target);

/// Warns on standard error of a cache that `tool` does not use.
void warnOfCache(StringRef tool);

/// Session::useHost and Session::useGPUs, with warnings of `tool` on standard
/// error.
void useHost(Session &session, int32_t numThreads, int64_t vectorBits,
             StringRef tool);
llvm::Error useGPUs(Session &session, ArrayRef<int32_t> numbers, StringRef name,
                    StringRef tool);

} // namespace mlir::kron

#endif // KRON_DRIVER_COMMANDLINE_H
