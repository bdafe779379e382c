//===- Passes.h - Pass declarations -----------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_PASSES_H
#define KRON_DIALECT_KRON_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::kron {

#define GEN_PASS_DECL
#include "kron/Dialect/Kron/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "kron/Dialect/Kron/Transforms/Passes.h.inc"

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_TRANSFORMS_PASSES_H
