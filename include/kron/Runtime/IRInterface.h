/*===- IRInterface.h - Functions that compiled code calls ---------*- C -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The compiler emits calls to these by name (lib/CodeGen/CPU); both sides change
// together, with KRON_API_VERSION. They are valid only inside a launch. They return
// no status: what can fail is checked before the entry runs, and a call that asks
// for more workspace than the manifest states ends the process with a message.
//
//===----------------------------------------------------------------------===*/

#ifndef KRON_RUNTIME_IRINTERFACE_H
#define KRON_RUNTIME_IRINTERFACE_H

#include "kron/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Iterations [begin, end) of a parallel loop. `scratch` is this thread's own,
    aligned to 64 bytes; what one range leaves there, the next one of the same thread
    may find or not. */
typedef void (*KronLoopBody)(int64_t begin, int64_t end, void *scratch,
                             void *captures);

/** Runs `body` over [0, count), in ranges of at least `grain` iterations, on the
    launch's threads, each with `scratchBytes` of scratch from the workspace.
    Returns when all are done. Inside another parallel loop it runs serially, on
    scratch that follows the outer loop's: `KronVersion::threadBytes` is the largest
    sum of `scratchBytes`, each rounded up to 64, of loops inside one another. */
KRON_EXPORT void kronRtParallelFor(int64_t count, int64_t grain,
                                   KronLoopBody body, void *captures,
                                   int64_t scratchBytes);

/** The next `bytes` of the launch's shared workspace, aligned to 64. Each call takes
    another piece, until the launch ends: `KronVersion::sharedBytes` is the sum of all
    of them, each rounded up to 64. */
KRON_EXPORT void *kronRtWorkspace(int64_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KRON_RUNTIME_IRINTERFACE_H */
