//===- QuantizeFusion.cpp - Rows that their product's kernel quantises ----===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where nobody else reads what lies between a kron.fused and a kron.quantize,
// and the kernel of the kron.fused has whole rows at a time, it stores 8 bits
// and scales in place of its results.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Quantize.h"
#include "kron/CodeGen/GPU/QuantizedRows.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/GPU/QuantizePlan.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Both in one kernel
//===----------------------------------------------------------------------===//

/// Erases what uses `memory` for nothing that anybody needs.
static void eraseUnused(Value memory) {
  for (Operation *user : llvm::make_early_inc_range(memory.getUsers())) {
    for (Value result : user->getResults())
      eraseUnused(result);
    if (user->use_empty() &&
        (isa<memref::DeallocOp>(user) || isMemoryEffectFree(user)))
      user->erase();
  }
}

/// Moves `memory`, its views and what frees it into `block`, where all that
/// needs it is.
static void moveMemory(Value memory, Block *block) {
  Operation *alloc = memory.getDefiningOp();
  SmallVector<Operation *> views, worklist;
  llvm::append_range(worklist, memory.getUsers());
  Operation *dealloc = nullptr;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (op->getBlock() == block)
      continue;
    if (op->getBlock() != alloc->getBlock())
      return;
    if (isa<memref::DeallocOp>(op)) {
      dealloc = op;
      continue;
    }
    if (!isa<ViewLikeOpInterface>(op))
      return;
    views.push_back(op);
    llvm::append_range(worklist, op->getUsers());
  }
  if (!dealloc)
    return;
  llvm::sort(views, [](Operation *lhs, Operation *rhs) {
    return lhs != rhs && lhs->isBeforeInBlock(rhs);
  });
  views.erase(llvm::unique(views), views.end());
  for (Operation *view : llvm::reverse(views))
    view->moveBefore(block, block->begin());
  alloc->moveBefore(block, block->begin());
  dealloc->moveBefore(block->getTerminator());
}

/// Copies what makes `memory`, and its views.
static void cloneMemory(OpBuilder &builder, Value memory, IRMapping &mapping) {
  builder.clone(*memory.getDefiningOp(), mapping);
  for (Operation *user : memory.getUsers())
    if (isa<ViewLikeOpInterface>(user))
      cloneMemory(builder, user->getResult(0), mapping);
}

void kron::splitByRows(OpBuilder &builder, FusedOp fused,
                       ArrayRef<QuantizeOp> quantizes) {
  SmallVector<GPUPlanAttr> plans = getGPUPlans(fused);
  QuantizeOp quantize = findQuantize(fused, quantizes);
  // Whoever makes the kernel says what is wrong.
  if (plans.size() < 2 || !plans.front().get("quantize") || !quantize ||
      getSharedQuantizeReason(fused, quantize))
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(quantize);
  Value memory = skipViews(fused.getInit());
  Emitter host(builder, quantize.getLoc(),
               kron::getElementType(quantize.getInput()));
  Int rows = getQuantizedRowCount(host, quantize, 0);
  int64_t least = plans.front().get("min_rows");
  auto branch =
      scf::IfOp::create(builder, quantize.getLoc(), host.less(least - 1, rows),
                        /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping;
  cloneMemory(builder, memory, mapping);
  auto together = cast<FusedOp>(builder.clone(*fused, mapping));
  together.setPlanAttr(plans.front().without("min_rows"));
  // The plan is that of a kernel of its own.
  cast<QuantizeOp>(builder.clone(*quantize, mapping)).removePlanAttr();
  fused->moveBefore(branch.elseBlock()->getTerminator());
  quantize->moveBefore(branch.elseBlock()->getTerminator());
  moveMemory(memory, branch.elseBlock());
  if (plans.size() == 2)
    fused.setPlanAttr(plans.back());
  else
    fused.setPlanAttr(
        DispatchAttr::get(fused.getContext(), ArrayRef(plans).drop_front()));
}

QuantizeOp kron::takeQuantize(FusedOp fused,
                              SmallVectorImpl<QuantizeOp> &quantizes) {
  QuantizeOp quantize = findQuantize(fused, quantizes);
  if (!quantize) {
    fused.emitOpError("has a plan with quantize = 1, but nothing quantizes "
                      "what it writes");
    return {};
  }
  if (std::optional<std::string> reason =
          getSharedQuantizeReason(fused, quantize)) {
    fused.emitOpError("cannot quantize its rows: ") << *reason;
    return {};
  }
  if (quantize.getPlanAttr()) {
    quantize.emitOpError("has a plan for a kernel of its own, but the plan of "
                         "its product has quantize = 1");
    return {};
  }
  quantizes.erase(llvm::find(quantizes, quantize));
  return quantize;
}

LogicalResult kron::emitQuantizedKernel(OpBuilder &builder, FusedOp fused,
                                        QuantizeOp quantize,
                                        function_ref<LogicalResult()> emit) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(quantize);
  Value memory = skipViews(fused.getInit());
  if (failed(emit()))
    return failure();
  fused.erase();
  quantize.erase();
  eraseUnused(memory);
  if (memory.use_empty())
    memory.getDefiningOp()->erase();
  return success();
}
