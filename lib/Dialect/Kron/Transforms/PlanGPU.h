//===- PlanGPU.h - How fused regions are mapped to a GPU --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_SELECTSCHEDULEGPU_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_SELECTSCHEDULEGPU_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

/// Completes the plan of `fused` for `machine`. Fails, with an error, if
/// its plan asks for a kernel that does not take it. `allowsCublas`: dense
/// products may be calls of cuBLAS.
LogicalResult planForGPU(FusedOp fused, const GPUMachine &machine,
                         bool allowsCublas);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_SELECTSCHEDULEGPU_H
