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
#include "kron/CodeGen/GPU/Quantize.h"
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

/// What makes kernels of `plan` of tile operations, or null.
static decltype(&tileBatched) getFamily(GPUPlanAttr plan) {
  switch (plan.getKernel()) {
  case GPUKernel::Batched:
    return tileBatched;
  case GPUKernel::Ffma:
    return tileFfma;
  case GPUKernel::Dmma:
    return tileDmma;
  case GPUKernel::Mma:
    return tileMma;
  case GPUKernel::SmallGroups:
    return tileSmallGroups;
  case GPUKernel::Wgmma:
    return tileWgmma;
  case GPUKernel::Simt:
    return tileSimt;
  case GPUKernel::Chain:
    return tileChain;
  case GPUKernel::Sparse:
    return tileSparse;
  default:
    return nullptr;
  }
}

/// What makes kernels of tile operations that quantize the rows of `fused`, or
/// null.
static decltype(&tileQuantizedWgmma) getQuantizedFamily(FusedOp fused) {
  GPUPlanAttr plan = getGPUPlans(fused).front();
  if (!plan.get("quantize"))
    return nullptr;
  switch (plan.getKernel()) {
  case GPUKernel::Wgmma:
    return tileQuantizedWgmma;
  case GPUKernel::Chain:
    return tileQuantizedChain;
  default:
    return nullptr;
  }
}

/// The plans of `fused`, whose scalars are hoisted; none, with an error, if it
/// cannot become kernels.
static SmallVector<GPUPlanAttr> prepare(OpBuilder &builder, FusedOp fused) {
  if (failed(checkFusedOp(fused)) || failed(hoistFusedScalars(builder, fused)))
    return {};
  return getCompletePlans(fused);
}

namespace {

struct KronTilePass : kron::impl::KronTileBase<KronTilePass> {
  using KronTileBase::KronTileBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<GPUMachine> machine = getGPUMachine(module, chip);
    if (failed(machine))
      return signalPassFailure();
    SmallVector<FusedOp> all;
    SmallVector<PairOpInterface> pairs;
    SmallVector<QuantizeOp> quantizes;
    module.walk([&](PairOpInterface op) {
      if (!getGPUPlans(op).empty())
        pairs.push_back(op);
    });
    SmallVector<KsmmGradOp> gradients;
    module.walk([&](KsmmGradOp gradient) {
      if (gradient.getPlanAttr())
        gradients.push_back(gradient);
    });
    auto collect = [&] {
      all.clear();
      quantizes.clear();
      module.walk([&](FusedOp fused) { all.push_back(fused); });
      module.walk([&](QuantizeOp op) { quantizes.push_back(op); });
    };
    collect();
    OpBuilder builder(&getContext());
    // What quantizes whole rows is one kernel with what they come from.
    for (FusedOp fused : all)
      splitByRows(builder, fused, quantizes);
    // What has a kernel of both for many rows only is there twice then.
    collect();
    for (FusedOp fused : all) {
      // --convert-kron-to-nvvm says why it has none.
      if (getGPUPlans(fused).empty())
        continue;
      if (failed(getQuantizedFamily(fused)
                     ? tileQuantized(builder, fused, quantizes, *machine)
                     : tile(builder, fused, *machine)))
        return signalPassFailure();
    }
    for (PairOpInterface op : pairs) {
      builder.setInsertionPoint(op);
      if (failed(checkPlace(op, op.getInit())) ||
          failed(tilePairwise(builder, getOrCreateGPUModule(module), op,
                              *machine)))
        return signalPassFailure();
      op->erase();
    }
    for (KsmmGradOp gradient : gradients) {
      if (failed(checkPlace(gradient, gradient.getInit())) ||
          failed(tileGradient(builder, getOrCreateGPUModule(module), gradient,
                              *machine)))
        return signalPassFailure();
      gradient.erase();
    }
    // Others are computed by the kernel of what they read.
    for (QuantizeOp op : quantizes) {
      if (!op.getPlanAttr())
        continue;
      if (failed(checkPlace(op, op.getInit())) ||
          failed(tileQuantize(builder, getOrCreateGPUModule(module), op,
                              *machine)))
        return signalPassFailure();
      op.erase();
    }
  }

private:
  LogicalResult tile(OpBuilder &builder, FusedOp fused,
                     const GPUMachine &machine);
  LogicalResult tileQuantized(OpBuilder &builder, FusedOp fused,
                              SmallVectorImpl<QuantizeOp> &quantizes,
                              const GPUMachine &machine);
};

} // namespace

LogicalResult
KronTilePass::tileQuantized(OpBuilder &builder, FusedOp fused,
                            SmallVectorImpl<QuantizeOp> &quantizes,
                            const GPUMachine &machine) {
  SmallVector<GPUPlanAttr> plans = prepare(builder, fused);
  if (plans.empty())
    return failure();
  QuantizeOp quantize = takeQuantize(fused, quantizes);
  if (!quantize)
    return failure();
  gpu::GPUModuleOp gpuModule = getOrCreateGPUModule(getOperation());
  return emitQuantizedKernel(builder, fused, quantize, [&] {
    return getQuantizedFamily(fused)(builder, gpuModule, fused, plans.front(),
                                     machine, quantize);
  });
}

LogicalResult KronTilePass::tile(OpBuilder &builder, FusedOp fused,
                                 const GPUMachine &machine) {
  SmallVector<GPUPlanAttr> plans = prepare(builder, fused);
  if (plans.empty())
    return failure();
  gpu::GPUModuleOp gpuModule = getOrCreateGPUModule(getOperation());
  auto emit = [&](OpBuilder &at, GPUPlanAttr plan) -> LogicalResult {
    if (auto *family = getFamily(plan))
      return family(at, gpuModule, fused, plan, machine);
    return fused.emitOpError("has a plan for kernel ")
           << stringifyGPUKernel(plan.getKernel())
           << ", which applies no fused region";
  };
  if (failed(emitDispatch(builder, fused, plans, emit)))
    return failure();
  fused.erase();
  return success();
}
