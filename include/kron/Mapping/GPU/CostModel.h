//===- CostModel.h - Time of a fused region on a GPU ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An estimate good enough to rank mappings, not to predict microseconds. Per
// SM, a fused region takes the larger of
//
//   memory   bytes through memory, at the copy rate, less what short segments
//            cost
//   on chip  multiply-adds at the instruction's rate plus shared memory at 128
//            bytes per clock: with one CTA per SM these add up, with
//            several they overlap in part
//
// plus the launch and the first load and last store, which nothing overlaps.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_COSTMODEL_H
#define KRON_MAPPING_GPU_COSTMODEL_H

#include "kron/Plan/GPU/Problem.h"

namespace mlir::kron {

/// How a fused region is cut into tiles.
struct KernelTiling {
  int64_t threads = 256;
  /// Rows of a tile.
  int64_t rows = 1;
  /// Columns of a tile footprint (see Problem::getColumns).
  int64_t columns = 1;
  int64_t ctasPerSM = 1;
  /// CTAs that share a tile footprint.
  int64_t cluster = 1;
  /// Whether warpgroups multiply, of kernels for sparse factors.
  bool usesWarpgroups = false;
};

/// Seconds.
struct KernelTime {
  /// Copying the same bytes: no mapping of the fused region can be faster.
  double floor = 0;
  double memory = 0;
  double arithmetic = 0;
  double shared = 0;
  double total = 0;
};

/// Shared memory that a tile footprint may take: three quarters of what a CTA
/// has.
int64_t getFootprintBudget(const GPUMachine &machine);

/// The kernels that §3 of the machine's rules allow for the type, precision and
/// factor sizes of `problem`, whatever the emitters take.
bool isPlausible(GPUKernel kernel, const Problem &problem,
                 const GPUMachine &machine);

/// Whether a row of `problem` that is too large for `footprintBudget` can be
/// shared by a cluster of two CTAs, which only `mma` does.
bool fitsCluster(const Problem &problem, int64_t footprintBudget,
                 const GPUMachine &machine);

/// Rows, threads and CTAs per SM for `problem`, with tile footprints of
/// `columns`, of which `footprintBudget` bytes fit a tile.
KernelTiling chooseTiling(GPUKernel kernel, const Problem &problem,
                          int64_t columns, int64_t footprintBudget,
                          const GPUMachine &machine);

KernelTime estimateTime(GPUKernel kernel, const Problem &problem,
                        const KernelTiling &tiling, const GPUMachine &machine);

/// What tiles of `columns` add to the memory's time if their ends lie within
/// sectors, the rest of which other CTAs store.
double getEdgeSeconds(const Problem &problem, int64_t columns,
                      const GPUMachine &machine);

/// Its total for a fused region that is not there yet, with what segments that
/// start anywhere cost beside that: what other cuts are compared with.
double estimateRegionSeconds(GPUKernel kernel, const Problem &region,
                             const KernelTiling &tiling,
                             const GPUMachine &machine);

/// What `mma` adds to `region` for 16-bit elements that do not lie together in
/// whole accesses: segments start anywhere, or at multiples of less than 16
/// bytes.
double getRaggedSeconds(const Problem &region, const GPUMachine &machine);

/// The columns (segments of 128 bytes, or as few as 32 where the tile footprint
/// would not fit otherwise) that tile footprints of `problem` take; 0 if not
/// even those fit. A tile footprint that two CTAs can share may be larger.
int64_t chooseColumns(const Problem &problem, int64_t footprintBudget,
                      const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_COSTMODEL_H
