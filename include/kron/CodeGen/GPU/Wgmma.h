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

/// Why `fused` cannot become a wgmma kernel, or nothing if it can. Takes
/// memrefs with factors of static shape that do not vary over axes of the data.
std::optional<std::string> getWgmmaUnsupportedReason(FusedOp fused,
                                                     const GPUMachine &machine);

/// Builds the kernel of `fused` in `gpuModule` and, at the builder's position,
/// its launch. Arrays that are not aligned to 16 bytes get a kernel of their
/// own. With `quantize`, which reads what `fused` would write, it stores rows
/// of 8 bits in place of them.
LogicalResult emitWgmmaKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                              FusedOp fused, const GPUMachine &machine,
                              QuantizeOp quantize);
inline LogicalResult emitWgmmaKernel(OpBuilder &builder,
                                     gpu::GPUModuleOp gpuModule, FusedOp fused,
                                     const GPUMachine &machine) {
  return emitWgmmaKernel(builder, gpuModule, fused, machine, nullptr);
}

/// Why the kernel of `fused` cannot store rows of 8 bits, or nothing.
std::optional<std::string> getWgmmaQuantizeReason(FusedOp fused,
                                                  const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_WGMMA_H
