//===- CudaModule.cpp - Code on a GPU ---------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What is loaded hangs on KronCudaModule::state: per context a list of kernels.
// Both lists only grow, at their front, so looking something up takes no lock.
//
//===----------------------------------------------------------------------===//

#include "CudaModule.h"
#include "Error.h"

#include <cstring>
#include <memory>
#include <new>

using namespace kron::detail;

namespace {

/// A module in one context.
struct LoadedModule {
  uint64_t contextId;
  CUcontext context;
  CUmodule module;
  std::atomic<CudaFunction *> functions{nullptr};
  LoadedModule *next;
};

/// What KronCudaModule::state points to.
struct ModuleState {
  const CudaDriver *driver;
  std::mutex mutex;
  std::atomic<LoadedModule *> modules{nullptr};
};

} // namespace

//===----------------------------------------------------------------------===//
// Module code
//===----------------------------------------------------------------------===//

int32_t kron::detail::rateImage(const KronCudaImage &image,
                                int32_t capability) {
  if (image.capability > capability ||
      (image.exact && image.capability != capability))
    return -1;
  // Code for exactly this GPU wins over general code for it, and machine code
  // over PTX, which the driver compiles first.
  int32_t rate = 2 * image.capability + image.exact;
  if (image.kind == KRON_CUDA_PTX)
    return rate;
  return image.capability / 10 == capability / 10 ? 10000 + rate : -1;
}

/// Loads PTX that this call assembles apart, into the current context; false if
/// that does not work. A driver that loads PTX assembles one module after the
/// other, whatever threads ask it to; what it links is assembled on the thread
/// that asks. It keeps both for the next process.
static bool loadLinked(const CudaDriver &driver, const KronCudaImage &image,
                       CUmodule *module) {
  CudaRelaxedCaptureScope relaxed(driver);
  CUlinkState link;
  if (driver.linkCreate(0, nullptr, nullptr, &link))
    return false;
  void *cubin;
  size_t bytes;
  bool isLoaded =
      !driver.linkAddData(link, CU_JIT_INPUT_PTX, image.data,
                          size_t(image.bytes), "kron", 0, nullptr, nullptr) &&
      !driver.linkComplete(link, &cubin, &bytes) &&
      !driver.moduleLoadDataEx(module, cubin, 0, nullptr, nullptr);
  driver.linkDestroy(link);
  return isLoaded;
}

