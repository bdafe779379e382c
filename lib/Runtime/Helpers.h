//===- Helpers.h - Threads that help with loops -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// oneTBB's workers, asked for with tasks of an own arena. Who has helped with a
// loop looks for the next one for a while: handing work to a thread that looks
// takes a cache line or two, waking one takes longer than a small loop does.
// The thread that has the work starts at once and waits for nobody who has not
// begun, so a helper that comes late costs nothing. Work that comes again finds
// its data where it was: shares have helpers that take them first.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_HELPERS_H
#define KRON_LIB_RUNTIME_HELPERS_H

#include <chrono>
#include <cstdint>
#include <memory>

namespace kron::detail {

/// What helpers are asked to do.
class SharedWork {
public:
  /// Does one share of it as number `thread` of those that take part.
  virtual void runShare(int32_t share, int32_t thread) noexcept = 0;

protected:
  ~SharedWork() = default;
};

/// The helpers of one thread.
class Helpers {
public:
  /// The most shares and threads.
  static constexpr int32_t kMaxShares = 448;

  Helpers();
  ~Helpers();
  Helpers(const Helpers &) = delete;
  Helpers &operator=(const Helpers &) = delete;

  /// Runs all shares of `work` on this thread, as number 0, and on up to
  /// `numThreads` - 1 helpers. Only work that `isLong` wakes helpers.
  void run(SharedWork &work, int32_t numShares, int32_t numThreads,
           bool isLong);

private:
  class State;
  struct Arena;

  void ask(int32_t numThreads, int32_t count);

  /// Of the helpers, too: they may look for work when this thread has ended.
  State *state;
  std::unique_ptr<Arena> arena;
  std::chrono::steady_clock::time_point lastEnd;
};

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_HELPERS_H
