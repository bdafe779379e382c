//===- ForeignPlans.h - Plans for another target ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_FOREIGNPLANS_H
#define KRON_LIB_MAPPING_TRANSFORMS_FOREIGNPLANS_H

#include "mlir/IR/Operation.h"

namespace mlir::kron {

/// Removes plans below `root` that are for another target than `target` ("cpu"
/// or "cuda"), each with a remark: a module can be compiled for both.
void dropForeignPlans(Operation *root, StringRef target);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_FOREIGNPLANS_H
