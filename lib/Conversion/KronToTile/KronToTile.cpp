//===- KronToTile.cpp - kron.fused to kernels of tile operations ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/Dispatch.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Tile/IR/TileDialect.h"
#include "kron/Plan/GPU/Support.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONTILE
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// What makes kernels of this kind of tile operations, or null.
static decltype(&tileBatched) getFamily(GPUKernel kernel) {
  switch (kernel) {
  case GPUKernel::Batched:
    return tileBatched;
  case GPUKernel::Ffma:
    return tileFfma;
  case GPUKernel::Dmma:
    return tileDmma;
  default:
    return nullptr;
  }
}

namespace {

struct KronTilePass : kron::impl::KronTileBase<KronTilePass> {
  using KronTileBase::KronTileBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<GPUMachine> machine = getGPUMachine(module, chip);
    if (failed(machine))
      return signalPassFailure();
    SmallVector<FusedOp> tiled;
    module.walk([&](FusedOp fused) {
      if (llvm::any_of(getGPUPlans(fused), [](GPUPlanAttr plan) {
            return getFamily(plan.getKernel()) != nullptr;
          }))
        tiled.push_back(fused);
    });
    OpBuilder builder(&getContext());
    for (FusedOp fused : tiled)
      if (failed(tile(builder, fused, *machine)))
        return signalPassFailure();
  }

private:
  LogicalResult tile(OpBuilder &builder, FusedOp fused,
                     const GPUMachine &machine);
};

} // namespace

LogicalResult KronTilePass::tile(OpBuilder &builder, FusedOp fused,
                                 const GPUMachine &machine) {
  if (failed(checkFusedOp(fused)) || failed(hoistFusedScalars(builder, fused)))
    return failure();
  SmallVector<GPUPlanAttr> plans = getCompletePlans(fused);
  if (plans.empty())
    return failure();
  gpu::GPUModuleOp gpuModule = getOrCreateGPUModule(getOperation());
  auto emit = [&](OpBuilder &at, GPUPlanAttr plan) -> LogicalResult {
    if (auto *family = getFamily(plan.getKernel()))
      return family(at, gpuModule, fused, plan, machine);
    // Of another kind, for --convert-kron-to-nvvm.
    auto other = cast<FusedOp>(at.clone(*fused));
    other.setPlanAttr(plan);
    return success();
  };
  if (failed(emitDispatch(builder, fused, plans, emit)))
    return failure();
  fused.erase();
  return success();
}
