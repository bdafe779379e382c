//===- Fork.cpp - What a child process is without -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Fork.h"

#include <pthread.h>

using namespace kron::detail;

std::atomic<int32_t> kron::detail::numForks{0};

/// Never destroyed: threads may load libraries when the process ends.
/// Recursive, since what a library does when it is loaded may fork.
static std::recursive_mutex *&getLoadMutex() {
  static auto *mutex = new std::recursive_mutex;
  return mutex;
}

LoadGuard::LoadGuard() : lock(*getLoadMutex()) {}

/// When the library is loaded, not when something starts: another thread may
/// fork at that very moment. The child has a mutex of its own: a recursive one
/// is unlocked by nobody but the thread of the parent.
[[maybe_unused]] static const int registered = pthread_atfork(
    [] { getLoadMutex()->lock(); }, [] { getLoadMutex()->unlock(); },
    [] {
      getLoadMutex() = new std::recursive_mutex;
      numForks.fetch_add(1);
    });
