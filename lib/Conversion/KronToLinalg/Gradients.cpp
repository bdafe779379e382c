//===- Gradients.cpp - Reference lowering of gradients --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Sums over the batch and all that the elements of a parameter are used for, by
// the formulas of the operations.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// kron.ksmm_grad
//===----------------------------------------------------------------------===//

/// `sum`, [a, b, c, d], added up over the blocks and the inner positions that
/// share their weights, as the destination is shaped.
static Value sumShared(ArrayEmitter &emitter, KsmmGradOp op, Value sum) {
  bool isShared[] = {op.sharesBlocks(), false, false, op.sharesInner()};
  OpBuilder &builder = emitter.getBuilder();
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> from(4), to;
  for (bool reduced : {false, true})
    for (unsigned dim = 0; dim < 4; ++dim)
      if (isShared[dim] == reduced) {
        from[dim] = builder.getAffineDimExpr(to.size());
        to.push_back(from[dim]);
        if (!reduced)
          sizes.push_back(emitter.getSize(sum, dim));
      }
  unsigned reductions = to.size() - sizes.size();
  if (reductions == 0)
    return sum;
  Type element = kron::getElementType(sum);
  AffineMap maps[] = {AffineMap::get(4, 0, from, builder.getContext()),
                      AffineMap::get(4, 0,
                                     ArrayRef(to).take_front(sizes.size()),
                                     builder.getContext())};
  Value total = emitter.emitGeneric(
      sum, emitter.createZeros(sizes, element), maps, reductions,
      [](OpBuilder &b, Location loc, ValueRange args) {
        return emitAdd(b, loc, args[1], args[0]);
      });
  OpFoldResult one = builder.getIndexAttr(1);
  if (isShared[0])
    total = emitter.splitDim(total, 0, {one, sizes[0]});
  if (isShared[3])
    total = emitter.splitDim(total, 2, {emitter.getSize(total, 2), one});
  return total;
}

/// Axes: blocks i, contracted batch n or resulting j, k, inner t.
Value kron::emitGradient(ArrayEmitter &emitter, KsmmGradOp op) {
  Epilogue epilogue = getScaling(op);
  if (epilogue.alpha.isZero())
    return emitStore(emitter, Value(), epilogue, op.getInit());

  auto getView = [&](Value array, unsigned patternDim, int64_t batchAxis,
                     int64_t axis, bool conjugate) {
    auto getSize = [&](unsigned dim) -> OpFoldResult {
      if (op.getProductPattern())
        return emitter.getBuilder().getIndexAttr(op.getPattern()[dim]);
      return emitter.getSize(op.getInit(), dim);
    };
    SmallVector<OpFoldResult> sizes = {getSize(0), getSize(patternDim),
                                       getSize(3)};
    View view{emitter.splitDim(array, op.getFeatureDim(), sizes),
              {0, axis, 3},
              conjugate};
    view.axes.insert(
        op.getBatchDim() == 0 ? view.axes.begin() : view.axes.end(), batchAxis);
    return view;
  };
  View input =
      getView(op.getInput(), 2, /*batchAxis=*/1, /*axis=*/2, op.getConjInput());
  View grad = getView(op.getGrad(), 1, ModeProductOp::kContracted,
                      ModeProductOp::kResulting, op.getConjGrad());
  Type accumulator = getAccumulatorType(kron::getElementType(op.getInit()));
  View result = emitContraction(emitter, input, grad, /*axis=*/1, /*rank=*/4,
                                accumulator);
  return emitStore(emitter, sumShared(emitter, op, result.value), epilogue,
                   op.getInit());
}

//===----------------------------------------------------------------------===//
// kron.factor_grad, kron.bias_grad
//===----------------------------------------------------------------------===//

/// `array` with its features split into the axes of the factors: those that
/// they contract, or those that result.
static Value splitFeatures(ArrayEmitter &emitter, FactorGradOp op, Value array,
                           bool resulting) {
  bool isRight = op.getLayout() == Layout::BatchFirst;
  SmallVector<OpFoldResult> sizes;
  for (auto [number, factor] : llvm::enumerate(op.getFactors())) {
    bool isUsedAsIs = op.getFactorTranspose(number) == Transpose::N;
    bool contractsFirst = isRight == isUsedAsIs;
    sizes.push_back(emitter.getSize(factor, contractsFirst == resulting));
  }
  sizes.insert(sizes.begin() + op.getIndex(),
               emitter.getSize(op.getInit(), isRight == resulting));
  return emitter.splitDim(array, op.getFeatureDim(), sizes);
}

