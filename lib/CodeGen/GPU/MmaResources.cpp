//===- MmaResources.cpp - Warps and memory of a kernel of mma.sync --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// How many warps work on a tile, how many tiles are under way, and whether
// input arrives in pieces, follows from what fits registers and shared memory.
//
//===----------------------------------------------------------------------===//

#include "MmaPlanner.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Factors stay in registers up to this many of a thread's.
static constexpr int64_t kMaxKeptRegisters = 136;
/// Up to this many, four warps per scheduler fit, otherwise two.
static constexpr int64_t kLightRegisters = 64;
/// And up to this many tiles of results, whose sums take registers as well.
static constexpr int64_t kMaxLightTiles = 2;
static constexpr int64_t kMaxStages = 3;
static constexpr int64_t kSlackBytes = 128;
/// Pieces of the input that each warp group needs on their way.
static constexpr int64_t kMinSlots = 2;

void MmaPlanner::chooseLayouts() {
  SmallVector<int64_t> before, largest;
  for (const MmaDim &dim : plan.dims) {
    before.push_back(dim.sizeK);
    largest.push_back(std::max(dim.sizeK, dim.sizeN));
  }
  if (plan.inputType == plan.type) {
    plan.inputLayout = TileLayout::get(largest, getElementBytes(plan.type));
    return;
  }
  plan.inputLayout = TileLayout::get(before, getElementBytes(plan.inputType));
  if (plan.steps.size() > 1)
    plan.workLayout = TileLayout::get(largest, getElementBytes(plan.type));
}

/// Warps of a CTA, of which there should be `warpsPerSM` on an SM: small CTAs,
/// whose barriers cost little, as far as there is room for their tiles.
int64_t MmaPlanner::chooseWarps(int64_t warpsPerSM, bool light, int64_t bytes) {
  // Factors of more than 64 rows are shared out among 8 warps.
  bool large = llvm::any_of(plan.steps, [](const MmaStep &step) {
    return step.kind != MmaStep::Kind::Chain &&
           step.factorRegisters > kMmaStepRegisters / 2;
  });
  // Two CTAs of 8 warps were faster than four of 4 (16^3, f32: 0.082 and 0.087
  // ms on an H200), but not where the tensor cores or memory are the limit.
  int64_t warps = large || (light && plan.math == MmaMath::SplitTF32) ? 8 : 4;
  while (warps < warpsPerSM &&
         bytes * (warpsPerSM / warps) > machine.getSharedBytes(1))
    warps *= 2;
  return warps;
}

int64_t kron::getPowerDivisor(int64_t number, int64_t atMost) {
  int64_t divisor = 1;
  while (2 * divisor <= atMost && number % (2 * divisor) == 0)
    divisor *= 2;
  return divisor;
}

int64_t MmaPlan::getFibreTiles(const MmaStep &step) const {
  int64_t sizeN = step.warps > 1 ? 16 * step.tiles : dims.back().sizeN;
  if (sizeN > 16 || step.factorRegisters > 96)
    return 1;
  int64_t fibres = step.sizes[dims.size() - 2];
  return getPowerDivisor(llvm::divideCeil(fibres, 16), 2);
}

/// What a warp group takes through the first step at a time; none if that is no
/// box of positions.
SmallVector<int64_t> MmaPlanner::getPieceSizes(int64_t most) {
  const MmaStep &step = plan.steps.front();
  unsigned last = plan.dims.size() - 1;
  SmallVector<int64_t> sizes(plan.dims.size(), 1);
  sizes[step.dim] = step.sizes[step.dim];
  sizes[last] = step.sizes[last];
  if (step.kind == MmaStep::Kind::Chain)
    return sizes;
  if (step.kind == MmaStep::Kind::Fibres) {
    sizes[last - 1] = 16 * plan.getFibreTiles(step);
    if (step.sizes[last - 1] % sizes[last - 1] != 0)
      return {};
    return sizes;
  }
  int64_t pair = std::max<int64_t>(1, 8 / getElementBytes(plan.type));
  int64_t tiles = llvm::divideCeil(sizes[last], 8);
  if (tiles > most) {
    if (sizes[last] % (8 * pair) != 0)
      return {};
    tiles = pair * getPowerDivisor(sizes[last] / (8 * pair), most / pair);
    sizes[last] = 8 * tiles;
  }
  for (unsigned dim = last; dim-- > 0;)
    if (dim != step.dim) {
      // Several positions may share a tile.
      bool folds = sizes[last] == 2 || sizes[last] == 4;
      int64_t fold = folds ? 8 / sizes[last] : 1;
      sizes[dim] = getPowerDivisor(step.sizes[dim], most / tiles * fold);
      break;
    }
  return sizes;
}

