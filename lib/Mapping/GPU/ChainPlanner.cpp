//===- ChainPlanner.cpp - Plans of chains of sparse factors ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// All sizes of blocks are tried; for each, a chain step shares out rows and
// results among its warps such that they read least from shared memory.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/ChainPlanner.h"
#include "ChainSearch.h"
#include "SparseSearch.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Machine/NominalSizes.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The longest K step that brings no more than it should, with K padded no more
/// than it has to be.
static void chooseKStep(SparseCandidate &plan) {
  int64_t macro = plan.getMacroK();
  int64_t macros = llvm::divideCeil(plan.sizeK, macro);
  for (int64_t count = 1; count <= macros; ++count) {
    SparseCandidate longer = plan;
    longer.stepK = count * macro;
    bool fits =
        count == 1 ||
        longer.getCopiedBytes() + longer.getFactorBytes() <= plan.stepBytes;
    // Rows of odd multiples of 64 bytes have no bank conflicts, nor have those
    // of 128, whose chunks are exchanged.
    bool isEven = count == 1 || longer.getPackedRowBytes(false) % 64 == 0;
    if (macros % count == 0 && fits && isEven)
      plan.stepK = longer.stepK;
  }
  plan.stepsK = llvm::divideCeil(plan.sizeK, plan.stepK);
}

/// Multiply-adds of a block of rows, and of warps that have no tile while
/// others have.
static double getMultiplyAdds(const SparsePlan &plan) {
  int64_t tiles = llvm::alignTo(plan.getTilesPerRows(), plan.tileWarps);
  return double(plan.getRows()) * tiles * plan.getResults() * plan.getLanes() *
         plan.stepsK * plan.stepK;
}

/// Bytes that warps read from shared memory for a block of rows.
static double getReads(const SparsePlan &plan) {
  double perTile =
      double(plan.stepsK) * plan.getPackedRowBytes(false) *
      (plan.getRows() * plan.resultWarps + plan.getResults() * plan.rowWarps);
  return perTile * plan.getTilesPerRows();
}

/// The value of a field by hand, or the one that is chosen.
using TakeField = llvm::function_ref<int64_t(StringRef name, int64_t chosen)>;

/// Tiles of `rows` for `warps` of a warp group, of up to `mostSums` matrix
/// tiles per warp, that `take` leaves as they are. Whether there are any.
static bool chooseTile(SparseCandidate &plan, int64_t rows, int64_t warps,
                       int64_t mostSums, const ChainRates &rates,
                       TakeField take) {
  std::optional<SparseCandidate> best;
  int64_t products = plan.getParts() * plan.laneChunks;
  int64_t unit = plan.order == SparseOrder::Chunks
                     ? std::max<int64_t>(plan.chunkK / 2, 1)
                     : 1;
  auto getCost = [&](const SparsePlan &plan) {
    // A multiply-add of f32 takes three of TF32, each twice as long.
    double perByte = plan.is16BitFloat() ? rates.multiplyAddsPerByte16Bit
                                         : rates.multiplyAddsPerByte;
    return getMultiplyAdds(plan) / perByte + getReads(plan);
  };
  int64_t mostTiles = plan.keepsFactor ? warps : 1;
  for (int64_t tileWarps = 1; tileWarps <= mostTiles; tileWarps *= 2)
    for (int64_t rowWarps = 1; rowWarps * tileWarps <= warps; rowWarps *= 2) {
      SparseCandidate tile = plan;
      tile.tileWarps = tileWarps;
      tile.rowWarps = rowWarps;
      tile.resultWarps = warps / tileWarps / rowWarps;
      tile.rowTiles = 1;
      tile.rowTiles = rows / tile.getRows();
      bool isTaken = take("tile_warps", tileWarps) == tileWarps &&
                     take("row_warps", rowWarps) == rowWarps &&
                     take("result_warps", tile.resultWarps) == tile.resultWarps;
      if (tile.getRows() != rows || tile.rowTiles > 4 || !isTaken)
        continue;
      // Rows that a thread has are whole chunks, and a power of two of them.
      if (plan.turnsRows && (tile.getThreadRows() % plan.getChunk() != 0 ||
                             !llvm::isPowerOf2_64(tile.rowTiles)))
        continue;
      for (tile.resultTiles = unit;
           tile.resultTiles * tile.rowTiles * products <= mostSums;
           tile.resultTiles *= 2) {
        // Those that wait for each other have as many tiles.
        if (!tile.readsShared && tile.getTilesPerRows() % tileWarps != 0)
          continue;
        if (take("result_tiles", tile.resultTiles) != tile.resultTiles)
          continue;
        chooseKStep(tile);
        tile.stepK = std::max<int64_t>(take("k_step", tile.stepK), 1);
        tile.stepsK = llvm::divideCeil(tile.sizeK, tile.stepK);
        if (!best || getCost(tile) < getCost(*best))
          best = tile;
      }
    }
  if (!best)
    return false;
  plan = *best;
  return true;
}

