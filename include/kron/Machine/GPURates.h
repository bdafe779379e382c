//===- GPURates.h - What kernels reach on a GPU -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What was measured of kernels rather than of the GPU: which part of its rates
// each kind reaches, what they wait for, and sizes from which on one form is
// faster than another. Planners read these and have no measured number of their
// own. Bytes are per SM unless stated otherwise; shares are parts of a rate
// (times divided by them grow); factors multiply a time.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_GPURATES_H
#define KRON_MACHINE_GPURATES_H

#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

/// Of resources that the description of a GPU has no rate of.
struct ResourceRates {
  /// Bytes per clock of an SM of the second-level cache, which all SMs read: 8
  /// TB/s on an H200. It follows SMs and clock, whatever memory is behind it.
  double cacheBytesPerClock = 30.6;
  /// Multiply-adds of integers per one of f32 (docs/notes/0124).
  double i32Share = 0.5, i64Share = 0.1;
};

/// Tiles of whole fibres: `simt`, `ffma`, `dmma`, `batched`, `mma`, `wgmma`.
/// From hand-written kernels on an H200.
struct DenseRates {
  /// Of an instruction's measured rate.
  double issueShare = 0.87;
  /// Of the copy rate: with one CTA per SM, with several.
  double aloneCopyShare = 0.87, copyShare = 0.91;
  /// The same of f64 octets by `batched`, or with large tile footprints.
  double octetCopyShare = 0.78;
  /// Bytes of a tile footprint of f64 octets that several CTAs of an SM hold.
  int64_t smallOctetFootprintBytes = 32 * 1024;
  /// Of the copy rate: segments of 64 bytes, of 32, and of 32 where tiles of
  /// factors of more than 16 rows or columns fill shared memory.
  double halfLineShare = 0.9, sectorShare = 0.75, fullTileSectorShare = 0.42;
  /// Bytes per clock that an SM reads of another one's shared memory in a
  /// cluster, and seconds of a barrier of both.
  double remoteBytesPerClock = 18;
  double clusterBarrierSeconds = 0.25e-6;
  /// Clocks of a tile at least: 142,000 of a CTA, of 24 bytes, took 58 ms.
  double leastTileClocks = 720;
  /// Clocks from the loads of a warp's block to its results in shared memory,
  /// by `mma`: of a block, and of each matrix product of 8 positions on K.
  double blockClocks = 300, blockStepClocks = 40;
  /// Clocks of an SM for a copy of less than 16 bytes.
  double clocksPerNarrowCopy = 0.6;
  /// Of their time, what other work of `mma` with columns does not hide, and
  /// other CTAs of `ffma` where rows of a transposed input are neighbours.
  double columnsNarrowShare = 0.5, turnedNarrowShare = 0.2;
  /// Multiply-adds per clock of an SM by `simt` where 32 lanes have 32
  /// different factors, each in lines of its own (1024,28,4,1).
  double gatheredMultiplyAddsPerClock = 1.7;
  /// Part of the time on chip that the memory's time does not hide, with
  /// several CTAs per SM; with many barriers (`batched`, more than 6 factors);
  /// by `ffma` of f64; by `ffma` with narrow copies.
  double exposedShare = 0.75, barrierExposedShare = 1.2;
  double f64ExposedShare = 1.3, narrowExposedShare = 1.0;
  /// By `ffma` of axes of different sizes: the most that idle threads add.
  double idleThreads = 0.4;
};

/// `simt`, whose plan follows from these: clocks of an SM. They fit 339 runs of
/// random products on an H200 (docs/notes/0205) to 30 % (root mean square of
/// the logarithm); copies, waits and steps lie between these and 81 later
/// ones (0222).
struct SimtRates {
  /// Of an instruction's measured rate.
  double issueShare = 0.87;
  /// What a load of a factor in global memory takes, by one from shared memory;
  /// of one that differs from lane to lane.
  double globalFactor = 2.2, variedFactor = 4;
  /// Of what the second-level cache delivers, of factors and data.
  double cacheShare = 0.784;
  /// Waiting for what some steps of k load, from shared and global memory.
  double sharedWait = 50, globalWait = 450;
  /// An element on its way in or out, and one that is stored from registers.
  double copyClocks = 0.25, storeClocks = 0.05;
  /// From a thread's loads of some elements of a tile until they are in shared
  /// memory.
  double loadWait = 1200;
  /// A step's barrier, addresses and first loads.
  double stepClocks = 600;
  /// What memory, or the SMs, do not hide of each other with many CTAs; one CTA
  /// hides nothing.
  double exposed = 0.3;
  /// Parts of sectors per clock whose rest another CTA stores, or the same one
  /// soon.
  double edgePartsPerClock = 0.15, joinedPartsPerClock = 0.4;
  /// Registers of a thread beside what it multiplies, and for where a fibre is.
  int64_t baseRegisters = 40, fibreRegisters = 4;
};

