/*===- Runtime.h - Public C interface of libkron_runtime ----------*- C -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a program needs to run compiled kernels: arrays, kernels, launching,
// workspace, threads, errors. Needs neither LLVM nor any other header of kron.
//
// A kernel is a constant `KronKernel` that the compiler puts into an object
// file (`kronc`) or builds in memory (`kron-run`). `kronLaunch` checks the
// arguments against the kernel's manifest, picks the best version for this
// processor and runs it.
//
// All functions are thread-safe. Nothing throws.
//
//===----------------------------------------------------------------------===*/

#ifndef KRON_RUNTIME_RUNTIME_H
#define KRON_RUNTIME_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KRON_EXPORT __attribute__((visibility("default")))
#else
#define KRON_EXPORT
#endif

/* C++ fixes the type of the enumerations below, so that any number that a C program
   passes is one of their values, which can be read and refused. */
#ifdef __cplusplus
#define KRON_ENUM(name) enum name : int32_t
#else
#define KRON_ENUM(name) enum name
#endif

/** Version of the structs below and of what compiled code calls
   (IRInterface.h); a kernel carries the one it was built with. */
#define KRON_API_VERSION 4

/** What a call returns. `kronGetLastError` has the sentence that goes with
    it. */
typedef KRON_ENUM(KronStatus) {
  KRON_SUCCESS = 0,
  /** A null pointer, a negative size, a misaligned address, overlapping arrays,
      a thread count < 1, or an environment variable that cannot be read. */
  KRON_INVALID_ARGUMENT = 1,
  /** Number, type, rank, size or stride of an argument differs from the
      manifest. */
  KRON_MISMATCH = 2,
  /** The workspace is smaller than `kronGetLaunchWorkspaceSize` says. */
  KRON_WORKSPACE_TOO_SMALL = 3,
  /** No version of the kernel runs on this processor (or on the one that
      KRON_ISA names) or on this GPU. */
  KRON_UNSUPPORTED = 4,
  KRON_OUT_OF_MEMORY = 5,
  /** The kernel was built for another KRON_API_VERSION. */
  KRON_VERSION_MISMATCH = 6,
  /** There is no CUDA driver, no GPU, or none of that number. */
  KRON_NO_DEVICE = 7,
  /** A call of the CUDA driver failed. */
  KRON_CUDA_ERROR = 8
} KronStatus;

/** Element types. The numbers are part of the ABI. */
typedef KRON_ENUM(KronType) {
  KRON_F32 = 0,
  KRON_F64 = 1,
  KRON_F16 = 2,
  KRON_BF16 = 3,
  KRON_I32 = 4,
  KRON_I64 = 5,
  KRON_C32 = 6, /**< complex<f32>: 8 bytes */
  KRON_C64 = 7, /**< complex<f64>: 16 bytes */
  KRON_F80 = 8, /**< x87 long double in 16 bytes, for kron-run --verify */
  KRON_C80 = 9, /**< complex of KRON_F80: 32 bytes */
  KRON_I8 = 10,
  KRON_F8E4M3FN = 11, /**< 4 bits of exponent, 3 of mantissa, no infinities */
  KRON_F8E5M2 = 12    /**< 5 bits of exponent, 2 of mantissa */
} KronType;

/** How many element types there are. */
#define KRON_NUM_TYPES (KRON_F8E5M2 + 1)

/** Largest rank of an array. */
#define KRON_MAX_RANK 32

/** An array or, with rank 0, a scalar in memory. Sizes and strides are in
    elements, slowest axis first. `strides == NULL` means row-major without
    gaps. Strides are not negative; in arrays that are only read they may be 0
    (every element along the axis is the same one). `data` is aligned to one
    element (of a complex type: to one component), and may be NULL only if a
    size is 0. `sizes` may be NULL only if the rank is 0. For a launch on a GPU,
    `data` is memory that this GPU reaches (its own, managed or page-locked),
    but for scalars (`KronArgInfo.isScalar`). */
typedef struct KronArray {
  void *data;
  const int64_t *sizes;
  const int64_t *strides;
  int32_t rank;
  KronType type;
} KronArray;

typedef KRON_ENUM(KronAccess) {
  KRON_READ = 0,
  KRON_WRITE = 1,
  KRON_READ_WRITE = 2
} KronAccess;

/** Manifest of one argument. */
typedef struct KronArgInfo {
  const char *name;
  KronType type;
  int32_t rank;
  KronAccess access;
  /** 1 if the innermost stride must be 1, 0 if any stride will do, 2 if the
      array must be row-major without gaps. */
  int32_t contiguity;
  /** 1 for a scalar that the launch itself reads: `data` is host memory on
      every target, and is not needed once the launch has returned. Otherwise
      0. */
  int32_t isScalar;
  /** Per axis: the size, or -1 if it is free. */
  const int64_t *sizes;
  /** Per axis: axes with the same symbol >= 0, in any argument, have equal
      sizes; -1 for none. */
  const int32_t *symbols;
} KronArgInfo;

