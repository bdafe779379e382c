/*===- IRInterface.h - Functions that compiled code calls ---------*- C -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The compiler emits calls to these by name (lib/CodeGen); both sides change
// together, with KRON_API_VERSION. They are valid only inside a launch. They
// return no status. On the CPU, what can fail is checked before the entry runs,
// and a call that asks for more workspace than the manifest states ends the
// process with a message. On a GPU the launch remembers the first failure,
// skips what comes after it and returns it.
//
//===----------------------------------------------------------------------===*/

#ifndef KRON_RUNTIME_IRINTERFACE_H
#define KRON_RUNTIME_IRINTERFACE_H

#include "kron/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Iterations [begin, end) of a parallel loop. `scratch` is this thread's own,
    aligned to 64 bytes; what one range leaves there, the next one of the same
    thread may find or not. */
typedef void (*KronLoopBody)(int64_t begin, int64_t end, void *scratch,
                             void *captures);

/** Runs `body` over [0, count), in ranges of at least `grain` iterations, on
    the launch's threads, each with `scratchBytes` of scratch from the
    workspace. As many iterations are worth a thread (65536 multiply-adds); less
    than 0: one iteration is worth -grain threads. 0 and 1: one is, or more.
    Returns when all are done. Inside another parallel loop it runs
    serially, on scratch that follows the outer loop's:
    `KronVersion::threadBytes` is the largest sum of `scratchBytes`, each
    rounded up to 64, of loops inside one another. */
KRON_EXPORT void kronRtParallelFor(int64_t count, int64_t grain,
                                   KronLoopBody body, void *captures,
                                   int64_t scratchBytes);

/** The threads that kronRtParallelFor may use here, 1 or more: 1 inside another
    parallel loop. */
KRON_EXPORT int64_t kronRtNumThreads(void);

/** The next `bytes` of the launch's shared workspace, aligned to 64. Each call
    takes another piece, until the launch ends: `KronVersion::sharedBytes` is
    the sum of all of them, each rounded up to 64. */
KRON_EXPORT void *kronRtWorkspace(int64_t bytes);

/** Memory for an array between two fused regions, aligned to 64; ends the
    process if there is none. It may be what this thread has released before:
    contents are undefined. */
KRON_EXPORT void *kronRtAllocate(int64_t bytes);

/** Releases `array`, from kronRtAllocate on this thread. NULL is none. */
KRON_EXPORT void kronRtFree(void *array);

/*===----------------------------------------------------------------------===*
 * GPU
 *===----------------------------------------------------------------------===*/

typedef KRON_ENUM(KronCudaImageKind){
    KRON_CUDA_CUBIN = 0,
    KRON_CUDA_PTX =
        1 /**< Text that ends in a zero byte, which `bytes` counts */
} KronCudaImageKind;

/** One form of the code of a module. */
typedef struct KronCudaImage {
  KronCudaImageKind kind;
  /** Compute capability times ten, e.g. 90. */
  int32_t capability;
  /** 1 if it uses what only this very capability has (sm_90a). Otherwise 0: a
      cubin runs on later GPUs of the same major capability, PTX on all later
      ones. */
  int32_t exact;
  const void *data;
  int64_t bytes;
} KronCudaImage;

/** The kernels of a version, in one or more forms. */
typedef struct KronCudaModule {
  int32_t numImages;
  const KronCudaImage *images;
  /** NULL at first; then what the runtime has loaded, per context. */
  void *state;
} KronCudaModule;

/** Launches `kernel` of `module` on the stream of this launch: `grid` blocks in
    x, in clusters of `cluster` (1: none), of `block` threads and `sharedBytes`
    of dynamic shared memory each. A `cluster` of 0 (none) or -n (n blocks) is
    one of blocks that may start while the kernel before still runs, and wait
    for its end by themselves.
    `params[i]` points to the value of parameter i. A grid of 0 is no launch. */
KRON_EXPORT void kronRtCudaLaunch(KronCudaModule *module, const char *kernel,
                                  int64_t grid, int32_t block, int32_t cluster,
                                  int64_t sharedBytes, void **params,
                                  int32_t numParams);

/** Address on the GPU of variable `name` of `module`. */
KRON_EXPORT void *kronRtCudaGlobal(KronCudaModule *module, const char *name);

/** SMs of this launch's GPU. */
KRON_EXPORT int64_t kronRtCudaNumSMs(void);

/** `bytes` of this launch's workspace on the GPU, aligned to 256. The entry
    runs twice, first to measure: addresses mean nothing to it, and what it asks
    for depends on sizes and scalars only. */
KRON_EXPORT void *kronRtCudaWorkspace(int64_t bytes);

/** Kernels launched from here on may use the memory of `workspace`, which
    kronRtCudaWorkspace returned, for something else. */
KRON_EXPORT void kronRtCudaRelease(void *workspace);

/** For every b, i and j a sum over k, with strides in elements:
    y[b,i,j] = alpha * sum of x[b,i,k] * factor[b,j,k] + beta * y[b,i,j].
    Fields behind `allowsTF32` are 0 unless elements are complex. */
typedef struct KronCudaGemm {
  void *y;
  const void *x;
  const void *factor;
  int64_t batch, rows, results, sizeK;
  int64_t yStrides[3];      /**< b, i, j */
  int64_t xStrides[3];      /**< b, i, k */
  int64_t factorStrides[3]; /**< b, j, k */
  double alpha, beta;
  int64_t type;       /**< A KronType: f32, f64, f16, bf16, c32 or c64 */
  int64_t allowsTF32; /**< 1: f32 may be rounded to TF32 first */
  double alphaImaginary, betaImaginary;
  int64_t conjugatesX, conjugatesFactor; /**< 1: its elements are conjugated */
} KronCudaGemm;

/** Computes `gemm` by cuBLAS, in its place among this launch's kernels, and
    returns 1. Returns 0, and has done nothing, if there is no cuBLAS or it does
    not take this; the answer depends on sizes, strides and scalars only. */
KRON_EXPORT int32_t kronRtCudaGemm(const KronCudaGemm *gemm);

/** Unloads `module` from all contexts. No launch of it may be under way, nor
    follow. For code that is unloaded itself. */
KRON_EXPORT void kronRtCudaUnload(KronCudaModule *module);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KRON_RUNTIME_IRINTERFACE_H */
