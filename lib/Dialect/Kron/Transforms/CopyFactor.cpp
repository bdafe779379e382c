//===- CopyFactor.cpp - Factors whose sums are neighbours in memory -------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Transforms/CopyFactor.h"
#include "ArrayViews.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

void kron::copyFactorAlongK(RewriterBase &rewriter, FusedOp fused,
                            int64_t alignedBytes) {
  rewriter.setInsertionPoint(fused);
  Location loc = fused.getLoc();
  ModeProductOp product = fused.getModeProducts().front();
  auto argument = cast<BlockArgument>(product.getFactor());
  Value factor = fused.getOperandOf(argument);
  ArrayRef<int64_t> shape = cast<ShapedType>(factor.getType()).getShape();
  Type element = kron::getElementType(factor);
  int64_t resulting = product.getResultingFactorDim(),
          contracted = product.getContractedFactorDim();
  SmallVector<int64_t> order;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (dim != resulting && dim != contracted)
      order.push_back(dim);
  order.append({resulting, contracted});
  auto permute = [&](ArrayRef<int64_t> values) {
    return llvm::map_to_vector(order, [&](int64_t dim) { return values[dim]; });
  };
  SmallVector<int64_t> sizes = permute(shape), padded(sizes);
  bool onTensors = isOnTensors(factor);
  // A slice of a new tensor is one of its own.
  if (!onTensors)
    padded.back() = llvm::alignTo(
        padded.back(), alignedBytes * 8 / element.getIntOrFloatBitWidth());
  Value buffer =
      createBuffer(rewriter, loc, padded, /*sizes=*/{}, element, onTensors);
  Value copy = buffer;
  if (padded != sizes) {
    SmallVector<int64_t> zeros(sizes.size(), 0), ones(sizes.size(), 1);
    copy = memref::SubViewOp::create(rewriter, loc, buffer, zeros, sizes, ones);
  }
  auto transpose =
      linalg::TransposeOp::create(rewriter, loc, factor, copy, order);
  if (onTensors)
    copy = transpose->getResult(0);
  SmallVector<int64_t> dims = permute(product.getFactorDims());
  rewriter.modifyOpInPlace(product, [&] { product.setFactorDims(dims); });
  rewriter.modifyOpInPlace(fused, [&] {
    fused->setOperand(argument.getArgNumber(), copy);
    argument.setType(RankedTensorType::get(sizes, element));
  });
  rewriter.setInsertionPointAfter(fused);
  releaseBuffer(rewriter, loc, buffer);
}
