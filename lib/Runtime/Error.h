//===- Error.h - Message of the last failing call ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_ERROR_H
#define KRON_LIB_RUNTIME_ERROR_H

#include "kron/Runtime/Runtime.h"

namespace kron::detail {

/// Keeps the printf-style message for kronGetLastError and returns `status`.
__attribute__((format(printf, 2, 3))) KronStatus setError(KronStatus status,
                                                          const char *format,
                                                          ...);

/// Ends the process with a message: compiled code broke a rule of
/// IRInterface.h, whose functions have no way to report it.
[[noreturn]] __attribute__((format(printf, 1, 2))) void
reportFatal(const char *format, ...);

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_ERROR_H