/// How matrix units multiply for `step`.
static Multiplication getMultiplication(const SparsePlan &step) {
  F32Products ofF32 = step.math != MmaMath::SplitTF32 ? F32Products::Single
                      : step.has16BitResiduals()      ? F32Products::SplitBF16
                                                      : F32Products::Split;
  return getMatrixMultiplication(step.elementBytes, ofF32,
                                 /*usesWarpgroups=*/false);
}

/// Seconds for `rows` rows: what takes longest of a warp group's steps one
/// after the other, what all warp groups of an SM compute, reading from the
/// second-level cache and from memory.
double kron::estimateSparseChain(const ChainPlan &plan, double rows,
                                 const GPUMachine &machine) {
  const ChainRates &rates = getGPURates(machine).chain;
  GPUResources resources(machine);
  double sms = machine.numSMs, busy = 0, waits = 0, cached = 0, kept = 0;
  for (const SparsePlan &step : plan.steps) {
    busy += resources.getMultiplySeconds(
        sms * getMultiplyAdds(step), getMultiplication(step), rates.issueShare);
    double results = double(plan.rows) * step.getResultFeatures();
    if (step.writesShared)
      busy += resources.getSMSeconds(rates.handOnClocks * results);
    if (step.leavesRows())
      busy += resources.getSMSeconds(rates.quantizeClocks * results);
    double tiles = llvm::divideCeil(step.getTilesPerRows(), step.tileWarps);
    double steps = tiles * step.stepsK;
    waits += steps * rates.stepSeconds;
    cached += steps * step.getCopiedBytes();
    (step.keepsFactor ? kept : cached) +=
        steps * step.tileWarps * step.getFactorBytes();
  }
  int64_t warpGroups = plan.ctasPerSM * plan.warpGroups;
  double rounds = getWaves(std::ceil(rows / plan.rows), sms * warpGroups);
  double onChip =
      rounds * std::max(busy + waits,
                        warpGroups * (busy + rates.exposedStepShare * waits));
  double fromCache = resources.getCacheSeconds(
      sms * (rounds * warpGroups * cached + kept), rates.cacheShare);
  double memory = resources.getMemorySeconds(rows * plan.getRowBytes());
  // Part of what is copied waits for what is computed.
  return resources.getLaunchSeconds() +
         std::max({onChip, fromCache, memory / rates.copyShare}) +
         rates.exposedShare * memory;
}

