//===- RowMajor.h - Callers who pass row-major arrays alone -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CONVERSION_ROWMAJOR_H
#define KRON_CONVERSION_ROWMAJOR_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::kron {

/// On a public function: its callers pass row-major arrays alone.
/// --kron-choose-by-layout compiles it for no others then.
inline constexpr llvm::StringLiteral kRowMajorAttrName = "kron.row_major";

/// Says so of all public functions of `module`.
void markRowMajor(ModuleOp module);

/// Whether `op` is in the body that --kron-choose-by-layout keeps beside the
/// one for row-major arrays.
bool isForOtherLayouts(Operation *op);

} // namespace mlir::kron

#endif // KRON_CONVERSION_ROWMAJOR_H
