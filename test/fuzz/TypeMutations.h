//===- TypeMutations.h - Mutations of types in modules ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_FUZZ_TYPEMUTATIONS_H
#define KRON_FUZZ_TYPEMUTATIONS_H

#include "Random.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::kron::fuzz {

/// Replaces a prime factor of all sizes by another number: what was a product
/// of other sizes stays one, so factors still fit what they are applied to.
void scaleSizes(ModuleOp module, Random &random);

/// Replaces a size by another, or two by each other, wherever they occur.
void changeSize(ModuleOp module, Random &random);

/// Makes a known size unknown or the other way round, wherever it occurs.
void changeDynamic(ModuleOp module, Random &random);

/// Replaces an element type by another, wherever it occurs.
void changeElements(ModuleOp module, Random &random);

/// Replaces one type of an array by a similar one.
void changeOneType(ModuleOp module, Random &random);

} // namespace mlir::kron::fuzz

#endif // KRON_FUZZ_TYPEMUTATIONS_H