/// Axes: batch, then M and those of the factors in the order of the layout. All
/// other factors are applied to X; the gradient is one sum over all axes but
/// that of its factor.
Value kron::emitGradient(ArrayEmitter &emitter, FactorGradOp op) {
  Epilogue epilogue = getScaling(op);
  if (epilogue.alpha.isZero())
    return emitStore(emitter, Value(), epilogue, op.getInit());
  bool isRight = op.getLayout() == Layout::BatchFirst;
  Type accumulator = getAccumulatorType(kron::getElementType(op.getInit()));
  View current =
      View::get(splitFeatures(emitter, op, op.getInput(), /*resulting=*/false));
  unsigned rank = getArrayRank(current.value);
  int64_t firstAxis = getArrayRank(op.getInput()) - 2 + isRight;
  for (auto [number, value] : llvm::enumerate(op.getFactors())) {
    int64_t position = number + (int64_t(number) >= int64_t(op.getIndex()));
    Transpose transpose = op.getFactorTranspose(number);
    View factor{value,
                {ModeProductOp::kContracted, ModeProductOp::kResulting},
                transpose == Transpose::C};
    if (isRight != (transpose == Transpose::N))
      std::swap(factor.axes[0], factor.axes[1]);
    current = emitContraction(emitter, current, factor, firstAxis + position,
                              rank, accumulator);
  }
  Value grad = splitFeatures(emitter, op, op.getGrad(), /*resulting=*/true);

  // Loops over p and q, then over all other axes.
  OpBuilder &builder = emitter.getBuilder();
  SmallVector<AffineExpr> inputExprs;
  int64_t axis = firstAxis + op.getIndex();
  for (int64_t dim = 0, next = 2; dim < rank; ++dim)
    inputExprs.push_back(builder.getAffineDimExpr(dim == axis ? 0 : next++));
  SmallVector<AffineExpr> gradExprs = inputExprs;
  gradExprs[axis] = builder.getAffineDimExpr(1);
  SmallVector<AffineExpr> exprs{inputExprs[axis], gradExprs[axis]};
  SmallVector<OpFoldResult> sizes{emitter.getSize(op.getInit(), 0),
                                  emitter.getSize(op.getInit(), 1)};
  if (!isRight)
    std::swap(exprs[0], exprs[1]);
  MLIRContext *context = builder.getContext();
  AffineMap maps[] = {AffineMap::get(rank + 1, 0, inputExprs, context),
                      AffineMap::get(rank + 1, 0, gradExprs, context),
                      AffineMap::get(rank + 1, 0, exprs, context)};
  Value sum = emitter.emitGeneric(
      {current.value, grad}, emitter.createZeros(sizes, accumulator), maps,
      /*reductions=*/rank - 1,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value product = emitConjMul(b, loc, args[0], op.getConjInput(), args[1],
                                    op.getConjGrad(), accumulator);
        return emitAdd(b, loc, args[2], product);
      });
  return emitStore(emitter, sum, epilogue, op.getInit());
}

Value kron::emitGradient(ArrayEmitter &emitter, BiasGradOp op) {
  Epilogue epilogue = getScaling(op);
  if (epilogue.alpha.isZero())
    return emitStore(emitter, Value(), epilogue, op.getInit());
  OpBuilder &builder = emitter.getBuilder();
  Type accumulator = getAccumulatorType(kron::getElementType(op.getInit()));
  SmallVector<AffineExpr> exprs(2);
  exprs[op.getFeatureDim()] = builder.getAffineDimExpr(0);
  exprs[op.getBatchDim()] = builder.getAffineDimExpr(1);
  AffineMap maps[] = {AffineMap::get(2, 0, exprs, builder.getContext()),
                      AffineMap::get(2, 0, exprs[op.getFeatureDim()])};
  Value zeros =
      emitter.createZeros({emitter.getSize(op.getInit(), 0)}, accumulator);
  Value sum =
      emitter.emitGeneric(op.getInput(), zeros, maps, /*reductions=*/1,
                          [&](OpBuilder &b, Location loc, ValueRange args) {
                            Value g =
                                emitConversion(b, loc, args[0], accumulator);
                            return emitAdd(b, loc, args[1], g);
                          });
  return emitStore(emitter, sum, epilogue, op.getInit());
}
