//===- SparseChain.h - Kernel of a chain of sparse factors ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_SPARSECHAIN_H
#define KRON_LIB_CODEGEN_GPU_SPARSECHAIN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds, before `fused` (on memrefs, between whose factors axes are
/// regrouped), a kernel in `gpuModule` that applies all of them to a block of
/// rows at a time, and its launch. The caller erases `fused`. With `quantize`,
/// which reads what `fused` would write, rows are stored as 8 bits.
LogicalResult emitSparseChain(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                              FusedOp fused, const GPUMachine &machine,
                              QuantizeOp quantize = nullptr);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_SPARSECHAIN_H
