//===- CudaLaunch.cpp - Launches on a GPU -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A version's entry runs twice: first to measure, which checks every launch
// against the GPU's limits and adds up the workspace, then to launch. So errors
// come before anything is on the stream, and the size of the workspace needs no
// second description of what the entry does. Where measuring finds that code is
// not loaded, all that the launch lacks is, and it is measured anew.
//
//===----------------------------------------------------------------------===//

#include "CudaLaunch.h"
#include "Arguments.h"
#include "CudaArena.h"
#include "CudaBlas.h"
#include "CudaLoads.h"
#include "Error.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace kron::detail;

namespace {

/// One running launch on this thread.
struct CudaLaunch {
  const KronKernel *kernel;
  CudaDevice *device;
  uint64_t contextId;
  CUstream stream;
  /// Where workspace starts; a stand-in while measuring.
  char *workspace;
  int64_t workspaceBytes;
  bool isMeasuring;
  /// Where kernels go that are not loaded, while those are collected.
  CudaLoads *loads = nullptr;
  CudaArena arena = {};
  /// The first failure.
  KronStatus status = KRON_SUCCESS;
};

/// What one kernel launch asks for.
struct Configuration {
  const char *kernel;
  int64_t grid;
  int32_t block;
  /// Blocks of a cluster; 1: none.
  int32_t cluster;
  int64_t sharedBytes;
  /// Whether it may start while the kernel before still runs.
  bool startsEarly;
};

} // namespace

static thread_local CudaLaunch *currentLaunch = nullptr;

static CudaLaunch &getLaunch(const char *function) {
  if (!currentLaunch)
    reportFatal("%s is valid only inside a launch on a GPU", function);
  return *currentLaunch;
}

//===----------------------------------------------------------------------===//
// Kernel launches
//===----------------------------------------------------------------------===//

/// Clusters of more blocks need the kernel's consent.
static constexpr int32_t portableClusterSize = 8;

/// Refuses what no GPU, or not this one, can launch.
static KronStatus checkConfiguration(const CudaLaunch &launch,
                                     const Configuration &wanted,
                                     const CudaFunction &function) {
  const char *name = launch.kernel->name;
  if (wanted.grid > INT32_MAX)
    return setError(KRON_INVALID_ARGUMENT,
                    "kernel '%s': '%s' expects at most 2^31-1 blocks, but the "
                    "sizes need %" PRId64,
                    name, wanted.kernel, wanted.grid);
  if (wanted.block < 1 || wanted.block > function.maxThreads)
    return setError(KRON_UNSUPPORTED,
                    "kernel '%s': '%s' expects blocks of %d threads, but GPU "
                    "%d runs at most %d with its registers",
                    name, wanted.kernel, wanted.block, launch.device->number,
                    function.maxThreads);
  int64_t maxBytes = launch.device->maxSharedBytes - function.staticSharedBytes;
  if (wanted.sharedBytes < 0 || wanted.sharedBytes > maxBytes)
    return setError(
        KRON_UNSUPPORTED,
        "kernel '%s': '%s' expects %" PRId64
        " bytes of shared memory per block, but GPU %d has %" PRId64,
        name, wanted.kernel, wanted.sharedBytes, launch.device->number,
        maxBytes);
  if (wanted.cluster > 1 && !launch.device->driver->launchKernelEx)
    return setError(KRON_UNSUPPORTED,
                    "kernel '%s': '%s' expects a driver that launches "
                    "clusters, but got an older one",
                    name, wanted.kernel);
  if (wanted.cluster > 1 && wanted.grid % wanted.cluster)
    return setError(KRON_INVALID_ARGUMENT,
                    "kernel '%s': '%s' expects a multiple of %d blocks, but "
                    "got %" PRId64,
                    name, wanted.kernel, wanted.cluster, wanted.grid);
  return KRON_SUCCESS;
}

