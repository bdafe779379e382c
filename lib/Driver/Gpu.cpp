//===- Gpu.cpp - Memory, copies and events of a GPU -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Gpu.h"
#include "llvm/Support/FormatVariadic.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

/// X(name, symbol in libcuda, parameters); the types are those of cuda.h.
#define KRON_GPU_FUNCTIONS(X)                                                  \
  X(init, "cuInit", (unsigned))                                                \
  X(getErrorName, "cuGetErrorName", (int, const char **))                      \
  X(deviceGetName, "cuDeviceGetName", (char *, int, int))                      \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *, int, int))             \
  X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", (void **, int))              \
  X(ctxSetCurrent, "cuCtxSetCurrent", (void *))                                \
  X(memAlloc, "cuMemAlloc_v2", (void **, size_t))                              \
  X(memFree, "cuMemFree_v2", (void *))                                         \
  X(memcpyHtoD, "cuMemcpyHtoD_v2", (void *, const void *, size_t))             \
  X(memcpyDtoH, "cuMemcpyDtoH_v2", (void *, const void *, size_t))             \
  X(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                   \
    (void *, const void *, size_t, void *))                                    \
  X(memsetAsync, "cuMemsetD8Async", (void *, unsigned char, size_t, void *))   \
  X(moduleLoad, "cuModuleLoadDataEx",                                          \
    (void **, const void *, unsigned, void *, void *))                         \
  X(moduleUnload, "cuModuleUnload", (void *))                                  \
  X(moduleGetFunction, "cuModuleGetFunction", (void **, void *, const char *)) \
  X(launchKernel, "cuLaunchKernel",                                            \
    (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
     unsigned, void *, void *const *, void **))                                \
  X(streamCreate, "cuStreamCreate", (void **, unsigned))                       \
  X(streamDestroy, "cuStreamDestroy_v2", (void *))                             \
  X(streamSynchronize, "cuStreamSynchronize", (void *))                        \
  X(eventCreate, "cuEventCreate", (void **, unsigned))                         \
  X(eventDestroy, "cuEventDestroy_v2", (void *))                               \
  X(eventRecord, "cuEventRecord", (void *, void *))                            \
  X(eventElapsedTime, "cuEventElapsedTime", (float *, void *, void *))         \
  X(driverGetVersion, "cuDriverGetVersion", (int *))

struct Gpu::Driver {
#define KRON_GPU_FIELD(name, symbol, parameters) int(*name) parameters;
  KRON_GPU_FUNCTIONS(KRON_GPU_FIELD)
#undef KRON_GPU_FIELD

  /// Resolves all functions; false if one is missing.
  bool load() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return false;
    bool complete = true;
#define KRON_GPU_RESOLVE(name, symbol, parameters)                             \
  name = reinterpret_cast<decltype(name)>(dlsym(library, symbol));             \
  complete &= name != nullptr;
    KRON_GPU_FUNCTIONS(KRON_GPU_RESOLVE)
#undef KRON_GPU_RESOLVE
    return complete;
  }
};

//===----------------------------------------------------------------------===//
// The GPU
//===----------------------------------------------------------------------===//

GPUProperties kron::getGPUProperties(const KronCudaProperties &properties) {
  return {properties.model,          properties.capability,  properties.numSMs,
          properties.clockMHz,       properties.memoryBytes, properties.l2Bytes,
          properties.memoryClockMHz, properties.memoryBits};
}

llvm::Error Gpu::check(int result, const char *function) {
  if (result == 0)
    return llvm::Error::success();
  const char *text = nullptr;
  if (driver.getErrorName(result, &text) || !text)
    text = "unknown error";
  return createStringError(std::string(function) + ": " + text);
}

llvm::Expected<std::unique_ptr<Gpu>> Gpu::open(int32_t number) {
  // The runtime knows what keeps the driver from working, and says so.
  KronCudaProperties properties;
  if (kronGetCudaProperties(number, &properties) != KRON_SUCCESS)
    return createStringError(kronGetLastError());
  static Driver driver;
  static const bool isLoaded = driver.load();
  if (!isLoaded)
    return createStringError("the CUDA driver lacks functions: too old");
  std::unique_ptr<Gpu> gpu(new Gpu(driver, number));
  if (llvm::Error error = gpu->initialize())
    return std::move(error);
  return gpu;
}

llvm::Error Gpu::initialize() {
  constexpr int l2CacheSize = 38;
  void *context;
  char text[256] = "";
  int l2 = 0;
  if (llvm::Error error = check(
          driver.deviceGetName(text, sizeof(text), number), "cuDeviceGetName"))
    return error;
  if (llvm::Error error =
          check(driver.deviceGetAttribute(&l2, l2CacheSize, number),
                "cuDeviceGetAttribute"))
    return error;
  name = text;
  l2Bytes = l2;
  if (llvm::Error error = check(driver.primaryCtxRetain(&context, number),
                                "cuDevicePrimaryCtxRetain"))
    return error;
  if (llvm::Error error =
          check(driver.ctxSetCurrent(context), "cuCtxSetCurrent"))
    return error;
  constexpr unsigned nonBlocking = 1;
  return check(driver.streamCreate(&stream, nonBlocking), "cuStreamCreate");
}

