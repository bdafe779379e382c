//===- KronToNVVM.cpp - What has not become a CUDA kernel -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Nothing is converted here: what no kernel of tile operations has taken is
// found, and why.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Dispatch.h"
#include "kron/Conversion/Passes.h"
#include "kron/Plan/GPU/QuantizePlan.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::kron {
#define GEN_PASS_DEF_CONVERTKRONTONVVM
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// Says why `fused` has not become a kernel.
static void refuse(FusedOp fused) {
  if (failed(checkFusedOp(fused)))
    return;
  SmallVector<GPUPlanAttr> plans = getCompletePlans(fused);
  if (!plans.empty())
    fused.emitOpError("has a plan for kernel ")
        << stringifyGPUKernel(plans.front().getKernel())
        << ": run --kron-tile first";
}

static void refuse(KsmmGradOp gradient) {
  gradient.emitOpError(
      "cannot become a GPU kernel: run --kron-decompose=target=cuda, "
      "--kron-plan=target=cuda and --kron-tile first");
}

static void refuse(QuantizeOp quantize) {
  quantize.emitOpError("cannot become a GPU kernel: ")
      << getQuantizeUnsupportedReason(quantize).value_or(
             "run --kron-plan=target=cuda and --kron-tile first");
}

namespace {

struct ConvertKronToNVVMPass
    : kron::impl::ConvertKronToNVVMBase<ConvertKronToNVVMPass> {
  using ConvertKronToNVVMBase::ConvertKronToNVVMBase;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      return llvm::TypeSwitch<Operation *, WalkResult>(op)
          .Case<FusedOp, KsmmGradOp, QuantizeOp>([](auto left) {
            refuse(left);
            return WalkResult::interrupt();
          })
          .Default(WalkResult::advance());
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
