//===- FusedEmitter.h - GPU code of one kron.fused --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Hands a fused region to the emitters that its plans name.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_FUSEDEMITTER_H
#define KRON_CODEGEN_GPU_FUSEDEMITTER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds, before `fused` (on memrefs), what computes it on the GPU: the
/// launch of the first of `plans`, which are complete, whose requirements hold
/// at run time. Fails, with an error at `fused`, if a plan is none for it. The
/// caller erases `fused`.
LogicalResult emitGPUKernels(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                             FusedOp fused, ArrayRef<GPUPlanAttr> plans,
                             const GPUMachine &machine);

/// Name of the kernels of `fused`: that of its function.
StringRef getKernelBaseName(FusedOp fused);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_FUSEDEMITTER_H
