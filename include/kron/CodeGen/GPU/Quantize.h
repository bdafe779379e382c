//===- Quantize.h - GPU code of kron.quantize -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_QUANTIZE_H
#define KRON_CODEGEN_GPU_QUANTIZE_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::kron {

/// Why `op` has no kernel of its own, or nothing. One has rows of f32, f16 or
/// bf16 whose elements, of a known number, are neighbours.
std::optional<std::string> getQuantizeUnsupportedReason(QuantizeOp op);

/// The first one of `ops` that reads what `fused` writes; null if none does.
QuantizeOp findQuantize(FusedOp fused, ArrayRef<QuantizeOp> ops);

/// Why rows that `fused` (with its given) computes become 8 bits by
/// `quantize` in a kernel of their own, or nothing if its kernel can store them
/// in place of its results.
std::optional<std::string> getSeparateQuantizeReason(FusedOp fused,
                                                     QuantizeOp quantize,
                                                     const GPUMachine &machine);

/// Builds the kernel of both, and its launch before `quantize`; erases them and
/// the array between them. Where it only pays for many rows, of an unknown
/// number, there are the kernels of their own, too.
LogicalResult emitQuantizedKernel(OpBuilder &builder, SymbolTable &symbols,
                                  gpu::GPUModuleOp gpuModule, FusedOp fused,
                                  QuantizeOp quantize,
                                  const GPUMachine &machine);

/// Builds, before `op` (on memrefs, with a kernel), the kernel in `gpuModule`
/// and its launch. The caller erases `op`.
void emitQuantize(OpBuilder &builder, gpu::GPUModuleOp gpuModule, QuantizeOp op,
                  const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_QUANTIZE_H
