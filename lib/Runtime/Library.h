//===- Library.h - Libraries loaded at run time -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_LIBRARY_H
#define KRON_LIB_RUNTIME_LIBRARY_H

#include <cstddef>
#include <initializer_list>

namespace kron::detail {

/// Loads the library `what`: the file that the environment variable `variable`
/// names unless that is `never`, or else the first of `names` that the process
/// has already or the loader finds. It is never closed: such libraries do not
/// expect to be. NULL, with the reason in `problem`, if there is none.
void *loadLibrary(const char *what, const char *variable,
                  std::initializer_list<const char *> names, char *problem,
                  size_t problemBytes);

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_LIBRARY_H
