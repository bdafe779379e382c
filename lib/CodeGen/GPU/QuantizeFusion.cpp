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

#include "QuantizedRows.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/Quantize.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/CodeGen/GPU/Wgmma.h"
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

/// The kernel of both at the builder's position.
static LogicalResult emitTogether(OpBuilder &builder,
                                  gpu::GPUModuleOp gpuModule, FusedOp fused,
                                  QuantizeOp quantize, GPUPlanAttr plan,
                                  const GPUMachine &machine) {
  return plan.getKernel() == GPUKernel::Wgmma
             ? emitWgmmaKernel(builder, gpuModule, fused, plan, machine,
                               quantize)
             : emitChainKernel(builder, gpuModule, fused, plan, machine,
                               quantize);
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

/// Both ways, of which the host takes one kernel from `fewest` rows on.
static LogicalResult emitByRows(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                FusedOp fused, QuantizeOp quantize,
                                ArrayRef<GPUPlanAttr> plans,
                                const GPUMachine &machine) {
  Location loc = quantize.getLoc();
  Value memory = skipViews(fused.getInit());
  Emitter host(builder, loc, kron::getElementType(quantize.getInput()));
  Int rows = getQuantizedRowCount(host, quantize, 0);
  int64_t least = plans.front().get("min_rows");
  auto branch = scf::IfOp::create(builder, loc, host.less(least - 1, rows),
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitTogether(builder, gpuModule, fused, quantize, plans.front(),
                          machine)))
    return failure();
  // What was built of the array between them.
  SmallVector<Operation *> built;
  for (Operation &op : branch.thenBlock()->without_terminator())
    built.push_back(&op);
  for (Operation *op : llvm::reverse(built))
    if (isOpTriviallyDead(op))
      op->erase();
  fused->moveBefore(branch.elseBlock()->getTerminator());
  quantize->moveBefore(branch.elseBlock()->getTerminator());
  moveMemory(memory, branch.elseBlock());
  if (failed(emitGPUKernels(builder, gpuModule, fused, plans.drop_front(),
                            machine)))
    return failure();
  emitQuantize(builder, gpuModule, quantize, machine);
  fused.erase();
  quantize.erase();
  return success();
}

LogicalResult kron::emitQuantizedKernel(OpBuilder &builder,
                                        gpu::GPUModuleOp gpuModule,
                                        FusedOp fused, QuantizeOp quantize,
                                        ArrayRef<GPUPlanAttr> plans,
                                        const GPUMachine &machine) {
  if (std::optional<std::string> reason =
          getSharedQuantizeReason(fused, quantize))
    return fused.emitOpError("cannot quantize its rows: ") << *reason;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(quantize);
  if (plans.size() > 1)
    return emitByRows(builder, gpuModule, fused, quantize, plans, machine);
  Value memory = skipViews(fused.getInit());
  if (failed(emitTogether(builder, gpuModule, fused, quantize, plans.front(),
                          machine)))
    return failure();
  fused.erase();
  quantize.erase();
  eraseUnused(memory);
  if (memory.use_empty())
    memory.getDefiningOp()->erase();
  return success();
}
