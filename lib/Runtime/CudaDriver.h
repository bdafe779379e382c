//===- CudaDriver.h - The CUDA driver, loaded at run time -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the runtime uses of libcuda, declared here so that neither building nor
// starting a program needs it. Types and numbers are those of cuda.h, whose ABI
// is stable; the names are the versions that cuda.h maps its functions to.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_CUDADRIVER_H
#define KRON_LIB_RUNTIME_CUDADRIVER_H

#include "kron/Runtime/Runtime.h"

namespace kron::detail {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx *;
using CUmodule = struct CUmod *;
using CUfunction = struct CUfunc *;
using CUlinkState = struct CUlink *;
using CUstream = struct CUstr *;
using CUmemoryPool = struct CUmemPool *;

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600
};
enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
  CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115
};
enum CUpointer_attribute : int {
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9
};
enum : uint32_t { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };
enum CUfunction_attribute : int {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14
};
enum CUjit_option : int {
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};
enum CUjitInputType : int { CU_JIT_INPUT_PTX = 1 };
enum : int { CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum : int { CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4 };
enum : int {
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
};

struct CUlaunchAttribute {
  int id;
  char pad[8 - sizeof(int)];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
  } value;
};
struct CUlaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CUstream stream;
  CUlaunchAttribute *attributes;
  unsigned numAttributes;
};
struct CUmemPoolProps {
  /// CU_MEM_ALLOCATION_TYPE_PINNED.
  int allocationType = 1;
  int handleTypes = 0;
  /// CU_MEM_LOCATION_TYPE_DEVICE and its number.
  int locationType = 1;
  int device = 0;
  void *securityAttributes = nullptr;
  size_t maxBytes = 0;
  unsigned char reserved[56] = {};
};
static_assert(sizeof(CUlaunchAttribute) == 72 && sizeof(CUlaunchConfig) == 56 &&
                  sizeof(CUmemPoolProps) == 88,
              "these structs must be those of cuda.h");

/// X(name, symbol in libcuda, parameters).
#define KRON_CUDA_FUNCTIONS(X)                                                 \
  X(init, "cuInit", (unsigned))                                                \
  X(driverGetVersion, "cuDriverGetVersion", (int *))                           \
  X(deviceGetCount, "cuDeviceGetCount", (int *))                               \
  X(deviceGetAttribute, "cuDeviceGetAttribute",                                \
    (int *, CUdevice_attribute, CUdevice))                                     \
  X(deviceGetName, "cuDeviceGetName", (char *, int, CUdevice))                 \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, CUdevice))               \
  X(devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                        \
    (CUcontext *, CUdevice))                                                   \
  X(ctxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                           \
  X(ctxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                        \
  X(ctxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                        \
  X(ctxGetDevice, "cuCtxGetDevice", (CUdevice *))                              \
  X(streamGetCtx, "cuStreamGetCtx", (CUstream, CUcontext *))                   \
  X(exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *))         \
  X(pointerGetAttributes, "cuPointerGetAttributes",                            \
    (unsigned, CUpointer_attribute *, void **, CUdeviceptr))                   \
  X(moduleLoadDataEx, "cuModuleLoadDataEx",                                    \
    (CUmodule *, const void *, unsigned, CUjit_option *, void **))             \
  X(moduleUnload, "cuModuleUnload", (CUmodule))                                \
  X(linkCreate, "cuLinkCreate_v2",                                             \
    (unsigned, CUjit_option *, void **, CUlinkState *))                        \
  X(linkAddData, "cuLinkAddData_v2",                                           \
    (CUlinkState, CUjitInputType, const void *, size_t, const char *,          \
     unsigned, CUjit_option *, void **))                                       \
  X(linkComplete, "cuLinkComplete", (CUlinkState, void **, size_t *))          \
  X(linkDestroy, "cuLinkDestroy", (CUlinkState))                               \
  X(moduleGetFunction, "cuModuleGetFunction",                                  \
    (CUfunction *, CUmodule, const char *))                                    \
  X(moduleGetGlobal, "cuModuleGetGlobal_v2",                                   \
    (CUdeviceptr *, size_t *, CUmodule, const char *))                         \
  X(funcGetAttribute, "cuFuncGetAttribute",                                    \
    (int *, CUfunction_attribute, CUfunction))                                 \
  X(funcSetAttribute, "cuFuncSetAttribute",                                    \
    (CUfunction, CUfunction_attribute, int))                                   \
  X(launchKernel, "cuLaunchKernel",                                            \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
     unsigned, CUstream, void **, void **))                                    \
  X(streamQuery, "cuStreamQuery", (CUstream))                                  \
  X(memAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                        \
  X(memFree, "cuMemFree_v2", (CUdeviceptr))                                    \
  X(memcpyHtoD, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))        \
  X(memcpyDtoH, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))              \
  X(memPoolCreate, "cuMemPoolCreate",                                          \
    (CUmemoryPool *, const CUmemPoolProps *))                                  \
  X(memPoolSetAttribute, "cuMemPoolSetAttribute", (CUmemoryPool, int, void *)) \
  X(memAllocFromPoolAsync, "cuMemAllocFromPoolAsync",                          \
    (CUdeviceptr *, size_t, CUmemoryPool, CUstream))                           \
  X(memFreeAsync, "cuMemFreeAsync", (CUdeviceptr, CUstream))                   \
  X(getErrorName, "cuGetErrorName", (CUresult, const char **))                 \
  X(getErrorString, "cuGetErrorString", (CUresult, const char **))

/// The same for functions that older drivers lack; NULL there.
#define KRON_CUDA_NEWER_FUNCTIONS(X)                                           \
  X(ctxGetId, "cuCtxGetId", (CUcontext, unsigned long long *))                 \
  X(launchKernelEx, "cuLaunchKernelEx",                                        \
    (const CUlaunchConfig *, CUfunction, void **, void **))

/// The driver's functions.
struct CudaDriver {
#define KRON_CUDA_FIELD(name, symbol, parameters) CUresult(*name) parameters;
  KRON_CUDA_FUNCTIONS(KRON_CUDA_FIELD)
  KRON_CUDA_NEWER_FUNCTIONS(KRON_CUDA_FIELD)
#undef KRON_CUDA_FIELD

  int numDevices;
};

/// The driver, loaded and initialised once, into `*driver`; KRON_NO_DEVICE if
/// there is none that works.
KronStatus getCudaDriver(const CudaDriver **driver);

/// The status for `result`, with a message of `what` (printf-style) and the
/// driver's own words.
__attribute__((format(printf, 3, 4))) KronStatus
setCudaError(const CudaDriver &driver, CUresult result, const char *what, ...);

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_CUDADRIVER_H
