//===- GPUTiles.h - Sizes that tiles of a GPU should have -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What planners aim at where several sizes are possible: elements of a tile,
// bytes of a K step, threads of a CTA, pipeline stages. All are from trying
// kernels on an H200 (docs/notes, 0050 to 0069) and stand for every GPU. What
// a GPU has at most is in GPUMachine.h, what kernels reach in GPURates.h.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_GPUTILES_H
#define KRON_MACHINE_GPUTILES_H

#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

/// `simt`.
struct SimtTiles {
  /// Elements of a tile, at least, that plans are looked for with, each four
  /// times as many as the one before; and threads of a CTA.
  int64_t leastElements = 1024, mostElements = 16384;
  int64_t leastThreads = 128, mostThreads = 512;
  /// Bytes of factors in shared memory; larger ones stay where they are.
  int64_t factorBytes = 32 * 1024;
};

/// `ffma`.
struct FfmaTiles {
  /// Elements of a tile, if rows are smaller.
  int64_t elements = 4096;
  /// The most threads of a CTA that hold all the values that they can; and of
  /// an SM: more do not hide more, but have fewer registers.
  int64_t mostThreads = 512, residentThreads = 256;
  /// Results of a block where registers hold the values of more fibres, and
  /// registers of a thread with which they do, of values of 4 bytes.
  int64_t blockResults = 4, blockRegisters = 160;
};

/// `dmma`.
struct DmmaTiles {
  /// Elements of a CTA's tile, the most that it may have, and those of a tile
  /// that two CTAs share.
  int64_t elements = 4096, mostElements = 8192, sharedElements = 32768;
  /// Columns side by side: the most, and as few as save a fused region.
  int64_t mostColumns = 64, leastColumns = 8;
  /// Positions per existing one that tiles may reach over the ends of axes.
  double mostWaste = 1.25;
};

/// `batched`.
struct BatchedTiles {
  /// Bytes of items that a tile takes if nothing else decides, with planes in
  /// registers, and at most, without.
  int64_t planeBytes = 8 * 1024, mostFibreBytes = 40 * 1024;
  /// Registers of a thread that leave room for enough threads.
  int64_t mostRegisters = 168;
};

/// `mma`.
struct MmaTiles {
  /// Elements that a tile should have so that its barriers cost little, and
  /// bytes of a tile of the outermost axes and columns.
  int64_t elements = 4096, columnBytes = 32 * 1024;
  /// The same of rows that are neighbours: copies of so many take as long as a
  /// tile does at least. Of f64, 27 x 16 took 222 us, 27 x 144 326.
  int64_t turnedBytes = 4 * 1024;
  /// Pipeline stages where factors take many registers.
  int64_t mostStages = 3;
  /// Registers for sums with which two factors are one step.
  int64_t chainSums = 72;
};

/// `wgmma`.
struct WgmmaTiles {
  /// Positions of the contracted axis in a piece, and the most pipeline stages
  /// that are tried.
  int64_t pieceK = 32, mostStages = 8;
};

/// `sparse` by `mma.sync`.
struct SparseTiles {
  /// Bytes of data of a K step where two CTAs share an SM, and the least that
  /// it is shortened to.
  int64_t stepBytes = 16 * 1024, leastStepBytes = 2 * 1024;
  int64_t mostStages = 6;
  /// Shared memory that a factor may keep of so much of a CTA's.
  int64_t keptBytes = 144 * 1024, keptOfBytes = 224 * 1024;
  /// Rows of a tile beside a factor that is kept, and where rows are innermost.
  int64_t mostRows = 128, mostRowsAlong = 256;
  /// Tiles of 8 results of a warp of f64 at most.
  int64_t mostF64ResultTiles = 8;
  /// Bytes of a group of results from which on whole sectors are stored, of
  /// which a warp stores so many bytes at a time.
  int64_t longGroupBytes = 512, shiftBytes = 64;
};

/// `sparse` with split-K tiles.
struct SplitKTiles {
  /// Data and factor that a K step should bring.
  int64_t stepBytes = 10 * 1024;
  int64_t mostStages = 6;
  /// CTAs per SM, and warps of each.
  int64_t ctasPerSM = 4, warps = 4;
};

/// `sparse` by warpgroups.
struct SparseWgmmaTiles {
  int64_t warps = 8;
  /// Bytes of a pipeline stage at most.
  int64_t stageBytes = 64 * 1024;
};

/// `chain`.
struct ChainTiles {
  /// Data and factor that a K step should bring at most, or where nothing else
  /// fits.
  int64_t stepBytes = 24 * 1024, shortStepBytes = 12 * 1024;
  int64_t mostStages = 4;
  /// Warps of an SM: with more there are registers for too few sums of each.
  int64_t warps = 8;
};

/// `small_groups`.
struct SmallGroupsTiles {
  /// Threads of a CTA, and rows that a thread takes at a time at most.
  int64_t leastThreads = 128, mostThreads = 256, mostRowsAtOnce = 4;
  /// Registers of a thread at most.
  int64_t mostRegisters = 128;
  /// Where warps take groups: tiles of 8 results at most, rows that a warp
  /// takes at a time, in tiles of 16, threads of a CTA and CTAs of an SM.
  int64_t mostResultTiles = 16, rowTiles = 4, warpThreads = 128, ctasPerSM = 3;
};

