//===- Fork.cpp - What a child process is without -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Fork.h"

#include <pthread.h>

std::atomic<int32_t> kron::detail::numForks{0};

/// When the library is loaded, not when something starts: another thread may
/// fork at that very moment.
[[maybe_unused]] static const int registered = pthread_atfork(
    nullptr, nullptr, [] { kron::detail::numForks.fetch_add(1); });
