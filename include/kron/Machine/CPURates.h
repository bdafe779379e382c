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
  /// Bytes of segments from which on a copy in the first-level cache pays for
  /// narrow vectors, whose register tiles load the input more often.
  int64_t narrowPackedBytes = 256;
  /// Bytes of rows, times lanes, that are put in lanes whatever their number;
  /// how many times as fast that has to look for longer rows.
  int64_t mostBytesOfRowsInLanes = 1 << 12;
  double rowsInLanesGain = 1.1;
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
  /// those in place of one on a short axis that is no power of two; and how
  /// many times as fast two fused regions with columns outside have to look.
  double transposedElementSlots = 1.5, oddGroupSlots = 2;
  double columnsOutsideGain = 1.05;
  /// Multiply-adds of two units with a latency of four cycles.
  int64_t fmasInFlight = 8;
  /// How many times as fast a chain of sparse factors has to look with some of
  /// them multiplied with each other; how much longer than their estimates the
  /// small fused regions take that make the weights of a product; and what it
  /// takes to copy an element of weights to where the product has it, by a loop
  /// of scalars (docs/notes/0043).
  double multipliedGain = 1.1, smallRegionFactor = 1.5;
  double arrangedElementSeconds = 1e-9;
  /// Rows that chains of an unknown number are estimated with.
  int64_t multipliedRows = 8192;
  /// Estimates: multiply-adds of bf16 that matrix tiles do in a cycle, 16 x 16
  /// x 32 in 16.
  double matrixTileFmas = 512;
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
  /// Of squares made of products: rows of register tiles with vectors of 256
  /// bits and fewer, and positions of K that are packed at a time, of all rows
  /// of a block.
  int64_t narrowProductRows = 6, pairProductPositions = 1024;
  /// Of kron.pairwise_apply: columns up to which sums have lanes along N, for
  /// each lane; rows of a block with more columns, columns at a time, and
  /// register tiles along N whose values are in scratch.
  double pairLaneColumns = 0.75;
  int64_t pairApplyRows = 128;
  int64_t pairColumnBlock = 256, pairScratchTiles = 8;
  /// Of kron.pairwise_grad: positions of K that are packed for all register
  /// tiles whose values are in scratch, and outputs whose factors are.
  int64_t pairGradPositions = 128, pairOutputs = 32;

  // Tiles.
  /// Bytes of every row that tiles of columns take, at least: one cache line at
  /// a time was measured to be much slower, whatever the width of vectors.
  int64_t columnSegmentBytes = 128;
  /// Bytes apart at which columns of a slice would fall on the same sets, for
  /// at least so many positions of an axis.
  int64_t aliasBytes = 4096, aliasedPositions = 64;
  /// Bytes that lanes run over in a tile of a single factor. Up to so many
  /// columns are one tile of a size that is known; 64, 128 and 256 columns of
  /// f32 were measured to be equally fast. A quarter of that is better from so
  /// large a K on, where rows do not start at vectors or where they do.
  int64_t tileColumnBytes = 1024, cutRaggedK = 64, cutFullK = 256;
  /// N and columns up to which tiles of a single vector are better.
  int64_t mostSingleVectorResults = 8, mostSingleVectorColumns = 256;
  /// N between which multiply-adds do not hide what columns that lie as rows
  /// take.
  int64_t leastBoundResults = 32, mostBoundResults = 48;
  /// Rows of a tile of one factor, a multiple of the fewest: register tiles
  /// have four or six. The fewest are best for so many blocks side by side in
  /// rows of so many bytes.
  int64_t leastTileRows = 12, mostTileRows = 48;
  int64_t manyBlocks = 16, longRowBytes = 4096;
  /// Rows of a tile that a processor follows, in input and results, from one of
  /// several blocks that lie side by side in them to the next; issue slots that
  /// a line from memory takes more where rows are more; and those that a tile
  /// takes beside its factor.
  int64_t followedRows = 8;
  double lostLineSlots = 18, tileSlots = 64;
  /// Rows of more bytes are not small; large ones leave threads so many tiles
  /// if a row has so many fibres for each element of a factor.
  int64_t mostSmallRowBytes = 1 << 13, leastTiles = 16, manyFibres = 64;
  /// Bytes of a position up to which tiles take two blocks of matrix tiles.
  int64_t mostAmxPositionBytes = 8192;
  /// In multiply-adds of vectors: what loads and stores of vectors that start
  /// anywhere and cross cache lines take more, what those of a step take more
  /// whose arrays lie in the second-level cache, and a shuffle beside a
  /// multiply-add; a store of a part of a vector, and what one of a whole
  /// vector of 256 bits takes more than one of 512 bits does. Arrays that crowd
  /// the second-level cache take `fullCacheSlots` for a vector that comes or
  /// goes, and loops of a step of its own `ownLoopSlots` for each.
  double unalignedSlots = 0.75, secondLevelSlots = 4, shuffleCost = 0.5;
  double fullCacheSlots = 6, ownLoopSlots = 0.25;
  double storedPartSlots = 2, narrowStoreSlots = 1;
  /// Of a processor that splits vectors of 512 bits, in multiply-adds of these:
  /// what fibres of half a vector take by way of memory, beside two shuffles;
  /// a vector of the input or the result; transposing it, for rows in lanes,
  /// with wide vectors and with narrow ones; the share of stores of parts that
  /// multiply-adds do not hide; and what loading elements of a factor takes of
  /// each multiply-add of narrow vectors or of rows in lanes, the latter if
  /// these are a single narrow vector.
  double splitShuffleSlots = 3.5, wideMoveSlots = 0.8;
  double wideTransposingSlots = 4, narrowTransposingSlots = 3.25;
  double splitPartShare = 0.5;
  double narrowBroadcastSlots = 0.1, singleBroadcastSlots = 0.25;
  /// How many times as fast narrow vectors have to look along rows.
  double narrowVectorsGain = 1.05;
  /// Multiply-adds of vectors that making pairs of bf16 of an element takes as
  /// long as.
  double pairCopySlots = 2;

  // Chains of sparse factors.
  /// Rows of a tile: more do not make the products faster, fewer make them
  /// slower; rows, or columns with the batch last, with which one fused region
  /// still is faster than several.
  int64_t mostChainRows = 64, leastChainRows = 32;
  int64_t fewestChainRows = 16, fewestChainColumns = 32;
  /// Multiply-adds per byte that is not written, beyond which tiles of one
  /// factor, which are made for that alone, were measured to be as fast or
  /// faster. With the batch last those load whole rows of a cache line per
  /// feature.
  int64_t mostFmasPerByte = 128, mostFmasPerByteLast = 8;
  /// Bytes of segments that are contiguous enough, and bytes of factors that
  /// are read anew for each byte that is not written, fetched and read.
  int64_t leastChainSegmentBytes = 128, savedPerFactorByte = 6;

  // Forms of steps.
  /// Cost of a register tile's block, of which each further kind adds one: that
  /// is code of its own, worth it only for a clear win.
  int64_t costOfOneKind = 19;
  /// Rows up to which a factor is used as it lies, since packing it would cost
  /// more than the product; fewer of them pay for what the k mapping takes to
  /// add up its results where rows of the factor are short, or a period of more
  /// than so many vectors.
  int64_t skinnyM = 8, skinnierM = 4, shortPeriod = 5;
  /// In multiply-adds of vectors: adding up the lanes of a result along p.
  double laneSumSlots = 2.3;
  /// Positions of the axis outside of few rows, at least, that lanes run over
  /// together with these.
  int64_t leastRepeatedLanes = 4;
  /// K and N, and positions of what matrix tiles (AMX) run over, that do not
  /// leave most of a tile empty, and fewer positions that pay where rows of a
  /// factor are packed as they lie; elements from one p to the next, at most,
  /// for rows of a tile that are picked; blocks that the factor is read for
  /// once, at most; and elements of an axis from which on transposing a factor
  /// is faster than picking its elements.
  int64_t leastAmxK = 24, leastAmxResults = 12, leastAmxPositions = 12;
  int64_t fewAmxPositions = 4;
  int64_t mostAmxStride = 8, mostAmxBlocks = 4, leastTransposed = 16;
  /// K and N of a factor that is packed since its elements lie so many bytes
  /// apart, or far apart along p, and vectors that it is broadcast for.
  int64_t leastPackedSize = 8, apartBytes = 32, leastBroadcastVectors = 4;
  /// Vectors and rows of a register tile of a panel, and rows where panel and
  /// input would share sets of the first-level cache.
  int64_t panelVectors = 4, panelRows = 6, fewPanelRows = 4;
  /// K, and blocks of q, from which on rows of X are copied to panels; and
  /// blocks from which on those are that a single factor may prefetch, unless
  /// they share sets of a cache.
  int64_t leastCopiedK = 8, leastCopiedBlocks = 4, leastFarBlocks = 8;
  /// K from which on rows share a vector of the q that fill none, and vectors
  /// beside which that is little.
  int64_t leastSharedK = 4, mostVectorsBesideShared = 4;
  /// K from which on lanes at the end of an axis are taken in groups, the most
  /// times that all rows go by anew for that, and slots that have to remain of
  /// so many.
  int64_t leastGroupedK = 4, mostGroupedTurns = 2;
  int64_t groupedSlots = 15, groupedSlotsOf = 16;
  /// Bytes of a store that takes one of two slots of a cycle, less take both.
  int64_t wholeStoreBytes = 8;
  /// Rows of X that a register tile follows at once where lanes run over q, and
  /// issue slots that a load of 512 bits takes more from the second-level
  /// cache; of fewer bits in proportion.
  int64_t mostFibreRows = 12;
  double farVectorSlots = 1.5;
  /// Issue slots that a load takes more from the second-level cache, and from
  /// beyond half of it, where register tiles go along an axis; those of packing
  /// an element of a factor, fewer where it is converted to a copy either way;
  /// and of a vector of results whose line comes late.
  double alongLoadSlots = 3, farLoadSlots = 12, packedElementSlots = 3;
  double movedElementSlots = 1, lostStoreSlots = 40;
  /// Issue slots of packing a group of elements that one load and store takes;
  /// and how many times as fast lanes that are left empty have to look beside
  /// groups.
  double packedGroupSlots = 2.5, leftGroupsGain = 1.05;
  /// Issue slots that a register tile takes for each row of results, of more
  /// than `linesInFlight`, that it stores to, beside those of the stores: a row
  /// lies in a page of its own, and the line at its end is stored to again only
  /// when all others were. Such stores delay multiply-adds, of which so many
  /// more hide each other's latency.
  double resultRowSlots = 12;
  int64_t delayedFmas = 2;
  /// Rows of a register tile that has all q, so that X is read only once.
  int64_t leastRowsOfAll = 3, mostRowsOfAll = 6;
  /// Vectors that share a shuffle which repeats a group, and accumulators
  /// beside the registers that say how, and what is repeated.
  int64_t vectorsOfShuffle = 4, mostShuffled = 22;
  /// Bytes of segments of rows that are taken through the factor before the
  /// next rows.
  int64_t segmentBytes = 256;
  /// Bytes that a factor from beyond the second-level cache is prefetched ahead
  /// of the loads of each q.
  int64_t factorAheadBytes = 1 << 14;
  /// Bytes of an array of which a core's share of a third-level cache holds
  /// little, so that it comes from memory.
  int64_t memoryBytes = 1 << 24;
  /// Rows of a tile that pay for packing a factor once for each of them.
  int64_t rowsOfPackedTiles = 256;
  /// Weights per element that is transposed for lanes over p, or from which on
  /// a short innermost axis that a factor depends on moves outside of narrow
  /// vectors; for others, size of a factor and rows from which on it does.
  int64_t weightsOfMovedRows = 20, movedGroupsSize = 96, movedGroupsRows = 128;
};

inline constexpr CPURates kCPURates;

} // namespace mlir::kron

#endif // KRON_MACHINE_CPURATES_H