double kron::estimateSparseKernels(const ChainPlan &plan, double rows,
                                   const GPUMachine &machine) {
  const ChainRates &rates = getGPURates(machine).chain;
  GPUResources resources(machine);
  double seconds = 0;
  for (const SparsePlan &step : plan.steps) {
    int64_t before = step.getDataFeatures(), behind = step.getResultFeatures();
    double products = resources.getMultiplySeconds(rows * before * step.sizeN,
                                                   getMultiplication(step),
                                                   rates.aloneIssueShare);
    double memory = resources.getMemorySeconds(
        rows * (before + behind) * step.elementBytes, rates.aloneCopyShare);
    seconds += rates.aloneSeconds +
               getOverlapSeconds(products, memory, rates.aloneExposedShare);
  }
  return seconds;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {
/// How an SM's warps share rows.
struct Form {
  int64_t ctas, warpGroups;
  bool keepsFactors;
};

/// What a plan by hand says of the one that is searched for.
class Constraints {
public:
  /// Of a plan for a chain, or any one. Whether rows are quantized is for
  /// whoever searches to say, and when the kernel is launched for nobody.
  explicit Constraints(GPUPlanAttr plan) {
    if (!plan || (plan.getKernel() != GPUKernel::Chain &&
                  plan.getKernel() != GPUKernel::Auto))
      return;
    NamedAttrList fields;
    for (NamedAttribute field : plan.getFields()) {
      StringRef name = field.getName();
      if (findPlanField(GPUKernel::Chain, name) && name != "quantize" &&
          name != "min_rows" && name != "regions")
        fields.push_back(field);
    }
    if (!fields.empty())
      given = GPUPlanAttr::get(plan.getContext(), GPUKernel::Chain,
                               fields.getDictionary(plan.getContext()));
  }

  bool isEmpty() const { return !given; }
  bool has(StringRef name) const { return given && given.has(name); }
  int64_t take(StringRef name, int64_t chosen) const {
    return has(name) ? given.get(name) : chosen;
  }
  /// The same of step `index`.
  int64_t takeOfStep(size_t index, StringRef name, int64_t chosen) const {
    auto steps = given ? given.getFields().getAs<ArrayAttr>("steps") : nullptr;
    if (!steps || index >= steps.size())
      return chosen;
    auto value = cast<DictionaryAttr>(steps[index]).getAs<IntegerAttr>(name);
    return value ? value.getInt() : chosen;
  }
  /// What of `plan` is not as it is wanted, with its name and value; empty if
  /// that is nothing.
  std::string findContradiction(const ChainPlan &plan) const {
    if (!given)
      return "";
    if (has("threads") && given.getThreads() != plan.getThreads())
      return "no chain plan has threads = " +
             std::to_string(given.getThreads());
    for (const SparsePlan &step : plan.steps)
      if (has("stages") && step.hasRing() && step.stages != given.getStages())
        return "no chain plan has stages = " +
               std::to_string(given.getStages());
    return kron::findContradiction(given,
                                   writeChainPlan(given.getContext(), plan));
  }

private:
  /// Null if nothing is given.
  GPUPlanAttr given;
};
} // namespace

/// Of those that are as good, the first one, with the most rows.
static constexpr Form kForms[] = {{1, 2, true},  {1, 4, true}, {2, 1, false},
                                  {1, 1, false}, {1, 1, true}, {2, 1, true}};

/// The forms that are worth a try; of given numbers of CTAs and warp groups
/// others behind them.
static SmallVector<Form> getForms(const Constraints &constraints) {
  SmallVector<Form> forms(std::begin(kForms), std::end(kForms));
  if (constraints.isEmpty())
    return forms;
  for (bool keeps : {false, true})
    forms.push_back({constraints.take("ctas_per_sm", 1),
                     constraints.take("warp_groups", 1), keeps});
  llvm::erase_if(forms, [&](const Form &form) {
    return form.ctas != constraints.take("ctas_per_sm", form.ctas) ||
           form.warpGroups != constraints.take("warp_groups", form.warpGroups);
  });
  return forms;
}

/// The steps of `products` as far as their operations say, with the chunks that
/// suit them.
static std::variant<std::vector<SparseCandidate>, std::string>
describeSteps(ArrayRef<ModeProductOp> products, bool quantizes) {
  auto described = describeChain(products, quantizes);
  if (auto *reason = std::get_if<std::string>(&described))
    return *reason;
  std::vector<SparseCandidate> steps;
  for (const SparsePlan &plan : std::get<std::vector<SparsePlan>>(described)) {
    SparseCandidate &step = steps.emplace_back();
    static_cast<SparsePlan &>(step) = plan;
    chooseSparseChunks(step);
    bool areNarrow = step.math == MmaMath::SplitTF32 &&
                     step.sizeK >= kLeastSummed &&
                     (step.alongRows || step.getParts() <= 2);
    if (areNarrow)
      step.residuals = SparseResiduals::BF16;
  }
  return steps;
}

/// The plan of blocks of `rows` per warp group in this `form`, if they fit.
/// Warp groups of a CTA keep the factors.
static std::optional<ChainPlan>
chooseSteps(std::vector<SparseCandidate> described, int64_t rows,
            int64_t stepBytes, Form form, bool quantizes,
            const Constraints &constraints, const GPUMachine &machine) {
  const ChainTiles &tiles = getGPUTiles(machine).chain;
  ChainPlan plan;
  plan.rows = rows;
  plan.ctasPerSM = form.ctas;
  plan.warpGroups = form.warpGroups;
  plan.keepsFactors = form.keepsFactors;
  plan.quantizes = quantizes;
  int64_t warpGroups = std::max<int64_t>(form.ctas * form.warpGroups, 1);
  int64_t warps = tiles.warps / warpGroups;
  if (constraints.has("threads"))
    warps = constraints.take("threads", 0) / 32 /
            std::max<int64_t>(form.warpGroups, 1);
  for (auto [index, step] : llvm::enumerate(described)) {
    auto take = [&, index = index](StringRef name, int64_t chosen) {
      return constraints.takeOfStep(index, name, chosen);
    };
    step.residuals = static_cast<SparseResiduals>(
        take("bf16_residuals", static_cast<int64_t>(step.residuals)));
    step.stepBytes = stepBytes;
    step.ctasPerSM = form.ctas;
    step.warpGroups = form.warpGroups;
    step.keepsFactor = form.keepsFactors;
    int64_t mostSums = warpGroups > 1 ? 16 : 32;
    if (step.hasPartialSums)
      mostSums /= 2;
    if (!chooseTile(step, rows, warps, mostSums, getGPURates(machine).chain,
                    take))
      return std::nullopt;
    step.stages = take("stages", constraints.take("stages", tiles.mostStages));
    plan.steps.push_back(step);
  }
  setChainRows(plan);
  while (plan.getSharedBytes() > machine.getSharedBytes(form.ctas)) {
    SparsePlan *largest = nullptr;
    for (auto [index, step] : llvm::enumerate(plan.steps))
      if (step.hasRing() && step.stages > 2 &&
          !constraints.takeOfStep(index, "stages", 0) &&
          (!largest || step.getStageBytes() > largest->getStageBytes()))
        largest = &step;
    if (!largest || constraints.has("stages"))
      return std::nullopt;
    --largest->stages;
  }
  return plan;
}

/// The rows of all that `products` compute, on `rowAxis`.
static int64_t getRowCount(ArrayRef<ModeProductOp> products, unsigned rowAxis) {
  ModeProductOp last = products.back();
  return cast<ShapedType>(last.getInit().getType()).getDimSize(rowAxis);
}

double kron::getNominalSparseRows(ArrayRef<ModeProductOp> products) {
  int64_t rows = getRowCount(products, *getRegroupedRows(products));
  return ShapedType::isDynamic(rows) ? kNominalRows : rows;
}

/// The best plan of `described` steps for `nominal` rows that meets the
/// constraints; nothing if there is none.
static std::optional<ChainCandidate> search(ArrayRef<SparseCandidate> described,
                                            double nominal, bool quantizes,
                                            const Constraints &constraints,
                                            const GPUMachine &machine) {
  const ChainTiles &tiles = getGPUTiles(machine).chain;
  SmallVector<int64_t> sizes{256, 192, 128, 96, 64, 48, 32, 16};
  if (constraints.has("tile"))
    sizes = {constraints.take("tile", 0)};
  std::optional<ChainCandidate> best;
  for (const Form &form : getForms(constraints))
    for (int64_t blockRows : sizes) {
      // One factor's K steps are short: nothing would overlap the quantization
      // of a warp group that is alone.
      if (quantizes && described.size() == 1 &&
          form.ctas * form.warpGroups == 1)
        continue;
      std::optional<ChainPlan> plan;
      for (int64_t stepBytes : {tiles.stepBytes, tiles.shortStepBytes})
        if (!plan)
          plan = chooseSteps(described, blockRows, stepBytes, form, quantizes,
                             constraints, machine);
      if (!plan || !constraints.findContradiction(*plan).empty() ||
          (!constraints.isEmpty() && getChainReason(*plan)))
        continue;
      double seconds = estimateSparseChain(*plan, nominal, machine);
      if (!best || seconds < best->seconds)
        best = ChainCandidate{*plan, seconds};
    }
  return best;
}

std::variant<ChainCandidate, std::string>
kron::searchChain(ArrayRef<ModeProductOp> products, const GPUMachine &machine,
                  bool quantizes, GPUPlanAttr given) {
  auto described = describeSteps(products, quantizes);
  if (auto *reason = std::get_if<std::string>(&described))
    return *reason;
  const auto &steps = std::get<std::vector<SparseCandidate>>(described);
  double nominal = getNominalSparseRows(products);
  std::optional<ChainCandidate> best =
      search(steps, nominal, quantizes, Constraints(nullptr), machine);
  Constraints constraints(given);
  std::string contradiction =
      best ? constraints.findContradiction(best->plan) : "";
  if (!contradiction.empty()) {
    best = search(steps, nominal, quantizes, constraints, machine);
    if (!best)
      return contradiction;
  }
  if (!best)
    return "a block of rows does not fit in shared memory";
  if (std::optional<std::string> reason = getChainReason(best->plan))
    return *reason;
  return *best;
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

std::optional<std::string>
kron::getCompleteChainReason(FusedOp fused, GPUPlanAttr given,
                             const GPUMachine &machine) {
  auto plan = readChainPlan(fused, given);
  if (auto *reason = std::get_if<std::string>(&plan))
    return *reason;
  const auto &found = std::get<ChainPlan>(plan);
  return getSharedMemoryReason(found.getSharedBytes(), found.ctasPerSM,
                               machine);
}

std::variant<SmallVector<GPUPlanAttr>, std::string>
kron::planChain(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (GivenPlan(given).isComplete(GPUKernel::Chain)) {
    if (std::optional<std::string> reason =
            getCompleteChainReason(fused, given, machine))
      return *reason;
    return SmallVector<GPUPlanAttr>{given.without("regions")};
  }
  auto found = searchChain(fused.getModeProducts(), machine,
                           /*quantizes=*/false, given);
  if (auto *reason = std::get_if<std::string>(&found))
    return *reason;
  return SmallVector<GPUPlanAttr>{
      writeChainPlan(fused.getContext(), std::get<ChainCandidate>(found).plan)};
}

/// Why factors that are copied for every block of rows make a chain slower than
/// a fused region per factor, whatever is estimated, or nothing.
static std::optional<std::string> getStreamReason(const ChainPlan &plan) {
  for (const SparsePlan &step : plan.steps) {
    if (step.keepsFactor)
      return std::nullopt;
    if (step.laneChunks > 1 && step.lanesPerChunk < step.getChunk())
      return "elements of a factor, which is copied for each block of rows, "
             "would change places";
  }
  return std::nullopt;
}

std::optional<std::string>
kron::getSparseChainReason(ArrayRef<ModeProductOp> products,
                           const GPUMachine &machine) {
  auto found = searchChain(products, machine);
  if (auto *reason = std::get_if<std::string>(&found))
    return *reason;
  const auto &[plan, together] = std::get<ChainCandidate>(found);
  if (std::optional<std::string> reason = getStreamReason(plan))
    return reason;
  double alone =
      estimateSparseKernels(plan, getNominalSparseRows(products), machine);
  if (together <= alone)
    return std::nullopt;
  auto text = [](double seconds) {
    return std::to_string(static_cast<int64_t>(seconds * 1e6 + 0.5));
  };
  return "one fused region takes " + text(together) +
         " us, a fused region per factor " + text(alone) + " us";
}

double kron::estimateSparseChainGain(ArrayRef<ModeProductOp> products,
                                     const GPUMachine &machine) {
  auto found = searchChain(products, machine);
  auto *best = std::get_if<ChainCandidate>(&found);
  if (!best || getStreamReason(best->plan))
    return 0;
  double alone = estimateSparseKernels(best->plan,
                                       getNominalSparseRows(products), machine);
  return std::max(alone - best->seconds, 0.0);
}

int64_t kron::getSparseChainMostRowsApart(ArrayRef<ModeProductOp> products,
                                          const GPUMachine &machine) {
  auto found = searchChain(products, machine);
  auto *best = std::get_if<ChainCandidate>(&found);
  if (!best || products.size() < 2)
    return 0;
  // Few rows leave most SMs without a block, and one block reads all factors by
  // itself; a fused region per factor shares the results out, too.
  auto isApart = [&](int64_t rows) {
    return estimateSparseKernels(best->plan, rows, machine) <
           estimateSparseChain(best->plan, rows, machine);
  };
  int64_t most = 0, least = getNominalSparseRows(products);
  while (most + 1 < least) {
    int64_t middle = most + (least - most) / 2;
    (isApart(middle) ? most : least) = middle;
  }
  return most;
}