/// Launches of `simt` that load data directly: clocks of an SM. They fit 153
/// runs on an H200, half of them of plans by hand, to 27 % (docs/notes/0222).
struct DirectRates {
  /// From a thread's loads of some steps of k to their use, with others under
  /// way.
  double wait = 450;
  /// Lines of a load beside the first one.
  double lineClocks = 0.25;
  /// A result of each lane of a warp; the start of a tile.
  double storeClocks = 1, startClocks = 200;
  /// Of the instructions that schedulers issue, the ones that load, convert and
  /// multiply: the others work out addresses, and what exists.
  double issueShare = 0.45;
  /// What loads hide of multiply-adds, or the reverse, with as many warps.
  double overlap = 0.9, overlapWarps = 16;
  /// What memory, or the SMs, do not hide of each other.
  double exposed = 0.2;
  /// Of what parts of sectors take elsewhere, where a thread stores the results
  /// of a fibre one after the other: these fill the rest of most.
  double nextPartFactor = 0.5;
};

/// Parts of an instruction's rate that factors which do not suit a kernel of
/// whole fibres leave it, and accesses to shared memory. As above.
struct DenseFactorRates {
  /// Multiply-adds by `batched`, of f64 with at most 8 rows and columns; by
  /// `ffma` with more than 8.
  double batchedShare = 0.5, batchedF64Share = 0.45, ffmaLargeShare = 0.35;
  /// `mma` with factors of more than 16, more than 64 rows or columns, which
  /// registers do not hold.
  double mmaStreamedShare = 0.62, mmaLargeStreamedShare = 0.4;
  /// Accesses per element of the tile by `mma`: with such factors, with such
  /// factors of ragged sizes; a factor for other ones of ragged sizes.
  double mmaStreamedAccesses = 14, mmaRaggedStreamedAccesses = 21;
  double mmaRaggedFactor = 2.2;
  /// Elements per clock of an SM of factors that `mma` loads from the
  /// second-level cache for every block of fibres, since registers do not hold
  /// them, or for every tile, since they do not hold those of all steps.
  double mmaStreamedElementsPerClock = 1.7;
};

/// Tiles of f64 by `mma`: clocks of a CTA. They fit 57 plans of 21 random
/// regions on an H200 (docs/notes/0223) to 11 % (root mean square of the
/// logarithm).
struct MmaTileRates {
  /// Of a tile's barriers, and of a block from its first load to its results,
  /// beside its products.
  double tileClocks = 634, blockClocks = 107;
  /// Of a thread for each element that is stored alone, and arrives so.
  double storeClocks = 103;
  /// From the copies of a CTA's only tile to their arrival, beside their bytes.
  double loadClocks = 700;
  /// Part of what a CTA takes alone that others of its SM do not hide.
  double exposedShare = 0.41;
  /// A tile of so many at least that a CTA takes is loaded and stored while
  /// nothing else is: fewer tiles than SMs have more of the bandwidth each.
  double leastWaves = 4;
  /// Registers of a thread beside those of factors: addresses, sums, operands;
  /// and as many more for a second tile of fibres.
  int64_t otherRegisters = 84, fibreRegisters = 36;
};

/// Tiles of a sparse factor without others, as `kron-fuse` estimates them.
struct SparseEstimateRates {
  /// Of the matrix instruction's rate, also by warpgroups in f32, whose three
  /// products share operands, and of the copy rate.
  double issueShare = 0.5, splitWarpgroupShare = 0.85, copyShare = 0.75;
  /// Of f64, whose operands are registers as loads bring them: of its
  /// instruction's rate where tiles are not known, and of what the second-level
  /// cache delivers.
  double f64IssueShare = 0.75, f64CacheShare = 0.87;
  /// Of tiles of f64 that are known: the part of their operands' loads from
  /// shared memory that its instructions do not hide, clocks of a K step's
  /// barrier and first loads, and the part of the shorter one of memory's and
  /// the SMs' time that a single warp group leaves: several leave as little as
  /// there are. 25 plans on an H200 are within 16 % (docs/notes/0227).
  double f64OperandExposedShare = 0.5, f64StepClocks = 300,
         f64StoreExposedShare = 0.5;
  /// Results that a tile has for each row that it reads.
  double resultsPerTile = 64;
  /// Of what the second-level cache delivers, and the part of its time that
  /// matrix instructions of f64, which take long, do not hide where tiles are
  /// not known.
  double cacheShare = 0.671, f64CacheExposedShare = 0.5;
  /// Part of the memory's time that nothing hides.
  double exposedShare = 0.1;
};

