//===- Dispatch.h - What a launch chooses among plans --------- -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The host side of a #kron.dispatch, whoever makes the kernels; and what all of
// them rely on.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_DISPATCH_H
#define KRON_CODEGEN_GPU_DISPATCH_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Checks that `op`, which writes to `init`, is on memrefs in a function.
LogicalResult checkPlace(Operation *op, Value init);

/// Checks what the kernels of `fused` rely on, whatever its plan.
LogicalResult checkFusedOp(FusedOp fused);

/// The plans of `op`; none, with an error, if it has no complete ones.
SmallVector<GPUPlanAttr> getCompletePlans(Operation *op);

/// Builds, at the builder's position, what a plan says.
using PlanEmitter = function_ref<LogicalResult(OpBuilder &, GPUPlanAttr)>;

/// Builds, before `fused` (on memrefs), the choice of the first of `plans`,
/// which are complete, whose requirements hold at run time: `emit` builds what
/// is done for each that may be. A library that a plan names is called here.
/// Fails, with an error, if none may be launched. The caller erases `fused`.
LogicalResult emitDispatch(OpBuilder &builder, FusedOp fused,
                           ArrayRef<GPUPlanAttr> plans, PlanEmitter emit);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_DISPATCH_H
