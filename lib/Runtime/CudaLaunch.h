//===- CudaLaunch.h - Launches on a GPU -------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_CUDALAUNCH_H
#define KRON_LIB_RUNTIME_CUDALAUNCH_H

#include "kron/Runtime/Runtime.h"

namespace kron::detail {

/// Puts the work of `kernel` on the stream that `options` names. The arguments
/// have passed checkArguments.
KronStatus launchOnCuda(const KronKernel &kernel, const KronArray *args,
                        const KronLaunchOptions &options);

/// Bytes of workspace that such a launch needs into `*bytes`. Arrays may have
/// no data yet.
KronStatus measureCudaWorkspace(const KronKernel &kernel, const KronArray *args,
                                const KronLaunchOptions &options,
                                size_t *bytes);

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_CUDALAUNCH_H
