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

/// Says that `plan` is for tile operations.
static LogicalResult refuseTiles(FusedOp fused, GPUPlanAttr plan) {
  return fused.emitOpError("has a plan for kernel ")
         << stringifyGPUKernel(plan.getKernel()) << ": run --kron-tile first";
}

/// Builds the launch of the kernel of `plan`, and the kernel.
static LogicalResult emitKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                FusedOp fused, GPUPlanAttr plan,
                                const GPUMachine &machine) {
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
    return refuseTiles(fused, plan);
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

LogicalResult kron::emitGPUKernels(OpBuilder &builder,
                                   gpu::GPUModuleOp gpuModule, FusedOp fused,
                                   ArrayRef<GPUPlanAttr> plans,
                                   const GPUMachine &machine) {
  return emitDispatch(builder, fused, plans,
                      [&](OpBuilder &at, GPUPlanAttr plan) {
                        return emitKernel(at, gpuModule, fused, plan, machine);
                      });
}