/// Products of cuBLAS 13 on an H200.
struct CublasRates {
  /// Of the best instruction's rate, and of that where rows of elements for
  /// tensor cores of 16 bits or TF32, of operands or results, are not multiples
  /// of 16 bytes.
  double issueShare = 0.8, unalignedShare = 0.22;
  /// The same of rows of f64 that are sums, and of those that are not multiples
  /// of 16 bytes (docs/notes/0211).
  double f64RowShare = 0.5, f64UnalignedRowShare = 0.42;
  /// The same of other f64 that are not multiples of 16 bytes.
  double f64UnalignedShare = 0.62;
  /// How much longer a product takes that stores segments which are not.
  double unalignedStoreFactor = 1.3;
  /// How much longer it takes where groups of many bytes of results, of a K
  /// that does not hide that, start within sectors, which other kernels fill.
  double partSectorFactor = 1.7;
  int64_t longGroupBytes = 512, shortK = 128;
  /// Part of the shorter one of memory's and arithmetic's time that the longer
  /// one does not hide.
  double exposedShare = 0.5;
  /// How much longer products beside each other keep memory busy than one.
  double batchFactor = 1.2;
  /// Estimates of other kernels, which measure up to 1.2 times as fast as they
  /// are taken for, are beaten only by so much less; those of more bytes than
  /// this takes measure as they are taken for, or slower, but for three TF32
  /// products.
  double handicapFactor = 1.15, longSeconds = 200e-6;
  /// The same of groups by three TF32 products, whose kernels measure 1.6 times
  /// as fast.
  double splitGroupsFactor = 1.7;
  /// What a call takes of the CPU, of elements of 8 bytes and more, too, where
  /// a launch takes 4 us: shorter products wait for it.
  double callSeconds = 10e-6, wideCallSeconds = 16e-6;
  /// Rows from which on it is called where their number is not known before:
  /// fewer than a matrix instruction takes have kernels of their own, which are
  /// as fast as the factor can be read.
  int64_t leastRows = 16;
};

/// How much longer kernels take than the cost model says, which knows little of
/// segments that start anywhere: what cuBLAS is compared with. Measured on an
/// H200 (docs/notes, 0129).
struct RaggedRates {
  /// Sums over rows of `leastK` elements of f32 and more that are no multiples
  /// of 16 bytes.
  double f32Factor = 1.4;
  int64_t leastK = 64;
  /// Columns of less than a line of 128 bytes, but of `sparse`.
  double columnsFactor = 1.3;
  /// Clocks of an SM for a single element of 16 bits: results of `sparse`
  /// (130e9 a second on an H200), and others (250e9).
  double clocksPerSparseResult16Bit = 2.01, clocksPerElement16Bit = 1.045;
  /// The same of dense tiles: loaded one by one through registers, and stored
  /// one by one; put in order in shared memory where a tile was copied as it
  /// lies, and results that go through it.
  double clocksPerLoad16Bit = 0.2, clocksPerStore16Bit = 0.44,
         clocksPerSpread16Bit = 0.13, clocksPerSharedStore16Bit = 0.13;
  /// The same of loads whose neighbours are apart in shared memory, several
  /// to a bank.
  double clocksPerTurnedLoad16Bit = 0.5;
  /// Warps of an SM that these take.
  double dense16BitWarps = 16;
};

