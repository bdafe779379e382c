//===- MmaSearch.cpp - Search for tiles of f64 by mma ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Products of f64 take long, so what fills instructions decides: how many rows
// a tile has, whether positions of these are columns of the factors, and how
// many warps share the results of a step. What a thread has too many of spills,
// which costs more than other CTAs of the SM hide.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Mapping/GPU/MmaPlanner.h"
#include "kron/Plan/GPU/MmaPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Registers that a thread may have.
static constexpr int64_t kMostRegisters = 255;
/// Percent of its time that a plan has to take more than another one for that
/// to be taken instead.
static constexpr int64_t kLeastGain = 15;
/// Warps that are enough for an SM, and CTAs of them that are tried.
static constexpr int64_t kLeastWarps = 3, kMostWarps = 16, kMostCtas = 4;

namespace {
class MmaSearch {
public:
  MmaSearch(const MmaRegion &region, const MmaChoices &start, GPUPlanAttr given,
            const GPUMachine &machine)
      : region(region), given(given), machine(machine), best(start) {}

  MmaChoices run();

private:
  SmallVector<bool> getOptions(StringRef name, bool chosen, bool other) const;
  SmallVector<int64_t> getRows(int64_t chosen) const;
  SmallVector<int64_t> getWarps(const MmaPlan &plan) const;
  int64_t getRegisters(const MmaPlan &plan) const;
  void tryWarps(MmaChoices choices);
  void tryCtas(MmaPlan plan);

  const MmaRegion &region;
  GivenPlan given;
  const GPUMachine &machine;
  MmaChoices best;
  double bestSeconds = 0;
  int64_t leastStages = 1;
};
} // namespace

/// Values of a field: `chosen`, and the opposite if that is free and `other`.
SmallVector<bool> MmaSearch::getOptions(StringRef name, bool chosen,
                                        bool other) const {
  SmallVector<bool> options{chosen};
  if (other && !given.has(name))
    options.push_back(!chosen);
  return options;
}

/// Numbers of rows: some around that which is `chosen`, and few.
SmallVector<int64_t> MmaSearch::getRows(int64_t chosen) const {
  if (given.has("tile") || region.rowAxis < 0 || region.hasColumns ||
      region.turnsRows)
    return {chosen};
  SmallVector<int64_t> rows;
  for (int64_t wanted :
       {chosen, chosen + 1, chosen + 2, chosen / 2, 2 * chosen, int64_t(1),
        int64_t(2), int64_t(3), int64_t(5), int64_t(7)})
    if (wanted > 0 && wanted <= region.numRows &&
        !llvm::is_contained(rows, wanted))
      rows.push_back(wanted);
  return rows;
}

/// Warps that share the results of each step: as many as leave a warp no more
/// of a factor than registers hold beside that of another step.
SmallVector<int64_t> MmaSearch::getWarps(const MmaPlan &plan) const {
  SmallVector<int64_t> stepWarps;
  for (const MmaStep &step : plan.steps) {
    MmaStep whole = plan.getShared(step, /*warps=*/1);
    int64_t perTile = whole.factorRegisters / whole.tiles, tiles = 1;
    while (2 * tiles < whole.tiles &&
           2 * tiles * perTile <= kMmaStepRegisters / 2)
      tiles *= 2;
    bool fits = whole.factorRegisters <= kMmaStepRegisters / 2 ||
                step.kind == MmaStep::Kind::Chain;
    stepWarps.push_back(fits ? 1 : llvm::divideCeil(whole.tiles, tiles));
  }
  return stepWarps;
}

/// Registers of a thread of `plan`.
int64_t MmaSearch::getRegisters(const MmaPlan &plan) const {
  const MmaTileRates &rates = getGPURates(machine).mmaTiles;
  int64_t factors = 0, more = 0;
  for (const MmaStep &step : plan.steps) {
    factors = plan.keepsFactors ? factors + step.factorRegisters
                                : std::max(factors, step.factorRegisters);
    if (step.kind == MmaStep::Kind::Fibres &&
        plan.getFibreTiles(step, plan.getFibres(step)) > 1)
      more = rates.fibreRegisters;
  }
  return factors + rates.otherRegisters + more;
}

