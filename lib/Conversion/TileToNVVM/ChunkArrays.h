//===- ChunkArrays.h - Arrays that chunks are copied from -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Views and pieces of chunks as those know them who copy, multiply and store
// chunks.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_CHUNKARRAYS_H
#define KRON_LIB_CONVERSION_TILETONVVM_CHUNKARRAYS_H

#include "Lowering.h"
#include "kron/CodeGen/GPU/SparseStores.h"

namespace mlir::kron::tile {

/// What `pieces` of data and a factor say, of results of type `element`.
SparsePlan describeChunks(PiecesAttr pieces, ViewType data, ViewType factor,
                          Type element, Type sums);

/// The strides of a view: of rows (of a factor: results), of lanes, of K (of
/// what is stored: results), and of the groups and the `free` dimensions that
/// the factor has not. None if it is null.
SparseArray getChunkArray(Lowering &lowering, Value view, unsigned free,
                          bool isFactor);

/// A factor as its view says, and as if it had no gaps; whether the arrays
/// beside it are aligned, and whether it is and has the strides of the latter.
struct ChunkFactor {
  SparseArray given, dense;
  Value isAligned, isFactorAligned;
};

/// Tests `factor`, which may lie in `order`, and views `others` beside it,
/// which are aligned only where `holds` (null: that is true).
ChunkFactor enterChunkFactor(Lowering &lowering, Value factor,
                             DenseI64ArrayAttr order, unsigned free,
                             ArrayRef<Value> others, Value holds);

/// Whether the number of rows is one of whole chunks, where these are stored
/// along them; null: it does not matter, or is known.
Value hasWholeRows(KernelBuilder &k, const SparsePlan &plan, Int rows);

/// The type of elements of 8 bits; null if `type` has more.
Type getFloat8(Type type);

/// What is done to results by `op`, but for where they go.
template <typename OpTy>
void enterChunkTargets(Lowering &lowering, OpTy op, unsigned free, Type element,
                       SparseTargets &targets) {
  auto get = [&](Value view) {
    return getChunkArray(lowering, view, free, /*isFactor=*/false);
  };
  targets.addend = get(op.getAddend());
  targets.bias = get(op.getBias());
  targets.residual = get(op.getResidual());
  targets.alpha = getScale(lowering, op.getAlpha());
  targets.beta = getScale(lowering, op.getBeta());
  FusedEpilogue epilogue;
  epilogue.activation = op.getActivation();
  epilogue.scale = op.getScaleAttr();
  epilogue.bias.base = targets.bias.base;
  epilogue.residual.base = targets.residual.base;
  targets.epilogue.enter(epilogue, element);
}

/// The arrays that `op` reads, each once.
template <typename OpTy>
void collectRead(OpTy op, SmallVectorImpl<Value> &views) {
  for (Value view : {op.getAddend(), op.getBias(), op.getResidual()})
    if (view && !llvm::is_contained(views, view))
      views.push_back(view);
}

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_CHUNKARRAYS_H
