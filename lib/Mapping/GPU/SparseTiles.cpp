//===- SparseTiles.cpp - Full tiles of a Kronecker-sparse factor ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Tiles of as many rows as matrix instructions take, where there are enough of
// them for all SMs. Chunks and sums of a warp follow from the factor; some ways
// for warps to share an SM are tried, and ranked by what they read.
//
//===----------------------------------------------------------------------===//

#include "SparseSearch.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/Resources.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// A warp
//===----------------------------------------------------------------------===//

/// Products with bf16 residuals take fewer matrix instructions, but more others
/// to split values, which are worth it where instructions share operands; and
/// more registers, which an epilogue needs.
static void chooseMath(SparseCandidate &plan,
                       const SparseConstraints &constraints) {
  bool isFull = plan.keepsFactor && plan.hasPartialSums && plan.warpGroups == 1;
  bool shares = plan.alongRows       ? !isFull
                : plan.isWideChunk() ? plan.chunkK >= 4
                                     : plan.getParts() <= 2;
  bool areNarrow = plan.math == MmaMath::SplitTF32 &&
                   plan.sizeK >= kLeastSummed && shares && !plan.hasEpilogue;
  plan.residuals = static_cast<SparseResiduals>(
      constraints.take("bf16_residuals", areNarrow));
}

void kron::chooseSparseChunks(SparseCandidate &plan) {
  plan.laneChunks = 1;
  setSparseChunks(plan);
  int64_t chunks = plan.lanes / plan.lanesPerChunk;
  if (plan.alongRows || chunks == 1)
    return;
  // As many as make equal blocks of up to 4.
  plan.laneChunks = plan.lanesPerChunk == plan.getChunk() && chunks % 2 == 0
                        ? 2
                        : llvm::divideCeil(chunks, llvm::divideCeil(chunks, 4));
  setSparseChunks(plan);
}