/// Tells the driver what the kernel may use beyond the defaults.
static KronStatus allow(const CudaLaunch &launch, const Configuration &wanted,
                        CudaFunction &function) {
  // Everything up to this is allowed from the start.
  constexpr int64_t defaultSharedBytes = 48 * 1024;
  const CudaDriver &driver = *launch.device->driver;
  auto set = [&](CUfunction_attribute attribute, int64_t value) {
    CUresult result =
        driver.funcSetAttribute(function.function, attribute, int(value));
    return result ? setCudaError(driver, result,
                                 "kernel '%s': cuFuncSetAttribute of '%s'",
                                 launch.kernel->name, wanted.kernel)
                  : KRON_SUCCESS;
  };
  KronStatus status = KRON_SUCCESS;
  if (wanted.sharedBytes + function.staticSharedBytes > defaultSharedBytes &&
      wanted.sharedBytes > function.allowedSharedBytes.load()) {
    // The most that fits, so that threads which want different sizes cannot
    // take it from each other.
    int64_t most = launch.device->maxSharedBytes - function.staticSharedBytes;
    status = set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most);
    if (!status)
      function.allowedSharedBytes = most;
  }
  if (!status && wanted.cluster > portableClusterSize &&
      !function.allowsLargeClusters.load()) {
    status = set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (!status)
      function.allowsLargeClusters = true;
  }
  return status;
}

