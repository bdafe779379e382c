//===- MapToGPU.cpp - Everything on arrays to the GPU -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// After the fused kernels, host functions may still hold linalg operations,
// memory and constants. All arrays are on the GPU, so what touches an element
// has to become a kernel, and what cannot is an error here rather than a crash
// when it runs.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Conversion/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONMAPTOGPU
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// Whether all arrays that `op` uses stay the host's.
static bool isOnHost(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return llvm::all_of(values, [](Value value) {
    return !isa<MemRefType>(value.getType()) || isHostArray(value);
  });
}

/// What host code would do to elements of an array on the GPU.
static LogicalResult checkHostCode(func::FuncOp function) {
  WalkResult found = function.walk([](Operation *op) {
    if (!isa<memref::LoadOp, memref::StoreOp, memref::CopyOp,
             memref::AtomicRMWOp, memref::AllocaOp>(op) ||
        isOnHost(op))
      return WalkResult::advance();
    op->emitOpError("cannot run for a GPU: it is outside of any kernel, and "
                    "arrays are in the GPU's memory");
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

namespace {

struct KronMapToGPUPass : kron::impl::KronMapToGPUBase<KronMapToGPUPass> {
  using KronMapToGPUBase::KronMapToGPUBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<linalg::LinalgOp> linalgOps;
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>()) {
      functions.push_back(function);
      function.walk([&](linalg::LinalgOp op) { linalgOps.push_back(op); });
    }
    DenseMap<Operation *, Value> starts = foldFills(linalgOps);
    DenseSet<Operation *> padding = foldZeros(linalgOps);
    OpBuilder builder(&getContext());
    for (linalg::LinalgOp op : linalgOps) {
      builder.setInsertionPoint(op);
      gpu::GPUModuleOp gpuModule = getOrCreateGPUModule(module);
      bool isInterleaved = emitInterleaveKernel(builder, gpuModule, op);
      bool isTranspose =
          !isInterleaved && emitTransposeKernel(builder, gpuModule, op);
      bool isPadded =
          !isInterleaved && !isTranspose &&
          emitPadKernel(builder, gpuModule, op, padding.contains(op));
      if (!isInterleaved && !isTranspose && !isPadded &&
          failed(emitLinalgKernel(builder, gpuModule, op, starts.lookup(op))))
        return signalPassFailure();
      remark::passed(
          op.getLoc(),
          remark::RemarkOpts::name("own-kernel")
              .category("kron-gpu")
              .function(op->getParentOfType<func::FuncOp>().getSymName()))
          << op->getName().getStringRef()
          << (isInterleaved ? " runs as a kernel of its own, by units on chip"
              : isTranspose ? " runs as a kernel of its own, by squares on chip"
              : isPadded
                  ? " runs as a kernel of its own, by padded rows"
                  : " runs as a kernel of its own, one thread per element");
      op.erase();
    }
    for (func::FuncOp function : functions)
      if (failed(moveMemory(function, getOrCreateGPUModule(module))) ||
          failed(checkHostCode(function)))
        return signalPassFailure();
    // Nothing on the host reads them.
    for (auto global :
         llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
      global.erase();
  }
};

} // namespace
