//===- Session.h - What running a file of kernels takes ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What command lines say of a run, kron-run's and kron-tune's: which function,
// on which machine, with which arrays.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_SESSION_H
#define KRON_DRIVER_SESSION_H

#include "kron/Driver/Gpu.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::kron {

/// Makes the function `entry`, or the only public one if that is empty, the
/// only public one, so that no time goes into compiling the others.
llvm::Error selectEntry(ModuleOp module, StringRef entry);

/// The GPU of --target "cuda[:NUMBER]"; none for "cpu".
llvm::Expected<std::optional<int32_t>> parseGpuTarget(StringRef target);

/// --out-shape "NUMBER:SHAPE": outputs by number, and their shapes.
llvm::Expected<std::vector<std::pair<unsigned, std::vector<int64_t>>>>
parseOutShapes(ArrayRef<std::string> specs);

/// The architecture to compile for that `gpus` have in common: `given` if it is
/// not empty, else the first one's own. Warnings are those of `tool`.
llvm::Expected<std::string> getGpuArch(ArrayRef<int32_t> gpus, StringRef given,
                                       StringRef tool);

/// Runs the kernel once, on `numThreads` threads (0: the runtime's); on a GPU,
/// if that is not null, with copies of the arrays, from which the results come
/// back.
llvm::Error launchOnce(const KronKernel *address, const KernelManifest &kernel,
                       CallArguments &call, Gpu *gpu, int32_t numThreads);

} // namespace mlir::kron

#endif // KRON_DRIVER_SESSION_H
