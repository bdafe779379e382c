//===- SparseGrad.h - GPU code of kron.ksmm_grad ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SPARSEGRAD_H
#define KRON_CODEGEN_GPU_SPARSEGRAD_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds, before `gradient` (on memrefs, with hasGradientKernels), the kernels
/// of `plan`, which is complete, in `gpuModule`: they sum up pieces of the
/// batch and then, if there are several, the pieces in their order; and the
/// launches. The caller erases `gradient`. Fails, with an error, if `plan` is
/// none for it or for `machine`.
LogicalResult emitGradient(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                           KsmmGradOp gradient, GPUPlanAttr plan,
                           const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSEGRAD_H