Gpu::~Gpu() {
  dropTimes();
  if (stream)
    driver.streamDestroy(stream);
}

DeviceMemory::~DeviceMemory() {
  if (data)
    gpu->driver.memFree(data);
}

llvm::Expected<std::string> Gpu::getDriverVersion() {
  int version = 0;
  if (llvm::Error error =
          check(driver.driverGetVersion(&version), "cuDriverGetVersion"))
    return std::move(error);
  // 1000 * major + 10 * minor.
  return llvm::formatv("{0}.{1}", version / 1000, version % 1000 / 10).str();
}

llvm::Expected<DeviceMemory> Gpu::allocate(size_t bytes) {
  DeviceMemory memory;
  memory.gpu = this;
  memory.bytes = bytes;
  // Empty arrays have an address too.
  if (llvm::Error error =
          check(driver.memAlloc(&memory.data, std::max<size_t>(bytes, 1)),
                "cuMemAlloc"))
    return std::move(error);
  return memory;
}

llvm::Error Gpu::upload(void *device, const void *host, size_t bytes) {
  return check(driver.memcpyHtoD(device, host, bytes), "cuMemcpyHtoD");
}

llvm::Error Gpu::download(void *host, const void *device, size_t bytes) {
  if (llvm::Error error = synchronize())
    return error;
  return check(driver.memcpyDtoH(host, device, bytes), "cuMemcpyDtoH");
}

llvm::Error Gpu::copy(void *target, const void *source, size_t bytes) {
  return check(driver.memcpyDtoDAsync(target, source, bytes, stream),
               "cuMemcpyDtoDAsync");
}

llvm::Error Gpu::fill(void *target, uint8_t value, size_t bytes) {
  return check(driver.memsetAsync(target, value, bytes, stream),
               "cuMemsetD8Async");
}

llvm::Error Gpu::synchronize() {
  return check(driver.streamSynchronize(stream), "cuStreamSynchronize");
}

DeviceModule::~DeviceModule() {
  if (module)
    gpu->driver.moduleUnload(module);
}

llvm::Expected<DeviceModule> Gpu::load(const std::string &image) {
  void *module = nullptr;
  if (llvm::Error error =
          check(driver.moduleLoad(&module, image.c_str(), 0, nullptr, nullptr),
                "cuModuleLoadDataEx"))
    return std::move(error);
  return DeviceModule(this, module);
}

llvm::Error Gpu::launch(const DeviceModule &module, const std::string &name,
                        unsigned grid, unsigned block,
                        ArrayRef<void *> arguments) {
  void *function = nullptr;
  if (llvm::Error error = check(
          driver.moduleGetFunction(&function, module.module, name.c_str()),
          "cuModuleGetFunction"))
    return error;
  return check(driver.launchKernel(function, grid, 1, 1, block, 1, 1, 0, stream,
                                   arguments.data(), nullptr),
               "cuLaunchKernel");
}

llvm::Error Gpu::record(function_ref<llvm::Error()> work) {
  void *begin = nullptr, *end = nullptr;
  auto recordAll = [&]() -> llvm::Error {
    if (llvm::Error error =
            check(driver.eventCreate(&begin, 0), "cuEventCreate"))
      return error;
    if (llvm::Error error = check(driver.eventCreate(&end, 0), "cuEventCreate"))
      return error;
    if (llvm::Error error =
            check(driver.eventRecord(begin, stream), "cuEventRecord"))
      return error;
    if (llvm::Error error = work())
      return error;
    return check(driver.eventRecord(end, stream), "cuEventRecord");
  };
  llvm::Error error = recordAll();
  if (!error) {
    events.emplace_back(begin, end);
    return error;
  }
  // Who records next would get the times of this failure.
  dropTimes();
  for (void *event : {begin, end})
    if (event)
      driver.eventDestroy(event);
  return error;
}

void Gpu::dropTimes() {
  for (auto [begin, end] : std::exchange(events, {})) {
    driver.eventDestroy(begin);
    driver.eventDestroy(end);
  }
}

llvm::Expected<std::vector<double>> Gpu::takeTimes() {
  std::vector<double> seconds;
  llvm::Error error = synchronize();
  for (auto [begin, end] : events) {
    float milliseconds = 0;
    if (!error)
      error = check(driver.eventElapsedTime(&milliseconds, begin, end),
                    "cuEventElapsedTime");
    seconds.push_back(milliseconds * 1e-3);
  }
  dropTimes();
  if (error)
    return std::move(error);
  return seconds;
}
