//===- Quantize.h - GPU code of kron.quantize -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_QUANTIZE_H
#define KRON_CODEGEN_GPU_QUANTIZE_H

#include "kron/CodeGen/GPU/Machine.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Why `op` has no kernel of its own, or nothing. One has rows of f32, f16 or
/// bf16 whose elements, of a known number, are neighbours.
std::optional<std::string> getQuantizeUnsupportedReason(QuantizeOp op);

/// Why rows that `pass` computes become 8 bits in a kernel of their own.
std::string getSeparateQuantizeReason(PassOp pass, const GPUMachine &machine);

/// Builds, before `op` (on memrefs, with a kernel), the kernel in `gpuModule`
/// and its launch. The caller erases `op`.
void emitQuantize(OpBuilder &builder, gpu::GPUModuleOp gpuModule, QuantizeOp op,
                  const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_QUANTIZE_H
