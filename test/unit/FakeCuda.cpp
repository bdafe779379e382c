//===- FakeCuda.cpp - A CUDA driver for tests -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>

using namespace kron::test;

namespace {
struct FakeModule {
  const void *image;
};
struct FakeLink {
  const void *data = nullptr;
  size_t bytes = 0;
};
struct FakeFunction {
  FakeModule *module;
  std::string name;
};
struct FakePool {
  int device;
};
struct FakeEvent {
  double milliseconds = 0;
};
} // namespace

FakeCuda &kron::test::fakeCuda() {
  static FakeCuda state;
  return state;
}

FakeContext *&kron::test::fakeCurrentContext() {
  static thread_local FakeContext *current = nullptr;
  return current;
}

static std::vector<FakeContext *> &stack() {
  static thread_local std::vector<FakeContext *> contexts;
  return contexts;
}

int FakeCuda::count(const std::string &name) {
  return int(std::count(calls.begin(), calls.end(), name));
}

void FakeCuda::reset() {
  memory.clear();
  otherMemory = {};
  launches.clear();
  loads.clear();
  calls.clear();
  failures.clear();
  load = nullptr;
  badImages.clear();
  allowedSharedBytes.clear();
  capabilities = {90, 80};
  maxThreads = 1024;
  model.clear();
  milliseconds = nullptr;
  fakeCurrentContext() = nullptr;
}

/// Notes the call; the error that a test wants, or 0.
static int enter(const char *name) {
  FakeCuda &state = fakeCuda();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.calls.push_back(name);
  auto failure = state.failures.find(name);
  return failure == state.failures.end() ? 0 : failure->second;
}

extern "C" {

/// For test/gpu/interpreter: launches are `run`'s, on GPUs of `numSMs`, and
/// every address is one that all of them reach.
void fakeCudaInterpret(FakeRun run, int numSMs) {
  FakeCuda &state = fakeCuda();
  state.numSMs = numSMs;
  state.otherMemory = {1, 0, 2, true};
  state.run = [run](const FakeLaunch &launch) {
    return run(launch.kernel.c_str(), launch.image, launch.grid, launch.block,
               launch.cluster, launch.sharedBytes, launch.startsEarly,
               launch.params);
  };
}

int cuInit(unsigned) { return enter("cuInit"); }

int cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}

int cuDeviceGetCount(int *count) {
  const char *devices = getenv("FAKE_CUDA_DEVICES");
  *count = devices ? atoi(devices) : 2;
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  int capability = fakeCuda().capabilities[size_t(device)];
  switch (attribute) {
  case 13:
    *value = 1980000;
    return 0;
  case 16:
    *value = fakeCuda().numSMs;
    return 0;
  case 36:
    *value = 3201000;
    return 0;
  case 37:
    *value = 6144;
    return 0;
  case 38:
    *value = 60 << 20;
    return 0;
  case 75:
    *value = capability / 10;
    return 0;
  case 76:
    *value = capability % 10;
    return 0;
  case 97:
    *value = 232448;
    return 0;
  case 115:
    *value = 1;
    return 0;
  default:
    return 1;
  }
}

int cuDeviceGetName(char *name, int size, int device) {
  const std::string &model = fakeCuda().model;
  if (model.empty())
    snprintf(name, size_t(size), "Fake GPU %d", device);
  else
    snprintf(name, size_t(size), "%s", model.c_str());
  return enter("cuDeviceGetName");
}

int cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = size_t(141) << 30;
  return 0;
}

int cuDevicePrimaryCtxRetain(FakeContext **context, int device) {
  static FakeContext contexts[2] = {{0, 1}, {1, 2}};
  *context = &contexts[device];
  return enter("cuDevicePrimaryCtxRetain");
}

int cuCtxGetCurrent(FakeContext **context) {
  *context = fakeCurrentContext();
  return 0;
}

int cuCtxSetCurrent(FakeContext *context) {
  fakeCurrentContext() = context;
  return enter("cuCtxSetCurrent");
}

int cuCtxPushCurrent_v2(FakeContext *context) {
  if (int error = enter("cuCtxPushCurrent"))
    return error;
  stack().push_back(fakeCurrentContext());
  fakeCurrentContext() = context;
  return 0;
}

int cuCtxPopCurrent_v2(FakeContext **context) {
  *context = fakeCurrentContext();
  fakeCurrentContext() = stack().back();
  stack().pop_back();
  return enter("cuCtxPopCurrent");
}

int cuCtxGetDevice(int *device) {
  *device = fakeCurrentContext()->device;
  return 0;
}

int cuCtxGetId(FakeContext *context, unsigned long long *id) {
  *id = context->id;
  return 0;
}

