//===- PadInnermost.h - Fused regions on padded copies ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Kernels move 16 bytes at a time where every row starts at a multiple of 16
// bytes. Copies of arrays whose innermost axis is longer have such rows: zeros
// behind it change no sum if it is contracted first, in front of products that
// make NaN of them. Whether that is worth it, the caller says.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_PADINNERMOST_H
#define KRON_DIALECT_KRON_TRANSFORMS_PADINNERMOST_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// What an axis is to have in the copies of the input and of the result. Where
/// that is its size, and neighbours lie as the fused region takes them, there
/// is no copy.
struct InnermostPadding {
  int64_t axis;
  int64_t input, output;
};

/// Whether `padInnermost` takes `fused`: its shapes are known, and it adds
/// nothing to its products, which are of the type of all arrays, a real one.
bool canPadInnermost(FusedOp fused);

/// Replaces `fused` by one on copies of its arrays, in which an axis that no
/// factor varies over, and one at most contracts, has the sizes in `padding`:
/// the new one.
FusedOp padInnermost(RewriterBase &rewriter, FusedOp fused,
                     const InnermostPadding &padding);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_TRANSFORMS_PADINNERMOST_H
