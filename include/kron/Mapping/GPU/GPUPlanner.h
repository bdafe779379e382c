//===- GPUPlanner.h - Which kernels apply a fused region --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_GPUPLANNER_H
#define KRON_MAPPING_GPU_GPUPLANNER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Mapping/GPU/CostModel.h"

namespace mlir::kron {

/// Writes the plan of `fused`: that of the kernel that takes the least time by
/// the cost model among those that its plan, if it has one, allows, or a
/// #kron.dispatch where several share the work. `quantizes` are the
/// kron.quantize ops of the function, which a kernel may compute too. A remark
/// names what is chosen, and why not the others; an error is at `fused`.
LogicalResult planForGPU(FusedOp fused, ArrayRef<QuantizeOp> quantizes,
                         const GPUMachine &machine, bool allowsCublas);

/// The time of `fused` with its plan, or with the fastest that it may have;
/// none if no kernel takes it.
std::optional<KernelTime> estimateRegion(FusedOp fused,
                                         const GPUMachine &machine);

/// The same of one without a plan, by a kernel or, if it `allowsCublas`, a call
/// of cuBLAS.
std::optional<KernelTime> estimateRegionOrCall(FusedOp fused,
                                               const GPUMachine &machine,
                                               bool allowsCublas);

/// Writes the plan of `gradient`.
LogicalResult planForGPU(KsmmGradOp gradient, const GPUMachine &machine);

/// Writes the plan of a kernel of its own for `op`, unless none takes it.
LogicalResult planForGPU(QuantizeOp op, const GPUMachine &machine);

/// Why `fused`, which is `bare` with an epilogue at its end, had better be two
/// kernels: a fast one takes the product alone only. Nothing if it should be
/// one.
std::optional<std::string>
getEpilogueUnsupportedReason(FusedOp bare, FusedOp fused,
                             const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_GPUPLANNER_H
