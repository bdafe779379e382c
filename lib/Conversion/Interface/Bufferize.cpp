//===- Bufferize.cpp - Bufferization around kron.pass -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Upstream's one-shot bufferization, kept out of the regions of kron.pass, and
// the removal of copies of an array onto itself that materializing a result in
// its destination leaves.
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONBUFFERIZE
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// `view` without the casts and reshapes that keep all elements in order.
static Value skipReshapes(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
      break;
    view = op->getOperand(0);
  }
  return view;
}

/// Copies become linalg.copy: the lowering of memref.copy between strided arrays
/// calls a library of MLIR's that kron's users do not have.
static void lowerCopy(memref::CopyOp op) {
  Value source = op.getSource(), target = op.getTarget();
  if (skipReshapes(source) != skipReshapes(target)) {
    OpBuilder builder(op);
    linalg::CopyOp::create(builder, op.getLoc(), source, target);
  }
  op.erase();
}

namespace {
struct KronBufferizePass : kron::impl::KronBufferizeBase<KronBufferizePass> {
  using KronBufferizeBase::KronBufferizeBase;

  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::FullyDynamicLayoutMap);
    options.opFilter.denyOperation(
        [](Operation *op) { return op->getParentOfType<PassOp>() != nullptr; });
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options,
                                                        state)))
      return signalPassFailure();
    bufferization::removeBufferizationAttributesInModule(getOperation());
    getOperation().walk([](memref::CopyOp op) { lowerCopy(op); });
  }
};
} // namespace
