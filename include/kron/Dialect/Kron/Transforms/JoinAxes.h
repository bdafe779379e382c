//===- JoinAxes.h - Factors of neighbouring axes as one ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Factors along axes that are neighbours in memory are one factor along one
// axis: the Kronecker product of theirs, which a small kernel of its own makes.
// That takes more multiply-adds, fewer steps, and less padding where a matrix
// instruction is wider than an axis. Whether it is worth it, the caller says.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_JOINAXES_H
#define KRON_DIALECT_KRON_TRANSFORMS_JOINAXES_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Neighbouring axes that become one.
struct JoinedAxes {
  int64_t first, count;
};

/// Whether `joinAxes` takes `axes` of `fused`, on its own or with others: its
/// shapes are known, it adds nothing to its products, which are of the f32 or
/// f64 of all arrays, and not in IEEE arithmetic; factors depend on no axis,
/// one contracts each of `axes`, and all arrays have these side by side in
/// memory.
bool canJoinAxes(FusedOp fused, JoinedAxes axes);

/// Replaces `fused` by one in which each of `joined`, outermost first, is one
/// axis: the new one.
FusedOp joinAxes(RewriterBase &rewriter, FusedOp fused,
                 ArrayRef<JoinedAxes> joined);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_TRANSFORMS_JOINAXES_H
