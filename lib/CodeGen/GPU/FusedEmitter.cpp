//===- FusedEmitter.cpp - GPU code of one kron.fused ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/Batched.h"
#include "kron/CodeGen/GPU/Cublas.h"
#include "kron/CodeGen/GPU/Dmma.h"
#include "kron/CodeGen/GPU/Ffma.h"
#include "kron/CodeGen/GPU/Mma.h"
#include "kron/CodeGen/GPU/Simt.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/CodeGen/GPU/Wgmma.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::kron;

StringRef kron::getKernelBaseName(FusedOp fused) {
  if (auto function = fused->getParentOfType<func::FuncOp>())
    return function.getSymName();
  return "kron";
}

/// Builds the launch of the kernel of `plan`, and the kernel.
static LogicalResult emitKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                FusedOp fused, GPUPlanAttr plan,
                                const GPUMachine &machine) {
  switch (plan.getKernel()) {
  case GPUKernel::Simt:
    return emitSimtKernel(builder, gpuModule, fused, plan, machine);
  case GPUKernel::Ffma:
    return emitFfmaKernel(builder, gpuModule, fused, plan, machine);
  case GPUKernel::Dmma:
    return emitDmmaKernel(builder, gpuModule, fused, plan, machine);
  case GPUKernel::Mma:
    return emitMmaKernel(builder, gpuModule, fused, plan, machine);
  case GPUKernel::Wgmma:
    return emitWgmmaKernel(builder, gpuModule, fused, plan, machine);
  case GPUKernel::Batched:
    return emitBatchedKernel(builder, gpuModule, fused, plan, machine);
  case GPUKernel::Sparse:
    return emitSparseKernel(builder, gpuModule, fused, plan, machine);
  case GPUKernel::Chain:
    return emitChainKernel(builder, gpuModule, fused, plan, machine);
  case GPUKernel::SmallGroups:
    return emitSmallGroups(builder, gpuModule, fused, plan, machine);
  case GPUKernel::Auto:
  case GPUKernel::Gradient:
  case GPUKernel::Cublas:
    break;
  }
  return fused.emitOpError("has a plan for kernel ")
         << stringifyGPUKernel(plan.getKernel())
         << ", which applies no fused region";
}

//===----------------------------------------------------------------------===//
// What is chosen at launch
//===----------------------------------------------------------------------===//

namespace {
/// Whether a plan is launched: never, always (no value), or if `value` holds.
struct Requirement {
  bool isNever = false;
  Value value;
};
} // namespace

static void addRequirement(OpBuilder &builder, Location loc,
                           Requirement &requirement, Value value) {
  if (!value)
    return;
  requirement.value =
      requirement.value
          ? Value(arith::AndIOp::create(builder, loc, requirement.value, value))
          : value;
}

/// Whether the arrays of `fused` are multiples of `alignment` bytes, as an i1;
/// null if that is known.
static Value buildAlignmentTest(OpBuilder &builder, FusedOp fused,
                                int64_t alignment) {
  Type element = getElementType(fused.getInit());
  int64_t elementBytes = getElementBytes(element);
  if (alignment <= elementBytes)
    return nullptr;
  Emitter host(builder, fused.getLoc(), getStorageType(element));
  FusedOperands operands = getFusedOperands(host, fused);
  Int bits = 0;
  SmallVector<StageArray> arrays{operands.input, operands.init,
                                 operands.addend};
  if (operands.epilogue)
    arrays.append({operands.epilogue->bias, operands.epilogue->residual});
  for (const StageArray &array : arrays) {
    if (!array.base)
      continue;
    Value address = LLVM::PtrToIntOp::create(builder, fused.getLoc(),
                                             builder.getI64Type(), array.base);
    bits = host.bitOr(bits, Int(address));
    for (Int stride : array.strides)
      if (!stride.isConstant())
        bits = host.bitOr(bits, host.mul(stride, elementBytes));
  }
  return host.equal(host.bitAnd(bits, alignment - 1), 0);
}

/// Adds that there are at least as many rows as `plan` wants.
static void requireRows(OpBuilder &builder, FusedOp fused, GPUPlanAttr plan,
                        Requirement &requirement) {
  int64_t least = plan.get("min_rows");
  if (least <= 1)
    return;
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  Int rows = getSparseRows(host, fused, plan);
  if (rows.isConstant())
    requirement.isNever |= rows.getConstant() < least;
  else
    addRequirement(builder, fused.getLoc(), requirement,
                   host.less(least - 1, rows));
}

/// What `plan` requires of what is known at launch only.
static Requirement buildRequirement(OpBuilder &builder, FusedOp fused,
                                    GPUPlanAttr plan) {
  Location loc = fused.getLoc();
  Requirement requirement;
  switch (plan.getKernel()) {
  case GPUKernel::Ffma:
  case GPUKernel::Dmma:
    addRequirement(builder, loc, requirement,
                   buildAlignmentTest(builder, fused, plan.get("alignment")));
    break;
  case GPUKernel::Batched:
    if (plan.get("packed")) {
      PackedTest test = buildBatchedTest(builder, fused, plan);
      requirement.isNever = test.isNever;
      addRequirement(builder, loc, requirement, test.value);
    }
    break;
  case GPUKernel::SmallGroups:
    requireRows(builder, fused, plan, requirement);
    addRequirement(builder, loc, requirement,
                   buildSmallGroupsTest(builder, fused, plan));
    break;
  case GPUKernel::Sparse:
  case GPUKernel::Chain:
    requireRows(builder, fused, plan, requirement);
    break;
  default:
    break;
  }
  return requirement;
}

/// Calls cuBLAS as `plan` says, and leaves `builder` where the product is left
/// to do.
static LogicalResult emitCublas(OpBuilder &builder, FusedOp fused,
                                GPUPlanAttr plan) {
  Location loc = fused.getLoc();
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  FailureOr<Value> isDone = buildCublasCall(builder, fused, plan);
  if (failed(isDone))
    return failure();
  Value isLeft = arith::XOrIOp::create(builder, loc, *isDone, yes);
  auto branch =
      scf::IfOp::create(builder, loc, isLeft, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  return success();
}

LogicalResult kron::emitGPUKernels(OpBuilder &builder,
                                   gpu::GPUModuleOp gpuModule, FusedOp fused,
                                   ArrayRef<GPUPlanAttr> plans,
                                   const GPUMachine &machine) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(fused);
  for (GPUPlanAttr plan : plans) {
    if (plan.getKernel() == GPUKernel::Cublas) {
      if (failed(emitCublas(builder, fused, plan)))
        return failure();
      continue;
    }
    Requirement requirement = buildRequirement(builder, fused, plan);
    if (requirement.isNever)
      continue;
    if (!requirement.value)
      return emitKernel(builder, gpuModule, fused, plan, machine);
    auto branch = scf::IfOp::create(builder, fused.getLoc(), requirement.value,
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    if (failed(emitKernel(builder, gpuModule, fused, plan, machine)))
      return failure();
    builder.setInsertionPointToStart(branch.elseBlock());
  }
  return fused.emitOpError("has no plan that requires nothing of what is known "
                           "at launch only: ")
         << plans.back();
}
