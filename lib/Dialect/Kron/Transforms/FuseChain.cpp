//===- FuseChain.cpp - A chain of mode products as a kron.fused -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

/// Z of `op` where it is an operand of its own and read, else null.
static Value getReadAddend(ModeProductOp op) {
  if (kron::getBeta(op).isZero() || op.getAddend() == op.getInit())
    return nullptr;
  return op.getAddend();
}

/// The size of axis `axis` behind mode product `index` of `chain`, from the
/// block arguments `factors` and `init` of the kron.fused: it is what a later
/// factor contracts, or it stays to the end. In a regrouped chain only the rows
/// have an unknown size, which stays.
static Value getAxisSize(OpBuilder &builder, Location loc,
                         ArrayRef<ModeProductOp> chain, unsigned index,
                         int64_t axis, ValueRange factors, Value init) {
  for (unsigned next = index + 1; next < chain.size() && !isRegrouped(chain);
       ++next) {
    ModeProductOp later = chain[next];
    if (static_cast<int64_t>(later.getAxis()) == axis)
      return tensor::DimOp::create(builder, loc, factors[next],
                                   later.getContractedFactorDim());
  }
  return tensor::DimOp::create(builder, loc, init, axis);
}

static Value createIntermediate(OpBuilder &builder,
                                ArrayRef<ModeProductOp> chain, unsigned index,
                                ValueRange factors, Value init) {
  ModeProductOp op = chain[index];
  auto type = cast<RankedTensorType>(op.getInit().getType());
  // The result of a named operation, which is in memory no more.
  if (isRegrouped(chain))
    type = type.clone(getAccumulatorType(type.getElementType()));
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(
          getAxisSize(builder, op.getLoc(), chain, index, axis, factors, init));
  return tensor::EmptyOp::create(builder, op.getLoc(), type, sizes);
}

/// `reshape` on `value`, which may have another element type; `init` has its
/// rows.
static Value emitReshape(OpBuilder &builder, Operation *reshape, Value value,
                         Value init) {
  Location loc = reshape->getLoc();
  auto type = cast<RankedTensorType>(reshape->getResult(0).getType())
                  .clone(getElementTypeOrSelf(value.getType()));
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape))
    return tensor::CollapseShapeOp::create(builder, loc, type, value,
                                           collapse.getReassociationIndices());
  auto expand = cast<tensor::ExpandShapeOp>(reshape);
  SmallVector<OpFoldResult> sizes;
  int64_t initRank = cast<ShapedType>(init.getType()).getRank();
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(builder.getIndexAttr(size));
      continue;
    }
    // Rows are the first or the last axis of both.
    int64_t rows = axis == 0 ? 0 : initRank - 1;
    sizes.push_back(
        tensor::DimOp::create(builder, loc, init, rows).getResult());
  }
  return tensor::ExpandShapeOp::create(builder, loc, type, value,
                                       expand.getReassociationIndices(), sizes);
}

/// The region of the kron.fused: `chain` on the block arguments `args`, which
/// are the input, the factors, the addend if there is one, and the destination.
static Value buildRegion(OpBuilder &builder, ArrayRef<ModeProductOp> chain,
                         bool hasAddend, ValueRange args) {
  ValueRange factors = args.slice(1, chain.size());
  Value value = args.front();
  for (unsigned index = 0; index < chain.size(); ++index) {
    ModeProductOp op = chain[index];
    bool isLast = index + 1 == chain.size();
    if (index)
      for (Operation *reshape : getInputReshapes(op))
        value = emitReshape(builder, reshape, value, args.back());
    Value init = isLast ? args.back()
                        : createIntermediate(builder, chain, index, factors,
                                             args.back());
    Value addend = isLast && hasAddend ? args[args.size() - 2] : Value();
    // Defaults that are written out say nothing: only the last one keeps them.
    auto product = ModeProductOp::create(
        builder, op.getLoc(), TypeRange(init.getType()), value, factors[index],
        isLast ? op.getAlpha() : Value(), isLast ? op.getBeta() : Value(),
        addend, init, static_cast<uint64_t>(op.getAxis()), op.getFactorDims(),
        op.getConjInput(), op.getConjFactor(),
        isLast ? op.getStaticAlphaAttr() : TypedAttr(),
        isLast ? op.getStaticBetaAttr() : TypedAttr(), op.getPrecision(),
        /*plan=*/nullptr);
    value = product.getResult(0);
  }
  return value;
}

/// The transpose that makes the input of a chain and nothing else, or null.
static linalg::TransposeOp getInputTranspose(ModeProductOp first) {
  auto transpose = first.getInput().getDefiningOp<linalg::TransposeOp>();
  return transpose && transpose->hasOneUse() ? transpose : nullptr;
}

void kron::replaceSizes(IRRewriter &rewriter, ModeProductOp op) {
  SmallVector<Value> values{op->getResult(0)};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (Operation *user : llvm::to_vector(value.getUsers())) {
      if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user))
        values.push_back(user->getResult(0));
      auto dim = dyn_cast<tensor::DimOp>(user);
      if (!dim)
        continue;
      rewriter.setInsertionPoint(dim);
      auto type = cast<ShapedType>(value.getType());
      auto initType = cast<ShapedType>(op.getInit().getType());
      int64_t axis = *dim.getConstantIndex();
      if (!type.isDynamicDim(axis)) {
        rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(
            dim, type.getDimSize(axis));
        continue;
      }
      // Of a reshaped array these are the rows: the first or the last axis.
      if (type.getRank() != initType.getRank() && axis > 0)
        axis = initType.getRank() - 1;
      rewriter.replaceOpWithNewOp<tensor::DimOp>(dim, op.getInit(), axis);
    }
  }
}

FusedOp kron::fuseChain(IRRewriter &rewriter, ArrayRef<ModeProductOp> chain) {
  ModeProductOp first = chain.front(), last = chain.back();
  Value input = first.getInput();
  SmallVector<int64_t> permutation;
  linalg::TransposeOp transpose = getInputTranspose(first);
  if (transpose) {
    input = transpose.getInput();
    permutation = llvm::to_vector(transpose.getPermutation());
  }
  SmallVector<Value> inputs{input};
  Attribute plan;
  for (ModeProductOp op : chain) {
    inputs.push_back(op.getFactor());
    if (op.getPlanAttr())
      plan = op.getPlanAttr();
  }
  Value addend = getReadAddend(last);
  if (addend)
    inputs.push_back(addend);

  rewriter.setInsertionPoint(last);
  FusedOp fused = createFusedOp(
      rewriter, last.getLoc(), inputs, last.getInit(), permutation, plan,
      [&](OpBuilder &builder, ValueRange args) {
        return buildRegion(builder, chain, addend != nullptr, args);
      });
  SmallVector<SmallVector<Operation *>> reshapes;
  for (ModeProductOp op : chain)
    reshapes.push_back(getInputReshapes(op));
  for (ModeProductOp op : chain.drop_back())
    replaceSizes(rewriter, op);
  rewriter.replaceOp(last, fused.getResults());
  for (unsigned index = chain.size() - 1; index-- > 0;) {
    for (Operation *reshape : llvm::reverse(reshapes[index + 1]))
      rewriter.eraseOp(reshape);
    ModeProductOp op = chain[index];
    Operation *init = op.getInit().getDefiningOp();
    rewriter.eraseOp(op);
    if (init && isOpTriviallyDead(init))
      rewriter.eraseOp(init);
  }
  if (transpose)
    rewriter.eraseOp(transpose);
  return fused;
}
