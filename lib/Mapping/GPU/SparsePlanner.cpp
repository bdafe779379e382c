//===- SparsePlanner.cpp - Plans of one Kronecker-sparse factor -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Warpgroups where they are faster, else full tiles, else split-K tiles. Of an
// unknown number of rows there are two plans: tiles of few rows are others.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/SparsePlanner.h"
#include "SparseSearch.h"
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

/// The size of an axis, or what an unknown one is taken for.
static int64_t getNominalSize(int64_t size) {
  return ShapedType::isDynamic(size) ? kNominalRows : size;
}

int64_t kron::getSparseFreePositions(const SparseCandidate &plan) {
  int64_t positions = 1;
  for (int64_t size : plan.freeSizes)
    positions *= getNominalSize(size);
  return positions;
}

int64_t kron::getSparseTiles(const SparseCandidate &plan) {
  return plan.getTilesPerRows() *
         int64_t(llvm::divideCeil(plan.nominalRows, plan.getRows())) *
         getSparseFreePositions(plan);
}

//===----------------------------------------------------------------------===//
// What follows from tiles
//===----------------------------------------------------------------------===//

/// Whether a factor of 16-bit values is kept for so many tiles that putting its
/// pairs in order is worth it.
static bool isWorthPairing(const SparseCandidate &plan,
                           const GPUMachine &machine) {
  const SparseRates &rates = getGPURates(machine).sparse;
  return !plan.usesWgmma && !plan.isWideChunk() &&
         plan.sizeK >= rates.leastPairedK && plan.keepsFactor &&
         plan.is16BitFloat() && !plan.isOf8() && !plan.alongRows &&
         plan.lanesPerChunk > 1 && plan.chunkK > 1 &&
         getSparseTiles(plan) >= rates.leastPairedTiles *
                                     plan.getWarpGroupsPerSM() * machine.numSMs;
}

/// Blocks of rows whose data the second-level cache can hold; 0 if any number
/// of them may go by.
static int64_t chooseKeptTiles(const SparsePlan &plan,
                               const SparseRates &rates) {
  // Nobody else reads the same lines.
  if (!plan.keepsFactor || (plan.getResultBlocks() == 1 &&
                            (plan.alongRows || plan.getLaneBlocks() == 1)))
    return 0;
  // Those that do are at work at the same time. (mma.sync was slower so.)
  if (plan.usesWgmma &&
      plan.getResultBlocks() * plan.getLaneBlocks() <= rates.mostSharers)
    return 0;
  int64_t bytes = plan.getRows() * plan.sizeK * plan.lanes * plan.dataBytes;
  for (int64_t size : plan.groupSizes)
    bytes *= size;
  // One for each warp group, at least.
  return std::max<int64_t>(rates.cachedBytes / bytes, plan.warpGroups);
}

/// Elements whose multiples tiles of `plan` should start at; 0: where groups
/// do. A warp stores some bytes of a row at a time: those of long groups are
/// whole sectors, since ones that arrive in parts cost more.
static int64_t chooseShift(FusedOp fused, const SparsePlan &plan,
                           const SparseTiles &tiles) {
  int64_t unit = plan.getChunk();
  if (plan.sizeN * plan.elementBytes >= tiles.longGroupBytes)
    unit = tiles.shiftBytes / plan.elementBytes;
  for (; unit >= plan.getChunk(); unit /= 2)
    if (mayShiftSparse(fused, plan, unit))
      return unit;
  return 0;
}

