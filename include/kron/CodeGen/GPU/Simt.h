//===- Simt.h - General GPU code of a kron.fused ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Scalar multiply-adds on a tile in shared memory: every element type, shape,
// stride, and factors that vary over axes.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SIMT_H
#define KRON_CODEGEN_GPU_SIMT_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds the kernels of `fused` by `plan` in `gpuModule` and, at the builder's
/// position, their launches.
LogicalResult emitSimtKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                             FusedOp fused, GPUPlanAttr plan,
                             const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SIMT_H
