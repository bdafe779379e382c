//===- KronToVector.cpp - kron.fused to CPU vector code ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thin MLIR pass over CodeGen/CPU: it finds the fused regions, checks that
// the emitters take them, and records the workspace that their code needs on
// the functions.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/FusedEmitter.h"
#include "kron/CodeGen/CPU/RuntimeCalls.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Plan/CPU/CPUPlan.h"
#include "kron/Plan/CPU/Support.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::kron {
#define GEN_PASS_DEF_CONVERTKRONTOVECTOR
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// What keeps the emitters from taking `fused`; success if nothing does.
static LogicalResult checkFusedOp(FusedOp fused) {
  if (!isa<MemRefType>(fused.getInit().getType()))
    return fused.emitOpError(
        "expects memref operands: run --kron-bufferize first");
  for (ModeProductOp product : fused.getModeProducts()) {
    if (std::optional<std::string> reason = getCPUUnsupportedReason(product))
      return product.emitOpError("cannot become vector code: ") << *reason;
    for (int64_t dim : product.getFactorDims())
      if (dim >= 0 && product.getAxis() == static_cast<uint64_t>(dim))
        return product.emitOpError("has a factor that varies on its own axis");
  }
  CPUPlanAttr plan = getCPUPlanAttr(fused);
  if (!plan || !plan.isComplete()) {
    InFlightDiagnostic error = fused.emitOpError(
        "expects a complete plan for a CPU: run --kron-plan first");
    if (plan)
      error << "; found " << plan;
    return error;
  }
  if (!fused->getParentOfType<func::FuncOp>())
    return fused.emitOpError("expects to be inside a func.func");
  if (fused.getEpilogue())
    if (std::optional<std::string> reason =
            getCPUEpilogueReason(fused, plan.getVectorBits()))
      return fused.emitOpError("cannot become vector code with its epilogue: ")
             << *reason;
  if (isRegrouped(fused) && !getRegroupedRows(fused.getModeProducts()))
    return fused.emitOpError("cannot become vector code: axes are regrouped "
                             "without rows that all factors have");
  std::string reason = getCPUPlanReason(fused, readCPUChoices(plan));
  if (!reason.empty())
    return fused.emitOpError("has a plan that is none for it: ") << reason;
  return success();
}

/// Replaces `op` by a call of the runtime.
static void emitNumThreads(OpBuilder &builder, SymbolTable &symbols,
                           NumThreadsOp op) {
  builder.setInsertionPoint(op);
  Emitter emitter(builder, op.getLoc(), builder.getI64Type());
  Value threads =
      arith::IndexCastOp::create(builder, op.getLoc(), builder.getIndexType(),
                                 RuntimeCalls(symbols).getNumThreads(emitter));
  op.replaceAllUsesWith(threads);
  op.erase();
}

namespace {

struct ConvertKronToVectorPass
    : kron::impl::ConvertKronToVectorBase<ConvertKronToVectorPass> {
  using ConvertKronToVectorBase::ConvertKronToVectorBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<FusedOp> passes;
    getOperation().walk([&](FusedOp fused) { passes.push_back(fused); });
    OpBuilder builder(&getContext());
    getOperation().walk(
        [&](NumThreadsOp op) { emitNumThreads(builder, symbols, op); });
    for (FusedOp fused : passes) {
      if (failed(checkFusedOp(fused)) ||
          failed(hoistFusedScalars(builder, fused)))
        return signalPassFailure();
      auto function = fused->getParentOfType<func::FuncOp>();
      raiseWorkspace(function, emitFusedOp(builder, symbols, fused));
      fused.erase();
    }
  }
};

} // namespace