/** Compiled entry: arguments as the manifest says, already checked. */
typedef void (*KronEntry)(const KronArray *args);

/** Instruction sets a version may need. The numbers are part of the ABI. */
typedef KRON_ENUM(KronIsa) {
  /** Compiled for the machine that compiled it; always taken to run, but chosen
      only if no other version does. */
  KRON_ISA_HOST = 0,
  KRON_ISA_X86_64_V2 = 1, /**< SSE4.2 */
  KRON_ISA_X86_64_V3 = 2, /**< AVX2, FMA, F16C */
  KRON_ISA_X86_64_V4 = 3, /**< AVX-512 F, BW, CD, DQ, VL */
  /** Also AMX-TILE, AMX-BF16 and AVX512-BF16, with the system's permission. */
  KRON_ISA_X86_64_V4_AMX = 4,
  /** Any processor: the entry launches the kernels of a `KronCudaModule`. */
  KRON_ISA_CUDA = 256
} KronIsa;

/** Code for a GPU; see IRInterface.h. */
struct KronCudaModule;

typedef struct KronVersion {
  KronIsa isa;
  KronEntry entry;
  /** Bytes of workspace that all threads share (packed factors). */
  int64_t sharedBytes;
  /** Bytes of workspace for each thread (what stays on chip between
      factors). */
  int64_t threadBytes;
  /** What the entry launches; NULL unless `isa` is KRON_ISA_CUDA. Workspace of
      such a version is on the GPU and depends on the sizes: the entry asks for
      it. */
  struct KronCudaModule *cuda;
} KronVersion;

/** A compiled kernel. Constant; lives as long as the object that holds it. */
typedef struct KronKernel {
  uint32_t apiVersion;
  int32_t numArgs;
  const char *name;
  const KronArgInfo *args;
  int32_t numVersions;
  /** Nonzero if the kernel allocates intermediates itself beyond the
      workspace. */
  int32_t allocates;
  const KronVersion *versions;
} KronKernel;

/** Where to run. The numbers are part of the ABI. */
typedef KRON_ENUM(KronTarget) {
  KRON_TARGET_CPU = 0,
  KRON_TARGET_CUDA = 1 /**< An NVIDIA GPU */
} KronTarget;

/** How to run: zero-initialise for the defaults. */
typedef struct KronLaunchOptions {
  /** CPU: threads to use; 0: as many as `kronSetNumThreads` said. */
  int32_t numThreads;
  KronTarget target;
  /** Workspace of at least `kronGetLaunchWorkspaceSize` bytes that no other
      launch uses meanwhile; on the CPU aligned to 64, on a GPU memory of that
      GPU aligned to 256. NULL, with `workspaceBytes == 0`: the runtime provides
      it. On the CPU it keeps one per calling thread until the thread ends, and
      grows it when needed; on a GPU it takes memory from a pool of its own in
      the order of the stream. */
  void *workspace;
  size_t workspaceBytes;
  /** CUDA: number of the GPU, as the driver counts. */
  int32_t device;
  /** CUDA: nonzero if the caller knows that kernels on the GPU reach all arrays
      at their addresses; zero: the driver is asked about each of them. */
  int32_t arraysReachable;
  /** CUDA: CUstream (cudaStream_t) of that GPU to launch on; NULL is the legacy
      default stream. */
  void *stream;
} KronLaunchOptions;

/** Runs `kernel` on `args[0..numArgs)`. `options` may be NULL. On the CPU it
    returns when the result is written; on a GPU when the work is on the stream.
    On error nothing was written.

    An array that the kernel writes may share no memory with any other argument;
    a kernel that can work in place has one argument of access KRON_READ_WRITE
    for it. Arrays may interleave (two blocks of columns of one matrix) if they
    share no element.

    Any number of threads may launch at once, the same kernel too. Launched from
    within an OpenMP parallel region, the default is one thread per launch; from
    within oneTBB's parallel work, a launch shares the workers of that.

    On a GPU the context is that of the stream, or for default streams the
    current one if it is on that GPU, else its primary context. The first launch
    on a context loads the code there. Given a workspace, later ones neither
    allocate nor synchronise, so they may be captured into a graph. */
KRON_EXPORT KronStatus kronLaunch(const KronKernel *kernel,
                                  const KronArray *args, int32_t numArgs,
                                  const KronLaunchOptions *options);

