//===- Fork.h - What a child process is without -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// fork() copies memory, but only the thread that calls it. What oneTBB and the
// CUDA driver had started in the parent is of no use in the child, and may wait
// for threads that are not there. So whoever starts something remembers in
// which process, by the number of forks before it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_FORK_H
#define KRON_LIB_RUNTIME_FORK_H

#include <atomic>
#include <cstdint>
#include <mutex>

namespace kron::detail {

/// How many forks lie between this process and the one that loaded the
/// library.
extern std::atomic<int32_t> numForks;

/// Remembers which process has started something.
class StartMark {
public:
  /// Something starts now, unless it has already.
  void set() {
    int32_t none = kNone;
    if (start.load(std::memory_order_relaxed) == kNone)
      start.compare_exchange_strong(none, numForks.load());
  }
  /// Whether it was started by a process that forked this one.
  bool isOfParent() const {
    int32_t number = start.load(std::memory_order_relaxed);
    return number != kNone &&
           number != numForks.load(std::memory_order_relaxed);
  }

private:
  static constexpr int32_t kNone = -1;

  std::atomic<int32_t> start{kNone};
};

/// Held by who loads a library, or has oneTBB start, which loads some. A fork
/// waits for it: in a child made meanwhile the dynamic loader stays where it
/// was, and ends the child at the next library.
class LoadGuard {
public:
  LoadGuard();

private:
  std::lock_guard<std::recursive_mutex> lock;
};

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_FORK_H
