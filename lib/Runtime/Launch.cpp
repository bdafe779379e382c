//===- Launch.cpp - Running a kernel --------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A launch checks everything, picks a version, lays out the workspace, and only
// then calls the entry, so that an error leaves every array as it was.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "CudaLaunch.h"
#include "Error.h"
#include "Isa.h"
#include "Parallel.h"
#include "Workspace.h"

using namespace kron::detail;

static KronStatus checkKernel(const KronKernel *kernel) {
  if (!kernel)
    return setError(KRON_INVALID_ARGUMENT, "expects a kernel, but got NULL");
  // First, since nothing else can be read from a struct of another version.
  if (kernel->apiVersion != KRON_API_VERSION)
    return setError(
        KRON_VERSION_MISMATCH,
        "expects a kernel built for version %u of the interface, but "
        "got one for version %u",
        unsigned(KRON_API_VERSION), unsigned(kernel->apiVersion));
  return KRON_SUCCESS;
}

static constexpr KronLaunchOptions defaultOptions = {};

static KronStatus checkOptions(const KronKernel &kernel,
                               const KronLaunchOptions &options) {
  if (options.target != KRON_TARGET_CPU && options.target != KRON_TARGET_CUDA)
    return setError(KRON_INVALID_ARGUMENT,
                    "kernel '%s': expects a target of 0 (CPU) or 1 (CUDA), but "
                    "got %d",
                    kernel.name, int(options.target));
  if (!options.workspace && options.workspaceBytes)
    return setError(
        KRON_INVALID_ARGUMENT,
        "kernel '%s': expects a workspace of %zu bytes, but got NULL",
        kernel.name, options.workspaceBytes);
  return KRON_SUCCESS;
}

/// The caller's workspace, or this thread's own, into `*workspace`.
static KronStatus prepareWorkspace(const KronKernel &kernel,
                                   const KronLaunchOptions &options,
                                   int32_t depth, int64_t bytes,
                                   char **workspace) {
  *workspace = nullptr;
  if (!options.workspace) {
    if (bytes)
      *workspace = static_cast<char *>(getOwnWorkspace(depth, bytes));
    if (bytes && !*workspace)
      return setError(KRON_OUT_OF_MEMORY,
                      "kernel '%s': no memory for a workspace of %lld bytes",
                      kernel.name, static_cast<long long>(bytes));
    return KRON_SUCCESS;
  }
  if (reinterpret_cast<uintptr_t>(options.workspace) % workspaceAlignment)
    return setError(KRON_INVALID_ARGUMENT,
                    "kernel '%s': expects the workspace to be aligned to %d "
                    "bytes, but got address %p",
                    kernel.name, int(workspaceAlignment), options.workspace);
  if (options.workspaceBytes < size_t(bytes))
    return setError(KRON_WORKSPACE_TOO_SMALL,
                    "kernel '%s': expects a workspace of at least %lld bytes, "
                    "but got %zu",
                    kernel.name, static_cast<long long>(bytes),
                    options.workspaceBytes);
  *workspace = static_cast<char *>(options.workspace);
  return KRON_SUCCESS;
}

/// Runs the best version for this processor.
static KronStatus launchOnCPU(const KronKernel &kernel, const KronArray *args,
                              const KronLaunchOptions &options) {
  int32_t numThreads;
  const KronVersion *version;
  int64_t bytes;
  char *workspace;
  int32_t depth = currentContext.launch ? currentContext.launch->depth + 1 : 0;
  KronStatus status = resolveNumThreads(options.numThreads, &numThreads);
  if (!status)
    status = selectVersion(kernel, &version);
  if (!status)
    status = computeWorkspaceSize(kernel, *version, numThreads, &bytes);
  if (!status)
    status = prepareWorkspace(kernel, options, depth, bytes, &workspace);
  if (status)
    return status;

  int64_t sharedBytes = alignSize(version->sharedBytes);
  Launch launch;
  launch.kernel = &kernel;
  launch.numThreads = numThreads;
  launch.depth = depth;
  launch.shared = workspace;
  launch.sharedBytes = sharedBytes;
  launch.threads = workspace ? workspace + sharedBytes : nullptr;
  launch.threadBytes = alignSize(version->threadBytes);

  Context context;
  context.launch = &launch;
  context.scratch = launch.threads;
  context.scratchBytes = launch.threadBytes;
  context.inLoop = currentContext.inLoop;
  ContextScope scope(context);
  version->entry(args);
  return KRON_SUCCESS;
}

KronStatus kronLaunch(const KronKernel *kernel, const KronArray *args,
                      int32_t numArgs, const KronLaunchOptions *options) {
  if (!options)
    options = &defaultOptions;
  KronStatus status = checkKernel(kernel);
  if (!status)
    status = checkArguments(*kernel, args, numArgs);
  if (!status)
    status = checkOptions(*kernel, *options);
  if (status)
    return status;
  return options->target == KRON_TARGET_CUDA
             ? launchOnCuda(*kernel, args, *options)
             : launchOnCPU(*kernel, args, *options);
}

KronStatus kronGetLaunchWorkspaceSize(const KronKernel *kernel,
                                      const KronArray *args, int32_t numArgs,
                                      const KronLaunchOptions *options,
                                      size_t *bytes) {
  if (!options)
    options = &defaultOptions;
  if (!bytes)
    return setError(
        KRON_INVALID_ARGUMENT,
        "expects a place for the size of the workspace, but got NULL");
  KronStatus status = checkKernel(kernel);
  if (!status)
    status = checkArguments(*kernel, args, numArgs, /*needsData=*/false);
  if (!status)
    status = checkOptions(*kernel, *options);
  if (status)
    return status;
  return options->target == KRON_TARGET_CUDA
             ? measureCudaWorkspace(*kernel, args, *options, bytes)
             : kronGetWorkspaceSize(kernel, options->numThreads, bytes);
}

KronStatus kronGetWorkspaceSize(const KronKernel *kernel, int32_t numThreads,
                                size_t *bytes) {
  if (!bytes)
    return setError(
        KRON_INVALID_ARGUMENT,
        "expects a place for the size of the workspace, but got NULL");
  const KronVersion *version;
  int64_t size;
  KronStatus status = checkKernel(kernel);
  if (!status)
    status = resolveNumThreads(numThreads, &numThreads);
  if (!status)
    status = selectVersion(*kernel, &version);
  if (!status)
    status = computeWorkspaceSize(*kernel, *version, numThreads, &size);
  if (!status)
    *bytes = size_t(size);
  return status;
}
