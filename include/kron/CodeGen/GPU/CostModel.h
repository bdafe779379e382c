//===- CostModel.h - Time of a trip on a GPU --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An estimate good enough to rank mappings, not to predict microseconds. Per
// processor, a trip takes the larger of
//
//   memory   bytes through memory, at the copy rate, less what short runs cost
//   on chip  multiply-adds at the instruction's rate plus shared memory at 128
//            bytes per clock: with one CTA per processor these add up, with
//            several they overlap in part
//
// plus the launch and the first load and last store, which nothing overlaps.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_COSTMODEL_H
#define KRON_CODEGEN_GPU_COSTMODEL_H

#include "kron/CodeGen/GPU/Trip.h"

namespace mlir::kron {

/// How a trip is cut into tiles.
struct TripTiling {
  int64_t threads = 256;
  /// Rows of a tile.
  int64_t rows = 1;
  /// Columns of a slab (see Trip::getColumns).
  int64_t columns = 1;
  int64_t ctasPerSM = 1;
  /// CTAs that share a slab.
  int64_t cluster = 1;
};

/// Seconds.
struct TripTime {
  /// Copying the same bytes: no mapping of the trip can be faster.
  double floor = 0;
  double memory = 0;
  double arithmetic = 0;
  double shared = 0;
  double total = 0;
};

/// Shared memory that a slab may take so that the next one can be loaded beside
/// it: two thirds of what a CTA has, 128 KiB at most.
int64_t getSlabBudget(const GPUMachine &machine);

/// The kernels that §3 of the machine's rules allow for the type, precision and
/// factor sizes of `trip`, whatever the emitters take.
bool isPlausible(GPUKernel kernel, const Trip &trip, const GPUMachine &machine);

/// Whether a row of `trip` that is too large for `slabBudget` can be shared by
/// a cluster of two CTAs, which only `mma` does.
bool fitsCluster(const Trip &trip, int64_t slabBudget,
                 const GPUMachine &machine);

/// Rows, threads and CTAs per processor for `trip`, with slabs of `columns`, of
/// which `slabBudget` bytes fit a tile.
TripTiling chooseTiling(GPUKernel kernel, const Trip &trip, int64_t columns,
                        int64_t slabBudget, const GPUMachine &machine);

TripTime estimateTime(GPUKernel kernel, const Trip &trip,
                      const TripTiling &tiling, const GPUMachine &machine);

/// The columns (runs of 128 bytes, or as few as 32 where the slab would not fit
/// otherwise) that slabs of `trip` take; 0 if not even those fit. A slab that
/// two CTAs can share may be larger.
int64_t chooseColumns(const Trip &trip, int64_t slabBudget,
                      const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_COSTMODEL_H
