//===- Contraction.cpp - One factor along one axis ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The contraction of the reference lowering: loops over all axes of the result,
// then over the contracted one, which is the last dimension of every map.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"

using namespace mlir;
using namespace mlir::kron;

View View::get(Value value) {
  unsigned rank = cast<ShapedType>(value.getType()).getRank();
  return {value, llvm::to_vector(llvm::seq<int64_t>(0, rank))};
}

static bool isStretched(const View &view, unsigned dim) {
  return view.axes[dim] >= 0 &&
         cast<ShapedType>(view.value.getType()).getDimSize(dim) == 1;
}

/// How `view` is indexed in the loops of a contraction of `axis`.
static AffineMap getIndexing(OpBuilder &builder, const View &view, int64_t axis,
                             unsigned rank) {
  SmallVector<AffineExpr> exprs;
  for (auto [dim, viewAxis] : llvm::enumerate(view.axes)) {
    if (viewAxis == ModeProductOp::kContracted)
      exprs.push_back(builder.getAffineDimExpr(rank));
    else if (viewAxis == ModeProductOp::kResulting)
      exprs.push_back(builder.getAffineDimExpr(axis));
    else if (isStretched(view, dim))
      exprs.push_back(builder.getAffineConstantExpr(0));
    else
      exprs.push_back(builder.getAffineDimExpr(viewAxis));
  }
  return AffineMap::get(rank + 1, 0, exprs, builder.getContext());
}

/// Sizes of the result: of the resulting axis from the factor, of the others
/// from whichever operand is not stretched along it.
static SmallVector<OpFoldResult> getResultSizes(ArrayEmitter &emitter,
                                                const View &input,
                                                const View &factor,
                                                int64_t axis, unsigned rank) {
  SmallVector<OpFoldResult> sizes(rank, emitter.getBuilder().getIndexAttr(1));
  for (const View *view : {&factor, &input}) {
    for (auto [dim, viewAxis] : llvm::enumerate(view->axes)) {
      if (viewAxis == ModeProductOp::kContracted || isStretched(*view, dim))
        continue;
      int64_t target = viewAxis == ModeProductOp::kResulting ? axis : viewAxis;
      sizes[target] = emitter.getSize(view->value, dim);
    }
  }
  return sizes;
}

View kron::emitContraction(ArrayEmitter &emitter, const View &input,
                           const View &factor, int64_t axis, unsigned rank,
                           Type accumulator) {
  View contracted = input;
  llvm::replace(contracted.axes, axis,
                static_cast<int64_t>(ModeProductOp::kContracted));
  OpBuilder &builder = emitter.getBuilder();
  Value zeros = emitter.createZeros(
      getResultSizes(emitter, contracted, factor, axis, rank), accumulator);
  SmallVector<AffineExpr> resultExprs;
  for (unsigned dim = 0; dim < rank; ++dim)
    resultExprs.push_back(builder.getAffineDimExpr(dim));
  SmallVector<AffineMap> maps = {
      getIndexing(builder, contracted, axis, rank),
      getIndexing(builder, factor, axis, rank),
      AffineMap::get(rank + 1, 0, resultExprs, builder.getContext())};
  Value result = emitter.emitGeneric(
      {contracted.value, factor.value}, zeros, maps, /*reductions=*/1,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value x = emitConversion(b, loc, args[0], accumulator);
        Value f = emitConversion(b, loc, args[1], accumulator);
        if (contracted.conjugate)
          x = emitConjugate(b, loc, x);
        if (factor.conjugate)
          f = emitConjugate(b, loc, f);
        return emitAdd(b, loc, args[2], emitMul(b, loc, x, f));
      });
  return View::get(result);
}
