//===- FusedEmitter.h - GPU code of one kron.fused --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What is left of a fused region to code generation: plans that no kernel of
// tile operations has taken.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_FUSEDEMITTER_H
#define KRON_CODEGEN_GPU_FUSEDEMITTER_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Builds, before `fused` (on memrefs), the calls of libraries that `plans`,
/// which are complete, name. Fails, with an error at `fused`, at a plan for a
/// kernel, or if none is launched whatever is known at run time. The caller
/// erases `fused`.
LogicalResult emitGPUKernels(OpBuilder &builder, FusedOp fused,
                             ArrayRef<GPUPlanAttr> plans);

/// Name of the kernels of `fused`: that of its function.
StringRef getKernelBaseName(FusedOp fused);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_FUSEDEMITTER_H