/// Where only one tile fits, nothing could arrive while it is worked on. Pieces
/// of the next one can, if the first step takes them from where they land to
/// the place of the tile.
bool MmaPlanner::chooseStream(int64_t cluster) {
  const MmaStep &step = plan.steps.front();
  MmaStep &lastStep = plan.steps.back();
  if (plan.steps.size() < 2 || plan.warps % step.warps != 0)
    return false;
  SmallVector<int64_t> largest;
  for (const MmaDim &dim : plan.dims)
    largest.push_back(std::max(dim.sizeK, dim.sizeN));
  if (cluster > 1 && plan.turnsRows)
    return false;
  if (cluster > 1) {
    int64_t sizeK = plan.dims[lastStep.dim].sizeK;
    if (!machine.hasCluster || lastStep.kind != MmaStep::Kind::Columns ||
        sizeK % (8 * cluster) != 0)
      return false;
    largest[lastStep.dim] = sizeK / cluster;
    for (MmaStep &before : plan.steps)
      if (&before != &lastStep)
        before.sizes[lastStep.dim] = sizeK / cluster;
  }
  TileLayout work = TileLayout::get(largest, getElementBytes(plan.type));
  int64_t room = machine.getSharedBytes(1) - work.bytes - kSlackBytes;
  int64_t warpGroups = plan.getWarpGroups(step);
  // Smaller pieces where a ring of them does not fit.
  MmaStream stream;
  TileLayout piece;
  for (int64_t most = plan.getMostTiles(step); stream.slots < kMinSlots;
       most /= 2) {
    stream = MmaStream();
    stream.sizes = getPieceSizes(most);
    if (most == 0 || stream.sizes.empty())
      return false;
    for (auto [whole, part] : llvm::zip_equal(step.sizes, stream.sizes))
      stream.pieces *= whole / part;
    if (stream.pieces % warpGroups != 0)
      return false;
    stream.pieces /= warpGroups;
    piece = TileLayout::get(stream.sizes, getElementBytes(plan.inputType));
    stream.slots = std::min(stream.pieces, room / (warpGroups * piece.bytes));
  }
  plan.ctasPerSM = 1;
  plan.workLayout = work;
  plan.inputLayout = piece;
  plan.stream = stream;
  plan.cluster = cluster;
  return true;
}

std::optional<std::string> MmaPlanner::chooseResources() {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  int64_t threads = given ? given.getThreads() : 0;
  int64_t ctas = given ? given.getCtasPerSm() : 0;
  int64_t stages = given ? given.getStages() : 0;
  if (threads)
    plan.warps = threads / 32;
  chooseSteps();
  chooseLayouts();

  auto getRegisters = [&] {
    int64_t registers = 0;
    for (MmaStep &step : plan.steps)
      registers += step.factorRegisters;
    return registers;
  };
  int64_t workBytes = plan.workLayout ? plan.workLayout->bytes : 0;
  int64_t tileBytes = plan.inputLayout.bytes;
  bool light = getRegisters() <= kLightRegisters &&
               llvm::all_of(plan.steps, [](const MmaStep &step) {
                 return step.tiles <= kMaxLightTiles;
               });
  int64_t warpsPerSM = light ? 16 : 8;
  if (!threads) {
    plan.warps = chooseWarps(warpsPerSM, light, tileBytes + workBytes);
    chooseSteps();
  }
  plan.ctasPerSM = ctas ? ctas : std::max<int64_t>(1, warpsPerSM / plan.warps);
  auto fits = [&](int64_t number) {
    return number * tileBytes + workBytes + kSlackBytes <=
           machine.getSharedBytes(plan.ctasPerSM);
  };
  while (!ctas && plan.ctasPerSM > 1 && !fits(1))
    --plan.ctasPerSM;
  if (!ctas && plan.ctasPerSM > 2 && !fits(2))
    --plan.ctasPerSM;
  plan.stages = stages;
  if (!plan.stages)
    for (plan.stages = light ? 2 : kMaxStages;
         plan.stages > 1 && !fits(plan.stages);)
      --plan.stages;
  plan.keepsFactors = getRegisters() <= kMaxKeptRegisters;
  int64_t cluster = given ? given.getCluster() : 0;
  if (cluster > 1 && !chooseStream(cluster))
    return "a tile cannot be shared by a cluster";
  if (!plan.stream && !fits(plan.stages)) {
    if (cluster == 1 || !chooseStream(/*cluster=*/2))
      return "a tile of " + std::to_string(tileBytes + workBytes) +
             " bytes does not fit in shared memory";
  } else if (!plan.stream && !stages && plan.stages == 1 &&
             plan.ctasPerSM == 1) {
    chooseStream(/*cluster=*/1);
  }
  // Columns are read in groups of 64 bytes that may reach over the end.
  plan.sharedBytes = plan.getInputBytes() + kSlackBytes +
                     (plan.workLayout ? plan.workLayout->bytes : 0);
  return std::nullopt;
}
