//===- ShareLinalg.cpp - linalg operations on all threads -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A range of one parallel loop is the same operation on views of its arrays.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/Machine/ThreadForms.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether every step of `loop` has elements of all results of its own.
static bool isIndependent(linalg::LinalgOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return llvm::is_contained(
               op.getMatchingIndexingMap(&init).getResults(),
               getAffineDimExpr(loop, op.getContext()));
         });
}

/// The loop to share: the outermost long one, or else the longest. None if
/// there is none.
static std::optional<unsigned> chooseLoop(linalg::LinalgOp op) {
  std::optional<unsigned> longest;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (auto [loop, size] : llvm::enumerate(sizes)) {
    if (!isIndependent(op, loop))
      continue;
    if (ShapedType::isDynamic(size) || size >= kThreadForms.longLoop)
      return loop;
    if (size > 1 && (!longest || size > sizes[*longest]))
      longest = loop;
  }
  return longest;
}

/// Whether it takes less time than two threads need to share it.
static bool isSmall(linalg::LinalgOp op) {
  if (usesEmptyArray(op))
    return true;
  int64_t elements = 1;
  for (int64_t size : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size))
      return false;
    elements =
        std::min(elements * std::min(size, 2 * kThreadForms.leastElements),
                 2 * kThreadForms.leastElements);
  }
  return elements < 2 * kThreadForms.leastElements;
}

/// Whether neighbours of a result in memory are steps of `loop`.
static bool isInnermost(linalg::LinalgOp op, unsigned loop) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return map.getNumResults() > 0 &&
           map.getResults().back() == getAffineDimExpr(loop, op.getContext());
  });
}

static void emitSerialRemark(linalg::LinalgOp op, StringRef reason) {
  remark::missed(op.getLoc(),
                 remark::RemarkOpts::name("OneThread").category("kron-threads"))
      << remark::add("{0} runs on one thread",
                     op->getName().getStringRef().str())
      << remark::reason("{0}", reason.str());
}

bool kron::shareLinalg(RuntimeCalls &runtime, linalg::LinalgOp op) {
  if (isSmall(op))
    return false;
  std::optional<unsigned> chosen = chooseLoop(op);
  if (!chosen) {
    emitSerialRemark(op, "no loop has elements of the result of its own");
    return false;
  }
  SharedLoop shared(runtime, op);
  if (!isa<TilingInterface>(op.getOperation()) || !shared.canCapture()) {
    emitSerialRemark(op, "no part of it is an operation of its own");
    return false;
  }
  unsigned loop = *chosen;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Emitter emitter(builder, loc, builder.getF32Type());
  Int count, elements = 1;
  for (auto [index, range] :
       llvm::enumerate(op.createLoopRanges(builder, loc))) {
    Int size = getInt(builder, loc, range.size);
    if (index == loop)
      count = size;
    else
      elements = emitter.mul(elements, size);
  }
  int64_t minLength = isInnermost(op, loop) ? kThreadForms.leastNeighbours : 1;
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("Shared").category("kron-threads"))
      << remark::add("{0} is shared among threads",
                     op->getName().getStringRef().str())
      << remark::metric("Loop", loop);
  shared.emit(
      count, elements, minLength,
      [&](OpBuilder &body, IRMapping &mapping, Value begin, Value end) {
        auto whole = cast<TilingInterface>(body.clone(*op, mapping));
        body.setInsertionPoint(whole);
        SmallVector<OpFoldResult> offsets, sizes;
        for (auto [index, range] :
             llvm::enumerate(whole.getIterationDomain(body))) {
          bool isShared = index == loop;
          offsets.push_back(isShared ? OpFoldResult(begin) : range.offset);
          sizes.push_back(
              isShared
                  ? arith::SubIOp::create(body, loc, end, begin).getResult()
                  : range.size);
        }
        // Never fails on operations with affine maps.
        (void)whole.getTiledImplementation(body, offsets, sizes);
        whole.erase();
      });
  return true;
}
