/*===- Compiler.h - C interface of libkron_compiler ---------------*- C -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Compiles MLIR text in memory to kernels that `kronLaunch`
// (kron/Runtime/Runtime.h) runs, from any language that can call C.
// libkron_runtime has to be among the libraries whose symbols the process
// shares (linked, or loaded with RTLD_GLOBAL).
//
// All functions are thread-safe. Nothing throws.
//
//===----------------------------------------------------------------------===*/

#ifndef KRON_COMPILER_COMPILER_H
#define KRON_COMPILER_COMPILER_H

#include "kron/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How to compile: zero-initialise for this processor and no GPU. */
typedef struct KronCompileOptions {
  /** GPUs to compile for instead of this processor, e.g. "sm_90a" or
      "sm_80,sm_90a"; may be NULL. */
  const char *gpuChips;
  /** Nonzero: the reference lowering, slow and obvious. */
  int32_t reference;
  /** Nonzero: compute in the next wider type. Arguments get that type too. */
  int32_t widen;
  /** Nonzero: GPU kernels fill their shared memory with NaN when they start,
      which shows whether results depend on memory that nobody wrote. */
  int32_t poisonSharedMemory;
  /** Nonzero: functions of sparse factors are compiled for row-major arrays
      alone, in half of the time; launches refuse others. */
  int32_t rowMajor;
  /** Files of tuning records with ':' between them, "" for none; NULL: those
      that KRON_RECORDS names, then that in the user's cache, then "<kron>",
      kron's own. */
  const char *records;
} KronCompileOptions;

/** Milliseconds that the parts of compiling took. */
typedef struct KronCompileTimes {
  double passes, optimizer, code, gpu;
} KronCompileTimes;

/** The kernels of one module. */
typedef struct KronProgram KronProgram;

/** Compiles the public functions of a module. `options` may be NULL. Operations
    get the plans that tuning records have of them. NULL if compiling fails;
    `kronGetCompileLog` says why. */
KRON_EXPORT KronProgram *kronCompile(const char *source,
                                     const KronCompileOptions *options);

/** Diagnostics of the last `kronCompile` on this thread: errors, warnings and
    remarks with line numbers; "" if there are none. */
KRON_EXPORT const char *kronGetCompileLog(void);

/** The kernel of function `name`, valid as long as the program; NULL if there
    is none. */
KRON_EXPORT const KronKernel *kronGetKernel(const KronProgram *program,
                                            const char *name);

KRON_EXPORT void kronGetCompileTimes(const KronProgram *program,
                                     KronCompileTimes *times);

/** Releases the program. No launch of its kernels may be under way. */
KRON_EXPORT void kronDestroyProgram(KronProgram *program);

/** The name of GPU `device` as `gpu_chips` takes it ("h200", or "sm_86:sms=40"
    for one that is not in the table of GPUs), with the rates that
    `kron-run --calibrate` has kept of it, into `name`, which has `size` bytes
    (512 are enough), with a 0 at its end. A GPU that is not in the table is
    measured where nothing is kept. Where `name` has too few bytes, or a file
    was ignored, kronGetCompileLog says so. */
KRON_EXPORT KronStatus kronGetGpuName(int32_t device, char *name, size_t size);

/** What this processor can do at best, measured in a fraction of a second:
    operations per second of multiply-adds on vectors of `type`, and bytes read
    plus written per second by a copy that touches `bytes` in all. */
KRON_EXPORT void kronMeasureProcessor(KronType type, double bytes,
                                      int32_t numThreads,
                                      double *flopsPerSecond,
                                      double *bytesPerSecond);

/** Launches `count` times one after another: seconds that the caller spent per
    launch, on a GPU without waiting for any to end. Stops at the first
    error. */
KRON_EXPORT KronStatus kronMeasureLaunches(
    const KronKernel *kernel, const KronArray *args, int32_t numArgs,
    const KronLaunchOptions *options, int32_t count, double *secondsPerLaunch);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KRON_COMPILER_COMPILER_H */
