//===- Wgmma.h - Hopper tensor core code of a kron.pass ---------*- C++ -*-===//
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

#include "kron/CodeGen/GPU/Machine.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Why `pass` cannot become a wgmma kernel, or nothing if it can. Takes memrefs
/// with factors of static shape that do not vary over axes of the data.
std::optional<std::string> getWgmmaUnsupportedReason(PassOp pass,
                                                     const GPUMachine &machine);

/// Builds the kernel of `pass` in `gpuModule` and, at the builder's position,
/// its launch. Arrays that are not aligned to 16 bytes get a kernel of their
/// own. With `quantize`, which reads what `pass` would write, it stores rows of
/// 8 bits in place of them.
LogicalResult emitWgmmaPass(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                            PassOp pass, const GPUMachine &machine,
                            QuantizeOp quantize);
inline LogicalResult emitWgmmaPass(OpBuilder &builder,
                                   gpu::GPUModuleOp gpuModule, PassOp pass,
                                   const GPUMachine &machine) {
  return emitWgmmaPass(builder, gpuModule, pass, machine, nullptr);
}

/// Why the kernel of `pass` cannot store rows of 8 bits, or nothing.
std::optional<std::string> getWgmmaQuantizeReason(PassOp pass,
                                                  const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_WGMMA_H
