//===- StartValues.cpp - What reductions start from -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A reduction adds to what is in its destination, mostly what a linalg.fill has
// put there. A kernel can start from that value itself: one launch less, and
// nothing to read.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether `op` writes every element of its destination once, after all steps
/// of its reductions.
static bool writesAllOnce(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  return map.isProjectedPermutation() &&
         map.getNumResults() == op.getNumParallelLoops() &&
         llvm::none_of(reductions,
                       [&](unsigned dim) { return map.isFunctionOfDim(dim); });
}

/// An array that is no view and has none: only operations that name it know its
/// elements.
static bool isPrivate(Value array, Block *block) {
  return array.getDefiningOp<memref::AllocOp>() &&
         llvm::all_of(array.getUsers(), [&](Operation *user) {
           return user->getBlock() == block &&
                  isa<linalg::LinalgOp, memref::DeallocOp>(user);
         });
}

/// The operation that has put one value into all of the destination of `op`,
/// which nothing reads or writes in between; null if there is none.
static linalg::FillOp findFill(linalg::LinalgOp op) {
  if (!writesAllOnce(op))
    return nullptr;
  Value array = op.getDpsInitOperand(0)->get();
  Block *block = op->getBlock();
  SetVector<Value> read;
  getUsedValuesDefinedAbove(op->getRegions(), read);
  read.insert_range(op.getDpsInputs());
  if (read.contains(array))
    return nullptr;
  // Others than private arrays may be views of the same memory.
  bool isOwn = isPrivate(array, block);
  if (!isOwn && !llvm::all_of(read, [&](Value value) {
        return !isa<MemRefType>(value.getType()) || isPrivate(value, block);
      }))
    return nullptr;
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    auto fill = dyn_cast<linalg::FillOp>(before);
    if (fill && fill.getOutputs().front() == array)
      return fill;
    if (isOwn ? llvm::is_contained(before->getOperands(), array)
              : !isMemoryEffectFree(before))
      return nullptr;
  }
  return nullptr;
}

DenseMap<Operation *, Value>
kron::foldFills(SmallVectorImpl<linalg::LinalgOp> &linalgOps) {
  DenseMap<Operation *, Value> starts;
  SmallVector<linalg::LinalgOp> all(linalgOps.begin(), linalgOps.end());
  for (linalg::LinalgOp op : all)
    if (linalg::FillOp fill = findFill(op)) {
      starts[op] = fill.getInputs().front();
      llvm::erase(linalgOps, cast<linalg::LinalgOp>(fill.getOperation()));
      fill.erase();
    }
  return starts;
}

DenseSet<Operation *>
kron::foldZeros(SmallVectorImpl<linalg::LinalgOp> &linalgOps) {
  DenseSet<Operation *> padding;
  SmallVector<linalg::LinalgOp> all(linalgOps.begin(), linalgOps.end());
  for (linalg::LinalgOp op : all)
    if (linalg::FillOp fill = findZeros(op)) {
      padding.insert(op);
      llvm::erase(linalgOps, cast<linalg::LinalgOp>(fill.getOperation()));
      fill.erase();
    }
  return padding;
}
