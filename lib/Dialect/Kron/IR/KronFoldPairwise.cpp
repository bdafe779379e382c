//===- KronFoldPairwise.cpp - Canonicalization of functions of pairs ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
/// Takes operands as they are before casts that forget sizes. Upstream has such
/// a pattern for all destination-style operations, which would copy regions: it
/// cannot copy one without a block, and comes after this one.
struct TakeKnownSizes : OpInterfaceRewritePattern<PairOpInterface> {
  explicit TakeKnownSizes(MLIRContext *context)
      : OpInterfaceRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(PairOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto getKnown = [](Value value) -> Value {
      auto cast = value.getDefiningOp<tensor::CastOp>();
      return cast && tensor::canFoldIntoConsumerOp(cast) ? cast.getSource()
                                                         : Value();
    };
    if (llvm::none_of(op->getOperands(), getKnown))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      for (OpOperand &operand : op->getOpOperands())
        if (Value known = getKnown(operand.get()))
          operand.set(known);
    });
    Type type = op.getInit().getType();
    if (op->getNumResults() == 0 || op->getResult(0).getType() == type)
      return success();
    Value result = op->getResult(0);
    rewriter.setInsertionPointAfter(op);
    auto cast =
        tensor::CastOp::create(rewriter, op.getLoc(), result.getType(), result);
    rewriter.replaceAllUsesExcept(result, cast, cast);
    rewriter.modifyOpInPlace(op, [&] { result.setType(type); });
    return success();
  }
};
} // namespace

// For all functions of pairs.
void PairwiseOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<TakeKnownSizes>(context);
}
