//===- GPUSplits.h - Products that are faster in several launches ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Sizes of products by sparse factors from which on copies of their arrays, or
// several launches, are faster than one kernel on arrays as they lie, and how
// large the parts are. Measured on an H200 (docs/notes, 0063 and 0064); those
// that follow from SMs, bandwidth or the time of a launch are scaled to other
// GPUs. Sides are rows and columns of a group's weights, t is the position
// along the innermost axis that they vary on.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_GPUSPLITS_H
#define KRON_MACHINE_GPUSPLITS_H

#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

/// Weights that are copied, and groups that cuBLAS takes.
struct WeightSplits {
  /// On a GPU, weights that are read again and again, in segments shorter than
  /// so many bytes because they are used as T, are transposed once, if they are
  /// more bytes than an SM keeps, for at most so many rows.
  int64_t shortSegmentBytes = 32, keptBytes = 128 * 1024, fewRows = 256;
  /// Side from which on products of 16-bit types take so long that cuBLAS is
  /// faster, copies included.
  int64_t hugeSide = 512;
  /// Side from which on products take longer than the copies of the arrays, and
  /// rows for which one more copy or launch does not matter.
  int64_t largeSide = 128, manyRows = 4096;
  /// Groups that are launches of their own, and the weights of a group for
  /// which neither that nor a copy matters.
  int64_t mostGroups = 64, manyOfGroup = 1 << 18;
  /// The same of 16-bit types: a side beside a longer one, and weights of one
  /// group, of one t and of two.
  int64_t side16Bit = 96, area16Bit = 1 << 14, areaOfTwo16Bit = 1 << 15;
  /// Bytes of X and Y of one t from which on it is worth a launch: of types for
  /// which cuBLAS is faster, and of f32.
  int64_t launchBytes16Bit = 100'000'000, launchBytes = 500'000'000;
  /// Weights of one t and group from which on one kernel for all t has more
  /// than one block of results, whatever their shape.
  int64_t manyOfT = 1 << 15;
  /// Weights, of all groups or of one, whose single elements tiles read so
  /// often that a copy is worth it.
  int64_t manyWeights = 1 << 20;
  /// Launches that slices of N may take, the size N that wgmma takes and is
  /// faster at, and rows that keep the SMs busy in each of them.
  int64_t mostSlices = 16, mostOfSlice = 256, leastOfSlice = 192;
  int64_t rowsOfSlice = 16384;
};

/// Products of several t side by side, each on copies of its own.
struct ProductSplits {
  /// Bytes of the copies of a block of rows, rows that are enough for all SMs,
  /// and what they are a multiple of.
  int64_t blockBytes = 512 * 1024 * 1024, fewestRows = 4096, rowUnit = 128;
  /// Rows for which copies and their launches do not matter, of `several` t or
  /// more and of fewer.
  int64_t leastRows = 1024, leastRowsOfFew = 4096, several = 6;
  /// Of a size N in between, in f32, tiles of one kernel take half, or leave as
  /// many places empty.
  int64_t unevenResults = 96, evenResults = 128;
};

/// From how many t, multiply-adds for each element of X and Y, and size K on
/// copies are worth it: as one kernel, operands of many products leave room for
/// a small N, and of a large K for few rows.
struct SplitThreshold {
  int64_t products, work, sizeK;
};
/// Of 16-bit types, of f32, and of f32 with N between unevenResults and
/// evenResults.
inline constexpr SplitThreshold k16BitSplits[] = {{16, 75, 0},  {12, 75, 192},
                                                  {12, 128, 0}, {6, 100, 384},
                                                  {6, 150, 0},  {3, 150, 512}};
inline constexpr SplitThreshold kF32Splits[] = {
    {12, 75, 0}, {6, 95, 192}, {3, 200, 0}};
inline constexpr SplitThreshold kUnevenSplits[] = {
    {16, 48, 96}, {8, 64, 192}, {6, 75, 384}};

/// Rows that are transposed so that small groups have the batch first.
struct RowSplits {
  /// Bytes of a row of a group that fill no chunk of 16 bytes, and groups from
  /// which on the whole row is long.
  int64_t narrowBytes = 8, manyGroups = 256;
  /// Rows for which copies and their launches do not matter.
  int64_t manyRows = 4096;
  /// Bytes of a block of rows with its results, unless it has fewer rows than
  /// `manyRows`.
  int64_t blockBytes = 192 * 1024 * 1024;
  /// Elements of X and of results per microsecond that kernels read and write
  /// where segments start anywhere, X once for each `tileResults` results of a
  /// group, and their multiply-adds; elements of both with all copies where
  /// they are transposed, and what their launches take (docs/notes, 0129, 0172,
  /// 0176).
  double inputs16Bit = 750e3, results16Bit = 250e3, transposed16Bit = 425e3;
  double inputsF32 = 450e3, resultsF32 = 210e3, transposedF32 = 210e3;
  double multiplyAdds16Bit = 165e6, multiplyAddsF32 = 25e6;
  /// Results per microsecond where a chunk has room for all d of two positions:
  /// warps store 32 results of all side by side, .094 parts of sectors each.
  /// Weights that are read one by one since their segments fill no chunks, and
  /// those that a transposed product reads apart, or copies (docs/notes/0217).
  double joinedResults = 570e3;
  double weights16Bit = 220e3, weightsF32 = 390e3, copiedWeights = 400e3;
  /// Elements of X and of results per microsecond of kernels that load both
  /// operands from memory to registers, wherever segments start, and
  /// multiply-adds of these (docs/notes/0183).
  double direct16Bit = 1200e3, directF32 = 750e3, directMultiplyAdds = 6e6;
  int64_t tileResults = 64;
  double launchMicroseconds = 10;
  /// Elements of the squares of a transposing copy per microsecond
  /// (docs/notes/0217).
  double squares16Bit = 850e3, squares = 600e3;
  /// How much less the copies have to take, and the fewest rows of a block.
  double gainFactor = 1.2;
  int64_t fewestRaggedRows = 1024;
  /// The same of a chain on padded copies: estimates of chains on arrays as
  /// they lie are low by up to two fifths (docs/notes, 0182).
  double paddedGainFactor = 1.1;
  /// The same of a chain whose neighbouring factors are multiplied with each
  /// other: estimates of kernels scatter by a fifth (docs/notes, 0216).
  double groupedGainFactor = 1.2;
};

/// Sums over the batch in pieces, which a second kernel adds up.
struct BatchSplits {
  /// Gradients by weights: threads that keep a GPU busy, the most pieces, and
  /// the fewest rows of one.
  int64_t busyThreads = int64_t(1) << 19, mostPieces = 64, leastRows = 16;
  /// Gradients by a bias: threads that keep a GPU busy, the fewest pieces and
  /// the most.
  int64_t biasBusyThreads = int64_t(1) << 17;
  int64_t biasLeastPieces = 32, biasMostPieces = 1024;
};

struct GPUSplits {
  WeightSplits weights;
  ProductSplits products;
  RowSplits rows;
  BatchSplits batch;
};

/// What is faster in several launches on `machine`.
GPUSplits getGPUSplits(const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MACHINE_GPUSPLITS_H
