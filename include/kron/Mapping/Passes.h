//===- Passes.h - Pass declarations -----------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_PASSES_H
#define KRON_MAPPING_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::kron {

#define GEN_PASS_DECL
#include "kron/Mapping/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "kron/Mapping/Passes.h.inc"

} // namespace mlir::kron

#endif // KRON_MAPPING_PASSES_H