int cuStreamGetCtx(FakeStream *stream, FakeContext **context) {
  *context = stream->context;
  return enter("cuStreamGetCtx");
}

int cuThreadExchangeStreamCaptureMode(int *mode) {
  static thread_local int current = 0;
  std::swap(current, *mode);
  return 0;
}

int cuPointerGetAttributes(unsigned count, const int *attributes, void **values,
                           uint64_t address) {
  FakeCuda &state = fakeCuda();
  std::lock_guard<std::mutex> lock(state.mutex);
  const FakeMemory *memory = nullptr;
  auto next = state.memory.upper_bound(address);
  if (next != state.memory.begin() &&
      address - std::prev(next)->first < std::prev(next)->second.bytes)
    memory = &std::prev(next)->second;
  else if (state.otherMemory.bytes)
    memory = &state.otherMemory;
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i] == 2)
      *static_cast<unsigned *>(values[i]) = memory ? memory->type : 0;
    if (attributes[i] == 3)
      *static_cast<uint64_t *>(values[i]) = memory ? address : 0;
    if (attributes[i] == 8)
      *static_cast<int *>(values[i]) = memory && memory->isManaged;
    if (attributes[i] == 9)
      *static_cast<int *>(values[i]) = memory ? memory->device : -2;
  }
  return 0;
}

int cuModuleLoadDataEx(FakeModule **module, const void *image, unsigned, int *,
                       void **) {
  if (int error = enter("cuModuleLoadDataEx"))
    return error;
  FakeCuda &state = fakeCuda();
  if (state.load)
    state.load(image);
  std::lock_guard<std::mutex> lock(state.mutex);
  auto bad = state.badImages.find(image);
  if (bad != state.badImages.end())
    return bad->second;
  state.loads.push_back(image);
  *module = new FakeModule{image};
  return 0;
}

int cuLinkCreate_v2(unsigned, int *, void **, FakeLink **link) {
  if (int error = enter("cuLinkCreate"))
    return error;
  *link = new FakeLink;
  return 0;
}

int cuLinkAddData_v2(FakeLink *link, int type, const void *data, size_t bytes,
                     const char *, unsigned, int *, void **) {
  if (int error = enter("cuLinkAddData"))
    return error;
  *link = {data, bytes};
  return type == 1 ? 0 : 1;
}

/// Modules keep the address of what is linked as their image.
int cuLinkComplete(FakeLink *link, const void **cubin, size_t *bytes) {
  if (int error = enter("cuLinkComplete"))
    return error;
  *cubin = link->data;
  *bytes = link->bytes;
  return 0;
}

int cuLinkDestroy(FakeLink *link) {
  delete link;
  return enter("cuLinkDestroy");
}

int cuModuleUnload(FakeModule *module) {
  delete module;
  return enter("cuModuleUnload");
}

int cuModuleGetFunction(FakeFunction **function, FakeModule *module,
                        const char *name) {
  if (int error = enter("cuModuleGetFunction"))
    return error;
  if (!strcmp(name, "missing"))
    return 500;
  // Never freed one by one, as with the real driver.
  static std::mutex mutex;
  static std::deque<FakeFunction> functions;
  std::lock_guard<std::mutex> lock(mutex);
  *function = &functions.emplace_back(FakeFunction{module, name});
  return 0;
}

int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, FakeModule *,
                         const char *name) {
  *address = 0xc0de00;
  *bytes = 64;
  return strcmp(name, "missing") ? 0 : 500;
}

int cuFuncGetAttribute(int *value, int attribute, FakeFunction *) {
  *value = attribute == 0 ? fakeCuda().maxThreads : 0;
  return 0;
}

int cuFuncSetAttribute(FakeFunction *function, int attribute, int value) {
  if (int error = enter("cuFuncSetAttribute"))
    return error;
  FakeCuda &state = fakeCuda();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (attribute == 8)
    state.allowedSharedBytes[function->name] = value;
  return 0;
}

static int record(FakeFunction *function, FakeLaunch launch) {
  FakeCuda &state = fakeCuda();
  std::lock_guard<std::mutex> lock(state.mutex);
  launch.kernel = function->name;
  launch.image = function->module->image;
  launch.context = fakeCurrentContext();
  if (launch.sharedBytes > 49152 &&
      int(launch.sharedBytes) > state.allowedSharedBytes[launch.kernel])
    return 1;
  state.launches.push_back(launch);
  if (state.milliseconds)
    state.now += state.milliseconds(launch);
  return state.run ? state.run(launch) : 0;
}

