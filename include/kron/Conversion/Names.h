//===- Names.h - Names that C leaves to a program ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Public functions become C functions in a file with calls of the C library,
// and are declared in a header for C and C++. Names that cannot be had are
// refused before anything is lowered, for every way of compiling alike.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CONVERSION_NAMES_H
#define KRON_CONVERSION_NAMES_H

#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir::kron {

/// Whether `name` consists of letters, digits and underscores and starts with
/// no digit.
bool isIdentifier(StringRef name);

/// Whether some standard of C or C++ has `name` for a keyword.
bool isKeyword(StringRef name);

/// What the name of a public function should or should not be, where `name`
/// will not do: "to be ..." or "not to be ..."; empty if it will.
std::string getFunctionNameProblem(StringRef name);

} // namespace mlir::kron

#endif // KRON_CONVERSION_NAMES_H
