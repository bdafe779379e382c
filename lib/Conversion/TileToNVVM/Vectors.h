//===- Vectors.h - Neighbouring fibres of a tile ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Loops of vectors: turns are numbered by groups of neighbours along an axis,
// counted from where a sector begins, and by results that lie differently.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_VECTORS_H
#define KRON_LIB_CONVERSION_TILETONVVM_VECTORS_H

#include "Lowering.h"

namespace mlir::kron::tile {

/// Turns of `loop`: groups of neighbouring fibres, for each of the results of
/// which others lie alike.
int64_t countVectorTurns(ForBoxesOp loop);

/// Fills in where the fibres of `turn` are, at the first result that lies like
/// those of the turn.
void placeVectors(Lowering &lowering, ForBoxesOp loop, LoweredTurn &turn);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_VECTORS_H
