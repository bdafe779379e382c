//===- Ffma.h - Fibres in registers -----------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// IEEE multiply-adds on f32 and f64 for factors of up to 16 rows and columns:
// threads hold whole fibres of one, two or three axes in registers and apply
// all their factors before they write them back.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_FFMA_H
#define KRON_CODEGEN_GPU_FFMA_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds, before `fused` (on memrefs), the kernel that `plan` describes in
/// `gpuModule`, and its launch. The caller erases `fused`.
LogicalResult emitFfmaKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                             FusedOp fused, GPUPlanAttr plan,
                             const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_FFMA_H
