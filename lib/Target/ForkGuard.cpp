//===- ForkGuard.cpp - Compiling while other threads fork -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/ForkGuard.h"
#include <condition_variable>
#include <mutex>
#include <pthread.h>

using namespace mlir::kron;

namespace {

/// Who has a guard, and who waits to fork.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int numGuarded = 0, numForking = 0;
};

} // namespace

/// Never destroyed: threads may compile when the process ends.
static Gate *gate = new Gate;

/// Guards of this thread.
static thread_local int depth = 0;

static void beforeFork() {
  std::unique_lock<std::mutex> lock(gate->mutex);
  ++gate->numForking;
  // A thread that forks while it compiles keeps what it has.
  int own = depth > 0;
  gate->changed.wait(lock, [&] { return gate->numGuarded == own; });
  // Held, so that none begins until there are two processes.
  lock.release();
}

static void afterForkInParent() {
  --gate->numForking;
  gate->mutex.unlock();
  gate->changed.notify_all();
}

/// Threads that waited at the gate are not here, so the child has a new one.
static void afterForkInChild() {
  gate = new Gate;
  gate->numGuarded = depth > 0;
}

/// When the library is loaded, not with the first guard: another thread may
/// fork at that very moment.
[[maybe_unused]] static const int registered =
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);

ForkGuard::ForkGuard() {
  if (depth++)
    return;
  std::unique_lock<std::mutex> lock(gate->mutex);
  // Otherwise threads that compile in turn would keep a fork waiting for ever.
  gate->changed.wait(lock, [] { return gate->numForking == 0; });
  ++gate->numGuarded;
}

ForkGuard::ForkGuard(std::try_to_lock_t) {
  std::lock_guard<std::mutex> lock(gate->mutex);
  isOwned = depth > 0 || gate->numForking == 0;
  if (isOwned && depth++ == 0)
    ++gate->numGuarded;
}

ForkGuard::~ForkGuard() {
  if (!isOwned || --depth)
    return;
  {
    std::lock_guard<std::mutex> lock(gate->mutex);
    --gate->numGuarded;
  }
  gate->changed.notify_all();
}
