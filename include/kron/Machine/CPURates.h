//===- CPURates.h - What kernels reach on a CPU -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What was measured of kernels rather than of a processor: sizes from which on
// one form of the code is faster than another. Planners read these and have no
// measured number of their own. They come from Zen 5, Sapphire Rapids and
// Cascade Lake, and stand for every processor, but that none asks for more of a
// cache than it has.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_CPURATES_H
#define KRON_MACHINE_CPURATES_H

#include <cstdint>

namespace mlir::kron {

struct CPURates {
  /// Elements that lanes run over at a time, at most, on axes that no factor
  /// contracts: longer ones are cut, unless that would leave lanes empty.
  int64_t mostInsideElements = 1024, fullInsideElements = 16;
  /// Elements between what a factor needs together that push each other out of
  /// the first-level cache; N from which on a copy is worth it for that, and N
  /// from which on it is even where they lie together in the second-level one.
  int64_t farElements = 512;
  int64_t packedResults = 12, packedNearResults = 64;
  /// Factors with a larger N than this fill vectors well enough, and of rows of
  /// more bytes, times lanes, fewer are a better tile than a register of them.
  int64_t mostResultsOfRowsInLanes = 12, mostBytesOfRowsInLanes = 1 << 12;
  /// f16 and bf16 are converted where they are loaded up to so many results per
  /// element of the input, and so many uses of an element of a factor.
  int64_t mostConvertingResults = 16, mostConvertingUses = 8;
  /// Slices of more bytes are cut again, into slices of up to the other number.
  int64_t mostSliceBytes = 1 << 14, cutSliceBytes = 1 << 13;
  /// What slices leave is read again from beyond the second-level cache, or
  /// from far away in it, if it takes so many bytes.
  int64_t farBytes = 1 << 20;
  /// Tiles in place of at most so many bytes in a row are read from where they
  /// lie.
  int64_t shortSegmentBytes = 256;
  /// Bytes of a tile that may be prefetched beside the one that is computed.
  int64_t mostPrefetchedBytes = 1 << 18;
  /// A window of so many segments and fewer bytes than this is prefetched two
  /// windows ahead.
  int64_t manySegments = 12, smallWindowBytes = 1 << 13;
  /// Lines that are on their way from memory to a core at once, and that its
  /// non-temporal stores collect.
  int64_t linesInFlight = 32, writeBuffers = 12;
  /// K up to which a single factor waits for its stores.
  int64_t mostStoreBoundK = 16;
  /// Bytes of blocks of results in a row, of a copy of a tile's results, the
  /// same of whole columns (measured up to 44 KB), and of a copy that is better
  /// even where results could be stored directly.
  int64_t mostBlockBytes = 1 << 14;
  int64_t mostStagedBytes = 1 << 15, mostStagedColumnsBytes = 1 << 16;
  int64_t smallStagedBytes = 1 << 13;
  /// Bytes of the first two caches that steps may take, with the sets of the
  /// first one, which span a page, the lines of a set that stay there beside
  /// others, and pages whose addresses stay translated.
  int64_t stepL1Bytes = 1 << 15, stepL2Bytes = 1 << 18;
  int64_t l1Sets = 64, l1Ways = 8, pages = 32;
  /// Multiply-adds of vectors that transposing an element takes as long as, and
  /// those in place of one on a short axis that is no power of two; and how many
  /// times as fast two fused regions with columns outside have to look.
  double transposedElementSlots = 1.5, oddGroupSlots = 2;
  double columnsOutsideGain = 1.05;
  /// Multiply-adds of two units with a latency of four cycles.
  int64_t fmasInFlight = 8;
  /// Of kron.pairwise: rows and vectors of register tiles, with vectors of 512
  /// bits and narrower ones, and the same of long functions of a pair, which
  /// need registers themselves; rows that go through a packed part of B; the
  /// part of the second-level cache that this has, one of so many, and its
  /// positions of K at most.
  int64_t pairRows = 8, pairVectors = 3;
  int64_t narrowPairRows = 4, narrowPairVectors = 2;
  int64_t longPairRows = 4, longPairVectors = 2;
  int64_t narrowLongPairRows = 2, narrowLongPairVectors = 2;
  int64_t pairBlockRows = 256;
  int64_t pairCacheShare = 4, mostPairPositions = 4096;
  /// Multiply-adds below which a range of tiles is not worth a thread.
  int64_t threadFmas = 1 << 16;
};

inline constexpr CPURates kCPURates;

} // namespace mlir::kron

#endif // KRON_MACHINE_CPURATES_H
