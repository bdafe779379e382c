//===- Workspace.cpp - Layout and ownership of workspace ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Workspace.h"
#include "Error.h"
#include "Parallel.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <vector>

using namespace kron::detail;

namespace {

struct FreeDeleter {
  void operator()(void *pointer) const { std::free(pointer); }
};

/// One piece of memory that grows.
struct Buffer {
  std::unique_ptr<void, FreeDeleter> data;
  int64_t bytes = 0;
};

} // namespace

/// From this size on, memory is aligned to huge pages and asks for them: packed
/// factors are read in an order that misses the TLB with 4 KB pages.
static constexpr int64_t hugePageThreshold = int64_t(4) << 20;
static constexpr int64_t hugePageSize = int64_t(2) << 20;

static thread_local std::vector<Buffer> ownBuffers;

void *kron::detail::allocateMemory(int64_t bytes) {
  bool huge = bytes >= hugePageThreshold;
  int64_t alignment = huge ? hugePageSize : workspaceAlignment;
  if (bytes > INT64_MAX - alignment)
    return nullptr;
  int64_t rounded = (bytes + alignment - 1) & -alignment;
  void *data = std::aligned_alloc(alignment, rounded);
  // Advice only: without huge pages everything still works.
  if (data && huge)
    madvise(data, rounded, MADV_HUGEPAGE);
  return data;
}

void *kron::detail::getOwnWorkspace(int32_t depth, int64_t bytes) {
  if (ownBuffers.size() <= size_t(depth)) {
    try {
      ownBuffers.resize(depth + 1);
    } catch (const std::bad_alloc &) {
      return nullptr;
    }
  }
  Buffer &buffer = ownBuffers[depth];
  if (buffer.bytes < bytes) {
    // Freed first, so that the two never exist at once.
    buffer.data.reset();
    buffer.bytes = 0;
    buffer.data.reset(allocateMemory(bytes));
    if (!buffer.data)
      return nullptr;
    buffer.bytes = bytes;
  }
  return buffer.data.get();
}

void kron::detail::releaseOwnWorkspace() {
  ownBuffers.clear();
  ownBuffers.shrink_to_fit();
}

KronStatus kron::detail::computeWorkspaceSize(const KronKernel &kernel,
                                              const KronVersion &version,
                                              int32_t numThreads,
                                              int64_t *bytes) {
  int64_t threadPart;
  // Rounding up to a cache line cannot overflow below this bound.
  constexpr int64_t bound = INT64_MAX - workspaceAlignment;
  if (version.sharedBytes < 0 || version.sharedBytes > bound ||
      version.threadBytes < 0 || version.threadBytes > bound ||
      __builtin_mul_overflow(alignSize(version.threadBytes),
                             int64_t(numThreads), &threadPart) ||
      __builtin_add_overflow(threadPart, alignSize(version.sharedBytes), bytes))
    return setError(KRON_INVALID_ARGUMENT,
                    "kernel '%s': workspace for %d threads exceeds 2^63 bytes",
                    kernel.name, numThreads);
  return KRON_SUCCESS;
}
