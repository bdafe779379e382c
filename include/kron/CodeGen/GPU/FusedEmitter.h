//===- FusedEmitter.h - GPU code of one kron.fused --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Hands a fused region to the emitter that its plan names, or to the
// best one that takes it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_FUSEDEMITTER_H
#define KRON_CODEGEN_GPU_FUSEDEMITTER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::kron {

/// One way to emit a fused region.
struct GPUEmitter {
  GPUKernel kernel;
  /// Why it does not take `fused`, which has elements, or nothing if it does.
  std::optional<std::string> (*getReason)(FusedOp fused,
                                          const GPUMachine &machine);
  /// Bytes that the address of every array and every stride that is only known
  /// at run time must be multiples of; at most an element means no condition.
  int64_t (*getAlignment)(FusedOp fused);
  /// Builds, at the builder's position, the launches that compute `fused`, and
  /// their kernels in the gpu.module.
  LogicalResult (*emit)(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                        FusedOp fused, const GPUMachine &machine);

  /// Why it does not take `fused`, or nothing if it does.
  std::optional<std::string>
  getUnsupportedReason(FusedOp fused, const GPUMachine &machine) const;
};

/// All emitters, the preferred ones first; the last one takes every fused
/// region that has elements.
ArrayRef<GPUEmitter> getGPUEmitters();

/// Why `fused`, which is `bare` with an epilogue at its end, had better be two
/// kernels: a fast one takes the product alone only. Nothing if it should be
/// one.
std::optional<std::string>
getEpilogueUnsupportedReason(FusedOp bare, FusedOp fused,
                             const GPUMachine &machine);

/// Builds, before `fused` (on memrefs), what computes it on the GPU. Where
/// arrays may turn out not to be aligned as the chosen kernel needs it, the
/// host code decides at run time between that and the general one. The caller
/// erases `fused`.
LogicalResult emitGPUKernels(OpBuilder &builder, SymbolTable &symbols,
                             gpu::GPUModuleOp gpuModule, FusedOp fused,
                             const GPUMachine &machine);

/// Name of the kernels of `fused`: that of its function.
StringRef getKernelBaseName(FusedOp fused);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_FUSEDEMITTER_H
