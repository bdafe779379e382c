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

/// Where the first plan of `fused` is for both it and one of `quantizes`, but
/// wants more rows than there may be: makes a branch of copies of both with
/// that plan, and one of themselves with the other plans.
void splitByRows(OpBuilder &builder, FusedOp fused,
                 ArrayRef<QuantizeOp> quantizes);

/// The one of `quantizes` that is part of the kernel of `fused`, whose plan
/// says so, taken out of them; null, with an error, if there is none.
QuantizeOp takeQuantize(FusedOp fused, SmallVectorImpl<QuantizeOp> &quantizes);

/// Builds the kernel of both with `emit`, and its launch before `quantize`;
/// erases them and the array between them.
LogicalResult emitQuantizedKernel(OpBuilder &builder, FusedOp fused,
                                  QuantizeOp quantize,
                                  function_ref<LogicalResult()> emit);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_QUANTIZE_H
