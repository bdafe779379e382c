//===- SimtCost.h - Times of general kernels --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_SIMTCOST_H
#define KRON_LIB_MAPPING_GPU_SIMTCOST_H

#include "SimtAccess.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/CostModel.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/SimtPlan.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::kron {

inline constexpr double kLanes = 32;
/// Warp instructions that an SM issues per clock.
inline constexpr double kIssued = 4;

/// Real multiply-adds of a product, and how many an SM does per clock.
struct SimtProducts {
  SimtProducts(Type element, const GPUMachine &machine);

  double number = 1, perClock;
};

/// Where a launch reads its data, and where its results go.
struct SimtArrays {
  AccessArray input, output;
  /// Along results of the factor of each step.
  SmallVector<AccessArray> factors;
};

/// Those of the launch of products [first, end) of `fused`: what lies between
/// launches is row-major, and of accumulators.
SimtArrays describeSimtArrays(FusedOp fused, const SimtChain &chain,
                              unsigned first, unsigned end);

/// What launches with one tile cost, whatever their threads, CTAs per SM, and
/// fibres and results of a thread are.
class SimtCost {
public:
  /// Of the tile of `launch`.
  SimtCost(const SimtArrays &arrays, const SimtLaunch &launch, Type element,
           const GPUMachine &machine);

  /// Chooses fibres and results of each step of `launch`, whose CTAs per SM are
  /// known, for CTAs of `threads` threads, and returns the time that it is
  /// estimated to take then; nothing if registers do not suffice, or if it
  /// takes `limit` or longer for certain.
  std::optional<double> choose(SimtLaunch &launch, int64_t threads,
                               double limit) const;

  KernelTime getTime(const SimtLaunch &launch, int64_t threads) const;

private:
  bool chooseStep(SimtLaunch &launch, unsigned index, int64_t threads,
                  double &clocks) const;
  double getStepClocks(const SimtLaunch &launch, unsigned index,
                       int64_t threads) const;
  double getFactorClocks(const SimtLaunch &launch, unsigned index) const;
  double getMoveClocks(const SimtLaunch &launch, int64_t threads) const;
  double getLoadClocks(const SimtLaunch &launch, int64_t threads) const;
  double getPartClocks(const SimtLaunch &launch) const;
  double workOutPartClocks(const SimtLaunch &launch) const;
  double getChipSeconds(const SimtLaunch &launch, double clocks) const;
  double getTotal(const SimtLaunch &launch, double chip, double memory) const;
  double getExposed(const SimtLaunch &launch) const;

  const GPUMachine &machine;
  GPUResources resources;
  const SimtRates &rates;
  SimtProducts products;
  AccessArray output;
  SmallVector<AccessArray> factors;
  /// The axes of `output` as they lie in memory, and the tile's extents.
  SmallVector<unsigned> walk;
  SmallVector<double> extents;
  /// Elements of a tile that come and go, fibres of each step, and sectors and
  /// parts of them.
  double loaded, stored;
  SmallVector<int64_t> fibres;
  double inputSectors, edgeParts;
  /// Of an SM's share of the memory's rate, of a tile.
  double memoryClocks;
  /// Tiles of the array, and bytes that come and go.
  double tiles, bytes;
  /// By fibres and results of a thread, of the last step where it stores
  /// directly.
  mutable llvm::SmallDenseMap<std::pair<int64_t, int64_t>, double> partClocks;
};

/// The time of `launch`, whose data go through shared memory.
KernelTime estimateSharedLaunch(const SimtArrays &arrays,
                                const SimtLaunch &launch, Type element,
                                int64_t threads, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_SIMTCOST_H
