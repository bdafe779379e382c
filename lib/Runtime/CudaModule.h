//===- CudaModule.h - Code on a GPU -----------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_CUDAMODULE_H
#define KRON_LIB_RUNTIME_CUDAMODULE_H

#include "CudaDevice.h"
#include "kron/Runtime/IRInterface.h"

#include <string>

namespace kron::detail {

/// A kernel in one context.
struct CudaFunction {
  std::string name;
  CUfunction function = nullptr;
  /// Bytes of shared memory that it has beside the dynamic one.
  int32_t staticSharedBytes = 0;
  int32_t maxThreads = 0;
  /// Dynamic shared memory that the driver was told to allow.
  std::atomic<int64_t> allowedSharedBytes{0};
  std::atomic<bool> allowsLargeClusters{false};
  CudaFunction *next = nullptr;
};

/// How well `image` suits a GPU of `capability`: more is better, negative if it
/// does not run there.
int32_t rateImage(const KronCudaImage &image, int32_t capability);

/// Kernel `name` of `module` in the context with `contextId`; null unless it is
/// loaded there.
CudaFunction *findCudaFunction(const KronCudaModule &module, uint64_t contextId,
                               const char *name);

/// Kernel `name` of `module` in the current context, which is on `device` and
/// has `contextId`, into `*function`. Loads the module when first asked;
/// `besideOthers`: while other threads load other ones.
KronStatus getCudaFunction(CudaDevice &device, uint64_t contextId,
                           KronCudaModule &module, const char *name,
                           bool besideOthers, CudaFunction **function);

/// Address of variable `name` of `module` into `*address`, likewise.
KronStatus getCudaGlobal(CudaDevice &device, uint64_t contextId,
                         KronCudaModule &module, const char *name,
                         void **address);

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_CUDAMODULE_H
