//===- ArrangeSparse.cpp - kron.ksmm as a GPU wants it --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ArrangeSparse.h"
#include "SparseChoices.h"
#include "kron/Dialect/Kron/Transforms/SparseRewrites.h"

using namespace mlir;
using namespace mlir::kron;

/// What rows of copied weights start at multiples of, for cuBLAS and copies of
/// 16 bytes.
static constexpr int64_t kSegmentBytes = 16;

/// Rows come in multiples of that, so that cuBLAS takes columns of them.
static int64_t getRowUnit(KsmmOp op) {
  return op.getLayout() == Layout::BatchLast ? 8 : 1;
}

/// Rows from which on, in multiples of the unit, the products of `op` are
/// arranged anew; 0 if they never are.
static int64_t getLeastRows(KsmmOp op, const GPUSplits &splits) {
  if (int64_t rows = getLeastSplitRows(op, splits))
    return rows;
  if (needsCopyByProducts(op, splits))
    return splits.weights.manyRows;
  return getSliceResults(op, splits) ? splits.weights.rowsOfSlice : 0;
}

/// `op`, on memrefs of many rows, or what replaces it.
static KsmmOp arrangeProducts(IRRewriter &rewriter, KsmmOp op,
                              const GPUSplits &splits) {
  if (op.getLayout() == Layout::BatchFirst)
    return splitProducts(rewriter, op, getSplitBlock(op, splits));
  int64_t sizeN = getSliceResults(op, splits);
  bool isByT = isSlicedByT(op, splits);
  copyWeightsByProducts(rewriter, op, kSegmentBytes);
  if (isByT)
    return sliceByT(rewriter, op);
  if (isFastByCublas(op) || sizeN)
    op = sliceGroups(rewriter, op);
  return sizeN ? sliceProducts(rewriter, op, sizeN) : op;
}

bool kron::isArranged(KsmmOp op, const GPUSplits &splits) {
  int64_t least = getLeastRows(op, splits);
  int64_t rows = cast<ShapedType>(op.getInit().getType())
                     .getDimSize(1 - op.getFeatureDim());
  return isFasterTransposed(op, splits) ||
         (least && rows >= least && rows % getRowUnit(op) == 0);
}

SmallVector<KsmmOp> kron::arrangeForGPU(IRRewriter &rewriter, KsmmOp op,
                                        const GPUSplits &splits) {
  // What takes weights as they lie.
  auto leave = [&](KsmmOp op) {
    if (needsTransposedCopy(op, splits))
      transposeWeights(rewriter, op);
    return op;
  };
  bool isSplit = getLeastSplitRows(op, splits) > 0;
  bool isTransposed = !isSplit && isFasterTransposed(op, splits);
  int64_t least = getLeastRows(op, splits);
  int64_t rows = cast<ShapedType>(op.getInit().getType())
                     .getDimSize(1 - op.getFeatureDim());
  bool isOpen = ShapedType::isDynamic(rows);
  if (!isTransposed &&
      (!least || (!isOpen && (rows < least || rows % getRowUnit(op) != 0))))
    return {leave(op)};
  if (isa<TensorType>(op.getInit().getType())) {
    if (!canUseMemRefs(op))
      return {leave(op)};
    op = moveToMemRefs(rewriter, op);
  }
  castToKnownShapes(rewriter, op);
  if ((isTransposed || isSplit) && !hasDenseRows(op))
    return {leave(op)};
  if (isTransposed)
    return transposeRows(rewriter, op, getTransposedBlock(op, splits));
  if (!isOpen)
    return {arrangeProducts(rewriter, op, splits)};
  auto [many, others] = branchByRows(rewriter, op, least, getRowUnit(op));
  return {arrangeProducts(rewriter, many, splits), leave(others)};
}
