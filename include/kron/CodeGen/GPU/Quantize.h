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

namespace mlir::kron {

/// Builds the kernel of both that the first of `plans` says, and its launch
/// before `quantize`; erases them and the array between them. Where it wants
/// more rows than there may be, the others are for `fused` alone.
LogicalResult emitQuantizedKernel(OpBuilder &builder,
                                  gpu::GPUModuleOp gpuModule, FusedOp fused,
                                  QuantizeOp quantize,
                                  ArrayRef<GPUPlanAttr> plans,
                                  const GPUMachine &machine);

/// Builds, before `op` (on memrefs, with a kernel), the kernel in `gpuModule`
/// and its launch. The caller erases `op`.
void emitQuantize(OpBuilder &builder, gpu::GPUModuleOp gpuModule, QuantizeOp op,
                  const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_QUANTIZE_H