void kron::finishSparseTile(SparseCandidate &plan,
                            const SparseConstraints &constraints,
                            const GPUMachine &machine) {
  plan.pairsFactor =
      constraints.take("pairs_factor", isWorthPairing(plan, machine));
  plan.keptTiles = constraints.take(
      "kept_tiles", chooseKeptTiles(plan, getGPURates(machine).sparse));
  int64_t shift = plan.sharedStore ? 0
                                   : chooseShift(constraints.getFused(), plan,
                                                 getGPUTiles(machine).sparse);
  plan.shiftUnit = constraints.take("shift", shift);
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

SparseConstraints::SparseConstraints(FusedOp fused, GPUPlanAttr plan,
                                     const GPUMachine &machine)
    : fused(fused), machine(machine) {
  if (!plan || (plan.getKernel() != GPUKernel::Sparse &&
                plan.getKernel() != GPUKernel::Auto))
    return;
  // When a plan is launched is not for whoever wants tiles to say, nor is for
  // how many rows one of several is.
  auto isOfLaunch = [&](StringRef name) {
    return name == "min_rows" || name == "regions" ||
           (name == "skinny_m" && plan.get(name) != 0);
  };
  NamedAttrList fields;
  for (NamedAttribute field : plan.getFields())
    if (findPlanField(GPUKernel::Sparse, field.getName()) &&
        !isOfLaunch(field.getName()))
      fields.push_back(field);
  if (!fields.empty())
    given = GPUPlanAttr::get(plan.getContext(), GPUKernel::Sparse,
                             fields.getDictionary(plan.getContext()));
}

std::string SparseConstraints::findContradiction(const SparsePlan &plan) const {
  if (!given)
    return "";
  if (has("threads") && given.getThreads() != plan.getThreads())
    return "no sparse plan has threads = " + std::to_string(given.getThreads());
  return kron::findContradiction(given,
                                 writeSparsePlan(given.getContext(), plan));
}

bool SparseConstraints::allow(const SparseCandidate &candidate) const {
  if (!given)
    return true;
  SparseCandidate plan = candidate;
  finishSparseTile(plan, *this, machine);
  GPUPlanAttr attr = writeSparsePlan(given.getContext(), plan);
  return findContradiction(plan).empty() &&
         std::holds_alternative<SparsePlan>(readSparsePlan(fused, attr)) &&
         plan.getSharedBytes() <= machine.getSharedBytes(plan.ctasPerSM);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// The plan for warpgroups, which may swap operands; nothing if there is
/// none.
static std::optional<SparseCandidate>
chooseGroups(FusedOp fused, const SparseCandidate &described,
             const SparseConstraints &constraints, const GPUMachine &machine) {
  if (!described.alongRows)
    return chooseSparseWgmma(described, constraints, machine);
  SparseCandidate swapped = described;
  if (swapSparseOperands(fused, swapped))
    return std::nullopt;
  swapped.nominalRows = swapped.swappedRows;
  chooseSparseChunks(swapped);
  return chooseSparseWgmma(swapped, constraints, machine);
}

/// Whether full tiles, which are too few for all SMs, are faster than split-K
/// ones all the same: those of more rows than a tile has read the factor again
/// for each 16 of them, which takes long where copies are narrow.
static bool isFaster(const SparseCandidate &full, const SparseCandidate &splitK,
                     const SparseConstraints &constraints,
                     const GPUMachine &machine) {
  return splitK.nominalRows > kSparseSkinnyM && isCounted(full) &&
         isCounted(splitK) &&
         getNarrowSeconds(full, constraints, machine) <
             getNarrowSeconds(splitK, constraints, machine);
}

/// The best plan of `fused`; `skinnyM`: for so many rows of an unknown number
/// of them, 0: for many.
static std::variant<SparseCandidate, std::string>
search(FusedOp fused, int64_t skinnyM, const SparseConstraints &constraints,
       const GPUMachine &machine) {
  auto problemOrReason = describeSparse(fused);
  if (auto *reason = std::get_if<std::string>(&problemOrReason))
    return *reason;
  auto problem = std::get<SparseProblem>(problemOrReason);
  int64_t rows = skinnyM && ShapedType::isDynamic(problem.rows)
                     ? skinnyM
                     : getNominalSize(problem.rows);
  bool areFew = problem.alongRows && rows <= kSparseFewRows;
  bool copiesSingly = constraints.take("copies_singly", areFew);
  if (copiesSingly)
    problem = std::get<SparseProblem>(describeSparse(fused, copiesSingly));
  SparseCandidate described(problem);
  described.copiesSingly = copiesSingly;
  described.stepBytes = getGPUTiles(machine).sparse.stepBytes;
  described.nominalRows = rows;
  chooseSparseChunks(described);
  described.shiftUnit = constraints.take(
      "shift", chooseShift(fused, described, getGPUTiles(machine).sparse));
  describeSparseAccesses(fused, described);
  SparseCandidate full = described;
  if (mayHaveWideChunks(full) &&
      constraints.take("chunk_bytes", kSparseWideBytes) == kSparseWideBytes) {
    full.chunkBytes = kSparseWideBytes;
    chooseSparseChunks(full);
    describeSparseAccesses(fused, full);
  }
  std::optional<SparseCandidate> best =
      chooseGroups(fused, full, constraints, machine);
  // Single copies take as long whoever multiplies.
  if (best && !best->is16BitFloat() && hasNarrowLoads(*best))
    if (auto tile = chooseSparseTile(full, constraints, machine);
        tile && getNarrowSeconds(*tile, constraints, machine) <
                    getNarrowSeconds(*best, constraints, machine))
      best = tile;
  if (!best) {
    best = chooseSparseTile(full, constraints, machine);
    if (full.isWideChunk() && (!best || described.mostWhole > 0)) {
      auto narrow = chooseSparseTile(described, constraints, machine);
      if (!best ||
          (narrow && getNarrowSeconds(*narrow, constraints, machine) <
                         getNarrowSeconds(*best, constraints, machine)))
        best = narrow;
    }
    bool maySplitK = !best || described.nominalRows <= kSparseSkinnyM ||
                     getSparseTiles(*best) < machine.numSMs;
    if (maySplitK)
      if (std::optional<SparseCandidate> splitK =
              chooseSplitKSparseTile(described, constraints, machine);
          splitK && (!best || !isFaster(*best, *splitK, constraints, machine)))
        best = splitK;
  }
  if (!best)
    return "a tile does not fit in shared memory";
  finishSparseTile(*best, constraints, machine);
  return *best;
}

/// The best plan of `fused` that meets the constraints, or why there is none.
static std::variant<SparseCandidate, std::string>
searchGiven(FusedOp fused, int64_t skinnyM,
            const SparseConstraints &constraints, const GPUMachine &machine) {
  SparseConstraints none(fused, nullptr, machine);
  auto best = search(fused, skinnyM, none, machine);
  auto *found = std::get_if<SparseCandidate>(&best);
  std::string contradiction =
      found ? constraints.findContradiction(*found) : "";
  if (constraints.isEmpty() || (found && contradiction.empty()))
    return best;
  auto given = search(fused, skinnyM, constraints, machine);
  if (!found || std::holds_alternative<SparseCandidate>(given))
    return given;
  return contradiction;
}

/// The plan for few rows of `fused`, if it has an unknown number of them and is
/// faster that way.
static std::optional<SparseCandidate>
searchSkinnyM(FusedOp fused, const SparseConstraints &constraints,
              const GPUMachine &machine) {
  auto best = searchGiven(fused, kSparseSkinnyM, constraints, machine);
  auto *plan = std::get_if<SparseCandidate>(&best);
  auto type = cast<ShapedType>(fused.getInit().getType());
  if (!plan || plan->rowAxis < 0 || !type.isDynamicDim(plan->rowAxis))
    return std::nullopt;
  // 16-bit values of 15 rows, one by one, of many products take longer than
  // full tiles.
  if (plan->copiesSingly && plan->is16BitFloat() && plan->lanes > 1)
    return std::nullopt;
  return *plan;
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

/// Why `given`, a complete plan, is none for `fused` on `machine`, or nothing.
static std::optional<std::string>
getCompleteReason(FusedOp fused, GPUPlanAttr given, const GPUMachine &machine) {
  auto planOrReason = readSparsePlan(fused, given);
  if (auto *reason = std::get_if<std::string>(&planOrReason))
    return *reason;
  const auto &plan = std::get<SparsePlan>(planOrReason);
  if (plan.usesWgmma && !machine.hasWgmma)
    return "the machine has no wgmma";
  if (std::optional<std::string> reason = getSkinnyMReason(fused, given, plan))
    return reason;
  return getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine);
}

double kron::estimateSparseTiles(FusedOp fused, GPUPlanAttr plan,
                                 double seconds, const GPUMachine &machine) {
  auto planOrReason = readSparsePlan(fused, plan);
  auto *read = std::get_if<SparsePlan>(&planOrReason);
  if (!read)
    return seconds;
  SparseCandidate candidate;
  static_cast<SparsePlan &>(candidate) = *read;
  candidate.nominalRows =
      getNominalSize(read->swapsOperands ? read->swappedRows : read->rows);
  if (ShapedType::isDynamic(read->rows) && read->skinnyM)
    candidate.nominalRows = read->skinnyM;
  describeSparseAccesses(fused, candidate);
  // Those of 16 bits by warpgroups were measured as kron-fuse estimates them.
  if (candidate.usesWgmma && candidate.is16BitFloat())
    return seconds;
  SparseConstraints constraints(fused, plan, machine);
  bool counts = candidate.usesWgmma || isCounted(candidate);
  double ofTiles = GPUResources(machine).getLaunchSeconds() +
                   (counts ? getNarrowSeconds(candidate, constraints, machine)
                           : getWaitSeconds(candidate, constraints, machine));
  seconds = std::max(seconds, ofTiles);
  return counts ? seconds
                : addFactorLoads(candidate, seconds, constraints, machine);
}

std::variant<SmallVector<GPUPlanAttr>, std::string>
kron::planSparse(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (GivenPlan(given).isComplete(GPUKernel::Sparse)) {
    if (std::optional<std::string> reason =
            getCompleteReason(fused, given, machine))
      return *reason;
    return SmallVector<GPUPlanAttr>{given.without("regions")};
  }
  SparseConstraints constraints(fused, given, machine);
  auto planOrReason = searchGiven(fused, /*skinnyM=*/0, constraints, machine);
  if (auto *reason = std::get_if<std::string>(&planOrReason))
    return *reason;
  const auto &main = std::get<SparseCandidate>(planOrReason);
  std::optional<SparseCandidate> few;
  if (ShapedType::isDynamic(main.rows))
    few = searchSkinnyM(fused, constraints, machine);
  SmallVector<GPUPlanAttr> plans;
  auto smallGroups = planSmallGroups(fused, machine);
  if (auto *plan = std::get_if<GPUPlanAttr>(&smallGroups))
    plans.push_back(*plan);
  else if (GivenPlan(given).names(GPUKernel::SmallGroups))
    return std::get<std::string>(smallGroups);
  plans.push_back(writeSparsePlan(fused.getContext(), main));
  if (!few)
    return plans;
  for (GPUPlanAttr &plan : plans)
    plan = plan.with("min_rows", kSparseSkinnyM + 1);
  plans.push_back(writeSparsePlan(fused.getContext(), *few));
  return plans;
}
