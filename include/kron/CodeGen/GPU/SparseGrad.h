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

/// Whether `gradient` has kernels of matrix instructions on every chip: f32
/// (unless precision is `ieee`), f64, f16 or bf16, and a known pattern.
bool hasGradientKernels(KsmmGradOp gradient);

/// Builds, before `gradient` (on memrefs, with hasGradientKernels), kernels in
/// `gpuModule` that sum up pieces of the batch and then, if there are several,
/// the pieces in their order, and the launches. The caller erases `gradient`.
void emitGradient(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                  KsmmGradOp gradient, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSEGRAD_H
