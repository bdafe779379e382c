//===- TurnSums.h - Sums of a turn of boxes ---------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_TURNSUMS_H
#define KRON_LIB_CONVERSION_TILETONVVM_TURNSUMS_H

#include "Lowering.h"

namespace mlir::kron::tile {

/// What a thread has of a product in a turn of a tile.for_boxes: per fibre and
/// result of its part.
struct TurnSums {
  SmallVector<SmallVector<Scalar>> values;

  /// Calls add(first position) for `unrolled` positions at a time of `whole`,
  /// which it divides, in a loop that carries the values.
  void addInLoop(KernelBuilder &k, int64_t whole, int64_t unrolled,
                 function_ref<void(Int first)> add);
  /// Makes the values what the fragment `sums` is.
  void assignTo(Lowering &lowering, TypedValue<FragmentType> sums) const;

private:
  SmallVector<Value> pack() const;
  void unpack(ValueRange registers);
};

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_TURNSUMS_H
