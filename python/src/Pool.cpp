//===- Pool.cpp - Memory of results that is used again --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Pool.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace kron::python;

/// From this size on, blocks are made of huge pages.
static constexpr size_t hugeThreshold = size_t(4) << 20;
static constexpr size_t hugePage = size_t(2) << 20;
static constexpr size_t smallUnit = size_t(256) << 10;

namespace {

struct Pool {
  std::mutex mutex;
  /// Blocks that are not in use, those that were longest so first.
  std::vector<Block> blocks;
  size_t bytes = 0;
  const size_t limit = getLimit();

  static size_t getLimit();
  Block find(size_t size);
  std::vector<Block> add(Block block);
};

} // namespace

/// $KRON_POOL_SIZE; null if it is not set.
static const char *getGivenSize() {
  const char *text = std::getenv("KRON_POOL_SIZE");
  return text && *text ? text : nullptr;
}

static bool isNumber(const char *text) {
  return text[std::strspn(text, "0123456789")] == 0;
}

/// $KRON_POOL_SIZE megabytes; else 1 GB, or a sixteenth of the memory if that
/// is less.
size_t Pool::getLimit() {
  const char *given = getGivenSize();
  if (given && isNumber(given))
    return std::min(std::strtoul(given, nullptr, 10), 1ul << 24) << 20;
  size_t memory = size_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min(memory / 16, size_t(1) << 30);
}

/// Never destroyed, since tensors may outlive everything.
static Pool &getPool() {
  static auto *pool = new Pool;
  return *pool;
}

/// Tensors that end in other threads return their memory at any time: fork()
/// must not copy the mutex while it is locked.
[[maybe_unused]] static const int registered = pthread_atfork(
    [] { getPool().mutex.lock(); }, [] { getPool().mutex.unlock(); },
    [] { getPool().mutex.unlock(); });

/// Takes out a block that fits without much waste, the last one that was in
/// use, of which most is in the processor's caches.
Block Pool::find(size_t size) {
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = blocks.size(); i-- > 0;) {
    Block block = blocks[i];
    if (block.bytes < size || block.bytes > size + size / 4 + smallUnit)
      continue;
    blocks.erase(blocks.begin() + i);
    bytes -= block.bytes;
    return block;
  }
  return {};
}

/// Keeps the block; returns those that have to go for it.
std::vector<Block> Pool::add(Block block) {
  if (block.bytes > limit)
    return {block};
  std::lock_guard<std::mutex> lock(mutex);
  blocks.push_back(block);
  bytes += block.bytes;
  size_t count = 0;
  while (bytes > limit)
    bytes -= blocks[count++].bytes;
  std::vector<Block> evicted(blocks.begin(), blocks.begin() + count);
  blocks.erase(blocks.begin(), blocks.begin() + count);
  return evicted;
}

const char *kron::python::getBadPoolSize() {
  const char *given = getGivenSize();
  return given && !isNumber(given) ? given : nullptr;
}

Block kron::python::takeBlock(size_t bytes) {
  Pool &pool = getPool();
  if (pool.limit == 0 || bytes > SIZE_MAX / 2)
    return {};
  bool isHuge = bytes >= hugeThreshold;
  size_t unit = isHuge ? hugePage : smallUnit;
  size_t size = (bytes + unit - 1) & -unit;
  Block block = pool.find(size);
  if (block.data)
    return block;
  // Huge pages need their alignment, which new memory has by chance only.
  size_t mapped = isHuge ? size + hugePage : size;
  void *data = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return {};
  if (!isHuge)
    return {data, size};
  char *begin = static_cast<char *>(data);
  size_t skip = -reinterpret_cast<uintptr_t>(begin) & (hugePage - 1);
  if (skip)
    munmap(begin, skip);
  if (skip != hugePage)
    munmap(begin + skip + size, hugePage - skip);
  madvise(begin + skip, size, MADV_HUGEPAGE);
  return {begin + skip, size};
}

void kron::python::returnBlock(Block block) {
  for (Block evicted : getPool().add(block))
    munmap(evicted.data, evicted.bytes);
}

size_t kron::python::releaseMemory() {
  Pool &pool = getPool();
  std::vector<Block> blocks;
  size_t bytes = 0;
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    blocks.swap(pool.blocks);
    std::swap(bytes, pool.bytes);
  }
  for (Block block : blocks)
    munmap(block.data, block.bytes);
  return bytes;
}
