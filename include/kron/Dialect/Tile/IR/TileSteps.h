//===- TileSteps.h - Steps of a chain of sparse factors ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What operations of a chain step say together: its parts, and how much there
// is of them in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILESTEPS_H
#define KRON_DIALECT_TILE_IR_TILESTEPS_H

#include "kron/Dialect/Tile/IR/TileChunks.h"

namespace mlir::kron::tile {

/// The loop over parts whose body has the argument `boxes`; null if there is
/// none.
ForStepOp getStep(Value boxes);

/// The only product of data in `buffer`, and the one that has `memory` as a
/// ring or as what was kept; null if there is none.
ContractStepOp getReader(Value buffer);
ContractStepOp getStepOf(Value memory);

/// What follows from a product whose pieces are of chunks.
struct StepParts {
  explicit StepParts(ContractStepOp op);

  /// Sizes of the factor; rows and results of a part, and pieces of it.
  int64_t groups, lanes, sizeN, sizeK, rows, results, steps;
  /// Parts, and those of them that have data of their own.
  int64_t count, regions;
  /// Elements from one row of a piece to the next, of data and of the factor,
  /// and those that a row in a buffer has at least.
  int64_t dataPitch, factorPitch, rowElements;
};

} // namespace mlir::kron::tile

#endif // KRON_DIALECT_TILE_IR_TILESTEPS_H
