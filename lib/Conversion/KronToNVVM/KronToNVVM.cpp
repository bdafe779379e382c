//===- KronToNVVM.cpp - kron.fused to CUDA kernels --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thin layer over CodeGen/GPU: it finds the fused ops and gradients, and
// checks what every emitter relies on.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/Quantize.h"
#include "kron/CodeGen/GPU/SparseGrad.h"
#include "kron/CodeGen/GPU/Support.h"
#include "kron/Conversion/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"

namespace mlir::kron {
#define GEN_PASS_DEF_CONVERTKRONTONVVM
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

static LogicalResult checkPlace(Operation *op, Value init) {
  if (!isa<MemRefType>(init.getType()))
    return op->emitOpError(
        "expects memref operands: run --kron-bufferize first");
  if (!op->getParentOfType<func::FuncOp>())
    return op->emitOpError("expects to be inside a func.func");
  return success();
}

static LogicalResult checkFusedOp(FusedOp fused) {
  if (failed(checkPlace(fused, fused.getInit())))
    return failure();
  for (ModeProductOp product : fused.getModeProducts()) {
    if (std::optional<std::string> reason = getDynamicShapeReason(
            cast<ScaledOpInterface>(product.getOperation())))
      return product.emitOpError("cannot become a GPU kernel: ") << *reason;
    for (int64_t dim : product.getFactorDims())
      if (dim >= 0 && product.getAxis() == static_cast<uint64_t>(dim))
        return product.emitOpError("has a factor that varies on its own axis");
  }
  return success();
}

/// Says whether rows behind a product are quantized in its kernel.
static void emitRemark(QuantizeOp op,
                       const std::optional<std::string> &reason) {
  auto options = remark::RemarkOpts::name("Quantize").category("kron-gpu");
  if (!reason)
    remark::passed(op.getLoc(), options)
        << "rows become 8 bits in the kernel of their product";
  else
    remark::missed(op.getLoc(), options)
        << "rows become 8 bits in a kernel of their own: " + *reason;
}

namespace {

struct ConvertKronToNVVMPass
    : kron::impl::ConvertKronToNVVMBase<ConvertKronToNVVMPass> {
  using ConvertKronToNVVMBase::ConvertKronToNVVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<GPUMachine> machine = getGPUMachine(module, chip);
    if (failed(machine))
      return signalPassFailure();
    SmallVector<FusedOp> passes;
    SmallVector<KsmmGradOp> gradients;
    module.walk([&](FusedOp fused) { passes.push_back(fused); });
    module.walk([&](KsmmGradOp op) { gradients.push_back(op); });
    SmallVector<QuantizeOp> quantizes;
    module.walk([&](QuantizeOp op) { quantizes.push_back(op); });
    if (passes.empty() && gradients.empty() && quantizes.empty())
      return;
    gpu::GPUModuleOp gpuModule = getOrCreateGPUModule(module);
    SymbolTable symbols(module);
    OpBuilder builder(&getContext());
    for (FusedOp fused : passes) {
      if (failed(checkFusedOp(fused)) ||
          failed(hoistFusedScalars(builder, fused)))
        return signalPassFailure();
      if (QuantizeOp quantize = findQuantize(fused, quantizes)) {
        std::optional<std::string> reason =
            getSeparateQuantizeReason(fused, quantize, *machine);
        emitRemark(quantize, reason);
        if (!reason) {
          quantizes.erase(llvm::find(quantizes, quantize));
          if (failed(emitQuantizedKernel(builder, symbols, gpuModule, fused,
                                         quantize, *machine)))
            return signalPassFailure();
          continue;
        }
      }
      if (failed(emitGPUKernels(builder, symbols, gpuModule, fused, *machine)))
        return signalPassFailure();
      fused.erase();
    }
    for (KsmmGradOp gradient : gradients) {
      if (failed(checkPlace(gradient, gradient.getInit())))
        return signalPassFailure();
      if (!hasGradientKernels(gradient)) {
        gradient.emitOpError("cannot become a GPU kernel: run "
                             "--kron-decompose=target=cuda first");
        return signalPassFailure();
      }
      emitGradient(builder, gpuModule, gradient, *machine);
      gradient.erase();
    }
    for (QuantizeOp op : quantizes) {
      if (failed(checkPlace(op, op.getInit())))
        return signalPassFailure();
      if (std::optional<std::string> reason =
              getQuantizeUnsupportedReason(op)) {
        op.emitOpError("cannot become a GPU kernel: ") << *reason;
        return signalPassFailure();
      }
      emitQuantize(builder, gpuModule, op, *machine);
      op.erase();
    }
    // Kernels read scalars themselves.
    module.walk([](memref::LoadOp load) {
      if (load->use_empty() && load->getParentOfType<func::FuncOp>())
        load.erase();
    });
  }
};

} // namespace
