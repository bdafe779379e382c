//===- MmaPlanner.cpp - Choice of tiles of an mma kernel ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// First how many rows and columns a tile has. How many warps work on it, how
// many tiles are under way, and whether input arrives in pieces, follows from
// what fits registers and shared memory.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/MmaPlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/CostModel.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/MmaPlan.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::kron;

/// Innermost elements that a warp stores at once, 128 bytes.
static constexpr int64_t kSegmentBytes = 128;
static constexpr int64_t kSectorBytes = 32;
/// Up to this many tiles of results, whose sums take registers beside factors,
/// four warps per scheduler fit.
static constexpr int64_t kMaxLightTiles = 2;

namespace {
/// Chooses the plan of a fused region, but for the fields of `given`.
class MmaPlanner {
public:
  MmaPlanner(const MmaRegion &region, GPUPlanAttr given,
             const GPUMachine &machine)
      : region(region), given(given), machine(machine) {}

  /// Fills in `choices`, with tiles of `columns` unless that is 0, or says why
  /// there are none.
  std::optional<std::string> run(int64_t columns);

  MmaChoices choices;

private:
  int64_t fillWarpGroups() const;
  bool isOneFactor() const;
  bool copiesWhole() const;
  bool storesShared() const;
  bool storesSingly() const;
  std::optional<std::string> run(int64_t columns, bool whole, bool shared);
  int64_t chooseSegment(int64_t size, int64_t elements, int64_t wanted);
  int64_t chooseTurnedRows(int64_t elements, int64_t wanted);
  int64_t chooseRows(int64_t elements);
  void chooseTile(int64_t columns);
  int64_t fillFibres(int64_t rows) const;
  int64_t getMostRows() const;
  bool hasTilePerSM() const;
  int64_t getLeastWarps() const;
  std::optional<std::string> chooseSteps();
  std::optional<std::string> complete();
  bool isLight() const;
  int64_t getTileBytes() const;
  int64_t chooseWarps(int64_t warpsPerSM, bool light);
  bool chooseStream(int64_t cluster);

