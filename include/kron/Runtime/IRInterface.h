/*===- IRInterface.h - Functions that compiled code calls ---------*- C -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The compiler emits calls to these by name (lib/CodeGen/CPU); both sides change
// together, with KRON_API_VERSION. They are valid only inside a launch.
//
//===----------------------------------------------------------------------===*/

#ifndef KRON_RUNTIME_IRINTERFACE_H
#define KRON_RUNTIME_IRINTERFACE_H

#include "kron/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Iterations [begin, end) of a parallel loop. `scratch` is this thread's own,
    aligned to 64 bytes. */
typedef void (*KronLoopBody)(int64_t begin, int64_t end, void *scratch,
                             void *captures);

/** Runs `body` over [0, count), in ranges of at least `grain` iterations, on the
    launch's threads, each with `scratchBytes` of scratch from the workspace.
    Returns when all are done. Inside another parallel loop it runs serially. */
KRON_EXPORT void kronRtParallelFor(int64_t count, int64_t grain,
                                   KronLoopBody body, void *captures,
                                   int64_t scratchBytes);

/** The next `bytes` of the launch's shared workspace, aligned to 64. */
KRON_EXPORT void *kronRtWorkspace(int64_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KRON_RUNTIME_IRINTERFACE_H */
