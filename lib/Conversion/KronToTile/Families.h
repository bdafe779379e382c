//===- Families.h - Families of kernels as tile operations ---- -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_KRONTOTILE_FAMILIES_H
#define KRON_LIB_CONVERSION_KRONTOTILE_FAMILIES_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// Builds the kernel of `plan`, of kind `batched`, for `fused`, and at the
/// builder's position its launch.
LogicalResult tileBatched(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                          FusedOp fused, GPUPlanAttr plan,
                          const GPUMachine &machine);

/// The same of a plan of kind `ffma`.
LogicalResult tileFfma(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                       FusedOp fused, GPUPlanAttr plan,
                       const GPUMachine &machine);

/// The same of a plan of kind `dmma`.
LogicalResult tileDmma(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                       FusedOp fused, GPUPlanAttr plan,
                       const GPUMachine &machine);

/// The same of a plan of kind `mma`.
LogicalResult tileMma(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                      FusedOp fused, GPUPlanAttr plan,
                      const GPUMachine &machine);

/// The same of a plan of kind `wgmma`.
LogicalResult tileWgmma(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                        FusedOp fused, GPUPlanAttr plan,
                        const GPUMachine &machine);
/// The same of one that stores, in place of what it computes, rows of 8 bits
/// for `quantize`, which reads that; null: it does not.
LogicalResult tileQuantizedWgmma(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                 FusedOp fused, GPUPlanAttr plan,
                                 const GPUMachine &machine,
                                 QuantizeOp quantize);

/// The same of a plan of kind `small_groups`.
LogicalResult tileSmallGroups(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                              FusedOp fused, GPUPlanAttr plan,
                              const GPUMachine &machine);

/// The same of a plan of kind `sparse` whose factor is not kept, and which
/// warps multiply by.
LogicalResult tileSparse(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                         FusedOp fused, GPUPlanAttr plan,
                         const GPUMachine &machine);

/// The same of a plan of kind `chain`; and of one that stores rows of 8 bits,
/// as tileQuantizedWgmma does.
LogicalResult tileChain(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                        FusedOp fused, GPUPlanAttr plan,
                        const GPUMachine &machine);
LogicalResult tileQuantizedChain(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                 FusedOp fused, GPUPlanAttr plan,
                                 const GPUMachine &machine,
                                 QuantizeOp quantize);

/// The same of a plan of kind `simt`, whose launches are a kernel each.
LogicalResult tileSimt(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                       FusedOp fused, GPUPlanAttr plan,
                       const GPUMachine &machine);

/// The same of `op`, which carries a plan of kind `pairwise`.
LogicalResult tilePairwise(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                           PairOpInterface op, const GPUMachine &machine);

/// Builds the kernels of `gradient`, which carries a plan of kind `gradient`,
/// and in front of it their launches.
LogicalResult tileGradient(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                           KsmmGradOp gradient, const GPUMachine &machine);

/// The same of `op`, which carries a plan of kind `quantize`.
LogicalResult tileQuantize(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                           QuantizeOp op, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_FAMILIES_H
