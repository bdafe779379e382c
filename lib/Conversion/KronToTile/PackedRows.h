//===- PackedRows.h - Rows as matrix instructions take them ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_KRONTOTILE_PACKEDROWS_H
#define KRON_LIB_CONVERSION_KRONTOTILE_PACKEDROWS_H

#include "kron/CodeGen/Emitter.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Plan/GPU/PairwisePlan.h"

namespace mlir::kron {

/// One side of a function of pairs: parts of its rows, behind each of which
/// there are zeros up to a multiple of 16 bytes, or for warpgroups its steps
/// along K, of all rows, as the matrix unit reads them; their squared lengths,
/// and what undoes the powers of two that they are multiplied by.
struct PackedRows {
  SmallVector<PairArray> parts;
  std::optional<PairArray> norms, scales;
};

/// An array of `element` and `shape` in front of a kernel, which has to be
/// released: it is added to `workspace`.
Value allocatePacked(Emitter &host, OpBuilder &builder, Location loc,
                     Type element, ArrayRef<Int> shape,
                     SmallVectorImpl<Value> &workspace);

/// The mean of the first rows of A, which squares made of products take off of
/// both sides; null: they take nothing off.
Value emitCentre(Emitter &host, PairOpInterface op, const PairwisePlan &plan,
                 SmallVectorImpl<Value> &workspace);

/// Computes these of `array`, a side of `op`, less `centre` (null: as they
/// are), in front of its kernel. Of steps for warpgroups, tiles of each of
/// `tiles` rows are whole, zeros behind the last row. Arrays that have to be
/// released are added to `workspace`.
PackedRows packRows(Emitter &host, PairOpInterface op, const PairArray &array,
                    Value centre, const PairwisePlan &plan,
                    ArrayRef<int64_t> tiles, SmallVectorImpl<Value> &workspace);

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_PACKEDROWS_H
