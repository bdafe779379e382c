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

/// Sizes of the tile before `step`, with inner dimensions that lie without a
/// gap as one.
static SmallVector<int64_t> mergeColumns(const MmaPlan &plan,
                                         const MmaStep &step) {
  SmallVector<int64_t> sizes = step.sizes;
  const TileLayout &layout =
      plan.workLayout ? *plan.workLayout : plan.inputLayout;
  for (unsigned dim = plan.dims.size() - 2; dim > step.dim; --dim) {
    int64_t inner = sizes.back();
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
  int64_t together = std::min(tiles, most);
  int64_t blocks = elements / sizes.back() / step.sizes[step.dim] *
                   llvm::divideCeil(tiles, together);
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

double kron::getMmaBlockSeconds(FusedOp fused, GPUPlanAttr plan,
                                const GPUMachine &machine) {
  std::variant<MmaPlan, std::string> read = readMmaPlan(fused, plan);
  auto *found = std::get_if<MmaPlan>(&read);
  if (!found || ShapedType::isDynamic(found->numPositions))
    return 0;
  const DenseRates &rates = getGPURates(machine).dense;
  int64_t products = found->math == MmaMath::SplitTF32 ? 3 : 1;
  double clocks = rates.leastTileClocks;
  for (const MmaStep &step : found->steps) {
    int64_t turns =
        llvm::divideCeil(countBlocks(*found, step), found->getWarpGroups(step));
    int64_t steps = llvm::divideCeil(step.sizes[step.dim], int64_t(8));
    clocks += turns * (rates.blockClocks +
                       double(steps) * products * rates.blockStepClocks);
  }
  // An SM's CTAs share what it loads.
  clocks += countStreamed(*found) * found->ctasPerSM /
            getGPURates(machine).denseFactors.mmaStreamedElementsPerClock;
  int64_t tiles = found->numPositions / (found->numRows * found->numColumns) *
                  int64_t(llvm::divideCeil(found->numRows, found->tile)) *
                  int64_t(llvm::divideCeil(found->numColumns, found->columns));
  // Other CTAs of an SM are at work meanwhile.
  int64_t resident = machine.numSMs * found->ctasPerSM / found->cluster;
  return GPUResources(machine).getSMSeconds(
      clocks * double(llvm::divideCeil(tiles, resident)));
}
