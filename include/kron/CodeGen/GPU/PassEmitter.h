//===- PassEmitter.h - GPU code of one kron.pass ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Hands a pass to the emitter that its #kron.schedule names, or to the best one
// that takes it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_PASSEMITTER_H
#define KRON_CODEGEN_GPU_PASSEMITTER_H

#include "kron/CodeGen/GPU/Machine.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::kron {

/// One way to emit a pass.
struct GPUEmitter {
  GPUKernel kernel;
  /// Why it does not take `pass`, which has elements, or nothing if it does.
  std::optional<std::string> (*getReason)(PassOp pass,
                                          const GPUMachine &machine);
  /// Bytes that the address of every array and every stride that is only known
  /// at run time must be multiples of; at most an element means no condition.
  int64_t (*getAlignment)(PassOp pass);
  /// Builds, at the builder's position, the launches that compute `pass`, and
  /// their kernels in the gpu.module.
  LogicalResult (*emit)(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                        PassOp pass, const GPUMachine &machine);

  /// Why it does not take `pass`, or nothing if it does.
  std::optional<std::string>
  getUnsupportedReason(PassOp pass, const GPUMachine &machine) const;
};

/// All emitters, the preferred ones first; the last one takes every pass that
/// has elements.
ArrayRef<GPUEmitter> getGPUEmitters();

/// Why `pass`, which is `bare` with an epilogue at its end, had better be two
/// kernels: a fast one takes the product alone only. Nothing if it should be
/// one.
std::optional<std::string>
getEpilogueUnsupportedReason(PassOp bare, PassOp pass,
                             const GPUMachine &machine);

/// Builds, before `pass` (on memrefs), what computes it on the GPU. Where
/// arrays may turn out not to be aligned as the chosen kernel needs it, the
/// host code decides at run time between that and the general one. The caller
/// erases `pass`.
LogicalResult emitGPUPass(OpBuilder &builder, SymbolTable &symbols,
                          gpu::GPUModuleOp gpuModule, PassOp pass,
                          const GPUMachine &machine);

/// Name of the kernels of `pass`: that of its function.
StringRef getKernelBaseName(PassOp pass);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_PASSEMITTER_H
