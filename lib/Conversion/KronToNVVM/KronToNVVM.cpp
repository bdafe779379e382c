//===- KronToNVVM.cpp - kron.pass to CUDA kernels ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thin pass over CodeGen/GPU: it finds the passes and checks what every
// emitter relies on.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/PassEmitter.h"
#include "kron/Conversion/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::kron {
#define GEN_PASS_DEF_CONVERTKRONTONVVM
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

static LogicalResult checkPass(PassOp pass) {
  if (!isa<MemRefType>(pass.getInit().getType()))
    return pass.emitOpError(
        "expects memref operands: run --kron-bufferize first");
  if (!pass->getParentOfType<func::FuncOp>())
    return pass.emitOpError("expects to be inside a func.func");
  for (ModeProductOp product : pass.getModeProducts()) {
    if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
      return product.emitOpError(
          "cannot become a GPU kernel: a factor has a dynamic shape");
    for (int64_t dim : product.getFactorDims())
      if (dim >= 0 && product.getAxis() == static_cast<uint64_t>(dim))
        return product.emitOpError("has a factor that varies on its own axis");
  }
  return success();
}

namespace {

struct ConvertKronToNVVMPass
    : kron::impl::ConvertKronToNVVMBase<ConvertKronToNVVMPass> {
  using ConvertKronToNVVMBase::ConvertKronToNVVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<GPUMachine> machine = getGPUMachine(chip);
    if (!machine) {
      module.emitError("expects chip to be sm_80 or newer, but got ") << chip;
      return signalPassFailure();
    }
    SmallVector<PassOp> passes;
    module.walk([&](PassOp pass) { passes.push_back(pass); });
    if (passes.empty())
      return;
    gpu::GPUModuleOp gpuModule = getOrCreateGPUModule(module);
    SymbolTable symbols(module);
    OpBuilder builder(&getContext());
    for (PassOp pass : passes) {
      if (failed(checkPass(pass)) ||
          failed(emitGPUPass(builder, symbols, gpuModule, pass, *machine)))
        return signalPassFailure();
      pass.erase();
    }
  }
};

} // namespace