/// Chains of sparse factors, fitted to measurements on an H200, most to within
/// a fifth.
struct ChainRates {
  /// Of the matrix instructions' rate, and of the copy rate.
  double issueShare = 0.5, copyShare = 0.75;
  /// Of what the second-level cache delivers.
  double cacheShare = 0.687;
  /// What a K step waits for its data and for other warps, and how much of that
  /// other warp groups cannot use.
  double stepSeconds = 0.5e-6, exposedStepShare = 0.35;
  /// Part of the memory's time that nothing hides.
  double exposedShare = 0.1;
  /// Clocks of an SM to hand a value on to the next chain step, and to quantize
  /// one to 8 bits.
  double handOnClocks = 0.2, quantizeClocks = 0.1;
  /// Kernels of one factor: shares of the rates of instructions and of copies,
  /// how much of the shorter one the longer one does not hide, and how long a
  /// kernel takes to begin and to end.
  double aloneIssueShare = 0.5, aloneCopyShare = 0.78;
  double aloneExposedShare = 0.3, aloneSeconds = 3.5e-6;
  /// Multiply-adds, in bytes of the second-level cache's traffic: of 16-bit
  /// types, of others.
  double multiplyAddsPerByte16Bit = 10, multiplyAddsPerByte = 1.7;
  /// With quantized rows behind one factor: fewer rows than that are faster in
  /// two kernels; and what kernels of one factor of f32, which may multiply by
  /// warpgroups, take of the time that is estimated for them.
  int64_t leastQuantizedRows = 2048;
  double warpgroupFactor = 0.87;
};

/// Tiles of one sparse factor by `mma.sync`, fitted to measurements on an H200.
struct SparseRates {
  /// Bytes that should be under way to an SM.
  int64_t bytesUnderWay = 64 * 1024;
  /// Bytes that stay in the second-level cache of the GPU until all CTAs have
  /// read them.
  int64_t cachedBytes = 12 * 1024 * 1024;
  /// Tiles that read the same lines and come one after the other: one of them
  /// that falls behind finds the lines in the cache, and catches up.
  int64_t mostSharers = 32;
  /// Bytes of contiguous segments that the second-level cache delivers at its
  /// full rate.
  int64_t segmentBytes = 64;
  /// Of what the second-level cache delivers.
  double cacheShare = 0.687;
  /// How much longer tiles take: one CTA's that keeps the factor; such of pairs
  /// of 16-bit values along rows, of a large K; small ones of these in warp
  /// groups.
  double aloneFactor = 1.95, alonePairsFactor = 0.95, smallPairsFactor = 1.2;
  /// K from which on a tile's products take longer than its copies.
  int64_t largeK = 128;
  /// Blocks of results for which X may be read again before warp groups, which
  /// keep more of the factor, are better in spite of partial sums.
  int64_t fewBlocks = 4;
  /// How much longer the SM with the most tiles may take without counting.
  double idleFactor = 1.1;
  /// Parts of sectors that stores of an SM fill per clock (docs/notes, 0161).
  double partSectorsPerClock = 0.23;
  /// Clocks of an SM for making a chunk of 16 bytes of what whole copies
  /// brought: of f32 single copies are as fast (docs/notes, 0172).
  double clocksPerChunk = 2;
  /// Clocks of an SM for an asynchronous copy of an element of a factor whose
  /// neighbours are apart in memory (docs/notes/0217).
  double clocksPerApartCopy = 3;
  /// K, and tiles of each warp group, from which on putting pairs of a factor
  /// of 16-bit values in order is worth it.
  int64_t leastPairedK = 128, leastPairedTiles = 4;
};

/// The same by warpgroups: where they are faster than `mma.sync`.
struct SparseWgmmaRates {
  /// Results of a tile, unless there are fewer, for which X is worth reading.
  int64_t leastResults = 64;
  /// N, K and rows that are worth preparing the factor for.
  int64_t leastN = 48, leastK = 48, leastRows = 128;
  /// From the end of a K step's copies, in f32, until it can be multiplied.
  double copySeconds = 0.8e-6;
  /// Tiles for each SM: the factor has to be prepared first.
  int64_t tilesPerSM = 2;
  /// Bytes that should be under way; the least of 16-bit types.
  int64_t bytesUnderWay = 64 * 1024, leastBytesUnderWay = 24 * 1024;
  /// Results of groups of 16-bit values of a single product from which on
  /// warpgroups are faster, and their K at most.
  int64_t leastSingleResults = 256, mostSingleK = 128;
  /// K of 16-bit types, and of those in wide chunks, from which on X is read
  /// too often or too little is under way.
  int64_t most16BitK = 192, mostWideK = 384;
};

