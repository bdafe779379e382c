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

/// A product of data and a factor in chunks: where they come from, and what
/// lanes have of the sums.
class ChunkProduct {
protected:
  /// That of `chunks` and `sums`, as `plan` says.
  ChunkProduct(Lowering &lowering, const SparsePlan &plan, ChunksAttr chunks,
               FragmentType sums, ViewType data, ViewType factor);

  /// The copies of the pieces of data and factor that `tile` needs from
  /// `startK` on.
  SparseCopy getDataCopy(const SparseTile &tile, Int startK, Int to);
  SparseCopy getFactorCopy(const SparseTile &tile, Int startK, Int to,
                           bool aligned);
  /// Starts to copy the latter.
  void copyFactor(const SparseTile &tile, Int startK, Int to, bool aligned);
  /// A barrier of the threads that share tiles.
  void meet();
  /// Makes the sums of all steps of a tile, which `multiplyStep` adds up.
  void sumSteps(function_ref<void(Int, MutableArrayRef<MmaC>)> multiplyStep);

  /// Enters what `op` does to results, but for where they go, and adds the
  /// arrays that it reads to `views`, each once.
  template <typename OpTy>
  void enterTargets(OpTy op, unsigned free, SmallVectorImpl<Value> &views) {
    for (auto [view, array] :
         {std::pair(op.getAddend(), &targets.addend),
          std::pair(op.getBias(), &targets.bias),
          std::pair(op.getResidual(), &targets.residual)}) {
      *array = getChunkArray(lowering, view, free, /*isFactor=*/false);
      if (view && !llvm::is_contained(views, view))
        views.push_back(view);
    }
    targets.alpha = getScale(lowering, op.getAlpha());
    targets.beta = getScale(lowering, op.getBeta());
    FusedEpilogue epilogue;
    epilogue.activation = op.getActivation();
    epilogue.scale = op.getScaleAttr();
    epilogue.bias.base = targets.bias.base;
    epilogue.residual.base = targets.residual.base;
    targets.epilogue.enter(epilogue, plan.element);
  }

  Lowering &lowering;
  KernelBuilder &k;
  const SparsePlan plan;
  ScalarOps ops;
  MmaProducts products;
  SparseMath math;
  SparseThread thread;
  SparseCopies copies;
  SparseProducts multiplier;
  SparseTargets targets;
  SparseStores stores;
  SparseArray data;
  ChunkFactor factor;
  SparseTile tile;
  SmallVector<MmaC> sums;
};

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_CHUNKARRAYS_H
