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

/// The number of threads for a launch from this thread that asks for
/// `requested` (0: the default) into `*numThreads`. The default is 1 where the
/// caller is itself one of several threads that OpenMP or a kernel runs.
KronStatus resolveNumThreads(int32_t requested, int32_t *numThreads);

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_PARALLEL_H
