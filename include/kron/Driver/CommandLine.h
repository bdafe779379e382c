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
#include <optional>

namespace mlir::kron {

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

/// --out-shape "NUMBER:SHAPE": outputs by number, and their shapes.
llvm::Expected<std::vector<std::pair<unsigned, std::vector<int64_t>>>>
parseOutShapes(ArrayRef<std::string> specs);

} // namespace mlir::kron

#endif // KRON_DRIVER_COMMANDLINE_H