int cuLaunchKernel(FakeFunction *function, unsigned gridX, unsigned, unsigned,
                   unsigned blockX, unsigned, unsigned, unsigned sharedBytes,
                   void *stream, void **params, void **) {
  if (int error = enter("cuLaunchKernel"))
    return error;
  return record(function, {"", nullptr, nullptr, stream, gridX, blockX, 1,
                           sharedBytes, params});
}

struct FakeLaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  unsigned *attributes;
  unsigned numAttributes;
};

int cuLaunchKernelEx(const FakeLaunchConfig *config, FakeFunction *function,
                     void **params, void **) {
  if (int error = enter("cuLaunchKernelEx"))
    return error;
  // Attribute 4 is the size of clusters, 6 whether the launch may start early;
  // its value follows 8 bytes later, the next attribute 72.
  auto getAttribute = [&](unsigned id) {
    const unsigned *attribute = config->attributes;
    for (unsigned i = 0; i < config->numAttributes; ++i, attribute += 18)
      if (attribute[0] == id)
        return attribute[2];
    return 0u;
  };
  return record(function, {"", nullptr, nullptr, config->stream,
                           config->grid[0], config->block[0], getAttribute(4),
                           config->sharedBytes, params, getAttribute(6) == 1});
}

int cuStreamQuery(void *) { return enter("cuStreamQuery"); }

int cuStreamCreate(FakeStream **stream, unsigned) {
  *stream = new FakeStream{fakeCurrentContext()};
  return enter("cuStreamCreate");
}

int cuStreamDestroy_v2(FakeStream *stream) {
  delete stream;
  return enter("cuStreamDestroy");
}

int cuStreamSynchronize(FakeStream *) { return enter("cuStreamSynchronize"); }

int cuEventCreate(FakeEvent **event, unsigned) {
  *event = new FakeEvent;
  return enter("cuEventCreate");
}

int cuEventDestroy_v2(FakeEvent *event) {
  delete event;
  return enter("cuEventDestroy");
}

int cuEventRecord(FakeEvent *event, void *) {
  event->milliseconds = fakeCuda().now;
  return enter("cuEventRecord");
}

int cuEventElapsedTime(float *milliseconds, FakeEvent *begin, FakeEvent *end) {
  *milliseconds = float(end->milliseconds - begin->milliseconds);
  return enter("cuEventElapsedTime");
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  if (int error = enter("cuMemAlloc"))
    return error;
  FakeCuda &state = fakeCuda();
  std::lock_guard<std::mutex> lock(state.mutex);
  // As the driver's memory is.
  constexpr size_t alignment = 256;
  *address = reinterpret_cast<uint64_t>(aligned_alloc(
      alignment, (bytes + alignment - 1) / alignment * alignment));
  state.memory[*address] = {bytes, fakeCurrentContext()->device, 2, false};
  return 0;
}

int cuMemFree_v2(uint64_t address) {
  if (int error = enter("cuMemFree"))
    return error;
  FakeCuda &state = fakeCuda();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.memory.erase(address);
  free(reinterpret_cast<void *>(address));
  return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  if (int error = enter("cuMemcpyHtoD"))
    return error;
  memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  if (int error = enter("cuMemcpyDtoH"))
    return error;
  memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *) {
  if (int error = enter("cuMemcpyDtoDAsync"))
    return error;
  memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  return 0;
}

/// A test may fill gigabytes, of which it reads the first part at most.
int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes,
                    void *) {
  constexpr size_t most = 1 << 20;
  memset(reinterpret_cast<void *>(address), value, std::min(bytes, most));
  return enter("cuMemsetD8Async");
}

int cuMemPoolCreate(FakePool **pool, const void *) {
  static FakePool pools[8];
  static int next = 0;
  *pool = &pools[next++];
  return enter("cuMemPoolCreate");
}

int cuMemPoolSetAttribute(FakePool *, int, void *) {
  return enter("cuMemPoolSetAttribute");
}

int cuMemAllocFromPoolAsync(uint64_t *address, size_t bytes, FakePool *,
                            void *) {
  if (int error = enter("cuMemAllocFromPoolAsync"))
    return error;
  FakeCuda &state = fakeCuda();
  std::lock_guard<std::mutex> lock(state.mutex);
  *address = 0x7000000000;
  state.memory[*address] = {bytes, fakeCurrentContext()->device, 2, false};
  return 0;
}

int cuMemFreeAsync(uint64_t address, void *) {
  fakeCuda().memory.erase(address);
  return enter("cuMemFreeAsync");
}

int cuGetErrorName(int error, const char **name) {
  *name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == 100 ? "CUDA_ERROR_NO_DEVICE"
          : error == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : error == 500 ? "CUDA_ERROR_NOT_FOUND"
                         : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}

int cuGetErrorString(int, const char **text) {
  *text = "as the test wants";
  return 0;
}

} // extern "C"
