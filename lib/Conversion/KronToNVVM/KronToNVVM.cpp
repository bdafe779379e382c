//===- KronToNVVM.cpp - kron.fused to CUDA kernels --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thin layer over CodeGen/GPU: it finds the fused ops that no kernel of tile
// operations has taken, and says why.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/Dispatch.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/GPU/QuantizePlan.h"
#include "kron/Plan/GPU/Support.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::kron {
#define GEN_PASS_DEF_CONVERTKRONTONVVM
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// The ops of a type in `module`.
template <typename OpTy> static SmallVector<OpTy> collect(ModuleOp module) {
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) { ops.push_back(op); });
  return ops;
}

namespace {

struct ConvertKronToNVVMPass
    : kron::impl::ConvertKronToNVVMBase<ConvertKronToNVVMPass> {
  using ConvertKronToNVVMBase::ConvertKronToNVVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(getGPUMachine(module, chip)))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    SmallVector<FusedOp> passes = collect<FusedOp>(module);
    SmallVector<QuantizeOp> quantizes = collect<QuantizeOp>(module);
    SmallVector<KsmmGradOp> gradients = collect<KsmmGradOp>(module);
    if (!gradients.empty()) {
      gradients.front().emitOpError("cannot become a GPU kernel: run "
                                    "--kron-decompose=target=cuda, "
                                    "--kron-plan=target=cuda and --kron-tile "
                                    "first");
      return signalPassFailure();
    }
    if (passes.empty() && quantizes.empty())
      return;
    for (FusedOp fused : passes) {
      if (failed(checkFusedOp(fused)) ||
          failed(hoistFusedScalars(builder, fused)))
        return signalPassFailure();
      SmallVector<GPUPlanAttr> plans = getCompletePlans(fused);
      if (plans.empty())
        return signalPassFailure();
      if (plans.front().get("quantize")) {
        fused.emitOpError("has a plan for kernel ")
            << stringifyGPUKernel(plans.front().getKernel())
            << ": run --kron-tile first";
        return signalPassFailure();
      }
      if (failed(emitGPUKernels(builder, fused, plans)))
        return signalPassFailure();
      fused.erase();
    }
    if (!quantizes.empty()) {
      quantizes.front().emitOpError("cannot become a GPU kernel: ")
          << getQuantizeUnsupportedReason(quantizes.front())
                 .value_or("run --kron-plan=target=cuda and --kron-tile first");
      return signalPassFailure();
    }
    eraseReadScalars(module);
  }
};

} // namespace
