//===- ArrayEmitter.h - Arrays on tensors and memrefs alike -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The reference lowering is written once for tensors and memrefs: this builder
// is the only place that knows which of the two it works on.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CONVERSION_KRONTOLINALG_ARRAYEMITTER_H
#define KRON_CONVERSION_KRONTOLINALG_ARRAYEMITTER_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace mlir::kron {

class ArrayEmitter {
public:
  /// Computes one element from those of the inputs and, last, the one of the
  /// destination.
  using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

  ArrayEmitter(OpBuilder &builder, Location loc, bool onTensors)
      : builder(builder), loc(loc), onTensors(onTensors) {}

  OpBuilder &getBuilder() { return builder; }
  Location getLoc() const { return loc; }

  /// Size of one dimension, a constant where the type knows it.
  OpFoldResult getSize(Value array, unsigned dim);

  /// Size of a dimension known at run time only.
  Value emitDim(Value array, Value dim);

  /// One element of `array`, at `builder` (which may build a body).
  Value emitLoad(OpBuilder &builder, Location loc, Value array,
                 ValueRange indices);

  /// A new contiguous array with undefined contents that never becomes one with
  /// another such array, which is what loops need to carry several.
  Value createOwn(ArrayRef<OpFoldResult> sizes, Type element);

  /// A new contiguous array with undefined contents, or with zeros.
  Value createEmpty(ArrayRef<OpFoldResult> sizes, Type element);
  Value createZeros(ArrayRef<OpFoldResult> sizes, Type element) {
    return fillZeros(createEmpty(sizes, element));
  }
  Value fillZeros(Value array);
  /// `array` filled with `number`.
  Value fill(Value array, TypedAttr number);

  /// `array` with dimension `dim` split into dimensions of the given sizes,
  /// whose product is its size. A view, but for several dynamic sizes, where it
  /// is a copy: upstream cannot lower such an expand_shape.
  Value splitDim(Value array, unsigned dim, ArrayRef<OpFoldResult> sizes);

  /// `array`, which is contiguous, with `count` dimensions from `first` on
  /// merged into one.
  Value mergeDims(Value array, unsigned first, unsigned count);

  /// `size` positions from `offset` on along dimension `dim` of `array`: a
  /// view.
  Value slice(Value array, unsigned dim, OpFoldResult offset,
              OpFoldResult size);
  /// `array` with `part`, an updated slice from there on.
  Value insert(Value array, Value part, unsigned dim, OpFoldResult offset);

  /// What `body` computes for consecutive parts of `count` positions, of at
  /// most `step` each, from their offset and size. It updates the arrays
  /// `carried` and may not create others.
  SmallVector<Value>
  emitTileLoop(OpFoldResult count, int64_t step, ValueRange carried,
               llvm::function_ref<SmallVector<Value>(OpFoldResult, OpFoldResult,
                                                     ValueRange)>
                   body);

  /// A linalg.generic over `inputs` into `destination`, with one map for each;
  /// the loops `reductions`, or the last so many, are reductions. Returns the
  /// updated destination.
  Value emitGeneric(ValueRange inputs, Value destination,
                    ArrayRef<AffineMap> maps, ArrayRef<unsigned> reductions,
                    Body body);
  Value emitGeneric(ValueRange inputs, Value destination,
                    ArrayRef<AffineMap> maps, unsigned reductions, Body body);

  /// Releases what createEmpty allocated (memrefs only).
  void freeTemporaries();

private:
  Value castDim(Value array, unsigned dim, int64_t size);
  /// The sizes of `array` with those of the parts of `dim` in its place.
  SmallVector<OpFoldResult> getSplitSizes(Value array, unsigned dim,
                                          ArrayRef<OpFoldResult> sizes);
  Value gatherSplit(Value array, unsigned dim, ArrayRef<OpFoldResult> sizes);

  OpBuilder &builder;
  Location loc;
  bool onTensors;
  SmallVector<Value> temporaries;
};

} // namespace mlir::kron

#endif // KRON_CONVERSION_KRONTOLINALG_ARRAYEMITTER_H
