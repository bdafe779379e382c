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
#include "mlir/IR/Verifier.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONTILE
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// What makes kernels of plans of `kind` for a fused region, or null.
static TileFamily *getFamily(GPUKernel kind) {
  switch (kind) {
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

/// Builds the kernel of one plan.
static LogicalResult tilePlan(const TileSource &source) {
  GPUKernel kind = source.plan.getKernel();
  if (TileFamily *family = getFamily(kind))
    return family(source);
  FusedOp fused = source.fused;
  return fused.emitOpError("has a plan for kernel ")
         << stringifyGPUKernel(kind) << ", which applies no fused region";
}

template <typename OpTy> static SmallVector<OpTy> collect(ModuleOp module) {
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) { ops.push_back(op); });
  return ops;
}

namespace {

struct KronTilePass : kron::impl::KronTileBase<KronTilePass> {
  using KronTileBase::KronTileBase;

  void runOnOperation() override {
    FailureOr<GPUMachine> machine = getGPUMachine(getOperation(), chip);
    OpBuilder builder(&getContext());
    // A plan by hand may make what the tile level refuses.
    if (failed(machine) || failed(tileModule(builder, *machine)) ||
        failed(verify(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult tileModule(OpBuilder &builder, const GPUMachine &machine);
  LogicalResult tileFused(OpBuilder &builder, const GPUMachine &machine,
                          FusedOp fused,
                          SmallVectorImpl<QuantizeOp> &quantizes);

  /// Replaces each of `ops` by its kernels, which `tileOne` builds.
  template <typename OpTy>
  LogicalResult tileAll(OpBuilder &builder, const GPUMachine &machine,
                        ArrayRef<OpTy> ops,
                        LogicalResult (*tileOne)(const TileSource &, OpTy)) {
    for (OpTy op : ops) {
      builder.setInsertionPoint(op);
      if (failed(checkPlace(op, op.getInit())) ||
          failed(tileOne(
              {builder, getOrCreateGPUModule(getOperation()), machine}, op)))
        return failure();
      op->erase();
    }
    return success();
  }
};

} // namespace

LogicalResult KronTilePass::tileModule(OpBuilder &builder,
                                       const GPUMachine &machine) {
  ModuleOp module = getOperation();
  SmallVector<QuantizeOp> quantizes = collect<QuantizeOp>(module);
  // What quantizes whole rows is one kernel with what they come from.
  for (FusedOp fused : collect<FusedOp>(module))
    splitByRows(builder, fused, quantizes);
  // What has a kernel of both for many rows only is there twice then.
  quantizes = collect<QuantizeOp>(module);
  for (FusedOp fused : collect<FusedOp>(module))
    if (failed(tileFused(builder, machine, fused, quantizes)))
      return failure();
  return failure(
      failed(tileAll<PairOpInterface>(
          builder, machine, collect<PairOpInterface>(module), tilePairwise)) ||
      failed(tileAll<KsmmGradOp>(builder, machine, collect<KsmmGradOp>(module),
                                 tileGradient)) ||
      failed(tileAll<QuantizeOp>(builder, machine, quantizes, tileQuantize)));
}

LogicalResult KronTilePass::tileFused(OpBuilder &builder,
                                      const GPUMachine &machine, FusedOp fused,
                                      SmallVectorImpl<QuantizeOp> &quantizes) {
  if (failed(checkFusedOp(fused)) || failed(hoistFusedScalars(builder, fused)))
    return failure();
  SmallVector<GPUPlanAttr> plans = getCompletePlans(fused);
  if (plans.empty())
    return failure();
  gpu::GPUModuleOp gpuModule = getOrCreateGPUModule(getOperation());
  if (plans.front().get("quantize")) {
    QuantizeOp quantize = takeQuantize(fused, quantizes);
    if (!quantize)
      return failure();
    return emitQuantizedKernel(builder, fused, quantize, [&] {
      return tilePlan(
          {builder, gpuModule, machine, fused, plans.front(), quantize});
    });
  }
  auto emit = [&](OpBuilder &at, GPUPlanAttr plan) {
    return tilePlan({at, gpuModule, machine, fused, plan});
  };
  if (failed(emitDispatch(builder, fused, plans, emit)))
    return failure();
  fused.erase();
  return success();
}
