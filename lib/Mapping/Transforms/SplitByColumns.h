//===- SplitByColumns.h - Fused regions by the number of columns *- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_SPLITBYCOLUMNS_H
#define KRON_LIB_MAPPING_TRANSFORMS_SPLITBYCOLUMNS_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

/// Gives `fused`, a chain on an innermost axis of columns on the CPU, two fused
/// regions where its columns are few: what lies between has them as its
/// outermost axis, so that lanes run over axes that factors contract. If their
/// number or that of threads decides and is known at launch only, both forms
/// are there, in the branches of an `scf.if`. A kron.fused with a plan stays as
/// it is, and so does one whose result goes to a kron.epilogue. Returns the
/// kron.fused for many columns, or null if there is none.
FusedOp splitByColumns(RewriterBase &rewriter, FusedOp fused, int64_t l2Bytes,
                       int64_t vectorBits);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_SPLITBYCOLUMNS_H
