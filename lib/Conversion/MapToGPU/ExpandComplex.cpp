//===- ExpandComplex.cpp - Complex numbers as two real ones ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Upstream's conversion looks up patterns for every operation of a kernel, of
// which there are tens of thousands and mostly none that is complex.
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONEXPANDCOMPLEX
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {
struct KronExpandComplexPass
    : kron::impl::KronExpandComplexBase<KronExpandComplexPass> {
  using KronExpandComplexBase::KronExpandComplexBase;

  void runOnOperation() override {
    WalkResult isComplex = getOperation()->walk([](Operation *op) {
      return isa_and_nonnull<complex::ComplexDialect>(op->getDialect())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (!isComplex.wasInterrupted())
      return;
    OpPassManager conversion(getOperation()->getName());
    conversion.addPass(createConvertComplexToStandardPass());
    if (failed(runPipeline(conversion, getOperation())))
      signalPassFailure();
  }
};
} // namespace