  const MmaRegion &region;
  GivenPlan given;
  const GPUMachine &machine;
  const MmaTiles &tiles = getGPUTiles(machine).mma;
  /// What follows from `choices`.
  MmaPlan plan;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

/// Positions of the innermost axis, which nothing contracts, that a tile takes.
static int64_t chooseSegmentOf(int64_t size, int64_t elementBytes) {
  int64_t segment = kSegmentBytes / elementBytes;
  if (ShapedType::isDynamic(size))
    return segment;
  if (size <= segment + segment / 2)
    return size;
  // Not much is left over with one of these.
  int64_t best = segment;
  for (int64_t columns : {segment + segment / 2, 2 * segment})
    if (llvm::alignTo(size, columns) < llvm::alignTo(size, best))
      best = columns;
  return best;
}

/// Positions of an axis of `size`, along which neighbours lie in memory, that a
/// tile takes beside all of the contracted axes, of `elements` positions;
/// `wanted` unless that is 0.
int64_t MmaPlanner::chooseSegment(int64_t size, int64_t elements,
                                  int64_t wanted) {
  int64_t elementBytes = std::max(getElementBytes(region.inputType),
                                  getElementBytes(region.outputType));
  int64_t segment = wanted ? wanted : chooseSegmentOf(size, elementBytes);
  if (!ShapedType::isDynamic(size))
    segment = std::min(segment, size);
  // Shorter ones, down to one sector, if the tile does not fit otherwise.
  double bytes = double(elements) * getElementBytes(region.type);
  while (!wanted && segment % 2 == 0 && segment * elementBytes > kSectorBytes &&
         bytes * segment > getFootprintBudget(machine))
    segment /= 2;
  return segment;
}

/// Rows, which are neighbours in memory, of a tile of `elements` elements per
/// row: segments, in equal parts of all that there are.
int64_t MmaPlanner::chooseTurnedRows(int64_t elements, int64_t wanted) {
  int64_t segment = chooseSegment(region.numRows, elements, wanted);
  if (wanted)
    return segment;
  int64_t bytes = getElementBytes(region.type);
  int64_t segments =
      std::max<int64_t>(1, tiles.turnedBytes / bytes / segment / elements);
  if (ShapedType::isDynamic(region.numRows))
    return segments * segment;
  int64_t all = llvm::divideCeil(region.numRows, segment);
  segments = llvm::divideCeil(all, llvm::divideCeil(all, segments));
  return std::min(segments * segment, region.numRows);
}

/// `rows`, and those more whose fibres along the innermost axis find room in
/// the instructions that theirs leave partly empty.
int64_t MmaPlanner::fillFibres(int64_t rows) const {
  int64_t fibres = 1;
  for (unsigned axis = region.rowAxis + 1; axis + 1 < region.axes.size();
       ++axis)
    fibres *= region.axes[axis].sizeK;
  return llvm::alignTo(rows * fibres, tile::kMmaSizeM) / fibres;
}

/// Rows of a tile with which every SM has one, if there are so many.
int64_t MmaPlanner::getMostRows() const {
  return ShapedType::isDynamic(region.numPositions)
             ? std::numeric_limits<int64_t>::max()
             : llvm::divideCeil(region.numPositions, machine.numSMs);
}

/// Rows of a tile of `elements` elements per row.
int64_t MmaPlanner::chooseRows(int64_t elements) {
  int64_t wanted = given.get("tile");
  if (region.turnsRows)
    return chooseTurnedRows(elements, wanted);
  if (region.rowAxis < 0)
    return 1;
  int64_t rows =
      wanted ? wanted : std::max<int64_t>(1, tiles.elements / elements);
  if (!region.hasColumns && !wanted && elements <= tiles.elements)
    rows = fillFibres(std::min(rows, getMostRows()));
  if (!ShapedType::isDynamic(region.numRows))
    rows = std::min(rows, region.numRows);
  return rows;
}

void MmaPlanner::chooseTile(int64_t columns) {
  int64_t elements = region.getFootprint();
  choices.columns = 1;
  if (region.hasColumns) {
    choices.columns = chooseSegment(region.numColumns, elements,
                                    columns ? columns : given.get("columns"));
    // All that counts is how many of them make a tile.
    elements = std::min(elements, tiles.elements) * choices.columns;
  }
  choices.tile = chooseRows(elements);
}

//===----------------------------------------------------------------------===//
// Warps and memory
//===----------------------------------------------------------------------===//

/// As many warps of a CTA as are to share results.
int64_t MmaPlanner::getLeastWarps() const {
  int64_t warps = 1;
  for (int64_t wanted : given.getList("step_warps"))
    warps = std::clamp<int64_t>(wanted, warps, 32);
  return warps;
}

/// Chooses steps, whatever arrives in pieces: the two innermost factors are one
/// if registers have room for that; where a factor takes more than half of
/// them, several warps share its results.
std::optional<std::string> MmaPlanner::chooseSteps() {
  MmaChoices whole = choices;
  whole.keepsFactors = whole.chainsInner = false;
  whole.piece.clear();
  whole.stepWarps.clear();
  whole.pieceSlots = 0;
  whole.cluster = 1;
  auto completeWhole = [&]() -> std::optional<std::string> {
    std::variant<MmaPlan, std::string> completed =
        completeMmaPlan(region, whole);
    if (auto *reason = std::get_if<std::string>(&completed))
      return *reason;
    plan = std::get<MmaPlan>(completed);
    return std::nullopt;
  };
  if (std::optional<std::string> reason = completeWhole())
    return reason;
  whole.chainsInner = given.get("inner_chain");
  if (!given.has("inner_chain"))
    if (auto registers = getMmaChainRegisters(plan))
      whole.chainsInner =
          canMmaChain(*registers) && registers->sums <= tiles.chainSums;
  if (std::optional<std::string> reason = completeWhole())
    return reason;
  choices.chainsInner = whole.chainsInner;
  choices.stepWarps.clear();
  if (given.has("step_warps")) {
    choices.stepWarps.assign(given.getList("step_warps"));
    return std::nullopt;
  }
  for (MmaStep step : plan.steps) {
    int64_t warps = 1;
    while (step.kind != MmaStep::Kind::Chain && 2 * warps <= plan.getWarps() &&
           step.tiles > 1 && step.factorRegisters > kMmaStepRegisters / 2)
      step = plan.getShared(step, warps *= 2);
    choices.stepWarps.push_back(warps);
  }
  if (llvm::all_of(choices.stepWarps, [](int64_t warps) { return warps == 1; }))
    choices.stepWarps.clear();
  return std::nullopt;
}

/// Brings `plan` up to date. It keeps factors in registers if they fit.
std::optional<std::string> MmaPlanner::complete() {
  if (std::optional<std::string> reason = chooseSteps())
    return reason;
  choices.keepsFactors = false;
  std::variant<MmaPlan, std::string> completed =
      completeMmaPlan(region, choices);
  if (auto *reason = std::get_if<std::string>(&completed))
    return *reason;
  plan = std::get<MmaPlan>(completed);
  choices.keepsFactors = plan.keepsFactors =
      plan.mayKeepFactors && given.get("keeps_factor", 1);
  return std::nullopt;
}

/// Whether its factors take few registers.
bool MmaPlanner::isLight() const {
  return plan.getFactorRegisters() <= kMmaLightRegisters &&
         llvm::all_of(plan.steps, [](const MmaStep &step) {
           return step.tiles <= kMaxLightTiles;
         });
}

/// Of one tile and of what is computed from it.
int64_t MmaPlanner::getTileBytes() const {
  return plan.inputLayout.bytes +
         (plan.workLayout ? plan.workLayout->bytes : 0);
}

/// Whether no SM has more than one tile: another CTA would have none.
bool MmaPlanner::hasTilePerSM() const {
  return !ShapedType::isDynamic(region.numPositions) &&
         region.numPositions <= choices.tile * choices.columns * machine.numSMs;
}

/// Warps of a CTA, of which there should be `warpsPerSM` on an SM: small CTAs,
/// whose barriers cost little, as far as there is room for their tiles.
int64_t MmaPlanner::chooseWarps(int64_t warpsPerSM, bool light) {
  // Factors of more than 64 rows are shared out among 8 warps.
  bool large = llvm::any_of(plan.steps, [](const MmaStep &step) {
    return step.kind != MmaStep::Kind::Chain &&
           step.factorRegisters > kMmaStepRegisters / 2;
  });
  // Two CTAs of 8 warps were faster than four of 4 (16^3, f32: 0.082 and 0.087
  // ms on an H200), but not where the tensor cores or memory are the limit.
  int64_t warps = large || (light && plan.math == MmaMath::SplitTF32) ? 8 : 4;
  warps = std::max(warps, getLeastWarps());
  while (warps < warpsPerSM &&
         getTileBytes() * (warpsPerSM / warps) > machine.getSharedBytes(1))
    warps *= 2;
  return warps;
}

/// Where only one tile fits, nothing could arrive while it is worked on. Pieces
/// of the next one can, if the first step takes them from where they land to
/// the place of the tile. Smaller pieces where a ring of them does not fit.
bool MmaPlanner::chooseStream(int64_t cluster) {
  if (cluster > 1 && !machine.hasCluster)
    return false;
  ArrayRef<int64_t> wantedPiece = given.getList("piece");
  MmaChoices whole = choices;
  choices.ctasPerSM = choices.stages = 1;
  choices.cluster = cluster;
  // Results cannot take the place of what has not arrived.
  if (plan.hasOneType())
    choices.sharedStore = given.get("shared_store", false);
  for (const MmaStream &stream : getMmaStreams(plan, cluster)) {
    if (!wantedPiece.empty() && wantedPiece != ArrayRef(stream.sizes))
      continue;
    choices.piece = stream.sizes;
    choices.pieceSlots = kMmaLeastSlots;
    if (complete())
      break;
    int64_t slotBytes = plan.getInputBytes() / kMmaLeastSlots;
    int64_t room =
        machine.getSharedBytes(1) - (plan.sharedBytes - plan.getInputBytes());
    choices.pieceSlots = std::min(stream.pieces, room / slotBytes);
    if (int64_t wanted = given.get("piece_slots"))
      choices.pieceSlots = std::min(choices.pieceSlots, wanted);
    if (choices.pieceSlots >= kMmaLeastSlots)
      return !complete();
  }
  choices = whole;
  return false;
}

/// Whether lanes, which have two neighbours of a row, would store less than 16
/// bytes at once, less than a sector of each of the rows that are the tile's
/// columns, or parts of sectors at the ends of rows of a single factor; where
/// results can take the tile's place instead. Of several factors of f32, whose
/// values are split, that takes more registers than there are.
bool MmaPlanner::storesSingly() const {
  if (!plan.hasOneType())
    return false;
  int64_t bytes = getElementBytes(plan.outputType);
  const MmaDim &innermost = plan.dims.back();
  if (plan.math != MmaMath::F64 && innermost.product && isOneFactor())
    return innermost.sizeN * bytes % kSectorBytes != 0;
  if (plan.storesVectors())
    return false;
  if (plan.turnsRows)
    return plan.dims[plan.dims.size() - 2].sizeN * bytes < kSectorBytes;
  return plan.math == MmaMath::F64 && innermost.product;
}

/// Whether tiles are to arrive as they lie: elements of 16 bits that would be
/// loaded one by one otherwise, of odd rows, or a row of odd columns; and rows
/// of a single factor of f32 that are no multiples of a copy, which leave
/// through shared memory. What lies in front of a row comes with it, and has to
/// be of the array.
bool MmaPlanner::copiesWhole() const {
  int64_t together =
      region.hasColumns ? region.numColumns : region.axes.back().sizeK;
  if (region.turnsRows || ShapedType::isDynamic(together) ||
      (!region.hasColumns && !region.isDense))
    return false;
  int64_t bytes = getElementBytes(region.inputType);
  if (bytes == 2)
    return together % 2 != 0;
  return region.type.isF32() && !region.hasColumns && isOneFactor() &&
         together * bytes % kSegmentChunkBytes != 0;
}

/// Whether results of 16 bits leave through shared memory: those of odd rows,
/// and columns that are no multiples of 8 bytes. A lane has neighbours of many
/// rows, unless these are shorter than what it has.
bool MmaPlanner::storesShared() const {
  if (getElementBytes(region.outputType) != 2 || region.turnsRows)
    return false;
  int64_t unit = kSegmentChunkBytes / 2, inner = region.numColumns;
  if (!region.hasColumns)
    return region.axes.back().sizeN % 2 != 0;
  return !ShapedType::isDynamic(inner) && inner > unit && inner % unit != 0;
}

/// As many rows of a single factor as give each warp group the same number of
/// blocks, no more than `choices` has.
int64_t MmaPlanner::fillWarpGroups() const {
  const MmaStep &step = plan.steps.front();
  if (plan.math == MmaMath::F64 || !isOneFactor() || given.get("tile") ||
      step.kind != MmaStep::Kind::Fibres)
    return choices.tile;
  int64_t all = tile::kMmaSizeM * plan.getWarpGroups(step);
  return choices.tile > all ? choices.tile / all * all : choices.tile;
}

bool MmaPlanner::isOneFactor() const {
  return llvm::count_if(region.axes,
                        [](const MmaDim &axis) { return axis.product; }) == 1;
}

std::optional<std::string> MmaPlanner::run(int64_t columns) {
  bool whole = given.get("whole_copies", copiesWhole());
  bool shared = given.get("shared_store", storesShared());
  std::optional<std::string> reason = run(columns, whole, shared);
  // There may be no room for that.
  bool keepsWhole = given.get("whole_copies", false);
  bool keepsShared = given.get("shared_store", false);
  if (reason && (whole != keepsWhole || shared != keepsShared))
    return run(columns, keepsWhole, keepsShared);
  return reason;
}

std::optional<std::string> MmaPlanner::run(int64_t columns, bool whole,
                                           bool shared) {
  int64_t threads = given.get("threads"), ctas = given.get("ctas_per_sm"),
          stages = given.get("stages"), cluster = given.get("cluster");
  choices = MmaChoices();
  choices.wholeCopies = whole;
  choices.innerRows = given.get("inner_rows", false);
  choices.alternates = given.get("alternates", false);
  choices.sharedStore = given.get("shared_store", shared || choices.innerRows);
  chooseTile(columns);
  choices.threads =
      threads ? threads : std::max(choices.threads, 32 * getLeastWarps());
  if (std::optional<std::string> reason = complete())
    return reason;
  choices.sharedStore =
      given.get("shared_store", choices.innerRows || shared || storesSingly());

  bool light = isLight();
  int64_t warpsPerSM = light ? 16 : 8;
  if (!threads)
    choices.threads = 32 * chooseWarps(warpsPerSM, light);
  choices.ctasPerSM =
      ctas ? ctas : std::max<int64_t>(1, warpsPerSM / (choices.threads / 32));
  if (std::optional<std::string> reason = complete())
    return reason;
  if (int64_t rows = fillWarpGroups(); rows != choices.tile) {
    choices.tile = rows;
    if (std::optional<std::string> reason = complete())
      return reason;
  }
  auto fits = [&](int64_t number) {
    return plan.sharedBytes + (number - 1) * plan.getStageBytes() <=
           machine.getSharedBytes(choices.ctasPerSM);
  };
  while (!ctas && choices.ctasPerSM > 1 && !fits(1))
    --choices.ctasPerSM;
  if (!ctas && choices.ctasPerSM > 2 && !fits(2))
    --choices.ctasPerSM;
  choices.stages = stages;
  if (!stages)
    for (choices.stages = light ? 2 : tiles.mostStages;
         choices.stages > 1 && !fits(choices.stages);)
      --choices.stages;

  bool wantsPieces =
      !given.getList("piece").empty() || given.get("piece_slots") != 0;
  if (cluster > 1 || wantsPieces) {
    for (int64_t ctas : {1, 2})
      if ((!cluster || ctas == cluster) && chooseStream(ctas))
        return std::nullopt;
    return cluster > 1 ? "a tile cannot be shared by a cluster"
                       : "input cannot arrive in such pieces";
  }
  if (fits(choices.stages)) {
    if (!stages && choices.stages == 1 && choices.ctasPerSM == 1)
      chooseStream(/*cluster=*/1);
    if (threads || ctas || !choices.piece.empty() || !hasTilePerSM())
      return std::nullopt;
    // All warps of an SM are at work on its only tile.
    choices.threads = std::max(choices.threads, 32 * warpsPerSM);
    choices.ctasPerSM = 1;
    return complete();
  }
  int64_t tileBytes = getTileBytes();
  if (cluster == 1 || !chooseStream(/*cluster=*/2))
    return "a tile of " + std::to_string(tileBytes) +
           " bytes does not fit in shared memory";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// As many columns of the outermost axes, which have no rows outside of them,
/// as make a tile; 0 where that does not help.
static int64_t chooseWideColumns(FusedOp fused, const MmaTiles &tiles) {
  GivenPlan given(getGPUPlanAttr(fused));
  if (given.get("tile") || given.get("columns"))
    return 0;
  Problem problem = describeProblem(fused);
  bool hasRows = llvm::all_of(problem.factors, [](const ProblemFactor &factor) {
    return factor.axis > 0;
  });
  if (hasRows || problem.inner == 1)
    return 0;
  int64_t columns = tiles.columnBytes / problem.getFootprintBytes(1);
  columns =
      llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(columns, 1)));
  if (columns <= problem.getColumns(kSegmentBytes) ||
      (problem.inner >= 0 && columns > problem.inner))
    return 0;
  return columns;
}

/// A plan whose fields `fused` has all of.
static std::variant<SmallVector<GPUPlanAttr>, std::string>
checkGiven(FusedOp fused, GPUPlanAttr given, const GPUMachine &machine) {
  std::variant<MmaPlan, std::string> read = readMmaPlan(fused, given);
  if (auto *reason = std::get_if<std::string>(&read))
    return *reason;
  if (auto reason = getMmaMachineReason(std::get<MmaPlan>(read), machine))
    return *reason;
  return SmallVector<GPUPlanAttr>{given.without("regions")};
}

std::variant<SmallVector<GPUPlanAttr>, std::string>
kron::planMma(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (GivenPlan(given).isComplete(GPUKernel::Mma))
    return checkGiven(fused, given, machine);
  std::variant<MmaRegion, std::string> region = describeMma(fused);
  if (auto *reason = std::get_if<std::string>(&region))
    return *reason;
  MmaPlanner planner(std::get<MmaRegion>(region), given, machine);
  int64_t columns = chooseWideColumns(fused, getGPUTiles(machine).mma);
  if (columns == 0 || planner.run(columns))
    if (std::optional<std::string> reason = planner.run(/*columns=*/0))
      return *reason;
  MmaChoices choices = searchMmaTiles(std::get<MmaRegion>(region),
                                      planner.choices, given, machine);
  PlanWriter writer(fused.getContext(), GPUKernel::Mma);
  MmaChoices::visitFields(writer, choices);
  GPUPlanAttr chosen = writer.getPlan();
  if (std::string reason = findContradiction(given, chosen); !reason.empty())
    return reason;
  return SmallVector<GPUPlanAttr>{chosen};
}
