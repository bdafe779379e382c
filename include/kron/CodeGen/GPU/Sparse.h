//===- Sparse.h - GPU code of one Kronecker-sparse factor -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SPARSE_H
#define KRON_CODEGEN_GPU_SPARSE_H

#include "kron/CodeGen/GPU/CostModel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Whether `mma` takes `problem` as matrix products per position of the axes
/// that its factor varies on: a single factor that varies, is too large for
/// tiles that hold whole fibres, or has an epilogue.
bool isSparse(const Problem &problem);

/// Why no `mma` kernel of matrix products per position of the axes that the
/// factor varies on takes `fused` on `machine`, or nothing if one does: one
/// factor of f32, f64, f16 or bf16.
std::optional<std::string>
getSparseUnsupportedReason(FusedOp fused, const GPUMachine &machine);

/// The time of `fused`, described by `problem`, where `mma` leaves it to
/// multiply-adds: of many small groups. Nothing if it does not.
std::optional<KernelTime> estimateSmallGroups(FusedOp fused,
                                              const Problem &problem,
                                              const GPUMachine &machine);

/// Why no `mma` kernel takes blocks of rows through all of `products`, a chain
/// whose axes are regrouped and which may stand outside of a kron.fused, or
/// nothing if one does.
std::optional<std::string>
getSparseChainUnsupportedReason(ArrayRef<ModeProductOp> products,
                                const GPUMachine &machine);

/// Why `products` had better be fused regions of their own although such a
/// kernel takes them, or nothing if it should.
std::optional<std::string>
getSparseChainReason(ArrayRef<ModeProductOp> products,
                     const GPUMachine &machine);

/// Seconds that one fused region saves for `products`; 0 if they had better be
/// fused regions of their own.
double estimateSparseChainGain(ArrayRef<ModeProductOp> products,
                               const GPUMachine &machine);

/// The number of rows up to which `products` had better be fused regions of
/// their own, although one fused region is faster where there are many; 0:
/// none.
int64_t getSparseChainMostRowsApart(ArrayRef<ModeProductOp> products,
                                    const GPUMachine &machine);

/// Builds, before `fused` (on memrefs), a kernel in `gpuModule` that applies
/// its factor with warp-wide matrix instructions, and its launch. The caller
/// erases `fused`.
LogicalResult emitSparseKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                               FusedOp fused, const GPUMachine &machine);

/// Why no kernel takes blocks of rows through all factors of `fused` (`mma`,
/// one that is sparse or a chain) and on to 8 bits, or why it had better not.
std::optional<std::string> getSparseQuantizeReason(FusedOp fused,
                                                   const GPUMachine &machine);

/// Where that pays, the number of rows from which on it does, if there is an
/// unknown number of them and kernels of their own are better for few.
std::optional<int64_t> getFewestQuantizedRows(FusedOp fused,
                                              const GPUMachine &machine);

/// Builds such a kernel and, at the builder's position, its launch.
LogicalResult emitQuantizedSparseKernel(OpBuilder &builder,
                                        gpu::GPUModuleOp gpuModule,
                                        FusedOp fused,
                                        const GPUMachine &machine,
                                        QuantizeOp quantize);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSE_H
