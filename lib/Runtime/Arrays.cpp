//===- Arrays.cpp - Memory of what lies between fused regions -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An array of megabytes that is fresh from the system costs as much as the
// product that writes it: every page of 4 KB is a fault. So each thread that
// launches keeps what its kernels have released, up to a bound, and gives it to
// the next array that fits.
//
//===----------------------------------------------------------------------===//

#include "Error.h"
#include "Parallel.h"
#include "Workspace.h"
#include "kron/Runtime/IRInterface.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

using namespace kron::detail;

namespace {

/// Before every array, on a cache line of its own.
struct Header {
  /// Of the piece of memory, this included.
  int64_t bytes;
};
static_assert(sizeof(Header) <= workspaceAlignment);

class KeptPieces {
public:
  ~KeptPieces() { release(0); }

  /// The smallest piece of at least `bytes` that is not much larger; NULL if
  /// there is none.
  Header *take(int64_t bytes) {
    auto best = pieces.end();
    for (auto piece = pieces.begin(); piece != pieces.end(); ++piece)
      if ((*piece)->bytes >= bytes && (*piece)->bytes / 2 <= bytes &&
          (best == pieces.end() || (*piece)->bytes < (*best)->bytes))
        best = piece;
    if (best == pieces.end())
      return nullptr;
    Header *header = *best;
    total -= header->bytes;
    pieces.erase(best);
    return header;
  }

  /// Keeps `header` and as many of the others, the latest first, as `most`
  /// bytes allow.
  void keep(Header *header, int64_t most) {
    if (header->bytes > most)
      return std::free(header);
    release(most - header->bytes);
    try {
      pieces.push_back(header);
    } catch (const std::bad_alloc &) {
      return std::free(header);
    }
    total += header->bytes;
  }

  /// Releases the oldest pieces until at most `most` bytes are left.
  void release(int64_t most) {
    auto piece = pieces.begin();
    for (; total > most; ++piece) {
      total -= (*piece)->bytes;
      std::free(*piece);
    }
    pieces.erase(pieces.begin(), piece);
  }

private:
  /// In the order in which they were released.
  std::vector<Header *> pieces;
  int64_t total = 0;
};

} // namespace

/// What is smaller is left to the C library, which does not return it to the
/// system.
static constexpr int64_t minKeptBytes = int64_t(1) << 16;

static std::atomic<int64_t> mostKeptBytes{int64_t(256) << 20};
static thread_local KeptPieces keptPieces;

void *kronRtAllocate(int64_t bytes) {
  if (!currentContext.launch)
    reportFatal("kronRtAllocate was called outside a launch");
  Header *header = nullptr;
  if (bytes >= 0 && bytes <= INT64_MAX - workspaceAlignment) {
    bytes = std::max<int64_t>(bytes + workspaceAlignment, 1);
    if (bytes >= minKeptBytes)
      header = keptPieces.take(bytes);
    if (header)
      bytes = header->bytes;
    else
      header = static_cast<Header *>(allocateMemory(bytes));
  }
  if (!header)
    reportFatal("kernel '%s': no memory for an array of %lld bytes",
                currentContext.launch->kernel->name,
                static_cast<long long>(bytes));
  header->bytes = bytes;
  return reinterpret_cast<char *>(header) + workspaceAlignment;
}

void kronRtFree(void *array) {
  if (!array)
    return;
  auto *header = reinterpret_cast<Header *>(static_cast<char *>(array) -
                                            workspaceAlignment);
  if (header->bytes < minKeptBytes)
    return std::free(header);
  keptPieces.keep(header, mostKeptBytes.load(std::memory_order_relaxed));
}

KronStatus kronSetKeptMemory(size_t bytes) {
  mostKeptBytes.store(int64_t(std::min<size_t>(bytes, INT64_MAX)),
                      std::memory_order_relaxed);
  return KRON_SUCCESS;
}

KronStatus kronReleaseMemory(void) {
  if (currentContext.launch)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects kronReleaseMemory outside of a launch");
  keptPieces.release(0);
  releaseOwnWorkspace();
  return KRON_SUCCESS;
}
