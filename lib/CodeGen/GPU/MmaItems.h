//===- MmaItems.h - What a warp multiplies in one go ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A step of a kernel of mma.sync shares out its tile as items, one after the
// other to each warp. There is a class for each kind of step; all of them do
//
//   sums = 0
//   for each tile of 8 positions of the contracted dimension:
//     load the data; sums += factor * data
//   where sums are infinite or NaN, compute all of them again one by one
//   store the sums
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_MMAITEMS_H
#define KRON_LIB_CODEGEN_GPU_MMAITEMS_H

#include "MmaKernel.h"

namespace mlir::kron {

/// What the kinds have in common: the arrays of the step, and where the item
/// that is being emitted lies in them.
class MmaKernel::Items {
protected:
  Items(MmaKernel &mma, const StepArrays &arrays);

  /// Goes on to the item that starts at `itemPositions`.
  void enter(ArrayRef<Int> itemPositions);
  /// `sums` as values, all of them 0.
  SmallVector<Value> getZeros(ArrayRef<MmaC> sums);
  /// Number of tiles that `groups` are.
  static int64_t countTiles(ArrayRef<MmaColumnGroup> groups);
  /// Adds one term to each of the lane's sums: `values` are those of its rows,
  /// 8 apart, and `getWeight` gives the weight of a column, counted in the
  /// item.
  void addTerm(MutableArrayRef<Value> sums, ArrayRef<Value> values,
               ArrayRef<MmaColumnGroup> groups,
               function_ref<Value(const MmaColumnGroup &, Int)> getWeight);
  /// Loads operand B's word `slot` of the tiles of a group of columns, which
  /// are side by side: from `index` elements behind byte `lane` of `part` on.
  /// Zero where `exists` or, of a tile's number, `getValid` is false; null is
  /// true.
  void loadGroup(MutableArrayRef<MmaB> tiles, unsigned slot,
                 const MmaBuffer &part, Int lane, int64_t index, Value exists,
                 function_ref<Value(int64_t)> getValid);
  /// The sums of tiles of 16 rows along `rowDim`, those of `groups` for each.
  SmallVector<Results> collectResults(ArrayRef<MmaC> sums,
                                      ArrayRef<MmaColumnGroup> groups,
                                      unsigned rowDim) const;

  MmaKernel &mma;
  KernelBuilder &kernel;
  MmaProducts &products;
  const StepArrays &arrays;
  const MmaStep &step;
  /// Whether tensor cores take the data as it is, without rounding it first.
  bool exact = false;

  // Of the item.
  MmaBuffer from;
  SmallVector<Int> positions, origin;
  /// Byte offset of the item's first element.
  Int own;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_MMAITEMS_H
