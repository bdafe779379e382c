//===- CudaDevice.cpp - GPUs and their contexts -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include "Error.h"

using namespace kron::detail;

/// Machines have at most 16 GPUs; the driver numbers at most this many.
static constexpr int32_t maxDevices = 64;

KronStatus CudaDevice::get(int32_t number, CudaDevice **device) {
  static CudaDevice devices[maxDevices];
  const CudaDriver *driver;
  if (KronStatus status = getCudaDriver(&driver))
    return status;
  if (number < 0 || number >= driver->numDevices || number >= maxDevices)
    return setError(KRON_NO_DEVICE,
                    "expects the number of a GPU below %d, but got %d",
                    driver->numDevices, number);
  *device = &devices[number];
  if ((*device)->isInitialized.load(std::memory_order_acquire))
    return KRON_SUCCESS;
  return (*device)->initialize(*driver, number);
}

KronStatus CudaDevice::initialize(const CudaDriver &cudaDriver,
                                  int32_t deviceNumber) {
  std::lock_guard<std::mutex> lock(mutex);
  driver = &cudaDriver;
  number = deviceNumber;
  int major = 0, minor = 0;
  const struct {
    CUdevice_attribute attribute;
    int *value;
  } attributes[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &numSMs},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &maxSharedBytes}};
  for (const auto &entry : attributes)
    if (CUresult result =
            driver->deviceGetAttribute(entry.value, entry.attribute, number))
      return setCudaError(*driver, result, "cuDeviceGetAttribute of GPU %d",
                          number);
  capability = 10 * major + minor;
  isInitialized.store(true, std::memory_order_release);
  return KRON_SUCCESS;
}

KronStatus CudaDevice::getPrimaryContext(CUcontext *context) {
  *context = primaryContext.load(std::memory_order_acquire);
  if (*context)
    return KRON_SUCCESS;
  std::lock_guard<std::mutex> lock(mutex);
  *context = primaryContext.load(std::memory_order_relaxed);
  if (*context)
    return KRON_SUCCESS;
  if (CUresult result = driver->devicePrimaryCtxRetain(context, number))
    return setCudaError(*driver, result, "cuDevicePrimaryCtxRetain of GPU %d",
                        number);
  primaryContext.store(*context, std::memory_order_release);
  return KRON_SUCCESS;
}

KronStatus CudaDevice::getPool(CUmemoryPool *result) {
  *result = pool.load(std::memory_order_acquire);
  if (*result)
    return KRON_SUCCESS;
  std::lock_guard<std::mutex> lock(mutex);
  *result = pool.load(std::memory_order_relaxed);
  if (*result)
    return KRON_SUCCESS;
  int isSupported = 0;
  driver->deviceGetAttribute(
      &isSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, number);
  if (!isSupported)
    return setError(KRON_UNSUPPORTED,
                    "expects a workspace in the launch options, since GPU %d "
                    "has no memory pools",
                    number);
  CUmemPoolProps properties;
  properties.device = number;
  CUmemoryPool created = nullptr;
  if (CUresult error = driver->memPoolCreate(&created, &properties))
    return setCudaError(*driver, error, "cuMemPoolCreate on GPU %d", number);
  uint64_t keepAll = UINT64_MAX;
  if (CUresult error = driver->memPoolSetAttribute(
          created, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keepAll))
    return setCudaError(*driver, error, "cuMemPoolSetAttribute on GPU %d",
                        number);
  pool.store(created, std::memory_order_release);
  *result = created;
  return KRON_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

CudaContextScope::~CudaContextScope() {
  CUcontext context;
  if (isPushed)
    driver.ctxPopCurrent(&context);
}

KronStatus CudaContextScope::push(CUcontext context) {
  if (CUresult result = driver.ctxPushCurrent(context))
    return setCudaError(driver, result, "cuCtxPushCurrent");
  isPushed = true;
  return KRON_SUCCESS;
}

/// The default streams (NULL, legacy, per thread) belong to every context.
static bool isDefaultStream(CUstream stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 2;
}

KronStatus CudaContextScope::enter(CudaDevice &device, CUstream stream) {
  CUcontext current = nullptr, wanted = nullptr;
  CUdevice number = -1;
  if (CUresult result = driver.ctxGetCurrent(&current))
    return setCudaError(driver, result, "cuCtxGetCurrent");
  if (!isDefaultStream(stream)) {
    if (CUresult result = driver.streamGetCtx(stream, &wanted))
      return setCudaError(driver, result,
                          "cuStreamGetCtx of the launch's stream");
    if (wanted != current)
      if (KronStatus status = push(wanted))
        return status;
    if (CUresult result = driver.ctxGetDevice(&number))
      return setCudaError(driver, result, "cuCtxGetDevice");
    if (number != device.number)
      return setError(KRON_INVALID_ARGUMENT,
                      "expects a stream of GPU %d, but got one of GPU %d",
                      device.number, number);
  } else {
    // A destroyed context may still be current: then the primary one is used.
    if (current && !driver.ctxGetDevice(&number) && number == device.number)
      wanted = current;
    else if (KronStatus status = device.getPrimaryContext(&wanted))
      return status;
    if (wanted != current)
      if (KronStatus status = push(wanted))
        return status;
  }
  unsigned long long contextId = 0;
  if (!driver.ctxGetId || driver.ctxGetId(wanted, &contextId))
    contextId = reinterpret_cast<uintptr_t>(wanted);
  id = contextId;
  return KRON_SUCCESS;
}

KronStatus kronGetCudaCapability(int32_t number, int32_t *capability) {
  if (!capability)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects a place for the capability, but got NULL");
  CudaDevice *device;
  if (KronStatus status = CudaDevice::get(number, &device))
    return status;
  *capability = device->capability;
  return KRON_SUCCESS;
}

KronStatus kronGetCudaProperties(int32_t number,
                                 KronCudaProperties *properties) {
  if (!properties)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects a place for the properties, but got NULL");
  CudaDevice *device;
  if (KronStatus status = CudaDevice::get(number, &device))
    return status;
  const CudaDriver &driver = *device->driver;
  KronCudaProperties found = {};
  found.capability = device->capability;
  found.numSMs = device->numSMs;
  if (CUresult result =
          driver.deviceGetName(found.model, sizeof(found.model) - 1, number))
    return setCudaError(driver, result, "cuDeviceGetName of GPU %d", number);
  size_t memoryBytes = 0;
  if (CUresult result = driver.deviceTotalMem(&memoryBytes, number))
    return setCudaError(driver, result, "cuDeviceTotalMem of GPU %d", number);
  found.memoryBytes = static_cast<int64_t>(memoryBytes);
  int clockKHz = 0, memoryClockKHz = 0, l2Bytes = 0;
  const struct {
    CUdevice_attribute attribute;
    int *value;
  } attributes[] = {
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &clockKHz},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memoryClockKHz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &found.memoryBits},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2Bytes}};
  for (const auto &entry : attributes)
    if (CUresult result =
            driver.deviceGetAttribute(entry.value, entry.attribute, number))
      return setCudaError(driver, result, "cuDeviceGetAttribute of GPU %d",
                          number);
  found.clockMHz = clockKHz / 1000;
  found.memoryClockMHz = memoryClockKHz / 1000;
  found.l2Bytes = l2Bytes;
  *properties = found;
  return KRON_SUCCESS;
}
