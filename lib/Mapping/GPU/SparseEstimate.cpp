//===- SparseEstimate.cpp - Time of a factor by sparse kernels ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What --kron-fuse knows of it, before there is a plan with tiles.
//
//===----------------------------------------------------------------------===//

#include "SparseEstimate.h"
#include "SparseSearch.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Machine/GPURates.h"
#include "kron/Plan/GPU/SparsePlan.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

F32Products kron::getF32Products(const Problem &problem) {
  return problem.precision == Precision::TF32 ? F32Products::Single
                                              : F32Products::Split;
}

double kron::getFactorBytes(const Problem &problem) {
  double elements = 0;
  for (const ProblemFactor &factor : problem.factors)
    elements += double(factor.sizeK) * factor.sizeN * factor.variations;
  return elements * problem.getElementBytes();
}

/// How many rows tiles of `sparse` have for each one that exists: where rows
/// are innermost, each row of an instruction is a chunk of them.
static double getSparsePadding(const Problem &problem) {
  int64_t rows = problem.innerRows;
  if (problem.readsTranspose || rows <= kSparseFewRows)
    return 1;
  int64_t unit =
      tile::kMmaSizeM * kSparseChunkBytes / problem.getElementBytes();
  return double(llvm::alignTo(rows, unit)) / rows;
}

/// Whether neighbours are few rows of each product, of which a tile of `sparse`
/// has one: it takes its rows outside, where there are more.
static bool skipsInnerRows(const Problem &problem) {
  double outside = problem.getPositions() / problem.innerRows /
                   problem.factors.front().variations;
  return problem.innerRows > 1 && problem.innerRows <= kSparseFewRows &&
         problem.innerRows < outside;
}

/// What `sparse` moves through the second-level cache for each byte that it
/// needs: whole sectors, of which other tiles have the other rows.
static double getSparseSectorWaste(const Problem &problem) {
  return skipsInnerRows(problem)
             ? std::min(problem.innerRows,
                        kSectorBytes / problem.getElementBytes())
             : 1;
}

/// Seconds of copies and stores of `sparse` of less than 16 bytes, whatever
/// they move: those of single rows, and of rows or lanes in numbers that do not
/// fill chunks. CTAs read the input `blocks` times.
static double getSparseNarrowSeconds(const Problem &problem, double blocks,
                                     const GPUMachine &machine) {
  const GPURates &rates = getGPURates(machine);
  const ProblemFactor &factor = problem.factors.front();
  int64_t bytes = problem.getElementBytes(), rows = problem.innerRows;
  int64_t chunk = kSparseChunkBytes / bytes, width = chunk;
  bool storesSingly = false;
  if (problem.readsTranspose)
    return 0;
  if (skipsInnerRows(problem)) {
    width = 1;
    storesSingly = true;
  } else if (rows > kSparseFewRows) {
    width = std::min(rows & -rows, chunk);
    storesSingly = width < chunk;
  } else if (problem.inner == 1 && factor.varyingAxes.empty() && bytes == 2) {
    auto getWidth = [&](int64_t size) {
      return size > 0 ? std::min(size & -size, chunk) : chunk;
    };
    width = getWidth(problem.innermostInput);
    storesSingly = getWidth(problem.innermostOutput) < chunk;
  }
  double loads = width < chunk ? problem.inputElements / width : 0;
  double stores = storesSingly ? problem.outputElements : 0;
  GPUResources resources(machine);
  double clocks = rates.dense.clocksPerNarrowCopy, perResult = clocks;
  // By way of shared memory, parts of sectors are left at the ends.
  if (rows > kSparseFewRows)
    perResult = getSharedStoreParts(tile::kMmaSizeM * chunk) /
                rates.sparse.partSectorsPerClock;
  else if (bytes == 2)
    perResult = rates.ragged.clocksPerSparseResult16Bit;
  // Copies have 4 bytes or more; less goes through registers.
  bool isSingle = bytes == 2 && width == 1;
  double perLoad =
      isSingle ? rates.ragged.clocksPerElement16Bit : blocks * clocks;
  return resources.getClockSeconds(stores * perResult + loads * perLoad);
}

KernelTime kron::estimateSparseTime(const Problem &problem, bool usesWarpgroups,
                                    const GPUMachine &machine) {
  const SparseEstimateRates &rates = getGPURates(machine).sparseEstimate;
  const ProblemFactor &factor = problem.factors.front();
  GPUResources resources(machine);
  Multiplication multiplication = getMatrixMultiplication(
      problem.getElementBytes(), getF32Products(problem), usesWarpgroups);
  KernelTime time;
  double bytes = problem.getMemoryBytes();
  time.floor = machine.getCopySeconds(bytes);
  time.memory = resources.getMemorySeconds(bytes + getFactorBytes(problem));
  double share = usesWarpgroups && multiplication.products > 1
                     ? rates.splitWarpgroupShare
                 : problem.element.isF64() ? rates.f64IssueShare
                                           : rates.issueShare;
  time.arithmetic = resources.getMultiplySeconds(
      problem.getPositions() * getSparsePadding(problem) *
          llvm::alignTo(factor.sizeK, is16BitFloat(problem.element) ? 16 : 8) *
          llvm::alignTo(factor.sizeN, 8),
      multiplication, share);
  double blocks = std::ceil(factor.sizeN / rates.resultsPerTile);
  double waste = getSparseSectorWaste(problem);
  double cached = problem.inputElements * blocks * waste;
  if (waste > 1)
    cached += problem.outputElements * waste;
  time.shared = resources.getCacheSeconds(cached * problem.getElementBytes(),
                                          rates.cacheShare);
  double multiplied = problem.element.isF64()
                          ? getOverlapSeconds(time.arithmetic, time.shared,
                                              rates.f64CacheExposedShare)
                          : time.arithmetic + time.shared;
  double busy =
      std::max(multiplied, getSparseNarrowSeconds(problem, blocks, machine));
  time.shared = busy - time.arithmetic;
  time.total = resources.getLaunchSeconds() +
               std::max(time.memory / rates.copyShare, busy) +
               rates.exposedShare * time.memory;
  return time;
}