static CUresult callLaunch(const CudaLaunch &launch,
                           const Configuration &wanted,
                           const CudaFunction &function, void **params) {
  const CudaDriver &driver = *launch.device->driver;
  auto grid = unsigned(wanted.grid), block = unsigned(wanted.block),
       sharedBytes = unsigned(wanted.sharedBytes);
  CUlaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (wanted.startsEarly) {
    CUlaunchAttribute &attribute = attributes[count++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  if (wanted.cluster > 1) {
    CUlaunchAttribute &attribute = attributes[count++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {unsigned(wanted.cluster), 1, 1};
  }
  // A kernel that may start early waits anyway: older drivers start it later.
  if (count == 0 || !driver.launchKernelEx)
    return driver.launchKernel(function.function, grid, 1, 1, block, 1, 1,
                               sharedBytes, launch.stream, params, nullptr);
  CUlaunchConfig config = {
      grid, 1, 1, block, 1, 1, sharedBytes, launch.stream, attributes, count};
  return driver.launchKernelEx(&config, function.function, params, nullptr);
}

static KronStatus launchKernel(CudaLaunch &launch, KronCudaModule &module,
                               const Configuration &wanted, void **params) {
  CudaFunction *function =
      findCudaFunction(module, launch.contextId, wanted.kernel);
  if (!function && launch.loads) {
    launch.loads->add(module, wanted.kernel);
    return KRON_SUCCESS;
  }
  KronStatus status = KRON_SUCCESS;
  if (!function)
    status = getCudaFunction(*launch.device, launch.contextId, module,
                             wanted.kernel, /*besideOthers=*/false, &function);
  if (status || wanted.grid <= 0)
    return status;
  if (launch.isMeasuring) {
    status = checkConfiguration(launch, wanted, *function);
    return status ? status : allow(launch, wanted, *function);
  }
  CUresult result = callLaunch(launch, wanted, *function, params);
  if (!result)
    return KRON_SUCCESS;
  return setCudaError(*launch.device->driver, result,
                      "kernel '%s': launch of '%s' with %" PRId64
                      " blocks of %d threads, clusters of %d, %" PRId64
                      " bytes of shared memory each, on GPU %d",
                      launch.kernel->name, wanted.kernel, wanted.grid,
                      wanted.block, wanted.cluster, wanted.sharedBytes,
                      launch.device->number);
}

void kronRtCudaLaunch(KronCudaModule *module, const char *kernel, int64_t grid,
                      int32_t block, int32_t cluster, int64_t sharedBytes,
                      void **params, int32_t) {
  CudaLaunch &launch = getLaunch("kronRtCudaLaunch");
  if (!launch.status)
    launch.status =
        launchKernel(launch, *module,
                     {kernel, grid, block, std::max(1, std::abs(cluster)),
                      sharedBytes, cluster <= 0},
                     params);
}

void *kronRtCudaGlobal(KronCudaModule *module, const char *name) {
  CudaLaunch &launch = getLaunch("kronRtCudaGlobal");
  void *address = nullptr;
  if (!launch.status)
    launch.status = getCudaGlobal(*launch.device, launch.contextId, *module,
                                  name, &address);
  return address;
}

int64_t kronRtCudaNumSMs() {
  return getLaunch("kronRtCudaNumSMs").device->numSMs;
}

void *kronRtCudaWorkspace(int64_t bytes) {
  CudaLaunch &launch = getLaunch("kronRtCudaWorkspace");
  int64_t offset = launch.arena.allocate(bytes);
  if (!launch.status &&
      (offset < 0 || launch.arena.getPeak() > launch.workspaceBytes))
    launch.status = setError(
        KRON_INVALID_ARGUMENT,
        "kernel '%s': the sizes need a workspace of 2^63 bytes or more",
        launch.kernel->name);
  return launch.workspace + (launch.status ? 0 : offset);
}

void kronRtCudaRelease(void *workspace) {
  CudaLaunch &launch = getLaunch("kronRtCudaRelease");
  launch.arena.release(static_cast<char *>(workspace) - launch.workspace);
}

int32_t kronRtCudaGemm(const KronCudaGemm *gemm) {
  CudaLaunch &launch = getLaunch("kronRtCudaGemm");
  if (launch.status)
    return 1;
  std::optional<CublasProduct> product = describeProduct(*gemm);
  if (!product)
    return 0;
  CublasHandle handle = getCublasHandle(*launch.device, launch.contextId);
  if (!handle)
    return 0;
  int64_t bytes = getCublasWorkspaceBytes(*launch.device);
  void *workspace = kronRtCudaWorkspace(bytes);
  if (!launch.isMeasuring && !launch.status && product->batch)
    launch.status = multiplyByCublas(handle, *product, *gemm, launch.stream,
                                     workspace, bytes, launch.kernel->name);
  kronRtCudaRelease(workspace);
  return 1;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {

/// What a pointer is, for messages; nothing is formatted on success.
struct PointerName {
  const KronKernel &kernel;
  /// -1: the workspace.
  int32_t argument;

  /// "kernel 'f', argument 0 ('x')".
  struct Text {
    char data[256];
  };
  Text format() const {
    Text text;
    if (argument < 0)
      snprintf(text.data, sizeof(text.data), "kernel '%s', workspace",
               kernel.name);
    else
      snprintf(text.data, sizeof(text.data), "kernel '%s', argument %d ('%s')",
               kernel.name, argument,
               kernel.args[argument].name ? kernel.args[argument].name : "");
    return text;
  }
};

} // namespace

/// `data` must be memory that kernels on `device` reach at this address.
static KronStatus checkPointer(const CudaDevice &device,
                               const PointerName &name, const void *data) {
  uint32_t type = 0;
  int32_t isManaged = 0, ordinal = -1;
  CUdeviceptr reached = 0;
  CUpointer_attribute attributes[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
      CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void *values[] = {&type, &reached, &isManaged, &ordinal};
  auto address = reinterpret_cast<CUdeviceptr>(data);
  CUresult result =
      device.driver->pointerGetAttributes(4, attributes, values, address);
  if (result)
    return setCudaError(*device.driver, result,
                        "%s: cuPointerGetAttributes of %p", name.format().data,
                        data);
  // Managed memory counts as device memory.
  if (type != CU_MEMORYTYPE_DEVICE &&
      !(type == CU_MEMORYTYPE_HOST && reached == address))
    return setError(KRON_INVALID_ARGUMENT,
                    "%s: expects memory of GPU %d, but got host memory at %p",
                    name.format().data, device.number, data);
  if (type == CU_MEMORYTYPE_DEVICE && !isManaged && ordinal != device.number)
    return setError(KRON_INVALID_ARGUMENT,
                    "%s: expects memory of GPU %d, but got memory of GPU %d at "
                    "%p",
                    name.format().data, device.number, ordinal, data);
  return KRON_SUCCESS;
}

static KronStatus checkPointers(const KronKernel &kernel, const KronArray *args,
                                const CudaDevice &device) {
  for (int32_t i = 0; i < kernel.numArgs; ++i) {
    const KronArgInfo &info = kernel.args[i];
    if (info.isScalar || isEmpty(args[i]))
      continue;
    if (KronStatus status = checkPointer(device, {kernel, i}, args[i].data))
      return status;
  }
  return KRON_SUCCESS;
}

/// The version whose code suits `device` best into `*version`.
static KronStatus selectCudaVersion(const KronKernel &kernel,
                                    const CudaDevice &device,
                                    const KronVersion **version) {
  *version = nullptr;
  int32_t bestRate = -1;
  bool hasAny = false;
  for (int32_t i = 0; i < kernel.numVersions; ++i) {
    const KronVersion &candidate = kernel.versions[i];
    if (candidate.isa != KRON_ISA_CUDA)
      continue;
    hasAny = true;
    for (int32_t j = 0; j < candidate.cuda->numImages; ++j) {
      int32_t rate = rateImage(candidate.cuda->images[j], device.capability);
      if (rate > bestRate) {
        *version = &candidate;
        bestRate = rate;
      }
    }
  }
  if (*version)
    return KRON_SUCCESS;
  if (!hasAny)
    return setError(KRON_UNSUPPORTED,
                    "kernel '%s' has no version for CUDA: it was compiled for "
                    "the CPU only",
                    kernel.name);
  return setError(KRON_UNSUPPORTED,
                  "kernel '%s' has no code that runs on GPU %d (sm_%d)",
                  kernel.name, device.number, device.capability);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {

/// Makes a launch this thread's for as long as it lives.
class LaunchScope {
public:
  explicit LaunchScope(CudaLaunch &launch) : saved(currentLaunch) {
    currentLaunch = &launch;
  }
  ~LaunchScope() { currentLaunch = saved; }
  LaunchScope(const LaunchScope &) = delete;
  LaunchScope &operator=(const LaunchScope &) = delete;

private:
  CudaLaunch *saved;
};

} // namespace

static KronStatus runEntry(CudaLaunch &launch, const KronVersion &version,
                           const KronArray *args) {
  LaunchScope scope(launch);
  version.entry(args);
  return launch.status;
}

/// Runs the entry without launching anything; the workspace it asks for goes
/// into `*bytes`.
static KronStatus measure(const CudaLaunch &launch, const KronVersion &version,
                          const KronArray *args, int64_t *bytes) {
  CudaLaunch dry = launch;
  dry.isMeasuring = true;
  dry.workspace = reinterpret_cast<char *>(CudaArena::alignment);
  dry.workspaceBytes = INT64_MAX;
  CudaLoads loads;
  dry.loads = &loads;
  KronStatus status = runEntry(dry, version, args);
  *bytes = dry.arena.getPeak();
  if (status || loads.isEmpty())
    return status;
  status = loads.run(*launch.device, launch.contextId);
  return status ? status : measure(launch, version, args, bytes);
}

static KronStatus checkWorkspace(const KronKernel &kernel,
                                 const CudaDevice &device,
                                 const KronLaunchOptions &options,
                                 int64_t bytes) {
  if (reinterpret_cast<uintptr_t>(options.workspace) % CudaArena::alignment)
    return setError(KRON_INVALID_ARGUMENT,
                    "kernel '%s': expects the workspace to be aligned to %d "
                    "bytes, but got address %p",
                    kernel.name, int(CudaArena::alignment), options.workspace);
  if (options.workspaceBytes < size_t(bytes))
    return setError(KRON_WORKSPACE_TOO_SMALL,
                    "kernel '%s': expects a workspace of at least %" PRId64
                    " bytes, but got %zu",
                    kernel.name, bytes, options.workspaceBytes);
  if (bytes == 0)
    return KRON_SUCCESS;
  return checkPointer(device, {kernel, -1}, options.workspace);
}

/// Runs the entry with workspace from the device's pool, in the order of the
/// stream: it goes back when the stream has got so far.
static KronStatus runWithPool(CudaLaunch &launch, const KronVersion &version,
                              const KronArray *args) {
  const CudaDriver &driver = *launch.device->driver;
  CUmemoryPool pool;
  CUdeviceptr memory = 0;
  if (KronStatus status = launch.device->getPool(&pool))
    return status;
  if (CUresult result = driver.memAllocFromPoolAsync(
          &memory, size_t(launch.workspaceBytes), pool, launch.stream))
    return setCudaError(driver, result,
                        "kernel '%s': cuMemAllocFromPoolAsync of a workspace "
                        "of %" PRId64 " bytes on GPU %d",
                        launch.kernel->name, launch.workspaceBytes,
                        launch.device->number);
  launch.workspace = reinterpret_cast<char *>(memory);
  KronStatus status = runEntry(launch, version, args);
  CUresult result = driver.memFreeAsync(memory, launch.stream);
  if (result && !status)
    return setCudaError(driver, result, "kernel '%s': cuMemFreeAsync",
                        launch.kernel->name);
  return status;
}

namespace {
/// The version of a kernel that a device runs, and the device's context, which
/// is current while this lives.
struct LaunchSite {
  const KronVersion *version = nullptr;
  std::optional<CudaContextScope> context;

  /// Fills in what `launch` says of the place where `kernel` runs.
  KronStatus enter(const KronKernel &kernel, const KronLaunchOptions &options,
                   CudaLaunch &launch);
};
} // namespace

KronStatus LaunchSite::enter(const KronKernel &kernel,
                             const KronLaunchOptions &options,
                             CudaLaunch &launch) {
  CudaDevice *device;
  if (KronStatus status = CudaDevice::get(options.device, &device))
    return status;
  if (KronStatus status = selectCudaVersion(kernel, *device, &version))
    return status;
  context.emplace(*device->driver);
  auto *stream = static_cast<CUstream>(options.stream);
  KronStatus status = context->enter(*device, stream);
  launch = {&kernel, device, context->getId(), stream, nullptr, 0, false};
  return status;
}

KronStatus kron::detail::launchOnCuda(const KronKernel &kernel,
                                      const KronArray *args,
                                      const KronLaunchOptions &options) {
  LaunchSite site;
  CudaLaunch launch;
  KronStatus status = site.enter(kernel, options, launch);
  if (!status && !options.arraysReachable)
    status = checkPointers(kernel, args, *launch.device);
  if (!status)
    status = measure(launch, *site.version, args, &launch.workspaceBytes);
  if (!status && options.workspace)
    status =
        checkWorkspace(kernel, *launch.device, options, launch.workspaceBytes);
  if (status)
    return status;
  launch.workspace = static_cast<char *>(options.workspace);
  if (launch.workspaceBytes && !options.workspace)
    return runWithPool(launch, *site.version, args);
  return runEntry(launch, *site.version, args);
}

KronStatus kron::detail::measureCudaWorkspace(const KronKernel &kernel,
                                              const KronArray *args,
                                              const KronLaunchOptions &options,
                                              size_t *bytes) {
  LaunchSite site;
  CudaLaunch launch;
  KronStatus status = site.enter(kernel, options, launch);
  int64_t needed;
  if (!status)
    status = measure(launch, *site.version, args, &needed);
  if (!status)
    *bytes = size_t(needed);
  return status;
}