/// Takes the numbers of CTAs and stages of `plan` that are best, if it is.
void MmaSearch::tryCtas(MmaPlan plan) {
  int64_t registers = getRegisters(plan);
  if (registers > kMostRegisters)
    return;
  int64_t mostStages = getGPUTiles(machine).mma.mostStages;
  for (int64_t ctas = 1; ctas <= kMostCtas; ++ctas) {
    if (given.get("ctas_per_sm", ctas) != ctas)
      continue;
    if (ctas * plan.threads * registers > machine.registersPerSM)
      return;
    plan.ctasPerSM = ctas;
    plan.stages = given.get("stages", mostStages);
    auto fits = [&] {
      return plan.sharedBytes + (plan.stages - 1) * plan.getStageBytes() <=
             machine.getSharedBytes(ctas);
    };
    while (!given.has("stages") && plan.stages > 1 && !fits())
      --plan.stages;
    // Nothing would arrive while the only tile of a CTA is worked on.
    bool isAlone = plan.stages == 1 && leastStages > 1 && !given.has("stages");
    if (!fits() || isAlone)
      return;
    double seconds = estimateMmaTiles(plan, machine);
    if (seconds >= bestSeconds)
      continue;
    bestSeconds = seconds;
    best = plan;
  }
}

/// The same of the warps that `choices` leave open.
void MmaSearch::tryWarps(MmaChoices choices) {
  auto complete = [&]() -> std::optional<MmaPlan> {
    choices.keepsFactors = false;
    std::variant<MmaPlan, std::string> completed =
        completeMmaPlan(region, choices);
    auto *plan = std::get_if<MmaPlan>(&completed);
    if (!plan)
      return std::nullopt;
    plan->keepsFactors = plan->mayKeepFactors && given.get("keeps_factor", 1);
    return *plan;
  };
  choices.stages = 1;
  if (!given.has("step_warps")) {
    choices.stepWarps.clear();
    if (std::optional<MmaPlan> plan = complete())
      choices.stepWarps = getWarps(*plan);
    else
      return;
  }
  int64_t most = 1;
  for (int64_t warps : choices.stepWarps)
    most = std::max(most, warps);
  if (most == 1)
    choices.stepWarps.clear();
  if (given.has("threads")) {
    if (std::optional<MmaPlan> plan = complete())
      tryCtas(*plan);
    return;
  }
  for (int64_t warps = most; warps <= std::max(most, kMostWarps);
       warps += most) {
    if (warps < kLeastWarps || (most == 1 && !llvm::isPowerOf2_64(warps)))
      continue;
    choices.threads = 32 * warps;
    if (std::optional<MmaPlan> plan = complete())
      tryCtas(*plan);
  }
}

MmaChoices MmaSearch::run() {
  MmaChoices start = best;
  std::variant<MmaPlan, std::string> completed = completeMmaPlan(region, start);
  auto *plan = std::get_if<MmaPlan>(&completed);
  if (!plan || !hasMmaEstimate(*plan))
    return start;
  double startSeconds = estimateMmaTiles(*plan, machine);
  bestSeconds = startSeconds;
  leastStages = std::min<int64_t>(start.stages, 2);
  bool hasSteps = plan->steps.size() > 1;
  bool mayStore = plan->storesVectors();
  for (bool inner :
       getOptions("inner_rows", start.innerRows, canHaveInnerRows(region)))
    for (bool chains :
         getOptions("inner_chain", start.chainsInner, start.chainsInner))
      for (bool shared : getOptions("shared_store", start.sharedStore || inner,
                                    mayStore && !inner))
        for (bool alternates :
             getOptions("alternates", start.alternates, hasSteps || shared))
          for (int64_t rows : getRows(start.tile)) {
            MmaChoices choices = start;
            choices.innerRows = inner;
            choices.chainsInner = chains && !inner;
            choices.sharedStore = shared;
            choices.alternates = alternates;
            choices.tile = rows;
            choices.threads = std::max<int64_t>(start.threads, 256);
            tryWarps(choices);
          }
  // Smaller differences are within what estimates are wrong by.
  return (100 + kLeastGain) * bestSeconds < 100 * startSeconds ? best : start;
}

MmaChoices kron::searchMmaTiles(const MmaRegion &region,
                                const MmaChoices &choices, GPUPlanAttr given,
                                const GPUMachine &machine) {
  return MmaSearch(region, choices, given, machine).run();
}
