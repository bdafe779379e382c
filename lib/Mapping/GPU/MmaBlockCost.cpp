//===- MmaBlockCost.cpp - Time of the blocks of mma tiles -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A warp takes a step block by block: it loads one, multiplies it, and leaves
// the results, each of which waits for what is before it. Where a CTA has few
// tiles, of many small blocks, that is what it takes, however little is
// computed.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/MmaPlanner.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/MmaPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Schedulers of an SM.
static constexpr double kSchedulers = 4;

/// Sizes of the tile before `step`, with inner dimensions that lie without a
/// gap as one.
static SmallVector<int64_t> mergeColumns(const MmaPlan &plan,
                                         const MmaStep &step) {
  SmallVector<int64_t> sizes = step.sizes;
  const TileLayout &layout =
      plan.workLayout ? *plan.workLayout : plan.inputLayout;
  unsigned last = plan.dims.size() - 1;
  for (unsigned dim = last - 1; dim > step.dim; --dim) {
    int64_t inner = sizes.back();
    if (dim + 1 == last && plan.math == MmaMath::F64 && !plan.isStored(step))
      inner = layout.pitches[last];
    if (layout.strides[dim] != inner || plan.isStored(step))
      break;
    sizes.pop_back();
    sizes.back() *= inner;
  }
  return sizes;
}

/// Blocks of `step` of a tile.
static int64_t countBlocks(const MmaPlan &plan, const MmaStep &step) {
  int64_t elements = llvm::product_of(step.sizes);
  if (step.kind == MmaStep::Kind::Chain)
    return elements / (step.sizes[step.dim] * step.sizes[step.dim + 1]);
  if (step.kind == MmaStep::Kind::Fibres) {
    int64_t fibres = plan.getFibres(step);
    int64_t perBlock = tile::kMmaSizeM * plan.getFibreTiles(step, fibres);
    return elements / step.sizes.back() / fibres *
           llvm::divideCeil(fibres, perBlock);
  }
  SmallVector<int64_t> sizes = mergeColumns(plan, step);
  int64_t most = plan.getMostTiles(step);
  int64_t tiles = llvm::divideCeil(sizes.back(), tile::kMmaSizeN);
  int64_t outside = llvm::product_of(sizes) / sizes.back() / sizes[step.dim];
  int64_t together =
      plan.getColumnTiles(step, outside, sizes.back(), /*pair=*/1);
  int64_t blocks = outside * llvm::divideCeil(tiles, together);
  // Positions of the next dimension fill up what a block may have.
  int64_t second = int64_t(sizes.size()) - 2;
  if (second == int64_t(step.dim))
    --second;
  return second < 0 ? blocks
                    : blocks / getPowerDivisor(sizes[second], most / together);
}

/// Elements of factors, with what pads them, that a tile loads from the
/// second-level cache: for each block if registers do not hold those of a step,
/// else once by each warp if they do not hold those of all steps.
static double countStreamed(const MmaPlan &plan) {
  double elements = 0;
  for (const MmaStep &step : plan.steps) {
    if (step.kind == MmaStep::Kind::Chain ||
        (step.fitsRegisters && plan.keepsFactors))
      continue;
    int64_t turns =
        step.fitsRegisters ? plan.getWarpGroups(step) : countBlocks(plan, step);
    elements += double(turns) * step.warps * step.tiles * tile::kMmaSizeM *
                llvm::alignTo(step.sizes[step.dim], int64_t(8));
  }
  return elements;
}

/// Matrix products that a warp makes of all blocks of `step` of a tile that its
/// group takes.
static double countProducts(const MmaPlan &plan, const MmaStep &step) {
  auto tilesOf = [](int64_t size) {
    return double(llvm::divideCeil(size, tile::kMmaSizeN));
  };
  double tilesK = tilesOf(step.sizes[step.dim]);
  double blocks = countBlocks(plan, step);
  if (step.kind == MmaStep::Kind::Chain) {
    const MmaDim &inner = plan.dims.back();
    double columns = tilesOf(inner.sizeK);
    return blocks * step.tiles * columns * (tilesK + tilesOf(inner.sizeN));
  }
  if (step.kind == MmaStep::Kind::Fibres) {
    double fibres =
        blocks * double(plan.getFibreTiles(step, plan.getFibres(step)));
    double results =
        step.warps > 1 ? 2.0 * step.tiles : tilesOf(plan.dims.back().sizeN);
    return fibres * results * tilesK;
  }
  SmallVector<int64_t> sizes = mergeColumns(plan, step);
  double outside = llvm::product_of(sizes) / sizes.back() / sizes[step.dim];
  return outside * tilesOf(sizes.back()) * step.tiles * tilesK;
}

