//===- Pool.h - Memory of results that is used again ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A large result in new memory costs more than its computation: the system
// clears every page when it is first written, 0.5 ms per megabyte on a virtual
// machine. So the memory of results that the program has let go of is kept, up
// to a limit, for the next ones.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_POOL_H
#define KRON_PYTHON_POOL_H

#include <cstddef>

namespace kron::python {

struct Block {
  void *data = nullptr;
  size_t bytes = 0;
};

/// Results below this size are the tensor library's business.
constexpr size_t kPoolThreshold = size_t(1) << 20;

/// KRON_POOL_SIZE, if it is set to something that is no number of megabytes.
const char *getBadPoolSize();

/// A block of at least `bytes`, aligned to 4096; null data where there is no
/// memory or the pool is switched off.
Block takeBlock(size_t bytes);

/// Gives a block back; any thread may.
void returnBlock(Block block);

/// Gives all memory that is not in use to the system; returns its size.
size_t releaseMemory();

} // namespace kron::python

#endif // KRON_PYTHON_POOL_H