/// `gradient`.
struct GradientTiles {
  /// Data of one K step of all CTAs of an SM, and of f64, whose long K steps
  /// need too many registers.
  int64_t stepBytes = 64 * 1024, shortStepBytes = 32 * 1024;
  int64_t mostStages = 6;
  /// The most warps that share an SM.
  int64_t mostWarps = 16;
  /// Split-K pieces that are tried where tiles are more than the SMs take at
  /// once, and positions of the batch that are worth one.
  int64_t mostPieces = 8, leastPiece = 64;
  /// Of the kernel that adds up sums: threads that all SMs together have, loads
  /// that a thread waits for at a time, and threads next to each other along
  /// weights that lie side by side: whole contiguous segments of memory.
  int64_t sumResidentThreads = 128 * 1024, mostSumLoads = 16, neighbours = 32;
};

/// `pairwise`.
struct PairwiseTiles {
  int64_t threads = 128, threadsPerSM = 384, lanes = 16, stages = 2;
  /// Where a function takes many instructions.
  int64_t longThreads = 256, longThreadsPerSM = 1024;
  /// Bytes of a row that a pipeline stage has, and those that it has at least.
  int64_t stepBytes = 128, leastStepBytes = 32;
  /// Rows and columns of a thread; registers with sums of a matrix, of a
  /// product, and where a function takes many instructions.
  int64_t least = 2, most = 8, words = 64, productWords = 72, longWords = 8,
          longProductWords = 32;
  /// The same of a matrix of elements of up to four bytes, twice as wide.
  int64_t wideThreadsPerSM = 256, wideWords = 128;
  /// Columns of a product at a time, and where their number is not known; and
  /// those that matrix instructions multiply.
  int64_t valueColumns = 16, openValueColumns = 4, multipliedColumns = 32;
  /// Instructions that a function of `math`, or a power, counts as; one of the
  /// special-function unit; an element of the values; and those from which on
  /// a function has many.
  int64_t mathInstructions = 20, unitInstructions = 8, valueInstructions = 4,
          manyInstructions = 8;
  /// Instructions of an element of a table and its cubic, which take the place
  /// of a power.
  double tableInstructions = 7;
  /// Where rows stay in registers: registers that they take at most, rows of a
  /// thread at least, pipeline stages, threads of an SM, and how many times as
  /// many CTAs as an SM holds there are, so that the last ones leave few SMs
  /// idle. Where K is not known, it is so many positions at most. Columns of a
  /// thread, and instructions of its elements, which are code without loops, at
  /// most.
  int64_t keptWords = 32, keptRows = 4, keptStages = 8, keptThreadsPerSM = 512,
          keptWaves = 16, openKeptK = 4, keptColumns = 32;
  double keptInstructions = 2560;
  /// What an element of a row that is loaded counts as, and a size that is not
  /// known.
  int64_t loadInstructions = 1, openSize = 32768;
  /// Clocks for which a CTA waits at each tile, for copies, stores and its own
  /// threads, while others of the SM compute: differences of 3 to 6 CTAs per
  /// SM, of ten shapes (docs/notes, 0214).
  double waitClocks = 2400;
  /// Positions of K of rows and columns that are in registers at a time, and
  /// registers beside these and sums: what ptxas needs where no more are left.
  int64_t positions = 4, addressRegisters = 16;

  /// Of matrix products: threads of a CTA, and of an SM, at most; columns of a
  /// thread, and pipeline stages.
  int64_t mostProductThreads = 256, productThreadsPerSM = 512,
          mostProductColumns = 32;
  int64_t productStages = 3;
  /// Registers that addresses take beside sums and operands, instructions of an
  /// element to make a distance of a product, what 16 bytes that are loaded of
  /// shared memory count as, and kernels that pack the rows.
  int64_t otherRegisters = 40, otherProductRegisters = 80,
          otherWarpgroupRegisters = 76, productInstructions = 6,
          productLoadInstructions = 8, packingKernels = 8;
};

/// `pairwise_grad`.
struct PairwiseGradTiles {
  int64_t threads = 128, threadsPerSM = 384, stages = 2;
  /// Threads next to each other along columns and along K; rows, columns and
  /// positions of K of a thread.
  int64_t lanes = 16, mostLanes = 32, most = 8;
  /// Registers of 32 bits with sums, and with values of pairs or with the
  /// elements that are differentiated by.
  int64_t words = 80;
  /// Gradients that a derivative is multiplied for at a time, and bytes of a
  /// row that a pipeline stage has at most and at least.
  int64_t outputs = 8, stepBytes = 128, leastStepBytes = 32;
  /// CTAs there are for each that an SM holds, so that the last ones leave few
  /// SMs idle.
  int64_t waves = 4;
  /// Where K is not known: what it is nominally, and the most positions that
  /// kernels of their own are for.
  int64_t openK = 64, shortK = 4, mediumK = 16;
  /// Instructions of a weight, without its function: loads, products and a
  /// store.
  int64_t weightInstructions = 8;
};

/// `quantize`.
struct QuantizeTiles {
  int64_t threads = 256, threadsPerSM = 1024;
  /// 16 bytes of a row that a thread takes, where it is no row of as few as a
  /// warp has threads.
  int64_t segments = 4;
  /// Those that it keeps in registers at most.
  int64_t keptSegments = 8;
};

struct GPUTiles {
  SimtTiles simt;
  FfmaTiles ffma;
  DmmaTiles dmma;
  BatchedTiles batched;
  MmaTiles mma;
  WgmmaTiles wgmma;
  SparseTiles sparse;
  SplitKTiles splitK;
  SparseWgmmaTiles sparseWgmma;
  ChainTiles chain;
  SmallGroupsTiles smallGroups;
  GradientTiles gradient;
  PairwiseTiles pairwise;
  PairwiseGradTiles pairwiseGrad;
  QuantizeTiles quantize;
};

/// What tiles of `machine` should be.
const GPUTiles &getGPUTiles(const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MACHINE_GPUTILES_H