/// Tiles of `plan`.
static int64_t countTiles(const MmaPlan &plan) {
  return plan.numPositions / (plan.numRows * plan.numColumns) *
         int64_t(llvm::divideCeil(plan.numRows, plan.tile)) *
         int64_t(llvm::divideCeil(plan.numColumns, plan.columns));
}

bool kron::hasMmaEstimate(const MmaPlan &plan) {
  return plan.math == MmaMath::F64 && plan.piece.empty() &&
         !ShapedType::isDynamic(plan.numPositions);
}

double kron::getMmaWaves(const MmaPlan &plan, const GPUMachine &machine) {
  return double(countTiles(plan)) / double(machine.numSMs * plan.ctasPerSM);
}

double kron::estimateMmaTiles(const MmaPlan &plan, const GPUMachine &machine) {
  const MmaTileRates &rates = getGPURates(machine).mmaTiles;
  GPUResources resources(machine);
  double product = tile::kMmaSizeM * tile::kMmaSizeN * tile::kMmaSizeN /
                   resources.getMultiplyAddsPerClock({MathUnit::MmaF64});
  double results = 1;
  for (const MmaDim &dim : plan.dims)
    results *= double(dim.sizeN);
  // What one CTA takes if it has the SM for itself, one thing after another,
  // and the part of it that the matrix unit is at work.
  double alone = rates.tileClocks;
  if (plan.sharedStore || !plan.storesVectors())
    alone += rates.storeClocks * results / double(plan.threads);
  double unit = 0;
  for (const MmaStep &step : plan.steps) {
    int64_t blocks = countBlocks(plan, step), groups = plan.getWarpGroups(step);
    double products = countProducts(plan, step);
    int64_t turns = llvm::divideCeil(blocks, groups);
    double busy = double(std::min(blocks, groups) * step.warps);
    // Each scheduler has a quarter of the unit.
    double turn = products / double(blocks) * kSchedulers * product *
                  std::max(1.0, busy / kSchedulers);
    alone += double(turns) * (rates.blockClocks + turn);
    unit += products * double(step.warps) * product;
  }
  alone += countStreamed(plan) /
           getGPURates(machine).denseFactors.mmaStreamedElementsPerClock;
  int64_t tiles = countTiles(plan), numSMs = machine.numSMs;
  int64_t resident =
      std::clamp<int64_t>(llvm::divideCeil(tiles, numSMs), 1, plan.ctasPerSM);
  double together = double(resident) * unit + rates.exposedShare * alone;
  // Nothing arrives while the only tile of a CTA is worked on.
  if (plan.stages == 1)
    alone += rates.loadClocks +
             resources.getMemorySeconds(double(plan.inputLayout.bytes) *
                                        double(numSMs) / 2) /
                 resources.getSMSeconds(1);
  together = resident > 1 ? std::max(alone, together) : alone;
  // The last tiles have the SMs for themselves.
  int64_t waves = tiles / (numSMs * resident),
          rest = tiles % (numSMs * resident);
  double last = rest == 0 ? 0 : rest <= numSMs ? alone : together;
  return resources.getSMSeconds(double(waves) * together + last);
}

double kron::getMmaBlockSeconds(const MmaPlan &plan,
                                const GPUMachine &machine) {
  const DenseRates &rates = getGPURates(machine).dense;
  int64_t products = plan.math == MmaMath::SplitTF32 ? 3 : 1;
  double clocks = rates.leastTileClocks;
  for (const MmaStep &step : plan.steps) {
    int64_t turns =
        llvm::divideCeil(countBlocks(plan, step), plan.getWarpGroups(step));
    int64_t steps = llvm::divideCeil(step.sizes[step.dim], int64_t(8));
    clocks += turns * (rates.blockClocks +
                       double(steps) * products * rates.blockStepClocks);
  }
  // An SM's CTAs share what it loads.
  clocks += countStreamed(plan) * plan.ctasPerSM /
            getGPURates(machine).denseFactors.mmaStreamedElementsPerClock;
  int64_t tiles = countTiles(plan);
  // Other CTAs of an SM are at work meanwhile.
  int64_t resident = machine.numSMs * plan.ctasPerSM / plan.cluster;
  return GPUResources(machine).getSMSeconds(
      clocks * double(llvm::divideCeil(tiles, resident)));
}
