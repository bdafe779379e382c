//===- Parallel.h - Launch context and thread counts ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_PARALLEL_H
#define KRON_LIB_RUNTIME_PARALLEL_H

#include "kron/Runtime/Runtime.h"

#include <atomic>

#if defined(__SANITIZE_THREAD__)
#define KRON_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KRON_THREAD_SANITIZER 1
#endif
#endif
#if KRON_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace kron::detail {

/// One running launch: what all its threads see.
struct Launch {
  const KronKernel *kernel;
  int32_t numThreads;
  /// How many launches this one is inside of, on the calling thread.
  int32_t depth;
  char *shared;
  int64_t sharedBytes;
  std::atomic<int64_t> sharedUsed{0};
  /// First thread's part of the workspace; the others follow.
  char *threads;
  /// A multiple of the workspace's alignment.
  int64_t threadBytes;
};

/// What a thread is doing. Each thread that takes part in a launch has its own.
struct Context {
  Launch *launch = nullptr;
  /// What is left of this thread's part of the workspace.
  char *scratch = nullptr;
  int64_t scratchBytes = 0;
  /// Inside the body of a parallel loop, where further loops run serially.
  bool inLoop = false;
};

extern thread_local Context currentContext;

/// Makes `context` this thread's for as long as it lives.
class ContextScope {
public:
  explicit ContextScope(const Context &context) : saved(currentContext) {
    currentContext = context;
  }
  ~ContextScope() { currentContext = saved; }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  Context saved;
};

/// Whether oneTBB's threads are those of a process that forked this one: then
/// nobody works here but the caller, and oneTBB must be left alone, whose locks
/// may have been held by threads that are not here.
bool hasLostThreads();

/// The number of threads for a launch from this thread that asks for
/// `requested` (0: the default) into `*numThreads`. The default is 1 where the
/// caller is itself one of several threads that OpenMP or a kernel runs; where
/// threads are lost, 1 is what everybody gets.
KronStatus resolveNumThreads(int32_t requested, int32_t *numThreads);

// ThreadSanitizer does not see how oneTBB, which is not built with it, hands
// work from thread to thread: these tell it.
#if KRON_THREAD_SANITIZER
inline void annotateAcquire(void *object) { __tsan_acquire(object); }
inline void annotateRelease(void *object) { __tsan_release(object); }
#else
inline void annotateAcquire(void *) {}
inline void annotateRelease(void *) {}
#endif

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_PARALLEL_H
