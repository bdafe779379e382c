//===- Isa.h - Instruction sets of this processor ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_ISA_H
#define KRON_LIB_RUNTIME_ISA_H

#include "kron/Runtime/Runtime.h"

namespace kron::detail {

/// The best version of `kernel` that may run here into `*version`. Fails with
/// KRON_UNSUPPORTED if there is none, and with KRON_INVALID_ARGUMENT if the
/// environment variable KRON_ISA holds anything but an instruction set.
KronStatus selectVersion(const KronKernel &kernel, const KronVersion **version);

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_ISA_H
