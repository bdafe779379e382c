//===- Support.h - What the CPU code generator takes ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_SUPPORT_H
#define KRON_PLAN_CPU_SUPPORT_H

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

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_SUPPORT_H