/** Bytes of workspace that a launch with these arguments and options needs into
    `*bytes`. Sizes, strides and scalars count; other data may still be NULL. */
KRON_EXPORT KronStatus kronGetLaunchWorkspaceSize(
    const KronKernel *kernel, const KronArray *args, int32_t numArgs,
    const KronLaunchOptions *options, size_t *bytes);

/** Bytes of workspace that `kronLaunch` needs on the CPU with `numThreads`
    threads (0: the default) into `*bytes`. It depends on neither the arguments
    nor their sizes. */
KRON_EXPORT KronStatus kronGetWorkspaceSize(const KronKernel *kernel,
                                            int32_t numThreads, size_t *bytes);

/** Default number of threads of later launches, from any thread. Initially the
    environment variable KRON_NUM_THREADS if set, else the processors this
    process may use. If KRON_NUM_THREADS is set to something that is no positive
    number, then launches which ask for the default fail, until
    kronSetNumThreads is called. A child process of fork() has none of its
    parent's threads: if that has launched on several, all launches of the child
    run on one. */
KRON_EXPORT KronStatus kronSetNumThreads(int32_t numThreads);
KRON_EXPORT int32_t kronGetNumThreads(void);

/** Bytes of arrays between fused regions (`KronKernel::allocates`) that each
    thread may keep for its next launches on the CPU, 256 MB at first. What a
    thread has beyond that goes with the next array that it releases. */
KRON_EXPORT KronStatus kronSetKeptMemory(size_t bytes);

/** Releases all memory that the runtime keeps for launches from this thread:
    its workspace and its arrays. Not inside a launch. */
KRON_EXPORT KronStatus kronReleaseMemory(void);

/** Best instruction set of this processor, lowered to what the environment
    variable KRON_ISA (`x86-64-v2`, `x86-64-v3`, `x86-64-v4` or
    `x86-64-v4-amx`) allowed when it was first needed. Asks the system for AMX
    on behalf of the process, unless KRON_ISA says less. What is compiled for
    this processor ("native") is lowered as well. With anything else in
    KRON_ISA, launches fail. KRON_ISA_HOST on a processor that has none of
    these. */
KRON_EXPORT KronIsa kronGetIsa(void);

/** Number of GPUs into `*count`: KRON_NO_DEVICE, and 0, without a driver. */
KRON_EXPORT KronStatus kronGetCudaDeviceCount(int32_t *count);

/** Compute capability of GPU `device` times ten, e.g. 90, into
    `*capability`. */
KRON_EXPORT KronStatus kronGetCudaCapability(int32_t device,
                                             int32_t *capability);

/** What the driver tells of a GPU. */
typedef struct KronCudaProperties {
  /** "NVIDIA H200". */
  char model[128];
  /** Compute capability times ten, e.g. 90. */
  int32_t capability;
  int32_t numSMs;
  /** The highest clocks of SMs and memory, and the width of its interface. */
  int32_t clockMHz, memoryClockMHz, memoryBits;
  int64_t memoryBytes, l2Bytes;
} KronCudaProperties;

/** Properties of GPU `device` into `*properties`. */
KRON_EXPORT KronStatus kronGetCudaProperties(int32_t device,
                                             KronCudaProperties *properties);

/** Version of the cuBLAS that kernels may call, e.g. 130100 for 13.1.0, into
    `*version`. KRON_UNSUPPORTED, with the reason, if there is none: then the
    kernels that would call it run their own code. */
KRON_EXPORT KronStatus kronGetCublasVersion(int32_t *version);

/** Whether later launches, from any thread, may call cuBLAS where their kernels
    were compiled for that: nonzero, as at the start, or 0, whereupon the
    kernels beside the calls run. A workspace that was asked for before is too
    small after allowing it; a captured launch stays what it was. */
KRON_EXPORT void kronAllowCublas(int32_t allowed);
KRON_EXPORT int32_t kronIsCublasAllowed(void);

/** What went wrong in the last failing call on this thread; never NULL. */
KRON_EXPORT const char *kronGetLastError(void);

/** Name of a status, e.g. "KRON_MISMATCH". */
KRON_EXPORT const char *kronGetStatusName(KronStatus status);

/** Bytes of one element of `type`; 0 if there is no such type. */
KRON_EXPORT size_t kronGetTypeSize(KronType type);

/** Name of `type`, e.g. "f32"; "unknown type" if there is no such type. */
KRON_EXPORT const char *kronGetTypeName(KronType type);

/** Version of the library as a string, e.g. "0.1.0". */
KRON_EXPORT const char *kronGetVersion(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KRON_RUNTIME_RUNTIME_H */
