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
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/Cublas.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/Quantize.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/CodeGen/GPU/Wgmma.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// What lies between
//===----------------------------------------------------------------------===//

/// What `memory` is a view of.
static Value skipViews(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Adds what uses `memory`, through views, to `users`, all but deallocations
/// and sizes.
static void collectUsers(Value memory, SmallPtrSetImpl<Operation *> &users) {
  for (Operation *user : memory.getUsers()) {
    if (isa<ViewLikeOpInterface>(user))
      collectUsers(user->getResult(0), users);
    else if (!isa<memref::DeallocOp, memref::DimOp>(user))
      users.insert(user);
  }
}

/// Whether nothing between `first` and `last`, of one block, reads, writes or
/// frees memory.
static bool areNeighbours(Operation *first, Operation *last) {
  if (first->getBlock() != last->getBlock() || !first->isBeforeInBlock(last))
    return false;
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode())
    if (!isa<memref::AllocOp>(op) && !isMemoryEffectFree(op))
      return false;
  return true;
}

/// Whether rows of `view`, which its outermost dimension counts, are those of
/// `whole`, an array without gaps.
static bool hasRowsOf(Value view, Value whole) {
  auto getRowStride = [](Value array) {
    SmallVector<int64_t> strides;
    int64_t offset;
    auto type = cast<MemRefType>(array.getType());
    if (type.getRank() == 0 ||
        failed(type.getStridesAndOffset(strides, offset)))
      return ShapedType::kDynamic;
    return strides.front();
  };
  int64_t stride = getRowStride(whole);
  return !ShapedType::isDynamic(stride) && getRowStride(view) == stride;
}

QuantizeOp kron::findQuantize(FusedOp fused, ArrayRef<QuantizeOp> ops) {
  Value memory = skipViews(fused.getInit());
  for (QuantizeOp op : ops)
    if (skipViews(op.getInput()) == memory)
      return op;
  return nullptr;
}

/// Whether `quantize` alone reads what `fused` alone writes, row by row.
static bool isAllThatReads(QuantizeOp quantize, FusedOp fused) {
  Value memory = skipViews(fused.getInit());
  SmallPtrSet<Operation *, 4> users;
  collectUsers(memory, users);
  return memory.getDefiningOp<memref::AllocOp>() && users.size() == 2 &&
         users.contains(fused) && users.contains(quantize) &&
         !fused.readsInit() &&
         llvm::none_of(
             fused.getInputs(),
             [&](Value input) { return skipViews(input) == memory; }) &&
         areNeighbours(fused, quantize);
}

static GPUKernel getKernel(FusedOp fused) {
  return getGPUPlanAttr(fused) ? getGPUPlanAttr(fused).getKernel()
                               : GPUKernel::Auto;
}

std::optional<std::string>
kron::getSeparateQuantizeReason(FusedOp fused, QuantizeOp quantize,
                                const GPUMachine &machine) {
  if (std::optional<std::string> reason =
          getQuantizeUnsupportedReason(quantize))
    return reason;
  if (hasEmptyArray(fused))
    return "an array has no elements";
  if (!isAllThatReads(quantize, fused))
    return "somebody else reads the product, or memory is touched before";
  Value memory = skipViews(fused.getInit());
  if (cast<ShapedType>(quantize.getScales().getType()).getRank() != 1 ||
      !hasRowsOf(fused.getInit(), memory) ||
      !hasRowsOf(quantize.getInput(), memory))
    return "rows are not those of the product";
  if (getKernel(fused) == GPUKernel::Wgmma)
    return getWgmmaQuantizeReason(fused, machine);
  if (getKernel(fused) != GPUKernel::Mma ||
      !(isRegrouped(fused) || isSparse(describeProblem(fused))))
    return "only kernels by wgmma and of sparse factors have whole rows";
  if (fused->hasAttr(kCublasAttrName))
    return "cuBLAS computes the product where it is there";
  return getSparseQuantizeReason(fused, machine);
}

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
                                  QuantizeOp quantize,
                                  const GPUMachine &machine) {
  return getKernel(fused) == GPUKernel::Wgmma
             ? emitWgmmaKernel(builder, gpuModule, fused, machine, quantize)
             : emitQuantizedSparseKernel(builder, gpuModule, fused, machine,
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
static LogicalResult emitByRows(OpBuilder &builder, SymbolTable &symbols,
                                gpu::GPUModuleOp gpuModule, FusedOp fused,
                                QuantizeOp quantize, int64_t fewest,
                                const GPUMachine &machine) {
  Location loc = quantize.getLoc();
  Value memory = skipViews(fused.getInit());
  Emitter host(builder, loc, kron::getElementType(quantize.getInput()));
  Int rows = getQuantizedRowCount(host, quantize, 0);
  auto branch = scf::IfOp::create(builder, loc, host.less(fewest - 1, rows),
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitTogether(builder, gpuModule, fused, quantize, machine)))
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
  if (failed(emitGPUKernels(builder, symbols, gpuModule, fused, machine)))
    return failure();
  emitQuantize(builder, gpuModule, quantize, machine);
  fused.erase();
  quantize.erase();
  return success();
}

LogicalResult kron::emitQuantizedKernel(OpBuilder &builder,
                                        SymbolTable &symbols,
                                        gpu::GPUModuleOp gpuModule,
                                        FusedOp fused, QuantizeOp quantize,
                                        const GPUMachine &machine) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(quantize);
  if (getKernel(fused) != GPUKernel::Wgmma)
    if (std::optional<int64_t> fewest = getFewestQuantizedRows(fused, machine))
      return emitByRows(builder, symbols, gpuModule, fused, quantize, *fewest,
                        machine);
  Value memory = skipViews(fused.getInit());
  if (failed(emitTogether(builder, gpuModule, fused, quantize, machine)))
    return failure();
  fused.erase();
  quantize.erase();
  eraseUnused(memory);
  if (memory.use_empty())
    memory.getDefiningOp()->erase();
  return success();
}
