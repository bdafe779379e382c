//===- Simt.h - General GPU code of a kron.pass -----------------*- C++ -*-===//
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

#include "kron/CodeGen/GPU/Machine.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

std::optional<std::string> getSimtUnsupportedReason(PassOp pass,
                                                    const GPUMachine &machine);

LogicalResult emitSimtPass(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                           PassOp pass, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SIMT_H
