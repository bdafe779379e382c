//===- Support.h - What the CPU code generator takes ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_CPU_SUPPORT_H
#define KRON_CODEGEN_CPU_SUPPORT_H

#include "mlir/IR/Operation.h"
#include <string>

namespace mlir::kron {

/// Why the vector code generator does not take `op` (a kron operation that
/// computes), or nothing if it does: all element types but the f80 of oracles,
/// with factors of static shape.
std::optional<std::string> getCPUUnsupportedReason(Operation *op);

} // namespace mlir::kron

#endif // KRON_CODEGEN_CPU_SUPPORT_H
