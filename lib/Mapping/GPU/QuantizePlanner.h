//===- QuantizePlanner.h - Kernels that quantize their rows -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_QUANTIZEPLANNER_H
#define KRON_LIB_MAPPING_GPU_QUANTIZEPLANNER_H

#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/QuantizePlan.h"

namespace mlir::kron {

/// Lets a kernel of `plans`, whose main one is a `kernel`, compute `quantize`,
/// which reads what `fused` writes, if one can and that takes less time, or the
/// plan of `fused` asks for it. Why none does, which a remark says, or nothing.
std::optional<std::string> planQuantize(FusedOp fused, QuantizeOp quantize,
                                        GPUKernel kernel,
                                        const GPUMachine &machine,
                                        SmallVectorImpl<GPUPlanAttr> &plans);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_QUANTIZEPLANNER_H