/// Loads one form of a module's code into the current context.
static KronStatus loadImage(const CudaDevice &device,
                            const KronCudaImage &image, CUmodule *module) {
  char log[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  CudaRelaxedCaptureScope relaxed(*device.driver);
  CUresult result =
      device.driver->moduleLoadDataEx(module, image.data, 2, options, values);
  if (!result)
    return KRON_SUCCESS;
  log[sizeof(log) - 1] = 0;
  return setCudaError(*device.driver, result,
                      "cuModuleLoadDataEx of %s for sm_%d%s on GPU %d "
                      "(sm_%d)%s%s",
                      image.kind == KRON_CUDA_PTX ? "PTX" : "a cubin",
                      image.capability, image.exact ? "a" : "", device.number,
                      device.capability, log[0] ? ", " : "", log);
}

/// Loads the best form of the code that the driver takes.
static KronStatus loadBestImage(const CudaDevice &device,
                                const KronCudaModule &module, bool besideOthers,
                                CUmodule *loaded) {
  KronStatus status = setError(KRON_UNSUPPORTED,
                               "expects code that runs on sm_%d, but got none",
                               device.capability);
  // An older driver may refuse a form that it does not know: then the next one
  // is tried.
  for (int32_t limit = INT32_MAX;;) {
    const KronCudaImage *best = nullptr;
    int32_t bestRate = -1;
    for (int32_t i = 0; i < module.numImages; ++i) {
      int32_t rate = rateImage(module.images[i], device.capability);
      if (rate < limit && rate > bestRate) {
        best = &module.images[i];
        bestRate = rate;
      }
    }
    if (!best)
      return status;
    if (besideOthers && best->kind == KRON_CUDA_PTX &&
        loadLinked(*device.driver, *best, loaded))
      return KRON_SUCCESS;
    status = loadImage(device, *best, loaded);
    if (status != KRON_UNSUPPORTED)
      return status;
    limit = bestRate;
  }
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Protects the making of states; there is one per module and process.
static std::mutex stateMutex;

/// Null until something of `module` was loaded.
static ModuleState *findState(const KronCudaModule &module) {
  return static_cast<ModuleState *>(
      __atomic_load_n(&module.state, __ATOMIC_ACQUIRE));
}

static ModuleState *getState(const CudaDevice &device, KronCudaModule &module) {
  ModuleState *state = findState(module);
  if (state)
    return state;
  std::lock_guard<std::mutex> lock(stateMutex);
  state = static_cast<ModuleState *>(module.state);
  if (state)
    return state;
  state = new (std::nothrow) ModuleState;
  if (!state)
    return nullptr;
  state->driver = device.driver;
  __atomic_store_n(&module.state, state, __ATOMIC_RELEASE);
  return state;
}

static LoadedModule *findModule(const ModuleState &state, uint64_t contextId) {
  LoadedModule *module = state.modules.load(std::memory_order_acquire);
  while (module && module->contextId != contextId)
    module = module->next;
  return module;
}

/// The state's mutex is held.
static KronStatus addModule(const CudaDevice &device, uint64_t contextId,
                            const KronCudaModule &module, bool besideOthers,
                            ModuleState &state, LoadedModule **result) {
  std::unique_ptr<LoadedModule> loaded(new (std::nothrow) LoadedModule);
  if (!loaded)
    return setError(KRON_OUT_OF_MEMORY, "no memory for a module");
  loaded->contextId = contextId;
  if (KronStatus status =
          loadBestImage(device, module, besideOthers, &loaded->module))
    return status;
  device.driver->ctxGetCurrent(&loaded->context);
  loaded->next = state.modules.load(std::memory_order_relaxed);
  *result = loaded.release();
  state.modules.store(*result, std::memory_order_release);
  return KRON_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static CudaFunction *findFunction(const LoadedModule &module,
                                  const char *name) {
  CudaFunction *function = module.functions.load(std::memory_order_acquire);
  while (function && function->name != name)
    function = function->next;
  return function;
}

/// The state's mutex is held.
static KronStatus addFunction(const CudaDevice &device, LoadedModule &module,
                              const char *name, CudaFunction **result) {
  std::unique_ptr<CudaFunction> function(new (std::nothrow) CudaFunction);
  if (!function)
    return setError(KRON_OUT_OF_MEMORY, "no memory for a function");
  function->name = name;
  const CudaDriver &driver = *device.driver;
  CudaRelaxedCaptureScope relaxed(driver);
  if (CUresult error =
          driver.moduleGetFunction(&function->function, module.module, name))
    return setCudaError(driver, error, "cuModuleGetFunction of '%s'", name);
  const struct {
    CUfunction_attribute attribute;
    int32_t *value;
  } attributes[] = {
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &function->staticSharedBytes},
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &function->maxThreads}};
  for (const auto &entry : attributes)
    if (CUresult error = driver.funcGetAttribute(entry.value, entry.attribute,
                                                 function->function))
      return setCudaError(driver, error, "cuFuncGetAttribute of '%s'", name);
  function->next = module.functions.load(std::memory_order_relaxed);
  *result = function.release();
  module.functions.store(*result, std::memory_order_release);
  return KRON_SUCCESS;
}

CudaFunction *kron::detail::findCudaFunction(const KronCudaModule &module,
                                             uint64_t contextId,
                                             const char *name) {
  const ModuleState *state = findState(module);
  LoadedModule *loaded = state ? findModule(*state, contextId) : nullptr;
  return loaded ? findFunction(*loaded, name) : nullptr;
}

KronStatus kron::detail::getCudaFunction(CudaDevice &device, uint64_t contextId,
                                         KronCudaModule &module,
                                         const char *name, bool besideOthers,
                                         CudaFunction **function) {
  if ((*function = findCudaFunction(module, contextId, name)))
    return KRON_SUCCESS;
  ModuleState *state = getState(device, module);
  if (!state)
    return setError(KRON_OUT_OF_MEMORY, "no memory for a module");
  std::lock_guard<std::mutex> lock(state->mutex);
  // Another thread may have been first.
  LoadedModule *loaded = findModule(*state, contextId);
  if (!loaded)
    if (KronStatus status =
            addModule(device, contextId, module, besideOthers, *state, &loaded))
      return status;
  if ((*function = findFunction(*loaded, name)))
    return KRON_SUCCESS;
  return addFunction(device, *loaded, name, function);
}

KronStatus kron::detail::getCudaGlobal(CudaDevice &device, uint64_t contextId,
                                       KronCudaModule &module, const char *name,
                                       void **address) {
  ModuleState *state = getState(device, module);
  if (!state)
    return setError(KRON_OUT_OF_MEMORY, "no memory for a module");
  std::lock_guard<std::mutex> lock(state->mutex);
  LoadedModule *loaded = findModule(*state, contextId);
  if (!loaded)
    if (KronStatus status = addModule(device, contextId, module,
                                      /*besideOthers=*/false, *state, &loaded))
      return status;
  CUdeviceptr found = 0;
  size_t bytes = 0;
  if (CUresult error =
          device.driver->moduleGetGlobal(&found, &bytes, loaded->module, name))
    return setCudaError(*device.driver, error, "cuModuleGetGlobal of '%s'",
                        name);
  *address = reinterpret_cast<void *>(found);
  return KRON_SUCCESS;
}

void kronRtCudaUnload(KronCudaModule *module) {
  auto *state = static_cast<ModuleState *>(
      __atomic_exchange_n(&module->state, nullptr, __ATOMIC_ACQ_REL));
  if (!state)
    return;
  const CudaDriver &driver = *state->driver;
  LoadedModule *loaded = state->modules.load(std::memory_order_acquire);
  while (loaded) {
    // Fails where the context is gone, and the code with it.
    if (!driver.ctxPushCurrent(loaded->context)) {
      driver.moduleUnload(loaded->module);
      CUcontext popped;
      driver.ctxPopCurrent(&popped);
    }
    CudaFunction *function = loaded->functions.load(std::memory_order_acquire);
    while (function) {
      CudaFunction *next = function->next;
      delete function;
      function = next;
    }
    LoadedModule *next = loaded->next;
    delete loaded;
    loaded = next;
  }
  delete state;
}
