//===- Regrouped.h - Chains of Kronecker-sparse factors ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_REGROUPED_H
#define KRON_LIB_CODEGEN_CPU_REGROUPED_H

#include "kron/Dialect/Kron/IR/KronReshapes.h"

namespace mlir::kron {

/// Rows of a tile that goes through all of `products`, whose axes are
/// regrouped, within the second-level cache: a multiple of `multiple`.
int64_t chooseRegroupedRows(ArrayRef<ModeProductOp> products, int64_t l2Bytes,
                            int64_t multiple);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_REGROUPED_H
