//===- ModuleMutator.h - Mutations of modules -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_FUZZ_MODULEMUTATOR_H
#define KRON_FUZZ_MODULEMUTATOR_H

#include "Random.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::kron::fuzz {

/// Changes `module` in one or a few places: attributes, sizes, element types,
/// operands, operations. Nothing is verified, but most changes keep what
/// belongs together: a size is changed wherever it occurs, and products of
/// sizes remain products.
void mutateModule(ModuleOp module, Random &random);

} // namespace mlir::kron::fuzz

#endif // KRON_FUZZ_MODULEMUTATOR_H
