//===- CudaDriver.cpp - The CUDA driver, loaded at run time -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "Error.h"
#include "Fork.h"

#include <cstdarg>
#include <cstdio>
#include <dlfcn.h>

using namespace kron::detail;

namespace {

/// The outcome of loading, which every launch that fails reports again.
struct LoadedDriver {
  LoadedDriver();

  CudaDriver driver = {};
  char problem[256] = "";
  StartMark mark;

private:
  bool load();
};

} // namespace

LoadedDriver::LoadedDriver() {
  if (!load())
    return;
  mark.set();
  CUresult result = driver.init(0);
  if (!result)
    result = driver.deviceGetCount(&driver.numDevices);
  const char *name = nullptr;
  if (result && driver.getErrorName(result, &name))
    name = nullptr;
  if (result)
    snprintf(problem, sizeof(problem), "the CUDA driver does not start: %s",
             name ? name : "unknown error");
  else if (driver.numDevices == 0)
    snprintf(problem, sizeof(problem), "the CUDA driver finds no GPU");
}

bool LoadedDriver::load() {
  // Never closed: the driver does not expect to be.
  void *library = [] {
    LoadGuard guard;
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  }();
  if (!library) {
    snprintf(problem, sizeof(problem), "there is no CUDA driver: %s",
             dlerror());
    return false;
  }
  const char *missing = nullptr;
#define KRON_CUDA_RESOLVE(name, symbol, parameters)                            \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, symbol));
#define KRON_CUDA_CHECK(name, symbol, parameters)                              \
  if (!driver.name)                                                            \
    missing = symbol;
  KRON_CUDA_FUNCTIONS(KRON_CUDA_RESOLVE)
  KRON_CUDA_NEWER_FUNCTIONS(KRON_CUDA_RESOLVE)
  KRON_CUDA_FUNCTIONS(KRON_CUDA_CHECK)
#undef KRON_CUDA_RESOLVE
#undef KRON_CUDA_CHECK
  if (missing)
    snprintf(problem, sizeof(problem),
             "the CUDA driver is too old: it lacks %s", missing);
  return !missing;
}

KronStatus kron::detail::getCudaDriver(const CudaDriver **driver) {
  static const LoadedDriver loaded;
  if (loaded.problem[0])
    return setError(KRON_NO_DEVICE, "expects a GPU, but %s", loaded.problem);
  if (loaded.mark.isOfParent())
    return setError(KRON_NO_DEVICE,
                    "expects a GPU, but the CUDA driver was started before "
                    "fork() made this process, where it does not work");
  *driver = &loaded.driver;
  return KRON_SUCCESS;
}

static KronStatus classify(CUresult result) {
  switch (result) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return KRON_OUT_OF_MEMORY;
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
    return KRON_NO_DEVICE;
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return KRON_UNSUPPORTED;
  default:
    return KRON_CUDA_ERROR;
  }
}

KronStatus kron::detail::setCudaError(const CudaDriver &driver, CUresult result,
                                      const char *what, ...) {
  char message[768];
  va_list arguments;
  va_start(arguments, what);
  vsnprintf(message, sizeof(message), what, arguments);
  va_end(arguments);
  const char *name = nullptr, *text = nullptr;
  if (driver.getErrorName(result, &name) || !name)
    name = "unknown error";
  if (driver.getErrorString(result, &text) || !text)
    text = "no description";
  return setError(classify(result), "%s: %s (%s)", message, name, text);
}

KronStatus kronGetCudaDeviceCount(int32_t *count) {
  if (!count)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects a place for the number of GPUs, but got NULL");
  *count = 0;
  const CudaDriver *driver;
  if (KronStatus status = getCudaDriver(&driver))
    return status;
  *count = driver->numDevices;
  return KRON_SUCCESS;
}
