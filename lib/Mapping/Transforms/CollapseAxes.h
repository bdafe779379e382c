//===- CollapseAxes.h - Neighbouring axes as one ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_COLLAPSEAXES_H
#define KRON_LIB_MAPPING_TRANSFORMS_COLLAPSEAXES_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// `fused` with neighbouring axes as one where its kernels may have them so;
/// `fused` itself if there are none.
FusedOp collapseAxes(RewriterBase &rewriter, FusedOp fused,
                     ArrayRef<QuantizeOp> quantizes);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_COLLAPSEAXES_H
