//===- Decompose.cpp - Named operations to mode products ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The rewrites are those of the dialect (Decompose.h, SparseRewrites.h). Here
// is chosen which of them an operation goes through for a machine, and with
// which sizes.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Transforms/Decompose.h"
#include "ArrangeSparse.h"
#include "Associate.h"
#include "CPUOptions.h"
#include "GradientForms.h"
#include "GroupingChoice.h"
#include "SparseChoices.h"
#include "kron/Mapping/Passes.h"
#include "kron/Plan/GPU/SparseGradPlan.h"
#include "kron/Plan/GPU/Support.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include <optional>

namespace mlir::kron {
#define GEN_PASS_DEF_KRONDECOMPOSE
#include "kron/Mapping/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

/// Says why `op` is left alone: the shape of `array`, which it needs.
static void emitDynamicRemark(ScaledOpInterface op, const Twine &name,
                              Value array) {
  std::string message;
  llvm::raw_string_ostream(message)
      << "`" << op->getName() << "` is left alone: " << name
      << " has a dynamic shape, " << array.getType();
  remark::missed(
      op.getLoc(),
      remark::RemarkOpts::name("DynamicFactor").category("kron-decompose"))
      << message;
}

/// Whether the shapes that `op` needs are known; says so if not.
static bool hasKnownShapes(ScaledOpInterface op) {
  if (auto gradient = dyn_cast<FactorGradOp>(op.getOperation())) {
    if (gradient.hasKnownShapes())
      return true;
    for (auto [index, factor] : llvm::enumerate(gradient.getFactors()))
      if (!getShapedType(factor).hasStaticShape()) {
        emitDynamicRemark(op, "other factor " + Twine(index), factor);
        return false;
      }
    bool isResult = !getShapedType(gradient.getInit()).hasStaticShape();
    emitDynamicRemark(op, isResult ? "the result" : "the input",
                      isResult ? gradient.getInit() : gradient.getInput());
    return false;
  }
  if (isa<KsmmGradOp, BiasGradOp>(op)) {
    bool isKnown = getShapedType(op.getInitValue()).hasStaticShape();
    if (!isKnown)
      emitDynamicRemark(op, "the result", op.getInitValue());
    return isKnown;
  }
  for (auto [index, factor] : llvm::enumerate(op.getFactorValues())) {
    if (getShapedType(factor).hasStaticShape())
      continue;
    emitDynamicRemark(op, "factor " + Twine(index), factor);
    return false;
  }
  return true;
}

namespace {
struct KronDecomposePass
    : WithCPUOptions<kron::impl::KronDecomposeBase<KronDecomposePass>> {
  using WithCPUOptions::WithCPUOptions;

  void runOnOperation() override;

private:
  void decompose(IRRewriter &rewriter, ScaledOpInterface op);
  void decompose(IRRewriter &rewriter, KsmmGradOp gradient);
  void decomposeOnGPU(IRRewriter &rewriter, KsmmOp sparse);

  /// What is faster in several launches on the GPU, if it is for one.
  std::optional<GPUSplits> splits;
};
} // namespace

void KronDecomposePass::decompose(IRRewriter &rewriter, KsmmGradOp gradient) {
  mergeShared(rewriter, gradient);
  if (!splits)
    return decomposeGradient(rewriter, gradient, chooseCPUGradient(gradient));
  if (!hasGradientKernels(gradient))
    decomposeGradient(rewriter, gradient,
                      chooseGPUGradient(gradient, splits->batch));
}

void KronDecomposePass::decomposeOnGPU(IRRewriter &rewriter, KsmmOp sparse) {
  for (KsmmOp product : arrangeForGPU(rewriter, sparse, *splits)) {
    ProductForm form;
    form.keepsFloat8 = hasKernelOf8(product, *splits);
    form.addsEpilogue = isEpilogueAddend(product);
    decomposeProduct(rewriter, product, form);
  }
}

void KronDecomposePass::decompose(IRRewriter &rewriter, ScaledOpInterface op) {
  if (auto gradient = dyn_cast<BiasGradOp>(op.getOperation()))
    return decomposeBiasGradient(
        rewriter, gradient,
        splits ? chooseGPUBiasGradient(gradient, splits->batch)
               : chooseCPUBiasGradient(gradient));
  if (auto product = dyn_cast<FactorGradOp>(op.getOperation())) {
    if (KsmmGradOp gradient = decomposeFactorGradient(rewriter, product))
      decompose(rewriter, gradient);
    return;
  }
  if (auto gradient = dyn_cast<KsmmGradOp>(op.getOperation()))
    return decompose(rewriter, gradient);
  if (auto sparse = dyn_cast<KsmmOp>(op.getOperation()); sparse && splits)
    return decomposeOnGPU(rewriter, sparse);
  ProductForm form;
  // Factors that are in memory as bf16 are multiplied by in pairs.
  form.halvesFirst = matrixTiles || pairProducts;
  decomposeProduct(rewriter, op, form);
}

void KronDecomposePass::runOnOperation() {
  if (target != "cpu" && target != "cuda") {
    getOperation()->emitError("expects target to be cpu or cuda, but got ")
        << target;
    return signalPassFailure();
  }
  IRRewriter rewriter(&getContext());
  splits = std::nullopt;
  FailureOr<GPUMachine> machine = failure();
  if (target == "cuda") {
    machine = getGPUMachine(getOperation(), chip);
    if (failed(machine))
      return signalPassFailure();
    splits = getGPUSplits(*machine);
    associateChains(rewriter, getOperation(), *machine, cublas,
                    multipliedFactors);
  } else {
    if (failed(verifyCPUOptions()))
      return signalPassFailure();
    associateChains(rewriter, getOperation(), getCPUOptions(),
                    multipliedFactors);
  }
  SmallVector<ScaledOpInterface> ops;
  getOperation()->walk([&](ScaledOpInterface op) {
    if (!isa<ModeProductOp>(op.getOperation()))
      ops.push_back(op);
  });
  for (ScaledOpInterface op : ops) {
    if (!hasKnownShapes(op))
      continue;
    if (splits)
      groupWhereFaster(rewriter, op, *machine, cublas, multipliedFactors);
    decompose(rewriter, op);
  }
}
