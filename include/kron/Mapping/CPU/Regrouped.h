//===- Regrouped.h - Chains of Kronecker-sparse factors ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_CPU_REGROUPED_H
#define KRON_MAPPING_CPU_REGROUPED_H

#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include <optional>
#include <string>

namespace mlir::kron {

/// Rows of a tile that goes through all of `products`, whose axes are
/// regrouped, within the second-level cache: a multiple of `multiple`.
int64_t chooseRegroupedRows(ArrayRef<ModeProductOp> products, int64_t l2Bytes,
                            int64_t multiple);

/// Why `products`, a chain whose axes are regrouped (with rows as
/// `getRegroupedRows` says) and which may stand outside of a kron.fused, are
/// not applied in one fused region, or nothing if that is faster.
/// `matrixTiles`: whether products of bf16 are made in matrix tiles (AMX).
std::optional<std::string>
getCPURegroupedReason(ArrayRef<ModeProductOp> products, int64_t l2Bytes,
                      bool matrixTiles);

/// The most rows with which what lies between `products`, a regrouped chain,
/// fits the second-level cache, so that they are several fused regions.
int64_t getCPUMostRowsApart(ArrayRef<ModeProductOp> products, int64_t l2Bytes);

} // namespace mlir::kron

#endif // KRON_MAPPING_CPU_REGROUPED_H
