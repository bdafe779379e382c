//===- SimtDirectCost.h - Times of launches that load directly --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_SIMTDIRECTCOST_H
#define KRON_LIB_MAPPING_GPU_SIMTDIRECTCOST_H

#include "SimtAccess.h"
#include "SimtCost.h"
#include "kron/Dialect/Tile/IR/TileLayout.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/CostModel.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/SimtPlan.h"

namespace mlir::kron {

/// Data or a factor: strides along the axes of the results, 0 along that of the
/// step, or of the results, and along K.
struct DirectOperand : AccessArray {
  int64_t strideK = 1;
};

/// Clocks of a step of k of a warp, and of adding up what its lanes have; steps
/// of a turn, turns of a tile, and warps of a CTA that have work.
struct DirectStep {
  double loaded = 0, multiplied = 0, issued = 0, reduced = 0;
  double count = 0, turns = 0, warps = 0;
};

/// Clocks of an SM of a load of a warp.
struct DirectLoads {
  double data = 0, factor = 0;
};

/// What launches of one product cost that load the data directly.
class DirectCost {
public:
  DirectCost(FusedOp fused, const GPUMachine &machine);

  KernelTime getTime(const SimtLaunch &launch, int64_t threads,
                     const DirectLoads &loads) const;
  /// The same, or nothing where what is worked out first shows that it takes
  /// no less than `limit`.
  std::optional<KernelTime> getTimeBelow(double limit, const SimtLaunch &launch,
                                         int64_t threads,
                                         const DirectLoads &loads) const;
  double getStoreSeconds(const SimtLaunch &launch) const;
  /// The same for all tiles whose fibres are those of `launch`.
  DirectLoads getLoads(const SimtLaunch &launch) const;
  /// Axes of the results but for that of the step, the innermost one in memory
  /// first.
  ArrayRef<unsigned> getWalk() const { return walk; }
  int64_t getResultBytes() const { return output.bytes; }
  /// Positions by which a row may start behind a multiple of 32 bytes, but for
  /// those of a group of `fibres`.
  int64_t getVectorSlack(int64_t fibres) const {
    return kVectorRowBytes / output.bytes - fibres;
  }
  /// How many of these, of the first ones, are inside of the step's axis.
  size_t countInside(const SimtStep &step) const {
    return llvm::count_if(walk, [&](unsigned axis) {
      return output.strides[axis] < output.strides[step.axis];
    });
  }

private:
  DirectStep getStep(const SimtLaunch &launch, int64_t threads, double fibres,
                     const DirectLoads &loads) const;
  double getTileClocks(const SimtLaunch &launch, const DirectStep &step,
                       double ctas) const;
  double getBusyClocks(const SimtLaunch &launch, const DirectStep &step,
                       double tiles) const;
  SmallVector<AccessSpan> getLanes(const SimtLaunch &launch,
                                   const AccessArray &array,
                                   double &left) const;
  /// Groups of a thread's fibres on the axis that these are on.
  double countGroups(const SimtLaunch &launch) const {
    int64_t extent = launch.extents.back()[*launch.across];
    int64_t fibres = launch.steps.front().fibres;
    return launch.vectorStore
               ? double(countVectors(extent + getVectorSlack(fibres), fibres))
               : double(extent) / double(fibres);
  }
  double getVectorStoreClocks(const SimtLaunch &launch) const;
  double getStoreClocks(const SimtLaunch &launch) const;
  double countTile(const SimtLaunch &launch,
                   const DirectOperand &operand) const;
  double getLoadClocks(const SimtLaunch &launch,
                       const DirectOperand &operand) const;

  const GPUMachine &machine;
  GPUResources resources;
  const SimtRates &rates;
  const DirectRates &direct;
  DirectOperand data, factor;
  AccessArray output;
  SmallVector<unsigned> walk;
  SimtProducts products;
};

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_SIMTDIRECTCOST_H
