//===- Arguments.h - Checks of a launch's arguments -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_ARGUMENTS_H
#define KRON_LIB_RUNTIME_ARGUMENTS_H

#include "kron/Runtime/Runtime.h"

namespace kron::detail {

/// Checks `args[0..numArgs)` against the manifest of `kernel`. What passes can
/// be given to an entry of the kernel; without `needsData`, only to one that
/// reads nothing but sizes, strides and scalars.
KronStatus checkArguments(const KronKernel &kernel, const KronArray *args,
                          int32_t numArgs, bool needsData = true);

/// Whether `array` has no elements.
bool isEmpty(const KronArray &array);

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_ARGUMENTS_H
