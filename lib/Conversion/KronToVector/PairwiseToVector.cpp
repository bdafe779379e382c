//===- PairwiseToVector.cpp - Functions of pairs as vector code -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thin MLIR pass over CodeGen/CPU, apart from that for kron.fused: it runs
// earlier, since what regions of functions of pairs compute has to be lowered
// after it.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/PairwiseEmitter.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Plan/CPU/PairProducts.h"
#include "kron/Plan/CPU/Support.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::kron {
#define GEN_PASS_DEF_CONVERTPAIRWISETOVECTOR
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

static bool isComplete(PairOpInterface op, PairwisePlanAttr plan) {
  bool isApply = isa<PairwiseApplyOp>(op.getOperation());
  bool needsScratch = isApply || isa<PairwiseGradOp>(op.getOperation());
  return plan.isComplete() && (plan.getProductK() || !hasSquareProducts(op)) &&
         (plan.getSymmetric() || !isSymmetricMatrix(op)) &&
         (plan.hasScratch() || !needsScratch) &&
         (plan.getLaneColumns() || !isApply);
}

/// What keeps the emitter from taking `op`; success if nothing does.
static LogicalResult checkPairwiseOp(PairOpInterface op) {
  if (!isa<MemRefType>(op.getInit().getType()))
    return op->emitOpError(
        "expects memref operands: run --kron-bufferize first");
  if (std::optional<std::string> reason = getCPUUnsupportedReason(op))
    return op->emitOpError("cannot become vector code: ") << *reason;
  auto plan = dyn_cast_if_present<PairwisePlanAttr>(
      op->getInherentAttr(kPlanAttrName).value_or(Attribute()));
  if (!plan || !isComplete(op, plan)) {
    InFlightDiagnostic error = op->emitOpError(
        "expects a complete plan for a CPU: run --kron-plan first");
    if (plan)
      error << "; found " << plan;
    return error;
  }
  if (plan.getProductK() && !hasSquareProducts(op))
    return op->emitOpError("expects no product_k where there are no squares of "
                           "differences, but got ")
           << plan;
  if (plan.getSymmetric() && !isSymmetricMatrix(op))
    return op->emitOpError("expects no symmetric where there is no matrix of "
                           "one array with itself that is the same in both "
                           "orders, but got ")
           << plan;
  if (!op->getParentOfType<func::FuncOp>())
    return op->emitOpError("expects to be inside a func.func");
  return success();
}

namespace {
struct ConvertPairwiseToVectorPass
    : kron::impl::ConvertPairwiseToVectorBase<ConvertPairwiseToVectorPass> {
  using ConvertPairwiseToVectorBase::ConvertPairwiseToVectorBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<PairOpInterface> ops;
    getOperation().walk([&](PairOpInterface op) { ops.push_back(op); });
    OpBuilder builder(&getContext());
    for (PairOpInterface op : ops) {
      if (failed(checkPairwiseOp(op)))
        return signalPassFailure();
      auto function = op->getParentOfType<func::FuncOp>();
      raiseWorkspace(function, emitPairwiseOp(builder, symbols, op));
      op->erase();
    }
  }
};
} // namespace
