//===- ThreadRates.h - Work that is worth sharing among threads -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// From which sizes on the threads of a CPU share an operation, and the blocks
// that they take: measured on a Zen 5 and an Emerald Rapids, for every CPU.
// Planners choose by these; sizes of code that has no plan are in
// ThreadForms.h.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_THREADRATES_H
#define KRON_MACHINE_THREADRATES_H

#include <cstdint>

namespace mlir::kron {

struct ThreadRates {
  /// One row of a fused region: bytes from which it is shared out, however many
  /// threads there are; multiply-adds from which that is worth it where there
  /// are threads for it: 8 us of one core, where handing shares to helpers
  /// takes about 1 us; and rows that may be too few for all threads.
  int64_t leastRowBytes = 1 << 20;
  uint64_t leastRowWork = 1 << 20;
  int64_t mostSharedRows = 2;
  /// Tiles of columns that may be too few for all threads.
  int64_t mostSharedTiles = 8;
  /// Threads for each tile from which on tiles are too few.
  int64_t idleThreads = 2;
  /// Gradients by weights: inner positions of a slice at most, whose sums stay
  /// in the cache, and at least, of a vector.
  int64_t gradientMostInner = 64, gradientLeastInner = 8;
  /// Elements of a result from which on blocks of many rows are better, unless
  /// so many of them are neighbours that a row needs much of the cache.
  int64_t gradientLargeElements = 1 << 15, gradientLongNeighbours = 8;
  /// Rows of one fused region: as many as stay in the cache, then what is left;
  /// and of a result of many elements, which each reads and writes.
  int64_t gradientBlockRows[3] = {64, 8, 1};
  int64_t gradientLargeBlockRows[3] = {128, 16, 1};
  /// Gradients by a bias: pieces that a register holds or threads share, the
  /// features from which on threads share these, and the batch below which
  /// pieces take longer than they save.
  int64_t biasPieces = 16, biasManyFeatures = 4096, biasSmallBatch = 256;
};
inline constexpr ThreadRates kThreadRates;

} // namespace mlir::kron

#endif // KRON_MACHINE_THREADRATES_H
