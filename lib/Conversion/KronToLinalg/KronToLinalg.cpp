//===- KronToLinalg.cpp - --convert-kron-to-linalg ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Replaces kron operations by their reference lowering: all of them, or only
// those that the vector code generator does not take.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Plan/CPU/Support.h"
#include "kron/Plan/GPU/PairwiseGradPlan.h"
#include "kron/Plan/GPU/PairwisePlan.h"
#include "kron/Plan/GPU/QuantizePlan.h"
#include "kron/Plan/GPU/Support.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"

namespace mlir::kron {
#define GEN_PASS_DEF_CONVERTKRONTOLINALG
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

static LogicalResult lowerOp(Operation *op) {
  OpBuilder builder(op);
  ArrayEmitter emitter(builder, op->getLoc(), op->getNumResults() > 0);
  SmallVector<Value> updated;
  if (auto quantize = dyn_cast<QuantizeOp>(op))
    updated = emitQuantize(emitter, quantize);
  else if (auto pair = dyn_cast<PairOpInterface>(op))
    updated.push_back(emitPairs(emitter, pair));
  else
    updated.push_back(emitReference(emitter, op));
  if (!updated.front())
    return op->emitOpError("has no lowering to linalg");
  emitter.freeTemporaries();
  for (auto [result, value] : llvm::zip(op->getResults(), updated))
    result.replaceAllUsesWith(value);
  op->erase();
  return success();
}

/// Why `op` takes the fallback; a kron.fused does if one of its mode products
/// does.
static std::optional<std::string> getFallbackReason(Operation *op, bool onGPU) {
  if (auto pairs = dyn_cast<PairOpInterface>(op); pairs && onGPU)
    return getPairwiseReason(pairs);
  auto getReason = onGPU ? getGPUUnsupportedReason : getCPUUnsupportedReason;
  auto fused = dyn_cast<FusedOp>(op);
  if (!fused)
    return getReason(op);
  constexpr int64_t kAnyVectors = 512;
  if (!onGPU && fused.getEpilogue())
    return getCPUEpilogueReason(fused, kAnyVectors);
  for (ModeProductOp product : fused.getModeProducts())
    if (std::optional<std::string> reason = getReason(product))
      return reason;
  return std::nullopt;
}

static void emitFallbackRemark(Operation *op, StringRef reason) {
  remark::missed(
      op->getLoc(),
      remark::RemarkOpts::name("KronFallback").category("kron-fallback"))
      << remark::add("{0} takes the slow path",
                     op->getName().getStringRef().str())
      << remark::reason("{0}", reason.str());
}

/// Whether `op` gets a kernel of its own; says why not.
static bool keepsQuantize(QuantizeOp op, bool onGPU) {
  // --kron-map-to-threads takes all of them.
  if (!onGPU)
    return true;
  std::optional<std::string> reason = getQuantizeUnsupportedReason(op);
  if (reason)
    emitFallbackRemark(op, *reason);
  return !reason;
}

/// Loops run on one thread, and kernels of a GPU are launched by one.
static void replaceByOne(NumThreadsOp op) {
  OpBuilder builder(op);
  Value one = arith::ConstantIndexOp::create(builder, op.getLoc(), 1);
  op.replaceAllUsesWith(one);
  op.erase();
}

namespace {
struct ConvertKronToLinalgPass
    : kron::impl::ConvertKronToLinalgBase<ConvertKronToLinalgPass> {
  using ConvertKronToLinalgBase::ConvertKronToLinalgBase;

  void runOnOperation() override {
    if (target != "cpu" && target != "cuda") {
      getOperation()->emitError("expects target to be cpu or cuda, but got ")
          << target;
      return signalPassFailure();
    }
    // What a kron.fused holds is lowered with it.
    SmallVector<Operation *> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      bool isEnd = isa<EpilogueOp, QuantizeOp>(op);
      if (isEnd ? !fallbackOnly
                : !epiloguesOnly &&
                      isa<FusedOp, PairOpInterface, ScaledOpInterface>(op))
        ops.push_back(op);
      return isa<FusedOp, PairOpInterface>(op) ? WalkResult::skip()
                                               : WalkResult::advance();
    });
    if (!(fallbackOnly || epiloguesOnly) || target == "cuda")
      getOperation()->walk([](NumThreadsOp op) { replaceByOne(op); });
    for (Operation *op : ops) {
      if (auto quantize = dyn_cast<QuantizeOp>(op);
          quantize && epiloguesOnly &&
          keepsQuantize(quantize, target == "cuda"))
        continue;
      auto grad = dyn_cast<PairwiseGradOp>(op);
      if (failed(verifyHiddenSizes(op)) ||
          (grad && target == "cuda" && failed(verifyGradPlan(grad))))
        return signalPassFailure();
      if (fallbackOnly) {
        std::optional<std::string> reason =
            getFallbackReason(op, target == "cuda");
        if (!reason)
          continue;
        emitFallbackRemark(op, *reason);
      }
      if (failed(lowerOp(op)))
        return signalPassFailure();
    }
  }
};
} // namespace