/// Sums of a warp: 64 registers or, `isWide`, 128.
static void chooseWarpTile(SparseCandidate &plan,
                           const SparseConstraints &constraints) {
  int64_t tiles = plan.isWide ? 32 : 16;
  if (plan.elementBytes == 8 || (plan.hasPartialSums && tiles == 32))
    tiles /= 2;
  int64_t products = plan.getParts() * (plan.alongRows ? 1 : plan.laneChunks);
  int64_t perProduct = std::max<int64_t>(tiles / products, 1);
  // Results come in groups of 16 bytes.
  int64_t unit = plan.order == SparseOrder::Chunks
                     ? std::max<int64_t>(plan.chunkK / 2, 1)
                     : 1;
  int64_t wanted = llvm::divideCeil(plan.getPlaces(), 8);
  int64_t columns = products >= 8 || plan.alongRows ? perProduct
                    : perProduct >= 32              ? 8
                    : perProduct >= 8               ? 4
                                                    : perProduct / 2;
  columns = std::max<int64_t>(
      std::min<int64_t>(columns, llvm::PowerOf2Ceil(wanted)), unit);
  if (plan.triedResultTiles)
    columns = std::min(plan.triedResultTiles, perProduct);
  plan.resultTiles = constraints.take("result_tiles", columns);
  plan.rowTiles = constraints.take(
      "row_tiles", std::clamp<int64_t>(
                       llvm::bit_floor(uint64_t(perProduct / columns)), 1, 4));
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// The size of a K step: about `stepBytes` of data, with K padded as little as
/// possible.
static void chooseKStep(SparseCandidate &plan,
                        const SparseConstraints &constraints) {
  int64_t macro = plan.getMacroK();
  int64_t perK = plan.getRows() * plan.getLanes() * plan.dataBytes;
  int64_t best = macro, bestPadded = llvm::alignTo(plan.sizeK, macro);
  int64_t stepBytes =
      plan.getWarpGroupsPerSM() > 1 ? plan.stepBytes : 2 * plan.stepBytes;
  for (int64_t step = macro; step * perK <= 2 * stepBytes; step *= 2) {
    if (step >= 2 * plan.sizeK)
      break;
    // Rows of 128 bytes have no bank conflicts.
    bool isShort = step * plan.getLanes() * plan.dataBytes <= 128;
    if (!isShort && step * perK > stepBytes)
      break;
    int64_t padded = llvm::alignTo(plan.sizeK, step);
    if (padded <= bestPadded || (isShort && padded <= bestPadded * 5 / 4))
      best = step, bestPadded = padded;
  }
  plan.stepK = constraints.take("k_step", best);
  plan.stepsK = llvm::divideCeil(plan.sizeK, plan.stepK);
}

/// Divides `warps` among results and rows.
static void setWarps(SparseCandidate &plan, int64_t warps, int64_t resultWarps,
                     const SparseConstraints &constraints) {
  plan.resultWarps = resultWarps;
  plan.rowWarps = std::max<int64_t>(warps / resultWarps, 1);
  chooseKStep(plan, constraints);
}

/// Bytes that tiles of `plan` read for each row of the input.
static double getTraffic(const SparseCandidate &plan) {
  double data = double(plan.sizeK) * plan.getLanes() * plan.getResultBlocks();
  if (plan.keepsFactor)
    return data;
  return data + double(plan.sizeN) * plan.sizeK * plan.getLanes() *
                    llvm::divideCeil(plan.nominalRows, plan.getRows()) /
                    plan.nominalRows;
}

/// By which shorter segments slow the second-level cache down.
static double getWaste(const SparseCandidate &plan, const SparseRates &rates) {
  if (plan.alongRows || plan.getLaneBlocks() == 1)
    return 1;
  return std::max(1.0, double(rates.segmentBytes) /
                           (plan.getLanes() * plan.dataBytes));
}

/// What ranks plans: seconds of the elements of a row that go through memory or
/// the second-level cache, if they had a byte, whichever takes longer. Two warp
/// groups per SM overlap better than one with larger tiles; where both operands
/// stream, that makes no difference. Pairs of 16-bit values along rows take so
/// many instructions that larger tiles of one CTA are better if it keeps a
/// factor of large K as a whole, and small ones of warp groups only where there
/// are few. The weights were fitted to measurements.
static double getCost(const SparseCandidate &plan, const GPUMachine &machine) {
  const SparseRates &rates = getGPURates(machine).sparse;
  double sizeN = double(plan.sizeN) * plan.getLanes();
  double memory = double(plan.sizeK) * plan.getLanes() + sizeN;
  double cached = (getTraffic(plan) + sizeN) * getWaste(plan, rates);
  GPUResources resources(machine);
  double cost = std::max(resources.getMemorySeconds(memory),
                         resources.getCacheSeconds(cached, rates.cacheShare));
  cost /= plan.getLanes();
  if (plan.is16BitFloat() && plan.alongRows && plan.warpGroups > 1 &&
      !plan.isWide)
    return cost * rates.smallPairsFactor;
  if (!plan.keepsFactor || plan.getWarpGroupsPerSM() > 1)
    return cost;
  bool pairsRows = plan.is16BitFloat() && plan.alongRows &&
                   plan.sizeK >= rates.largeK && plan.getResultBlocks() == 1;
  return cost * (pairsRows ? rates.alonePairsFactor : rates.aloneFactor);
}

/// How much longer the SM with the most tiles takes than all of them would on
/// average, of 16-bit types with the rows innermost, if that is a lot.
static double getIdle(const SparseCandidate &plan, const GPUMachine &machine) {
  const SparseRates &rates = getGPURates(machine).sparse;
  int64_t tiles = getSparseTiles(plan), parts = plan.getTilesPerRows();
  int64_t segments = machine.numSMs * plan.ctasPerSM / parts;
  if (!plan.alongRows || !plan.is16BitFloat() || !plan.keepsFactor ||
      segments == 0)
    return 1;
  int64_t length = llvm::divideCeil(tiles / parts, segments) * plan.ctasPerSM;
  double idle = double(length) * machine.numSMs / tiles;
  return idle < rates.idleFactor ? 1 : idle;
}

/// Takes fewer rows where there is no factor to read again for them: many small
/// tiles are shared out more evenly.
static void narrowTile(SparseCandidate &plan,
                       const SparseConstraints &constraints,
                       const SparseTiles &tiles) {
  int64_t most = plan.alongRows ? tiles.mostRowsAlong : tiles.mostRows;
  while (plan.getRows() > most && plan.rowTiles > 1)
    plan.rowTiles /= 2;
  while (plan.alongRows && plan.getRows() > most) {
    if (plan.resultTiles > 1) {
      plan.resultTiles /= 2;
      plan.resultWarps *= 2;
    }
    if (plan.rowWarps == 1)
      break;
    plan.rowWarps /= 2;
  }
  chooseKStep(plan, constraints);
}

/// As many pipeline stages as should be under way; whether they fit.
static bool chooseStages(SparseCandidate &plan,
                         const SparseConstraints &constraints,
                         int64_t sharedBytes, const GPUMachine &machine) {
  int64_t bytesUnderWay = getGPURates(machine).sparse.bytesUnderWay;
  if (constraints.has("stages")) {
    plan.stages = constraints.take("stages", 0);
    return plan.getSharedBytes() <= sharedBytes;
  }
  plan.stages = 2;
  while (plan.stages < getGPUTiles(machine).sparse.mostStages &&
         (plan.stages - 1) * plan.getStageBytes() <
             bytesUnderWay / plan.getWarpGroupsPerSM())
    ++plan.stages;
  while (plan.stages > 2 && plan.getSharedBytes() > sharedBytes)
    --plan.stages;
  return plan.getSharedBytes() <= sharedBytes;
}

/// Takes no more tiles of results per warp than make as many blocks.
static void narrowResults(SparseCandidate &plan,
                          const SparseConstraints &constraints) {
  int64_t unit = plan.getResultUnit();
  int64_t warps = plan.resultWarps * plan.getResultBlocks();
  int64_t needed =
      llvm::divideCeil(int64_t(llvm::divideCeil(plan.getPlaces(), 8)), warps);
  plan.resultTiles = constraints.take(
      "result_tiles",
      std::min<int64_t>(plan.resultTiles, llvm::alignTo(needed, unit)));
}

/// Tiles with `warps` per warp group, of which up to `mostResultWarps` share
/// rows, with the factor kept or not; whether they fit.
static bool chooseTile(SparseCandidate &plan, int64_t warps,
                       int64_t mostResultWarps,
                       const SparseConstraints &constraints,
                       const GPUMachine &machine) {
  int64_t sharedBytes = machine.getSharedBytes(plan.ctasPerSM);
  int64_t most = llvm::PowerOf2Ceil(
      llvm::divideCeil(plan.getPlaces(), plan.getResultsPerWarp()));
  int64_t resultWarps = std::min({warps, most, mostResultWarps});
  // As much of the factor as can be kept; else squares.
  if (!plan.keepsFactor)
    while (resultWarps > 1 &&
           plan.getResultsPerWarp() * resultWarps >
               2 * plan.getRowsPerWarp() * (warps / resultWarps))
      resultWarps /= 2;
  if (constraints.has("row_warps"))
    resultWarps =
        std::max<int64_t>(warps / constraints.take("row_warps", 1), 1);
  resultWarps = constraints.take("result_warps", resultWarps);
  const SparseTiles &tiles = getGPUTiles(machine).sparse;
  int64_t keptBytes = tiles.keptBytes * sharedBytes / tiles.keptOfBytes;
  for (;; resultWarps /= 2) {
    setWarps(plan, warps, resultWarps, constraints);
    if (!plan.keepsFactor || plan.getKeptBytes() <= keptBytes)
      break;
    if (resultWarps == 1)
      return false;
  }
  bool isGiven =
      constraints.has("row_tiles") || constraints.has("result_tiles") ||
      constraints.has("row_warps") || constraints.has("result_warps");
  if (plan.keepsFactor && !isGiven)
    narrowTile(plan, constraints, tiles);
  if (plan.alongRows && hasNarrowAccesses(plan))
    narrowResults(plan, constraints);
  return chooseStages(plan, constraints, sharedBytes, machine);
}

/// What of data and factor is copied whole where `copiesWhole`.
static int64_t getWholeCopies(const SparseCandidate &plan, bool copiesWhole,
                              const SparseConstraints &constraints) {
  int64_t most =
      plan.keepsFactor ? std::min<int64_t>(plan.mostWhole, 1) : plan.mostWhole;
  return constraints.take("whole_copies", copiesWhole ? most : 0);
}

/// The better one of keeping the factor and reading it for each tile.
static std::optional<SparseCandidate>
chooseKept(const SparseCandidate &described, int64_t warps,
           int64_t mostResultWarps, bool copiesWhole,
           const SparseConstraints &constraints, const GPUMachine &machine) {
  std::optional<SparseCandidate> best;
  for (bool keeps : {true, false}) {
    if (described.warpGroups > 1 && !keeps)
      break;
    SparseCandidate candidate = described;
    candidate.keepsFactor = keeps;
    candidate.wholeCopies = getWholeCopies(candidate, copiesWhole, constraints);
    chooseMath(candidate, constraints);
    chooseWarpTile(candidate, constraints);
    if (!chooseTile(candidate, warps, mostResultWarps, constraints, machine) ||
        !constraints.allow(candidate))
      continue;
    bool isBetter =
        !best || (isCounted(candidate)
                      ? getNarrowSeconds(candidate, constraints, machine) <
                            getNarrowSeconds(*best, constraints, machine)
                      : getTraffic(candidate) <= getTraffic(*best));
    if (isBetter)
      best = candidate;
    // Where rows are innermost, other factors than dense ones come element by
    // element.
    if (described.alongRows && !described.groupAxes.empty())
      break;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

namespace {
/// How warps share an SM.
struct Form {
  int64_t ctas, warpGroups;
  bool isWide;
};
} // namespace

/// The forms that are worth a try, of those that are as good the best one
/// first. This is what measurements say; what decides seems to be registers for
/// operands beside the sums.
static SmallVector<Form> getForms(const SparsePlan &plan) {
  Form two{2, 1, false}, one{1, 1, true}, warpGroups{1, 2, false};
  Form wideTwo{2, 1, true}, wideWarpGroups{1, 2, true};
  if (plan.element.isF64())
    return {two, wideTwo, one};
  // Larger tiles spill there.
  if (plan.hasEpilogue && plan.alongRows)
    return {two};
  if (plan.alongRows && plan.is16BitFloat())
    return {two, one, wideWarpGroups, warpGroups};
  if (plan.alongRows)
    return {two, one, warpGroups};
  if (plan.order == SparseOrder::Pairs)
    return plan.is16BitFloat()
               ? SmallVector<Form>{wideTwo, warpGroups, two, one}
               : SmallVector<Form>{wideWarpGroups, two, one};
  if (plan.is16BitFloat())
    return {wideWarpGroups, two, one};
  return {two, one};
}

/// The forms of given numbers of CTAs and warp groups; those that are worth a
/// try, and others behind them.
static SmallVector<Form> getForms(const SparseCandidate &plan,
                                  const SparseConstraints &constraints) {
  SmallVector<Form> forms = getForms(plan);
  // With more than two warps for these rows, a CTA would have idle ones.
  if (!plan.alongRows && plan.nominalRows <= 2 * tile::kMmaSizeM)
    forms.insert(forms.begin(), {4, 1, false});
  // Two groups keep a factor together, for fewer copies of single elements.
  if (mayShareSparseStores(plan) && !plan.alongRows)
    forms.append({{1, 2, false}, {1, 2, true}});
  if (constraints.isEmpty())
    return forms;
  for (int64_t ctas : {2, 1})
    for (int64_t warpGroups : {1, 2})
      for (bool isWide : {false, true})
        forms.push_back({constraints.take("ctas_per_sm", ctas),
                         constraints.take("warp_groups", warpGroups), isWide});
  llvm::erase_if(forms, [&](const Form &form) {
    return form.ctas != constraints.take("ctas_per_sm", form.ctas) ||
           form.warpGroups != constraints.take("warp_groups", form.warpGroups);
  });
  return forms;
}

/// Warps of a warp group, unless a number of threads is given.
static int64_t getWarps(const SparseCandidate &plan,
                        const SparseConstraints &constraints) {
  if (constraints.has("row_warps") && constraints.has("result_warps"))
    return constraints.take("row_warps", 1) *
           constraints.take("result_warps", 1);
  return std::max<int64_t>(8 / plan.getWarpGroupsPerSM(), 1);
}

/// Whether warp groups need not be tried: partial sums take registers of
/// theirs, so they have to save a lot.
static bool isGoodWithoutWarpGroups(const SparsePlan &plan,
                                    const SparseRates &rates) {
  return plan.alongRows && plan.hasPartialSums &&
         plan.getResultBlocks() <= rates.fewBlocks;
}

std::optional<SparseCandidate>
kron::chooseSparseTile(const SparseCandidate &described,
                       const SparseConstraints &constraints,
                       const GPUMachine &machine) {
  const SparseRates &rates = getGPURates(machine).sparse;
  const SparseTiles &tiles = getGPUTiles(machine).sparse;
  SparseCandidate plan = described;
  std::optional<SparseCandidate> best;
  // Split-K tiles follow where full ones are too few; full ones that keep the
  // factor are better.
  auto isTooFew = [&](const SparseCandidate &plan) {
    return getSparseTiles(plan) < machine.numSMs;
  };
  auto isBetter = [&](const SparseCandidate &plan,
                      const SparseCandidate &other) {
    if (isCounted(plan))
      return getNarrowSeconds(plan, constraints, machine) <
             getNarrowSeconds(other, constraints, machine);
    if (plan.keepsFactor && !isTooFew(plan) && isTooFew(other))
      return true;
    if (other.keepsFactor && !isTooFew(other) && isTooFew(plan))
      return false;
    return getCost(plan, machine) * getIdle(plan, machine) <
           getCost(other, machine) * getIdle(other, machine);
  };
  auto attempt = [&](const Form &form, int64_t laneChunks, bool sharesStore,
                     bool copiesWhole) {
    if (form.warpGroups > 1 && best && isGoodWithoutWarpGroups(*best, rates))
      return;
    SparseCandidate tile = plan;
    tile.laneChunks = constraints.take("lane_chunks", laneChunks);
    setSparseChunks(tile);
    tile.ctasPerSM = form.ctas;
    tile.warpGroups = form.warpGroups;
    tile.isWide = form.isWide;
    tile.sharedStore = constraints.take("shared_store", sharesStore);
    if (tile.sharedStore)
      tile.shiftUnit = 0;
    int64_t warps =
        constraints.takeWarps(form.warpGroups * getWarps(tile, constraints)) /
        form.warpGroups;
    if (warps == 0)
      return;
    // Where rows are neighbours, those of a chunk make tiles of many rows, of
    // which few may exist: warps that share rows make less of them.
    bool triesWarps =
        tile.element.isF64() || (tile.alongRows && hasNarrowAccesses(tile));
    // Few of the long instructions of f64 make a tile: what does not fit N, and
    // SMs that have a tile less than others, count.
    int64_t mostTiles = tile.element.isF64() ? tiles.mostF64ResultTiles : 0;
    for (int64_t most = warps; most > 0; most = triesWarps ? most / 2 : 0)
      for (tile.triedResultTiles = std::min<int64_t>(mostTiles, 1);
           tile.triedResultTiles <= mostTiles; ++tile.triedResultTiles)
        if (std::optional<SparseCandidate> candidate = chooseKept(
                tile, warps, most, copiesWhole, constraints, machine);
            candidate && (!best || isBetter(*candidate, *best)))
          best = candidate;
  };
  bool hasLongSegments = plan.order == SparseOrder::Pairs &&
                         !plan.is16BitFloat() && !plan.hasEpilogue &&
                         plan.lanes / plan.lanesPerChunk % 4 == 0;
  bool mayShareStores = mayShareSparseStores(plan);
  int64_t chunks = plan.lanes / plan.lanesPerChunk;
  for (; !best && plan.stepBytes >= tiles.leastStepBytes; plan.stepBytes /= 2)
    for (const Form &form : getForms(plan, constraints))
      for (bool copiesWhole : {false, true}) {
        if (copiesWhole && plan.mostWhole == 0)
          continue;
        for (int64_t longer : {1, 2})
          if (longer == 1 ||
              (hasLongSegments && form.ctas * form.warpGroups == 1))
            attempt(form, longer * plan.laneChunks, /*sharesStore=*/false,
                    copiesWhole);
        if (!mayShareStores)
          continue;
        // Segments of a sector leave registers for more results of a row.
        constexpr int64_t kSectorChunks = kSectorBytes / kSparseChunkBytes;
        if (plan.element.isF32() && !plan.alongRows &&
            plan.laneChunks > kSectorChunks &&
            plan.lanesPerChunk == plan.getChunk())
          attempt(form, kSectorChunks, /*sharesStore=*/false, copiesWhole);
        // The more lanes, the longer what warps store together.
        int64_t blocks = llvm::divideCeil(chunks, plan.laneChunks);
        for (; blocks > 0; --blocks)
          attempt(form, llvm::divideCeil(chunks, blocks), /*sharesStore=*/true,
                  copiesWhole);
      }
  return best;
}