/// Gradients of sparse factors, fitted to measurements on an H200.
struct SparseGradRates {
  /// Of the copy rate: sums that are written, and read again by a launch of its
  /// own.
  double sumShare = 0.194;
  /// How much longer than at their full rates instructions and loads from
  /// shared memory take, and what a K step waits.
  double multiplyFactor = 1.3, loadFactor = 1.5;
  double stepSeconds = 0.1e-6;
  /// Bytes that should be under way to an SM.
  int64_t bytesUnderWay = 96 * 1024;
  /// Warps that keep an SM's matrix units busy.
  int64_t busyWarps = 8;
  /// How much longer products with packed operands of one column would take:
  /// those of few columns wait for each other.
  double oneColumnFactor = 10;
  /// Bytes of contiguous segments that the second-level cache delivers at its
  /// full rate: those of 32 bytes took twice as long.
  int64_t segmentBytes = 64;
  /// Time of a row: these parts of its longest piece of work and of all of
  /// them.
  double longestShare = 0.7, allShare = 0.3;
  /// What a further split-K piece, and a further form, have to save.
  double pieceFactor = 1.05, formShare = 0.99;
};

/// Small groups of a sparse factor.
struct SmallGroupsRates {
  /// Rows for which weights are worth keeping, and groups of which tiles would
  /// be too small; more groups where a tile is full of their results.
  int64_t leastRows = 1024, leastGroups = 16;
  int64_t fullTileResults = 64, leastFullGroups = 256;
  /// Of the copy rate, and of the instruction's rate.
  double copyShare = 0.85, issueShare = 0.5;
};

/// `batched`, of factors that are applied to fibres.
struct BatchedRates {
  /// Clocks of an SM in which a warp loads 16 bytes of a factor.
  double factorClocks = 2.25;
  /// Part of the shorter one of memory's time and that on chip which the longer
  /// one does not hide.
  double exposedShare = 0.1;
  /// Threads of an SM that wait as long as they compute; of more, less shows.
  double halfThreads = 100;
};

/// Tiles of warpgroups.
struct WgmmaRates {
  /// Rows or columns of the largest factor below which smaller instructions
  /// waste less.
  int64_t leastSide = 17;
  /// Bytes under way to an SM that keep memory busy; those that are with one
  /// buffer, whose next tile comes as far as the second-level cache, if it is
  /// refilled place by place or not; and how much longer tiles take with none.
  int64_t busyBytes = 64 * 1024;
  int64_t refilledBytes = 40 * 1024, singleBytes = 24 * 1024;
  double idleFactor = 1.6;
  /// Clocks that warpgroups which share a tile wait for each other.
  double barrierClocks = 170;
  /// Of the time of tiles of one warpgroup, what those of several have to be
  /// estimated at: most estimates are within a tenth of what is measured.
  double sharedShare = 0.9;
  /// Warps that keep an SM's matrix units busy.
  double busyWarps = 8;
  /// Clocks of an SM for an element that is read or written, for splitting it,
  /// and for what a row of a block takes beside (docs/notes, 0174).
  double elementClocks = 0.016, splitClocks = 0.03, rowClocks = 2.2;
  /// The same for a result that goes from a register to a part of a sector
  /// (docs/notes, 0182).
  double singleStoreClocks = 0.27;
  /// The same for a copy of less than 16 bytes, to a piece or to a whole tile,
  /// for a result that goes alone through shared memory, for the ends of such
  /// elements that are neighbours in memory, and for a copy of an element whose
  /// neighbours are apart in shared memory (docs/notes, 0221).
  double narrowCopyClocks = 0.13, wordClocks = 0.07, segmentClocks = 3;
  double turnedCopyClocks = 0.3;
  /// Part of the shorter one of memory's time and that on chip which the longer
  /// one does not hide.
  double exposedShare = 0.05;
  /// Of the rate of whole lines: segments of 64 bytes, with tiles that fill
  /// shared memory.
  double halfLineShare = 0.74;
};

struct GPURates {
  ResourceRates resources;
  DenseRates dense;
  SimtRates simt;
  DirectRates direct;
  DenseFactorRates denseFactors;
  MmaTileRates mmaTiles;
  SparseEstimateRates sparseEstimate;
  CublasRates cublas;
  RaggedRates ragged;
  ChainRates chain;
  SparseRates sparse;
  SparseWgmmaRates sparseWgmma;
  SparseGradRates sparseGrad;
  SmallGroupsRates smallGroups;
  BatchedRates batched;
  WgmmaRates wgmma;
};

/// What kernels reach on `machine`. No GPU but the H200 was measured so far,
/// and shares stand for all of them.
const GPURates &getGPURates(const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MACHINE_GPURATES_H
