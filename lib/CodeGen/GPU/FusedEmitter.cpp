//===- FusedEmitter.cpp - GPU code of one kron.fused ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/Dispatch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::kron;

StringRef kron::getKernelBaseName(FusedOp fused) {
  if (auto function = fused->getParentOfType<func::FuncOp>())
    return function.getSymName();
  return "kron";
}

/// Says that `plan` is for tile operations, or for no fused region.
static LogicalResult refuse(FusedOp fused, GPUPlanAttr plan) {
  switch (plan.getKernel()) {
  case GPUKernel::Chain:
  case GPUKernel::Batched:
  case GPUKernel::Ffma:
  case GPUKernel::Dmma:
  case GPUKernel::Mma:
  case GPUKernel::SmallGroups:
  case GPUKernel::Simt:
  case GPUKernel::Sparse:
  case GPUKernel::Wgmma:
    return fused.emitOpError("has a plan for kernel ")
           << stringifyGPUKernel(plan.getKernel()) << ": run --kron-tile first";
  case GPUKernel::Auto:
  case GPUKernel::Gradient:
  case GPUKernel::Cublas:
  case GPUKernel::Pairwise:
  case GPUKernel::Quantize:
    break;
  }
  return fused.emitOpError("has a plan for kernel ")
         << stringifyGPUKernel(plan.getKernel())
         << ", which applies no fused region";
}

LogicalResult kron::emitGPUKernels(OpBuilder &builder, FusedOp fused,
                                   ArrayRef<GPUPlanAttr> plans) {
  return emitDispatch(
      builder, fused, plans,
      [&](OpBuilder &, GPUPlanAttr plan) { return refuse(fused, plan); });
}
