//===- Support.h - What the CPU code generator takes ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_CPU_SUPPORT_H
#define KRON_CODEGEN_CPU_SUPPORT_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include <string>

namespace mlir::kron {

/// Why the vector code generator does not take `op` (a kron operation that
/// computes), or nothing if it does: all element types but the f80 of oracles,
/// with factors of static shape.
std::optional<std::string> getCPUUnsupportedReason(Operation *op);

/// Why no code with vectors of `vectorBits` bits takes the kron.epilogue of
/// `fused`, or nothing if some does: real floats, and functions where there are
/// multiply-adds for their polynomials.
std::optional<std::string> getCPUEpilogueReason(FusedOp fused,
                                                int64_t vectorBits);

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

#endif // KRON_CODEGEN_CPU_SUPPORT_H
