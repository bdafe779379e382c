//===- PairTiles.h - Functions of pairs, some columns at a time -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What goes on from a matrix of functions of pairs holds 64 columns of it, and
// of others that are computed of it, in arrays of batch x M x 64 values of the
// accumulation type, which one loop over the columns updates.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CONVERSION_KRONTOLINALG_PAIRTILES_H
#define KRON_CONVERSION_KRONTOLINALG_PAIRTILES_H

#include "PairLoops.h"
#include "kron/Dialect/Kron/Utils/PairPrograms.h"

namespace mlir::kron {

/// The functions of an operation, along its directions if it has those: then
/// each is followed by its derivative.
struct PairFunctions {
  explicit PairFunctions(PairOpInterface op);

  /// Arguments of `inner` from the elements of A, B and their directions and
  /// from the hyper-parameters and their directions.
  SmallVector<Value> getInnerArgs(ValueRange elements, ValueRange params) const;
  /// Those of `epilogue`, from the reduced values.
  SmallVector<Value> getEpilogueArgs(ValueRange reduced,
                                     ValueRange params) const;
  /// The argument of `epilogue` that is reduced value `number`.
  unsigned getReducedArg(unsigned number) const {
    return number == 0 ? 0 : 1 + numParams;
  }

  PairProgram inner, epilogue;
  unsigned numParams;
  /// Reduced values: 1, or 2 with directions.
  unsigned numReduced = 1;
};

/// `term` where `value` is the maximum `most`, else 0; NaN where that is.
Value emitWhereMost(OpBuilder &builder, Location loc, Value value, Value most,
                    Value term);

class PairTiles {
public:
  static constexpr int64_t kColumns = 64;

  PairTiles(ArrayEmitter &emitter, PairOpInterface op);

  const PairLoops &getLoops() const { return loops; }
  const PairFunctions &getFunctions() const { return functions; }

  /// An array that the loop updates; returns its number. It may hold `array`,
  /// else columns of a matrix.
  unsigned add(Value array = nullptr);

  /// The loop: `body` updates columns and arrays. Returns the arrays.
  SmallVector<Value> emit(llvm::function_ref<void()> body);

  //===--------------------------------------------------------------------===//
  // Within the loop
  //===--------------------------------------------------------------------===//

  const PairLoops &getColumns() const { return *columns; }
  Value &getCarried(unsigned number) { return carried[number]; }
  /// The columns that array `number` holds.
  PairArray getTile(unsigned number) const {
    return {"", tiles[number], {PairAxis::M, PairAxis::N}};
  }
  /// The columns of array `number` whose dimension `dim` is N.
  Value getPart(unsigned number, unsigned dim) const {
    return emitter.slice(carried[number], dim, offset, size);
  }
  void setPart(unsigned number, unsigned dim, Value part) {
    carried[number] = emitter.insert(carried[number], part, dim, offset);
  }
  /// A linalg.generic into the columns that array `number` holds.
  void update(unsigned number, ArrayRef<PairArray> inputs,
              ArrayRef<PairAxis> reductions, PairLoops::Body body);
  /// Fills them with 0.
  void clear(unsigned number);

  /// The reduced values, in array `first`.
  void emitReduced(unsigned first);
  /// Their derivatives along the directions, in array `second`.
  void emitReducedAlong(unsigned second, unsigned first);
  /// The matrix, or its derivative along the directions, in array `first`;
  /// `second` is for what the latter is computed of.
  PairArray emitMatrix(unsigned first, unsigned second);

  /// What the functions of elements are computed of: A, B and their directions,
  /// and the largest values, in array `first`, if these are reduced values.
  SmallVector<PairArray> getElements(unsigned first) const;

private:
  ArrayEmitter &emitter;
  PairOpInterface op;
  PairLoops loops;
  PairFunctions functions;
  SmallVector<Value> carried;
  /// As many; null for arrays of other shapes.
  SmallVector<Value> tiles;
  SmallVector<bool> isMatrix;
  std::optional<PairLoops> columns;
  OpFoldResult offset, size;
};

} // namespace mlir::kron

#endif // KRON_CONVERSION_KRONTOLINALG_PAIRTILES_H
