//===- Workspace.h - Layout and ownership of workspace ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Workspace of a launch: the part that all threads share, then one part for
// each thread. Every part starts on a cache line, so that threads share none.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_WORKSPACE_H
#define KRON_LIB_RUNTIME_WORKSPACE_H

#include "kron/Runtime/Runtime.h"

namespace kron::detail {

constexpr int64_t workspaceAlignment = 64;

/// `bytes` rounded up to a whole number of cache lines.
constexpr int64_t alignSize(int64_t bytes) {
  return (bytes + workspaceAlignment - 1) & -workspaceAlignment;
}

/// Bytes that `version` of `kernel` needs with `numThreads` threads into
/// `*bytes`.
KronStatus computeWorkspaceSize(const KronKernel &kernel,
                                const KronVersion &version, int32_t numThreads,
                                int64_t *bytes);

/// `bytes` of memory aligned to a cache line, in huge pages if that is worth
/// it; NULL if there is none. std::free releases it.
void *allocateMemory(int64_t bytes);

/// At least `bytes` of memory that this thread keeps, one piece per `depth` of
/// launches inside launches; NULL if there is no memory. Contents are
/// undefined.
void *getOwnWorkspace(int32_t depth, int64_t bytes);

/// Releases what this thread keeps. Not inside a launch.
void releaseOwnWorkspace();

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_WORKSPACE_H
