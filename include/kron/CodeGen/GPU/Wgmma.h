//===- Wgmma.h - Hopper tensor core code of a kron.fused --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Warpgroup matrix instructions (wgmma) with the data from registers and the
// factors from shared memory: f32 as three TF32 products (one, where precision
// allows), f16 and bf16.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_WGMMA_H
#define KRON_CODEGEN_GPU_WGMMA_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds the kernel of `fused` by `plan` in `gpuModule` and, at the builder's
/// position, its launch. Arrays that are not aligned to 16 bytes get code of
/// their own in it. With `quantize`, which reads what `fused` would write and
/// which `plan` knows of, it stores rows of 8 bits in place of them.
LogicalResult emitWgmmaKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                              FusedOp fused, GPUPlanAttr plan,
                              const GPUMachine &machine,
                              QuantizeOp quantize = nullptr);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_WGMMA_H
